"""Batches: recorded matches played again with today's detectors, many at a time, and compared with the recordings."""
