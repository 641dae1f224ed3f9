"""Ordering with low latency over late, doubled and disordered streams. Knows nothing of football."""
