"""Level 9: restarts and the Laws."""
