"""Small scenes for detector tests: events written by hand and folded through one detector."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from detectors.arrivals import official_arrival
from detectors.catalogue import build_detectors
from detectors.emission import make_event
from football.match_sheet import MatchSheet, Team
from football.officials import Official
from football.payloads import BallState, BodyState, EventPayload, build_frame
from middleware.detector import Detector
from middleware.events import Event
from middleware.hierarchy import Hierarchy
from middleware.oracle import sorted_replay
from tests.detectors.contract import wrong_payloads

Point = tuple[float, ...]

#: Names, or beginnings of names, of the detectors of pitch, lines, restarts and goals.
_LINES_TO_GOALS = (
    "ball_motion", "line_crossing", "goal_", "area_watch", "direction", "restart", "play_phase", "ball_in_play",
    "ball_out", "official", "match_clock", "shoot_out",
)  # fmt: skip


def ball_track(points: Sequence[Point], step_s: float = 0.04, start_s: float = 0.0) -> list[Event]:
    """``ball.state`` events through (x, y[, z]) metres, one every ``step_s``; velocities are differences."""
    events: list[Event] = []
    for i, point in enumerate(points):
        x_m, y_m, z_m = (*point, 0.0)[:3]
        before = (*points[i - 1], 0.0)[:3] if i else (x_m, y_m, z_m)
        v = [(now - then) / step_s for now, then in zip((x_m, y_m, z_m), before, strict=True)]
        state = BallState(x_m, y_m, z_m, v[0], v[1], v[2], round(step_s * 1e6))
        events.append(Event("ball.state", round((start_s + i * step_s) * 1e6), "ball", i, state))
    return events


def path(start: Point, end: Point, seconds: float, step_s: float = 0.04) -> list[Point]:
    """Evenly spaced points from ``start`` to ``end``, the start left out."""
    n = round(seconds / step_s)
    return [tuple(a + (b - a) * i / n for a, b in zip(start, end, strict=True)) for i in range(1, n + 1)]


def body(object_id: str, x_m: float, y_m: float) -> BodyState:
    """A player who stands still; his team is his prefix."""
    team: Team = "home" if object_id.startswith("home") else "away"
    return BodyState(object_id, team, "", x_m, y_m, 0.0, 0.0, 0.0)


def frame_event(
    at_s: float, ball: Point | None, players: Iterable[BodyState], seq: int = 0, others: Iterable[BodyState] = ()
) -> Event:
    """A ``frame`` with a ball at rest, those who play and the others."""
    state = None if ball is None else BallState(*(*ball, 0.0)[:3], 0.0, 0.0, 0.0, 40_000)
    on, off = (tuple(sorted(some, key=lambda p: p.object_id)) for some in (players, others))
    return Event("frame", round(at_s * 1e6), "frame", seq, build_frame(state, on, off))


def fold(detector: Detector[object], events: Iterable[Event]) -> list[Event]:
    """Everything that the detector concludes from those events that it listens to; checks its promises on the way."""
    state = detector.initial()
    out: list[Event] = []
    for event in events:
        if event.kind not in detector.spec.inputs:
            continue
        again = detector.step(state, event)
        state, emitted = detector.step(state, event)
        assert again == (state, emitted), f"{detector.spec.name} is not pure at {event}"
        for result in emitted:
            assert result.kind in detector.spec.outputs
            assert event.ts_us - detector.spec.horizon_us <= result.ts_us <= event.ts_us, result
        out.extend(emitted)
    ids = [event.id for event in out if event.id and event.kind not in detector.spec.amends]
    assert len(ids) == len(set(ids)), "two events share an id"
    assert wrong_payloads([detector], out) == []
    return out


def chained(events: Iterable[Event], *detectors: Detector[object]) -> list[Event]:
    """Return what the last of some detectors publishes; each is given the events and what those before it conclude."""
    known, found = list(events), list[Event]()
    for detector in detectors:
        kinds = detector.spec.inputs
        heard = [event for event in known if event.kind in kinds]
        found = fold(detector, sorted(heard, key=lambda e: (e.ts_us, kinds.index(e.kind))))
        known += found
    return [event for event in found if event.kind not in detectors[-1].spec.internal]


def rows_of(events: Iterable[Event]) -> list[tuple[str, str, str]]:
    """(kind, variant, team) of sparse events: what most tests compare."""
    rows: list[tuple[str, str, str]] = []
    for event in events:
        assert isinstance(event.payload, EventPayload)
        rows.append((event.kind, event.payload.variant, event.payload.team))
    return rows


def stay(point: Point, seconds: float, step_s: float = 0.04) -> list[Point]:
    """The same point for some seconds."""
    return [point] * round(seconds / step_s)


def cast(**moved: tuple[float, float]) -> tuple[BodyState, ...]:
    """Two teams of eleven, each in its own half, home on the left; players named in ``moved`` stand elsewhere."""
    places: dict[str, tuple[float, float]] = {}
    for number in range(1, 12):
        x_m, y_m = (-50.0, 0.0) if number == 1 else (-40.0 + 4.0 * (number % 8), -30.0 + 5.5 * (number - 1))
        places[f"home_{number}"], places[f"away_{number}"] = (x_m, y_m), (-x_m, y_m)
    return tuple(body(name, *place) for name, place in {**places, **moved}.items())


def scene(points: Sequence[Point], players: Iterable[BodyState], step_s: float = 0.04) -> list[Event]:
    """``ball.state`` and ``frame`` events of a ball on its way among players who stand still."""
    balls = ball_track(points, step_s)
    everybody = tuple(sorted(players, key=lambda p: p.object_id))
    frames = [Event("frame", b.ts_us, "frame", b.seq, build_frame(b.payload, everybody)) for b in balls]
    return [*balls, *frames]


def hit(at_s: float, player: str, x_m: float, y_m: float) -> Event:
    """A ``hit`` by a player at a place."""
    team: Team = "home" if player.startswith("home") else "away"
    return make_event("hit", round(at_s * 1e6), f"ball:{at_s}", EventPayload("hit", team, player, x_m, y_m))


def decision(arrival_s: float, kind: str, number: int = 1, *, at_s: float | None = None, **named: object) -> Event:
    """A decision of officials as it enters the engine, about another instant or that of its arrival."""
    at_us = round((arrival_s if at_s is None else at_s) * 1e6)
    official = Official("operator", number, kind, at_us, **named)  # type: ignore[arg-type]
    arrival_us = round(arrival_s * 1e6)
    return official_arrival(official, arrival_us, arrival_us - 2_000_000).event


def conclusive(sheet: MatchSheet) -> Hierarchy:
    """The detectors of lines, phases, restarts and goals over frames, ball states and contacts."""
    raw = ("ball.state", "ball.accel_peak", "frame", "hit", "touch", "kick.released", "raw.official", "clock.tick")
    raw += ("gk.catch", "gk.parry", "gk.punch", "near", "not_near", "raw.end", "raw.flag")
    detectors = [d for d in build_detectors(sheet) if d.spec.name == "goal" or d.spec.name.startswith(_LINES_TO_GOALS)]
    return Hierarchy(raw, detectors)


def concluded(events: Iterable[Event], sheet: MatchSheet, *kinds: str) -> list[Event]:
    """Events of lines, phases, restarts and goals from frames, ball states and contacts, by time.

    Args:
        kinds: beginnings of the kinds that are wanted; all without any.
    """
    found = sorted_replay(conclusive(sheet), events)
    return sorted((e for e in found if e.kind.startswith(kinds or ("",))), key=lambda e: e.ts_us)
