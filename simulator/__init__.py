"""The simulator: a seeded match, its physics, its tags and radio, and the truth about it."""
