"""Level 6: passes, shots, possession."""
