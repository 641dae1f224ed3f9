"""Reasons for which an order to a camera is refused."""

from __future__ import annotations

from football.errors import UserError


class UnknownCameraError(UserError, LookupError):
    """No camera, preset, style, player, event or rule of this name; the message names those that exist."""


class OrderRefusedError(UserError):
    """The camera cannot do this now: it is on air and would move to another picture, or it is not steered any more."""
