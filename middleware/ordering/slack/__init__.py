"""How late the inputs of an ordering unit may be: interchangeable policies behind one protocol."""
