"""Level 15: what users see of a match: sentences, clips, ratings."""
