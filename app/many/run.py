"""Runs many matches live: one query, and of each match a store, a feed and a page of its own."""

from __future__ import annotations

import logging
import math
import os
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from app.api.servers import RunServers
from app.base.errors import one_line, reason_of
from app.base.java import find_java
from app.base.logs import VARIABLE, hide_secrets, log_event, logging_to, worker_variable
from app.base.pace import NEVER_US
from app.hub.feed import MatchFeed
from app.hub.server import Hub
from app.kafka.address import KafkaError, parse
from app.kafka.topic_location import TopicLocation
from app.many.host import ManyHost, Player
from app.many.match_discovery import Wished, Wishes
from app.many.roster import Entry, InTopic
from app.operations.match_monitor import MatchMonitor
from app.operations.monitoring import Monitoring
from app.operations.secrets import secrets_of
from app.pipeline.folder import Match, TopicMatch, open_match
from app.pipeline.options import PIPELINE, options_of
from app.run.live import LOGS, stopped_by_signals
from app.run.summary import summarize
from app.settings.model import LiveSettings, SettingsError
from app.settings.resolve import make_settings
from app.spark.session import STREAMING, is_here, start_session, stop_session
from app.spark.stage import StageConfig
from football.match_sheet import MatchSheet
from football.update_stream import UpdateMessage

#: How often a list of matches is looked at for new ones.
_LOOK_S = 2.0

#: Of a capture that is still made so many windows must be there before its match begins: later it is not waited for.
_AHEAD_WINDOWS = 2.0
_PATIENCE_S = 300.0

_log = logging.getLogger(__name__)


class ManyRun:
    """A run of many matches, from its preparation to its summaries.

    Args:
        wishes: asked now and then: what it gives more than before begins while the others play.
        common: options of ``touchline live`` that are the same for all, by name as ``make_settings`` takes them. Of
            these ``seats`` (engines that work at a time; 0 for as many as there are cores) and ``master`` (of a Spark
            cluster; empty for this machine) are the run's.
        folder: of the run, a match store in it for every match.
        console: for people.
    """

    def __init__(
        self,
        wishes: Wishes,
        common: Mapping[str, Any],
        folder: Path,
        console: Console,
    ) -> None:
        self._common, self._folder, self._console = dict(common), folder, console
        self._settings = make_settings({name: value for name, value in self._common.items() if name != "store"})
        self._matches: dict[str, Match] = {}
        self._feeds: dict[str, MatchFeed] = {}
        self._watches: dict[str, MatchMonitor] = {}
        self._monitoring = Monitoring(folder)
        self._servers = RunServers(self._settings, self._monitoring, console)
        self._began: dict[str, tuple[int, float]] = {}
        self._ended_s: dict[str, float] = {}
        self._seen: set[str] = set()
        self._over_s = time.monotonic()
        self._beside = ExitStack()
        self._wished = Wished(wishes, self._beside)
        self._seats = self._settings.seats or os.cpu_count() or 1
        #: Why matches do not go on, by name.
        self.broken: dict[str, str] = {}

    def run(self, stop: threading.Event) -> dict[str, Any]:
        """Plays until no match goes on, or ``stop`` is set; the summaries by name, and who is broken and why.

        Raises:
            SettingsError: an option is wrong for all of them.
            HostError, HubError, JavaNotFoundError, SparkStartError: the run as a whole cannot go on.
        """
        settings = self._settings
        if not is_here(settings.master):
            raise SettingsError(
                f"--master {settings.master}: engines of other machines cannot reach the hub on loopback: "
                "`touchline batch` takes such a cluster"
            )
        os.environ.pop("TOUCHLINE_TOKEN", None)  # known by now; children shall not inherit it
        hide_secrets(secrets_of(settings))
        self._folder.mkdir(parents=True, exist_ok=True)
        with self._beside as beside:
            beside.enter_context(logging_to(self._folder / LOGS, settings.logs, settings.log_level))
            hub = beside.enter_context(Hub([]))
            hide_secrets([hub.address.token])
            beside.enter_context(self._monitoring)
            beside.enter_context(self._servers)
            players = self._first_players(hub, stop)
            if not players:
                return self._summary()
            log = self._folder / "spark" / "spark.log"
            session = start_session(
                find_java(os.environ), log, slots=self._seats, master=settings.master, options=STREAMING
            )
            beside.callback(stop_session, session)
            logs = worker_variable(self._folder / LOGS, settings.logs, settings.log_level)
            session.sparkContext.environment[VARIABLE] = logs
            window_us = round(settings.window_s * 1e6) if settings.pace else settings.window_us
            host = ManyHost(session, self._folder / "spark", self._seats, window_us, self)
            for player in sorted(players, key=lambda player: -player.positions_hz):
                host.add(player)
            host.warm_up()
            host.get_ready()
            over = threading.Event()
            looking = threading.Thread(target=self._look, args=(hub, host, over), daemon=True)
            self._began = {name: (match.played_us(), time.monotonic()) for name, match in self._matches.items()}
            looking.start()
            try:
                with stopped_by_signals(stop, self._console):
                    host.run(stop)
            finally:
                self._over_s = time.monotonic()
                over.set()
                looking.join()
            for name, match in self._matches.items():
                if match.has_ended() and name not in self.broken and match.played_us() > self._began[name][0]:
                    self._feeds[name].wait_ended(10)
            self.broken |= self._wished.missing()
        return self._summary()

    def offset(self, match: str) -> int:
        """See :class:`app.many.host.Stores`."""
        return self._matches[match].offset()

    def has_ended(self, match: str) -> bool:
        """See :class:`app.many.host.Stores`."""
        return self._matches[match].has_ended()

    def commit(self, match: str, tables: dict[str, pa.Table], meta: dict[str, Any]) -> None:
        """See :class:`app.many.host.Stores`."""
        one, watch, began_s = self._matches[match], self._watches[match], time.perf_counter()
        try:
            one.commit(one.next_batch(), one.capture.sheet.match_id, tables, meta)
        except Exception as error:
            watch.commit_failed(one_line(error))
            raise
        watch.committed(sum(map(len, tables.values())), time.perf_counter() - began_s)
        log_event(
            _log, logging.INFO, "batch committed", match, end_offset=meta.get("end_offset"), last=meta.get("last")
        )
        if one.has_ended():
            self._ended_s[match] = time.monotonic()
            self._console.print(f"{match}: over")

    def failed(self, match: str, reason: str) -> None:
        """See :class:`app.many.host.Stores`. What was said and not committed is taken back."""
        self.broken[match] = self._watches[match].broken = reason
        log_event(_log, logging.ERROR, "match is out", match, error=reason)
        self._console.print(f"{match}: broken: {reason}")
        feed, one = self._feeds[match], self._matches[match]
        committed = len(one.committed_updates())
        now_us, frontier_us = feed.now_us(), one.committed_frontier_us()
        feed.apply(
            UpdateMessage(match, feed.epoch() + 1, now_us, frontier_us, continues_from=committed, ended=True),
            time.time_ns() // 1_000,
        )

    def _look(self, hub: Hub, host: ManyHost, over: threading.Event) -> None:
        """Takes new matches in while the others play."""
        while not over.wait(_LOOK_S):
            for player in self._new_players(hub):
                name = player.entry.match
                self._began[name] = (self._matches[name].played_us(), time.monotonic())
                host.add(player)

    def _first_players(self, hub: Hub, stop: threading.Event) -> list[Player]:
        """Who begins; if all are to come out of topics, it is waited for the first."""
        players = self._new_players(hub)
        if not players and self._wished.scouts:
            self._console.print("Looking for matches in the topics")
            self._wished.wait_first(stop)
            players = self._new_players(hub)
            self.broken |= {} if players or self._matches else self._wished.missing()
        return players

    def _new_players(self, hub: Hub) -> list[Player]:
        """Matches that are wished for and were not there before; what cannot be prepared is broken."""
        try:
            wished = self._wished.now()
        except (ValueError, KafkaError) as error:
            if not self._seen:
                raise
            log_event(_log, logging.WARNING, "list of matches cannot be read", "", error=one_line(error))
            return []
        new = [wish for wish in wished if wish["name"] not in self._seen]
        opened: list[tuple[str, LiveSettings, Match]] = []
        for wish in new:
            name = wish["name"]
            self._seen.add(name)
            try:
                opened.append((name, *self._open(name, wish)))
            except Exception as error:  # whatever it is, it is this match's
                told = reason_of(error)
                self.broken[name] = told
                self._console.print(f"{name}: broken: {told}")
        everybody = sum(positions_hz(match.capture.sheet) for match in self._matches.values())
        players = [self._player(hub, name, settings, match, everybody) for name, settings, match in opened]
        return [player for player in players if player is not None]

    def _open(self, name: str, wish: Mapping[str, Any]) -> tuple[LiveSettings, Match]:
        given = {**self._common, **{key: value for key, value in wish.items() if key not in ("name", "place")}}
        given["duration_s"] = given.pop("duration", given.get("duration_s"))
        place: TopicLocation | None = wish.get("place")
        if place is not None:
            given["speed"] = "1"  # a topic comes at its own, whatever the others are played at
        settings = make_settings({**given, "store": self._folder / quote(name, safe=" ")})
        if settings.engine != "spark":
            raise SettingsError("many matches at a time are played through Spark: without --engine inprocess")
        match = self._beside.enter_context(open_match(settings, self._console, place))
        self._wait_ahead(match, settings)
        self._matches[name] = match
        return settings, match

    def _wait_ahead(self, match: Match, settings: LiveSettings) -> None:
        """Returns when a capture that grows is far enough ahead."""
        ahead_us = round(_AHEAD_WINDOWS * settings.window_us)
        until_s = time.monotonic() + _PATIENCE_S
        capture = match.capture
        while not capture.is_finished and capture.readable_us < match.offset() + ahead_us:
            if time.monotonic() > until_s or not capture.is_growing():
                return  # what is wrong with it shows when it is read
            time.sleep(0.1)

    def _player(self, hub: Hub, name: str, settings: LiveSettings, match: Match, everybody_hz: float) -> Player | None:
        sheet = msgspec.structs.replace(match.capture.sheet, match_id=name)
        feed = self._feeds[name] = hub.add(sheet)
        hub.seed(
            name, match.committed_updates(), match.committed_epoch(), frontier_us=match.committed_frontier_us(),
            ended=match.has_ended(),
        )  # fmt: skip
        states = match.folder / "states"
        watch = self._watches[name] = self._monitoring.add(feed, states, paced=settings.pace > 0, link=hub)
        self._show(name, settings, feed, match)
        self._began[name] = (match.played_us(), time.monotonic())
        if match.has_ended():
            return None
        mine_hz = positions_hz(sheet)
        options = options_of(settings, match.capture)
        if options.adapts:  # to its share of the machine, and not as if it were alone
            share = min(1.0, self._seats * mine_hz / everybody_hz)
            options = replace(options, available=options.available * share)
        stage = StageConfig(sheet, options, PIPELINE, str(match.folder / "states"), match.begin(), hub.address)
        officials = (match.folder, settings.official) if settings.official else (match.folder,)
        entry = Entry(name, str(match.capture.path), match.begin(), settings.pace, NEVER_US, tuple(map(str, officials)))
        if isinstance(match, TopicMatch):
            entry = msgspec.structs.replace(entry, officials=(), in_topic=self._in_topic(settings, match, watch))
        return Player(entry, stage, mine_hz)

    def _in_topic(self, settings: LiveSettings, match: TopicMatch, watch: MatchMonitor) -> InTopic:
        """Where its records are; from now on it is known how many of them wait."""
        from app.operations.topic_lag import TopicLagPoller

        place, window_s = match.place, settings.window_s
        self._beside.enter_context(TopicLagPoller(parse(settings.source), place.partition, match.offset(), watch))
        return InTopic(settings.source, place.match, place.partition, place.records_in(window_s), window_s)

    def _show(self, name: str, settings: LiveSettings, feed: MatchFeed, match: Match) -> None:
        """Page and topic of a match."""
        if settings.publish:
            from app.kafka.relay import Relay

            relay = self._beside.enter_context(Relay(feed, parse(settings.publish), match.folder))
            match.on_commit, self._watches[name].publisher = relay.committed, relay
        if settings.dashboard:
            self._console.print(f"{name}: live page {self._servers.open_page(feed)}")

    def _summary(self) -> dict[str, Any]:
        return {
            "folder": str(self._folder),
            "broken": dict(self.broken),
            "matches": {name: self._of(name, match) for name, match in self._matches.items() if name in self._feeds},
        }

    def _of(self, name: str, match: Match) -> dict[str, Any]:
        began_us, began_s = self._began[name]
        return summarize(
            self._feeds[name],
            store=str(match.folder),
            ended=match.has_ended(),
            played_us=match.played_us() - began_us,
            took_s=self._ended_s.get(name, self._over_s) - began_s,
            quarantined=match.quarantined(),
        )


def positions_hz(sheet: MatchSheet) -> float:
    """How much a match is: positions a second, as its input declares."""
    quality = sheet.quality
    return quality.ball_hz + 22 * quality.body_hz * max(1, len(quality.limbs))


def common_of(settings: LiveSettings, flags: Mapping[str, Any]) -> dict[str, Any]:
    """What the options of a run say of all its matches, as ``make_settings`` takes it.

    Args:
        settings: of the run, from all its places.
        flags: as given; what a match has of its own accord, like its channel, is common only if a flag says so.
    """
    own = {"source", "channel", "parameters"}
    said = {name: getattr(settings, name) for name in settings.model_fields_set - own}
    flagged = {name: str(flags[name]) for name in ("channel", "parameters") if flags.get(name) is not None}
    return said | flagged


def run_many(wishes: Wishes, common: Mapping[str, Any], *, as_json: bool = False) -> int:
    """Plays the matches to their end or to Ctrl-C, prints the summary; 1 if one is broken, else 0.

    Args:
        wishes, common: see :class:`ManyRun`; ``store`` in ``common`` is the folder of the run.
        as_json: as JSON on stdout.

    Raises:
        As :meth:`ManyRun.run`.
    """
    console = Console(stderr=as_json)
    store = common.get("store")
    folder = Path(store).resolve() if store else Path("matches").resolve() / f"{datetime.now(UTC):run-%Y%m%dT%H%M%SZ}"
    run = ManyRun(wishes, common, folder, console)
    told = run.run(threading.Event())
    if as_json:
        print(msgspec.json.encode(told).decode())
    else:
        show(told, console)
    return 1 if run.broken else 0


def show(told: Mapping[str, Any], console: Console) -> None:
    """Prints a summary for people."""
    table = Table(title=f"Matches: {told['folder']}", title_justify="left")
    table.add_column("match")
    for name in ("played s", "events", "taken back", "late", "p50 ms", "p95 ms", "p99 ms"):
        table.add_column(name, justify="right")
    table.add_column("state")
    for name, one in told["matches"].items():
        total = one["lane_latency_ms"]["total"]
        latency = [f"{total.get(p, math.nan):.1f}" if total["count"] else "" for p in ("p50", "p95", "p99")]
        counts = (f"{one['stream_s']:.1f}", str(sum(one["events"].values())), str(one["retractions"]), str(one["late"]))
        state = "played to the end" if one["ended"] else "interrupted; start again to go on"
        table.add_row(name, *counts, *latency, told["broken"].get(name) or state)
    for name in told["broken"].keys() - told["matches"].keys():
        table.add_row(name, *[""] * 7, f"broken: {told['broken'][name]}")
    console.print(table)
