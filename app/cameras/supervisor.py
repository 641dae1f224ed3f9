"""Watches the cameras of a match: carries out the rules, and notes every failure in the journal."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Final

from app.cameras.journal import Journal
from app.hub.feed import MatchFeed
from camera.controller import CameraController
from camera.failures import Care
from camera.installation import Camera
from camera.operator import GoTo, Order, Track
from camera.rules import Move, Rule, RuleBook
from football.update_stream import EventRecord

#: Interval at which events are read.
TICK_S: Final = 0.05
#: Number of ticks from one look at the input's reliability, and at the pictures, to the next.
DISTRUST_TICKS: Final = 20

_log = logging.getLogger(__name__)


class Supervisor:
    """Supervises while the context lasts, in a thread of its own.

    Args:
        feed: of the match.
        cameras: by name.
        book: of rules.
        journal: takes moves and failures.
        distrust: returns why the input is not reliable; empty if it is.
        direct: scores the pictures, gives free cameras their roles, keeps orders; called every second.
    """

    def __init__(
        self,
        feed: MatchFeed,
        cameras: Mapping[str, tuple[Camera, CameraController]],
        book: RuleBook,
        journal: Journal,
        distrust: Callable[[], str],
        direct: Callable[[], None],
    ) -> None:
        self._feed, self._cameras, self._book, self._journal = feed, cameras, book, journal
        self._distrust, self._direct = distrust, direct
        self._cursor = 0
        self._moves: dict[str, Move] = {}  # by camera, the newest move that is not carried out yet
        self._waits: dict[str, str] = {}  # by camera, why it is not
        self._cares = dict.fromkeys(cameras, Care())
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="camera supervisor", daemon=True)

    def __enter__(self) -> Supervisor:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        ticks = 0
        while not self._over.wait(TICK_S):
            try:
                self._tick(ticks)
            except Exception as error:  # rules that fail must not end the care for the cameras, nor the match
                _log.warning("the supervisor of the cameras failed: %s", type(error).__name__)
            ticks += 1

    def _tick(self, ticks: int) -> None:
        if ticks % DISTRUST_TICKS == 0:
            reason = self._distrust()
            for _, controller in self._cameras.values():
                controller.distrust = reason
            self._direct()
        self._follow_rules()
        for name, (_, controller) in self._cameras.items():
            self._note_care(name, controller)

    def _follow_rules(self) -> None:
        # The watermark is read before the log: a newer one could confirm what an unread update withdraws.
        frontier_us = self._feed.frontier_us()
        self._cursor, updates = self._feed.events_since(self._cursor)
        moves = self._book.step(updates, self._feed.now_us(), frontier_us)
        self._moves |= {move.camera: move for move in moves}
        for move in moves:
            self._waits.pop(move.camera, None)
        for move in list(self._moves.values()):
            self._carry_out(move)

    def _carry_out(self, move: Move) -> None:
        """Carry out a move, or let it wait while its camera is on air; the journal gets both."""
        (camera, controller), name = self._cameras[move.camera], move.camera
        before = controller.authority.rule_name
        command = command_of(move.rule, move.event, camera)
        wait = controller.authority.take_rule(command, move.rule.name if move.rule is not None else "")
        if wait and wait == self._waits.get(name):
            return
        if wait:
            self._waits[name] = wait
        else:
            del self._moves[name]
            self._waits.pop(name, None)
        if move.rule is not None or before:  # the end of a rule that was never in force changes nothing
            what = f"rule {move.rule.name}" if move.rule is not None else "rule ends"
            reason = f"{move.reason}, not done yet: {wait}" if wait else move.reason
            self._journal.note(name, what, "rule", reason, (move.event.id,))

    def _note_care(self, name: str, controller: CameraController) -> None:
        care, before = controller.authority.care, self._cares[name]
        if care.state != before.state:  # faults that take turns would fill the journal
            self._journal.note(name, f"{care.state} {care.fault}".strip(), "care", care.problem)
        self._cares[name] = care


def command_of(rule: Rule | None, event: EventRecord, camera: Camera) -> Order | Track | None:
    """Return the command that a rule gives because of an event; None hands the camera back."""
    if rule is None:
        return None
    return GoTo(camera.setup.presets[rule.preset].pose()) if rule.preset else Track(rule.subject(event))
