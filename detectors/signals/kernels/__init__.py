"""Compiled kernels: what numba makes of the innermost loops."""
