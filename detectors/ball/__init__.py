"""Level 2: what the ball does by itself, and lines that it crosses."""
