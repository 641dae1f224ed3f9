"""Level 14: sums over windows of time."""
