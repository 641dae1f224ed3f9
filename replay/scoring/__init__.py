"""Scoring of detected events against truth: readers of truth, matching, figures."""
