"""Errors that people can mend. Every one of them derives from :class:`UserError`."""

from __future__ import annotations


class UserError(Exception):
    """Something that a person can mend; the message says what it is and what can be done."""


class TrackingError(UserError, ValueError):
    """A file that cannot be used as a whole; the message names the file, the place in it and the reason."""


class CaptureError(UserError, ValueError):
    """A folder that is no readable capture, or packets that cannot make one; the message names the place."""
