"""A match that cameras tracked, as if it were simulated."""
