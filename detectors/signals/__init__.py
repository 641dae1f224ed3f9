"""Level 1: from positions to conditioned states of ball and bodies."""
