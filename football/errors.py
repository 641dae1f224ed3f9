"""Errors that people can mend; each derives from :class:`UserError`."""

from __future__ import annotations


class UserError(Exception):
    """An error that a person can mend; the message says what is wrong and what can be done."""


class TrackingError(UserError, ValueError):
    """A file that cannot be used as a whole; the message names the file, the location in it and the reason."""


class CaptureError(UserError, ValueError):
    """A folder that is no readable capture, or packets that cannot make one; the message names the location."""


class CaptureInUseError(CaptureError):
    """A capture that another process is writing."""
