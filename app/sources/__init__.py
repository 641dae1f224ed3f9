"""Sources: from the name of an input to a capture on disk."""
