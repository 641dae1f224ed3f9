"""Pressing, phases and movement off the ball (levels 11 to 13)."""
