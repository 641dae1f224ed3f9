"""Quality of an input: measured as it arrives, and judged."""
