"""Level 10: pressure, space and match control."""
