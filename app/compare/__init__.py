"""Event data of other providers, aligned with the events of a match store (docs/compare.md)."""
