"""Is the ball in play: geometry of restarts, rests and stalls (4.7, 5.10), the ball in and out of play (6.4-6.6)."""
