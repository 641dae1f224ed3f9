"""Placement: which node runs which detector (002, 4.3)."""
