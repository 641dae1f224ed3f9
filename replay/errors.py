"""The error of everything that reads a source."""

from __future__ import annotations


class TrackingError(ValueError):
    """A file that cannot be used as a whole; the message names the file, the place in it and the reason."""
