"""A stretch of a stored match, played again with a change, and the events that differ (docs/replay.md)."""
