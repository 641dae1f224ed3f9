"""Plays many matches live: a list that may grow, one query, and for each match a store, a feed and a page."""

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
from app.base.private import check_store
from app.base.terminal import make_console
from app.pipeline.folder import Match, open_match
from app.run.match_discovery import MatchDiscovery, ReadList
from app.run.run import BEFORE_JAVA_S, LOGS, LiveMatch, Run, total_hz
from app.run.signals import stopped_by_signals
from app.run.summary import code_of, show_matches
from app.settings.model import LiveSettings, SettingsError
from app.settings.resolve import make_settings
from football.errors import UserError

if TYPE_CHECKING:
    from app.spark.driver import MatchPlan, SparkDriver

#: Windows of a growing recording that must exist before its match begins, and the limit of the wait for them.
_AHEAD_WINDOWS = 2.0
_PATIENCE_S = 300.0

_log = logging.getLogger(__name__)


class MatchesRun:
    """A run of many matches, from its preparation to its summaries.

    Args:
        read_list: reads the list of matches; called at intervals, and new entries begin while others play.
        common: options of ``touchline live`` that all matches share, by name as ``make_settings`` takes them. Of
            these, ``seats`` (engines that work at a time; 0 for the number of cores) and ``master`` (of a Spark
            cluster; empty for this machine) concern the run.
        folder: of the run; each match has a match store in it.
        console: shows progress and notes.
    """

    def __init__(self, read_list: ReadList, common: Mapping[str, Any], folder: Path, console: Console) -> None:
        self._read_list, self._common, self._folder, self._console = read_list, dict(common), folder, console
        self._settings = make_settings({name: value for name, value in self._common.items() if name != "store"})
        self._known: set[str] = set()

    def run(self, stop: threading.Event) -> dict[str, Any]:
        """Plays until all matches have ended or ``stop`` is set; returns summaries and failures, by name.

        Raises:
            SettingsError: an option is wrong for all of them.
            HostError, HubError, JavaNotFoundError, SparkStartError: the run as a whole cannot go on.
        """
        self._folder.mkdir(0o700, parents=True, exist_ok=True)
        check_store(self._folder)
        with stopped_by_signals(stop, self._console), ExitStack() as background:
            run = self._run = Run(self._settings, self._console, background, one_match=False)
            run.check_master()
            run.open(self._folder)
            self._discovery = MatchDiscovery(self._read_list, background)
            session = background.enter_context(run.spark(self._folder / "spark" / "spark.log", BEFORE_JAVA_S))
            first = self._first(stop)
            going = [live for live in first if not live.match.has_ended()]
            if going and not stop.is_set():
                driver = run.driver(session.result(), self._folder / "spark", self._folder / LOGS)
                for plan in sorted(self._plans(going, first, is_late=False), key=lambda plan: -plan.positions_hz):
                    driver.add(plan)
                run.play_with(driver, stop, lambda: self._join(driver))
                run.lacks_last_message()
                run.excluded |= self._discovery.missing()
        return {
            "folder": str(self._folder),
            "broken": dict(run.excluded),
            "matches": {key: run.summary(key) for key in run.matches},
        }

    def _first(self, stop: threading.Event) -> list[LiveMatch]:
        """Matches at the run's start; if all are yet to be discovered, waits for the first."""
        first = self._new()
        if not first and self._discovery.is_discovering:
            self._console.print("Looking for matches in the topics")
            self._discovery.wait_first(stop)
            first = self._new()
            self._run.excluded |= {} if first or self._run.matches else self._discovery.missing()
        return first

    def _join(self, driver: SparkDriver) -> None:
        """Adds new matches while the others play."""
        before = list(self._run.matches.values())
        new = [live for live in self._new() if not live.match.has_ended()]
        for plan in self._plans(new, before, is_late=True):
            self._run.matches[plan.entry.match].begin()
            driver.add(plan)

    def _plans(self, new: list[LiveMatch], others: list[LiveMatch], *, is_late: bool) -> list[MatchPlan]:
        all_hz = total_hz({live.key: live for live in [*others, *new]}.values())
        return [self._run.plan(live, all_hz - total_hz([live]), is_late=is_late) for live in new]

    def _new(self) -> list[LiveMatch]:
        """Opens the matches that are new in the list; those that cannot be prepared are excluded."""
        try:
            entries = self._discovery.matches()
        except (ValueError, UserError) as error:
            if not self._known:
                raise
            log_event(_log, logging.WARNING, "list of matches cannot be read", "", error=one_line(error))
            return []
        new: list[LiveMatch] = []
        for entry in entries:
            name = entry["name"]
            if name in self._known:
                continue
            self._known.add(name)
            try:
                live = self._run.register(name, *self._open(name, entry))
                self._run.start_services(live)
                new.append(live)
            except Exception as error:  # any error here concerns this match only
                reason = reason_of(error)
                self._run.excluded[name] = reason
                self._console.print(f"{name}: excluded: {reason}")
        return new

    def _open(self, name: str, entry: Mapping[str, Any]) -> tuple[LiveSettings, Match]:
        given = {**self._common, **{key: value for key, value in entry.items() if key not in ("name", "location")}}
        given["duration_s"] = given.pop("duration", given.get("duration_s"))
        location = entry.get("location")
        if location is not None:
            given["speed"] = "1"  # its records arrive at their own pace, whatever the speed of the others
        settings = make_settings({**given, "store": self._folder / quote(name, safe=" ")})
        if settings.engine != "spark":
            raise SettingsError("many matches at a time are played through Spark: without --engine inprocess")
        match = self._run.background.enter_context(open_match(settings, self._console, location, name))
        _wait_ahead(match, settings)
        return settings, match


def _wait_ahead(match: Match, settings: LiveSettings) -> None:
    """Waits until a growing recording is far enough ahead."""
    ahead_us = round(_AHEAD_WINDOWS * settings.window_us)
    until_s = time.monotonic() + _PATIENCE_S
    recording = None if match.input.is_live else match.input.recording
    while recording is not None and not recording.is_finished and recording.readable_us < match.offset() + ahead_us:
        if time.monotonic() > until_s or not recording.is_growing():
            return  # its reader will report the error
        time.sleep(0.1)


def common_of(settings: LiveSettings, flags: Mapping[str, Any]) -> dict[str, Any]:
    """Options that all matches of a run share, as ``make_settings`` takes them.

    Args:
        settings: of the run, from all layers.
        flags: of the command line. Options that depend on the match, like its channel, are common only if given here.
    """
    own = {"source", "channel", "parameters"}
    common = {name: getattr(settings, name) for name in settings.model_fields_set - own}
    flagged = {name: str(flags[name]) for name in ("channel", "parameters") if flags.get(name) is not None}
    return common | flagged


def run_matches(read_list: ReadList, common: Mapping[str, Any], *, as_json: bool = False) -> int:
    """Plays the matches to their end or to Ctrl-C, prints the summary; returns the exit code.

    The code is 1 if one is excluded, else the greatest of theirs (:func:`app.run.summary.code_of`).

    Args:
        read_list, common: see :class:`MatchesRun`; ``store`` in ``common`` is the folder of the run.
        as_json: as JSON on stdout.

    Raises:
        As :meth:`MatchesRun.run`.
    """
    console = make_console(stderr=as_json)
    store = common.get("store")
    folder = Path(store).resolve() if store else Path("matches").resolve() / f"{datetime.now(UTC):run-%Y%m%dT%H%M%SZ}"
    summary = MatchesRun(read_list, common, folder, console).run(threading.Event())
    if as_json:
        print(msgspec.json.encode(summary).decode())
    else:
        show_matches(summary, console)
    return 1 if summary["broken"] else max(map(code_of, summary["matches"].values()), default=0)
