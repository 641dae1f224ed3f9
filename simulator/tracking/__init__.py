"""A match as a camera system tracks it: frames with the errors of a profile."""
