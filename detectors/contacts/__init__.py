"""Level 5: hits, touches, and the ball that leaves its kicker."""
