"""Level 3: how players move, and areas that they and the ball enter."""
