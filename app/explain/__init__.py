"""Explanations of events: causes, thresholds and margins."""
