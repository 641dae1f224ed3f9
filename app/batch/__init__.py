"""Recorded matches played again with today's detectors, many at a time, and held against what was recorded."""
