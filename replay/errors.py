"""Errors of what is read: sources and captures."""

from __future__ import annotations


class TrackingError(ValueError):
    """A file that cannot be used as a whole; the message names the file, the place in it and the reason."""


class CaptureError(ValueError):
    """A folder that is no readable capture, or packets that cannot make one; the message names the place."""
