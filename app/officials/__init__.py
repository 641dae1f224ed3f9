"""Decisions of the officials that people enter: what undoes one, and what they change in a match that has ended."""
