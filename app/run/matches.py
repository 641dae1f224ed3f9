"""Plays many matches live: a list that may grow, one query, and of each match a store, a feed and a page of its own."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec
from rich.console import Console

from app.base.errors import one_line, reason_of
from app.base.logs import log_event
from app.pipeline.folder import Match, open_match
from app.run.match_discovery import MatchDiscovery, ReadList
from app.run.run import LOGS, LiveMatch, Run, total_hz
from app.run.signals import stopped_by_signals
from app.run.summary import show_matches
from app.settings.model import LiveSettings, SettingsError
from app.settings.resolve import make_settings
from football.errors import UserError

if TYPE_CHECKING:
    from app.spark.driver import MatchPlan, SparkDriver

#: Of a recording that is still produced so many windows must be there before its match begins, and how long they may
#: take: later it is not waited for.
_AHEAD_WINDOWS = 2.0
_PATIENCE_S = 300.0

_log = logging.getLogger(__name__)


class MatchesRun:
    """A run of many matches, from its preparation to its summaries.

    Args:
        read_list: the list of matches; asked now and then, and what it has more than before begins while others play.
        common: options of ``touchline live`` that are the same for all, by name as ``make_settings`` takes them. Of
            these ``seats`` (engines that work at a time; 0 for as many as there are cores) and ``master`` (of a Spark
            cluster; empty for this machine) are the run's.
        folder: of the run, a match store in it for every match.
        console: for people.
    """

    def __init__(self, read_list: ReadList, common: Mapping[str, Any], folder: Path, console: Console) -> None:
        self._read_list, self._common, self._folder, self._console = read_list, dict(common), folder, console
        self._settings = make_settings({name: value for name, value in self._common.items() if name != "store"})
        self._known: set[str] = set()

    def run(self, stop: threading.Event) -> dict[str, Any]:
        """Plays until no match goes on, or ``stop`` is set; the summaries by name, and which are broken and why.

        Raises:
            SettingsError: an option is wrong for all of them.
            HostError, HubError, JavaNotFoundError, SparkStartError: the run as a whole cannot go on.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        with stopped_by_signals(stop, self._console), ExitStack() as background:
            run = self._run = Run(self._settings, self._console, background, alone=False)
            run.check_master()
            run.open(self._folder)
            self._discovery = MatchDiscovery(self._read_list, background)
            session = background.enter_context(run.spark(self._folder / "spark" / "spark.log"))
            first = self._first(stop)
            going = [live for live in first if not live.match.has_ended()]
            if going and not stop.is_set():
                driver = run.driver(session.result(), self._folder / "spark", self._folder / LOGS)
                for plan in sorted(self._plans(going, first), key=lambda plan: -plan.positions_hz):
                    driver.add(plan)
                run.play_with(driver, stop, lambda: self._join(driver))
                run.lacks_last_message()
                run.broken |= self._discovery.missing()
        return {
            "folder": str(self._folder),
            "broken": dict(run.broken),
            "matches": {key: run.summary(key) for key in run.matches},
        }

    @property
    def matches(self) -> Mapping[str, LiveMatch]:
        """The matches so far, by name."""
        return self._run.matches

    def _first(self, stop: threading.Event) -> list[LiveMatch]:
        """The matches that begin; if all are to be discovered, the first is waited for."""
        first = self._new()
        if not first and self._discovery.is_looking:
            self._console.print("Looking for matches in the topics")
            self._discovery.wait_first(stop)
            first = self._new()
            self._run.broken |= {} if first or self._run.matches else self._discovery.missing()
        return first

    def _join(self, driver: SparkDriver) -> None:
        """Takes new matches in while the others play."""
        before = list(self._run.matches.values())
        new = [live for live in self._new() if not live.match.has_ended()]
        for plan in self._plans(new, before):
            self._run.matches[plan.entry.match].begin()
            driver.add(plan)

    def _plans(self, new: list[LiveMatch], others: list[LiveMatch]) -> list[MatchPlan]:
        everybody_hz = total_hz({live.key: live for live in [*others, *new]}.values())
        return [self._run.plan(live, everybody_hz - total_hz([live])) for live in new]

    def _new(self) -> list[LiveMatch]:
        """Matches of the list that were not there before; what cannot be prepared is broken."""
        try:
            entries = self._discovery.matches()
        except (ValueError, UserError) as error:
            if not self._known:
                raise
            log_event(_log, logging.WARNING, "list of matches cannot be read", "", error=one_line(error))
            return []
        opened: list[LiveMatch] = []
        for entry in entries:
            name = entry["name"]
            if name in self._known:
                continue
            self._known.add(name)
            try:
                live = self._run.know(name, *self._open(name, entry))
                self._run.take_in(live)
                opened.append(live)
            except Exception as error:  # whatever it is, it is this match's
                reason = reason_of(error)
                self._run.broken[name] = reason
                self._console.print(f"{name}: broken: {reason}")
        return opened

    def _open(self, name: str, entry: Mapping[str, Any]) -> tuple[LiveSettings, Match]:
        given = {**self._common, **{key: value for key, value in entry.items() if key not in ("name", "location")}}
        given["duration_s"] = given.pop("duration", given.get("duration_s"))
        location = entry.get("location")
        if location is not None:
            given["speed"] = "1"  # it comes at its own, whatever the others are played at
        settings = make_settings({**given, "store": self._folder / quote(name, safe=" ")})
        if settings.engine != "spark":
            raise SettingsError("many matches at a time are played through Spark: without --engine inprocess")
        match = self._run.background.enter_context(open_match(settings, self._console, location, name))
        _wait_ahead(match, settings)
        return settings, match


def _wait_ahead(match: Match, settings: LiveSettings) -> None:
    """Returns when a recording that grows is far enough ahead."""
    ahead_us = round(_AHEAD_WINDOWS * settings.window_us)
    until_s = time.monotonic() + _PATIENCE_S
    recording = match.input.recording
    while recording is not None and not recording.is_finished and recording.readable_us < match.offset() + ahead_us:
        if time.monotonic() > until_s or not recording.is_growing():
            return  # what is wrong with it shows when it is read
        time.sleep(0.1)


def common_of(settings: LiveSettings, flags: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a run that hold for all its matches, as ``make_settings`` takes them.

    Args:
        settings: of the run, from all its places.
        flags: as given; what a match settles by itself, like its channel, is common only if a flag says so.
    """
    own = {"source", "channel", "parameters"}
    common = {name: getattr(settings, name) for name in settings.model_fields_set - own}
    flagged = {name: str(flags[name]) for name in ("channel", "parameters") if flags.get(name) is not None}
    return common | flagged


def run_matches(read_list: ReadList, common: Mapping[str, Any], *, as_json: bool = False) -> int:
    """Plays the matches to their end or to Ctrl-C, prints the summary; 1 if one is broken, else 0.

    Args:
        read_list, common: see :class:`MatchesRun`; ``store`` in ``common`` is the folder of the run.
        as_json: as JSON on stdout.

    Raises:
        As :meth:`MatchesRun.run`.
    """
    console = Console(stderr=as_json)
    store = common.get("store")
    folder = Path(store).resolve() if store else Path("matches").resolve() / f"{datetime.now(UTC):run-%Y%m%dT%H%M%SZ}"
    summary = MatchesRun(read_list, common, folder, console).run(threading.Event())
    if as_json:
        print(msgspec.json.encode(summary).decode())
    else:
        show_matches(summary, console)
    return 1 if summary["broken"] else 0
