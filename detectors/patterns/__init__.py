"""Patterns over events: a language, and an engine that is exact under disorder (docs/patterns.md)."""
