"""Runs a match live, from end to end."""
