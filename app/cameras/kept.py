"""Orders, tally and rules of a match's cameras over a restart of the run: ``steering.json`` in the match store.

By camera it has the tally, the style, and whom an order holds or follows; of the rules, those that were put or removed
while the match ran, and the events because of which a rule holds a camera now.

A movement that an operator's hand began does not go on by itself after a crash: a drive, and a preset, point or event
on the way to which the head may have been stopped, come back as a hold where the head stands. What steers by itself,
because an operator said so, steers again: the play, a player, a rule.
"""

from __future__ import annotations

import logging
import os
import threading
from pathlib import Path
from typing import Final, Literal

import msgspec

from camera.operator import Hold, Order, Track
from camera.rules import Rule
from football.untrusted import UntrustedError, read_json
from football.update_stream import EventRecord

#: Name of the file in a match store.
FILE: Final = "steering.json"

_log = logging.getLogger(__name__)


class KeptCamera(msgspec.Struct, frozen=True):
    """State of one camera that outlives a restart.

    Attributes:
        on_air: its picture is on air.
        style: in which it moves.
        order: ``hold`` or ``player``; empty for none.
        player: object id of the player that it follows.
    """

    on_air: bool = False
    style: str = ""
    order: Literal["", "hold", "player"] = ""
    player: str = ""

    def command(self) -> Order | Track | None:
        """Return the order that is given again; None for none."""
        return Track(self.player) if self.order == "player" else Hold() if self.order else None


class KeptHold(msgspec.Struct, frozen=True):
    """A rule that holds a camera, and the event because of which it does."""

    rule: str
    event: EventRecord


class Kept(msgspec.Struct, frozen=True):
    """State of all cameras that outlives a restart.

    Attributes:
        cameras: by name.
        rules: that were put while the match ran.
        removed: names of the rules of the file that were removed.
        holds: of rules.
    """

    cameras: dict[str, KeptCamera] = {}
    rules: tuple[Rule, ...] = ()
    removed: tuple[str, ...] = ()
    holds: tuple[KeptHold, ...] = ()


def kept_order(order: Order | Track | None) -> tuple[Literal["", "hold", "player"], str]:
    """Return how an order is kept, and the player of it: whatever turns the head to a place is kept as a hold.

    >>> kept_order(Track("H9")), kept_order(Hold()), kept_order(None)
    (('player', 'H9'), ('hold', ''), ('', ''))
    """
    if isinstance(order, Track):
        return "player", order.player
    return ("hold", "") if order is not None else ("", "")


class Keeper:
    """Reads and writes the file of one match store. Thread safe.

    Args:
        folder: of the match store; None keeps nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self._file = folder and folder / FILE
        self._lock = threading.Lock()
        self._written = b""

    def read(self) -> Kept:
        """Return what the last run kept; nothing, with a warning in the log, if the file is damaged."""
        if self._file is None:
            return Kept()
        try:
            return read_json(self._file, Kept)
        except FileNotFoundError:
            return Kept()
        except (OSError, UntrustedError) as error:
            _log.warning("orders of the cameras before the restart cannot be read: %s: %s", self._file, error)
            return Kept()

    def write(self, kept: Kept) -> None:
        """Write what is kept, if it has changed. A file that cannot be written costs a warning, and no order."""
        if self._file is None:
            return
        content = msgspec.json.encode(kept)
        with self._lock:
            if content == self._written:
                return
            part = self._file.with_name(f".{FILE}.{os.getpid()}")
            try:
                handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
                os.replace(part, self._file)
                self._written = content
            except OSError as error:
                _log.warning("orders of the cameras cannot be kept: %s", error.strerror or error)
