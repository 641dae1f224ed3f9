"""A match tracked by cameras, as input of the simulator's radio."""
