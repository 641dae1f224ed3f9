"""Replay: what is recorded, read again, validated, scored and exported."""
