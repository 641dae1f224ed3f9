"""Level 4: who is near to whom, and to what."""
