"""14.1 and 14.2: running and possession over sliding windows, as the DEBS 2013 challenge asks (queries 1 and 2).

Theory of operation
-------------------
A sliding window needs what it subtracts later: runs, and stretches of possession, with begin and end. So its sums are
exact to the microsecond, except for the distance of the one run that its edge cuts, which is divided evenly. Sums of
the whole match are stored separately. Tuples share their elements with the state before.

Results are published once a second (``report_us``; the challenge allows 50 a second).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

import msgspec

from detectors.bodies.running import CLASSES, Run, Runs
from detectors.emission import make_event
from detectors.reasons import reason
from football.match_sheet import TEAMS, Team
from football.payloads import EventPayload, Scalar, payload_as, payload_of, time_us
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Windows in microseconds by name, the longest last; of the whole match 0.
WINDOWS_US = {"1 min": 60_000_000, "5 min": 300_000_000, "20 min": 1_200_000_000, "match": 0}
_LONGEST_US = 1_200_000_000


class ReportParameters(msgspec.Struct, frozen=True):
    """Rate of a report.

    Attributes:
        report_us: time between two results.
    """

    report_us: Annotated[int, reason("Ours: statistics are state; DEBS 2013 allows up to 50 a second.")] = 60_000_000


class PlayerRuns(msgspec.Struct, frozen=True, gc=False):
    """A player's runs that reach into the longest window, oldest first; sums of all that ended: seconds and metres by
    class; and the run that goes on."""

    team: Team
    runs: tuple[Run, ...] = ()
    sums: tuple[tuple[float, float], ...] = ((0.0, 0.0),) * len(CLASSES)
    now: Run | None = None


class RunSums(msgspec.Struct, frozen=True, gc=False):
    """State: runs by player; time of the next report."""

    players: dict[str, PlayerRuns] = {}
    due_us: int = -(2**62)


class RunningStatistics:
    """14.1: ``stat.running`` x 4 windows x team: seconds and metres in each class of running.

    One event per player, and one per team without a player, the sum of its players. ``variant`` is the window.
    ``detail``: ``standing_s``, ``standing_m``, ``trot_s``, ``trot_m``, ``low_s``, ``low_m``, ``medium_s``,
    ``medium_m``, ``high_s``, ``high_m``, ``sprint_s``, ``sprint_m``.
    """

    def __init__(self, parameters: ReportParameters | None = None) -> None:
        self.parameters = parameters or ReportParameters()
        self.spec = Spec(
            name="running_statistics",
            number="14.1",
            level=14,
            inputs=("run.state",),
            outputs=("stat.running",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="DEBS 2013 Q1",
            team_variants={"stat.running": tuple(WINDOWS_US)},
            details={
                "stat.running": (
                    "standing_s",
                    "standing_m",
                    "trot_s",
                    "trot_m",
                    "low_s",
                    "low_m",
                    "medium_s",
                    "medium_m",
                    "high_s",
                    "high_m",
                    "sprint_s",
                    "sprint_m",
                )
            },
        )

    def initial(self) -> RunSums:
        """No run."""
        return RunSums()

    def step(self, state: RunSums, event: Event) -> Step[RunSums]:
        """Note runs; report if a report is due."""
        runs = payload_as(event, Runs)
        players = {name: msgspec.structs.replace(p, now=None) for name, p in state.players.items()}
        oldest_us = event.ts_us - _LONGEST_US
        for name, team, run in runs.ended:
            players[name] = _ended(players.get(name) or PlayerRuns(team), run, oldest_us)
        for name, team, run in runs.now:
            players[name] = msgspec.structs.replace(players.get(name) or PlayerRuns(team), now=run)
        if event.ts_us < state.due_us:
            return RunSums(players, state.due_us), NOTHING
        out = [e for window in WINDOWS_US for e in self._report(players, window, event)]
        return RunSums(players, event.ts_us + self.parameters.report_us), out

    def _report(self, players: dict[str, PlayerRuns], window: str, event: Event) -> Iterator[Event]:
        from_us = event.ts_us - WINDOWS_US[window] if WINDOWS_US[window] else None
        teams: dict[Team, list[list[float]]] = {team: [[0.0, 0.0] for _ in CLASSES] for team in TEAMS}
        for name in sorted(players):
            sums = running_sums(players[name], from_us)
            team = players[name].team
            for total, (took_s, distance_m) in zip(teams.get(team, ()), sums, strict=False):
                total[0] += took_s
                total[1] += distance_m
            yield _running(window, team, name, sums, event)
        for team in TEAMS:
            yield _running(window, team, "", teams[team], event)


def running_sums(player: PlayerRuns, from_us: int | None) -> list[list[float]]:
    """Seconds and metres by class since an instant; since the begin if it is None."""
    sums = [[0.0, 0.0] for _ in CLASSES] if from_us is not None else [list(pair) for pair in player.sums]
    runs = (*player.runs, player.now) if from_us is not None else (player.now,)
    for run in runs:
        if run is None or (from_us is not None and run.to_us <= from_us):
            continue
        took_us = run.to_us - run.from_us
        inside_us = took_us if from_us is None else run.to_us - max(run.from_us, from_us)
        sums[run.intensity][0] += inside_us / 1e6
        sums[run.intensity][1] += run.distance_m * inside_us / took_us if took_us else 0.0
    return sums


def _ended(player: PlayerRuns, run: Run, oldest_us: int) -> PlayerRuns:
    sums = list(player.sums)
    took_s, distance_m = sums[run.intensity]
    sums[run.intensity] = (took_s + (run.to_us - run.from_us) / 1e6, distance_m + run.distance_m)
    first = next((i for i, old in enumerate(player.runs) if old.to_us > oldest_us), len(player.runs))
    return PlayerRuns(player.team, (*player.runs[first:], run), tuple(sums), player.now)


def _running(window: str, team: Team, player: str, sums: Iterable[Iterable[float]], event: Event) -> Event:
    detail: dict[str, Scalar] = {}
    for name, (took_s, distance_m) in zip(CLASSES, sums, strict=True):
        detail[f"{name}_s"], detail[f"{name}_m"] = round(took_s, 3), round(distance_m, 2)
    payload = EventPayload(window, team, player, detail=detail)
    return make_event("stat.running", event.ts_us, f"{player or team}:{window}:{event.ts_us}", payload)


class Stint(msgspec.Struct, frozen=True, gc=False):
    """A player has the ball: times of his hits, oldest first; the end (his loss, or now)."""

    player: str
    team: Team
    hits_us: tuple[int, ...]
    to_us: int


class HeldSums(msgspec.Struct, frozen=True, gc=False):
    """Of a player or a team over all stints that ended: seconds from first to last hit, seconds held, hits."""

    time_s: float = 0.0
    held_s: float = 0.0
    hits: int = 0


class Stints(msgspec.Struct, frozen=True, gc=False):
    """State of the detector.

    Attributes:
        dead: True if play is dead.
        now: the stint that goes on.
        stints: those that reach into the longest window, oldest first.
        players: team and sums of the match by player.
        teams: sums of the match by team.
        due_us: time of the next report.
    """

    dead: bool = False
    now: Stint | None = None
    stints: tuple[Stint, ...] = ()
    players: dict[str, tuple[Team, HeldSums]] = {}
    teams: tuple[HeldSums, HeldSums] = (HeldSums(), HeldSums())
    due_us: int = -(2**62)


class PossessionStatistics:
    """14.2: ``stat.possession`` x 4 windows x {player, team}: time with the ball.

    A player gains the ball by a hit (5.1) in play or by taking a restart, and has it until another player hits it, it
    leaves the pitch or play stops. Players who have had it since the last report are published. ``detail``: ``time_s``
    (from his first to his last hit, summed over stints), ``held_s`` (until the loss), ``hits``; of a team also
    ``percent`` (of the time that both teams held it).
    """

    def __init__(self, parameters: ReportParameters | None = None) -> None:
        self.parameters = parameters or ReportParameters()
        self.spec = Spec(
            name="possession_statistics",
            number="14.2",
            level=14,
            inputs=("clock.tick", "hit", "phase.dead", "phase.live"),
            outputs=("stat.possession",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="DEBS 2013 Q2",
            variants={"stat.possession": tuple(f"{who}, {w}" for who in ("player", "team") for w in WINDOWS_US)},
            details={"stat.possession": ("time_s", "held_s", "hits", "percent")},
        )

    def initial(self) -> Stints:
        """No player has the ball."""
        return Stints()

    def step(self, state: Stints, event: Event) -> Step[Stints]:
        """Follow hits, stoppages, restarts and ticks."""
        if event.kind == "clock.tick":
            return self._tick(state, event)
        if event.kind == "phase.dead":
            return msgspec.structs.replace(_lost(state, event.ts_us), dead=True), NOTHING
        payload = payload_of(event)
        if event.kind == "phase.live":
            return _follow_restart(state, payload), NOTHING
        if state.dead:
            return state, NOTHING
        now = state.now
        if now is not None and now.player == payload.player:
            longer = Stint(now.player, now.team, (*now.hits_us, event.ts_us), event.ts_us)
            return msgspec.structs.replace(state, now=longer), NOTHING
        gained = Stint(payload.player, payload.team, (event.ts_us,), event.ts_us)
        return msgspec.structs.replace(_lost(state, event.ts_us), now=gained), NOTHING

    def _tick(self, state: Stints, event: Event) -> Step[Stints]:
        if state.now is not None:
            # Hits may be dated after the tick before them.
            until_us = max(event.ts_us, state.now.to_us)
            state = msgspec.structs.replace(state, now=msgspec.structs.replace(state.now, to_us=until_us))
        if event.ts_us < state.due_us:
            return state, NOTHING
        out = [e for window in WINDOWS_US for e in self._report(state, window, event)]
        return msgspec.structs.replace(state, due_us=event.ts_us + self.parameters.report_us), out

    def _report(self, state: Stints, window: str, event: Event) -> Iterator[Event]:
        from_us = event.ts_us - WINDOWS_US[window] if WINDOWS_US[window] else None
        current: tuple[Stint, ...] = (state.now,) if state.now else ()
        stints = (*state.stints, *current)
        since_us = event.ts_us - self.parameters.report_us
        for player, team in sorted({(s.player, s.team) for s in stints if s.to_us > since_us}):
            own = [s for s in stints if s.player == player]
            sums = held(own, from_us)
            if from_us is None:
                before = state.players.get(player, (team, HeldSums()))[1]
                sums = _plus(before, held([s for s in current if s.player == player], None))
            yield _possession(f"player, {window}", team, player, sums, None, event)
        sides = [held([s for s in stints if s.team == team], from_us) for team in TEAMS]
        if from_us is None:
            more = [held([s for s in current if s.team == team], None) for team in TEAMS]
            sides = [_plus(before, after) for before, after in zip(state.teams, more, strict=True)]
        whole_s = sum(side.held_s for side in sides)
        for team, side in zip(TEAMS, sides, strict=True):
            percent = 100.0 * side.held_s / whole_s if whole_s else 0.0
            yield _possession(f"team, {window}", team, "", side, percent, event)


def held(stints: Iterable[Stint], from_us: int | None) -> HeldSums:
    """Sums over the parts of stints after an instant; over all of them if it is None."""
    time_us = held_us = hits = 0
    for stint in stints:
        begin_us = stint.hits_us[0] if from_us is None else max(stint.hits_us[0], from_us)
        time_us += max(0, stint.hits_us[-1] - begin_us)
        held_us += max(0, stint.to_us - begin_us)
        hits += sum(from_us is None or hit_us >= from_us for hit_us in stint.hits_us)
    return HeldSums(time_us / 1e6, held_us / 1e6, hits)


def _follow_restart(state: Stints, payload: EventPayload) -> Stints:
    """Count the kick of a restart as its taker's hit, though the ball was dead until then."""
    kick_us = time_us(payload, "kick_us")
    taken = Stint(payload.player, payload.team, (kick_us,), kick_us) if payload.player and state.dead else state.now
    return msgspec.structs.replace(state, dead=False, now=taken)


def _lost(state: Stints, now_us: int) -> Stints:
    """The holder has lost the ball."""
    now = state.now
    if now is None:
        return state
    done = msgspec.structs.replace(now, to_us=max(now_us, now.hits_us[-1]))
    sums = held((done,), None)
    players = {**state.players}
    players[done.player] = done.team, _plus(players.get(done.player, (done.team, HeldSums()))[1], sums)
    home, away = state.teams
    teams = (_plus(home, sums), away) if done.team == "home" else (home, _plus(away, sums))
    first = next((i for i, s in enumerate(state.stints) if s.to_us > now_us - _LONGEST_US), len(state.stints))
    return Stints(state.dead, None, (*state.stints[first:], done), players, teams, state.due_us)


def _plus(one: HeldSums, other: HeldSums) -> HeldSums:
    return HeldSums(one.time_s + other.time_s, one.held_s + other.held_s, one.hits + other.hits)


def _possession(variant: str, team: Team, player: str, sums: HeldSums, percent: float | None, event: Event) -> Event:
    detail: dict[str, Scalar] = {"time_s": round(sums.time_s, 3), "held_s": round(sums.held_s, 3), "hits": sums.hits}
    if percent is not None:
        detail["percent"] = round(percent, 2)
    anchor = f"{player or team}:{variant}:{event.ts_us}"
    return make_event("stat.possession", event.ts_us, anchor, EventPayload(variant, team, player, detail=detail))
