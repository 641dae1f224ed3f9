"""Physics: how ball, bodies and limbs move."""
