"""Review of close calls: positions between samples with their uncertainty, and what they say of a line."""
