"""Touchline as a library: what ``import touchline`` offers, and what the commands share with it."""
