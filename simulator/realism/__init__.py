"""Comparison of simulated matches with real ones."""
