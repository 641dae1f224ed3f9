"""Compiled kernels of all detectors: what numba makes of the innermost loops."""
