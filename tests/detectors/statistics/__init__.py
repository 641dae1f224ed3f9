"""Detectors of level 14."""
