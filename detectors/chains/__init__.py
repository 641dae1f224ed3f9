"""Levels 11 to 13: chains of possession, combinations, kinds of attack, entries, and the state of the game."""
