"""Level 8: what kind of pass or shot it was."""
