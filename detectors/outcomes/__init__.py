"""Level 7: what became of passes and shots, and goals with their confirmation (10.14)."""
