"""A scripted match, for work on the page without a live one: ``python -m dashboard.demo``.

:class:`ScriptedFeed` is a feed with content that a caller sets. :class:`Choreography` plays a simple match into it: two
teams in formation lean towards the ball, players pass it, and events go through every state that the page can show.
The same time always gives the same match.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Final

from camera.head import Pose
from camera.mount import Mount
from dashboard.feed import Aim, CameraPose, InputState
from dashboard.live import LiveState
from dashboard.routes import page_routes
from dashboard.server import WebServer
from football.input_quality import InputQuality
from football.match_sheet import MatchSheet, Player, Team
from football.truth_kinds import LEVELS
from football.update_stream import BallView, BodyView, EventRecord, Health, UpdateRecord, View, WatermarkHold

PASS_US: Final = 1_600_000
FRONTIER_LAG_US: Final = 2_500_000
#: Every n-th pass is something else.
_INTERCEPTED_EVERY: Final = 5
_MISTAKEN_EVERY: Final = 7
_CORNER_EVERY: Final = 9
_SHOT_EVERY: Final = 13
_GOAL_EVERY: Final = 26

_FORMATION: Final = (
    (-47, 0), (-30, -22), (-33, -7), (-33, 7), (-30, 22),
    (-14, -20), (-17, -6), (-17, 6), (-14, 20), (-3, -7), (-3, 7),
)  # fmt: skip
_HOME_NAMES: Final = (
    "Alves", "Brandt", "Costa", "Dahl", "Eriksen", "Ferro", "Garnier", "Hoxha", "Ibarra", "Jansen", "Kovac",
)  # fmt: skip
_AWAY_NAMES: Final = (
    "Lindqvist", "Moreau", "Novak", "Okafor", "Pires", "Quist", "Rossi", "Sato", "Toure", "Urban", "Vidal",
)  # fmt: skip


def demo_sheet() -> MatchSheet:
    """Two teams of eleven."""
    players = [
        Player(f"{team}_{i + 1}", team, name, i + 1, i == 0)
        for team, names in (("home", _HOME_NAMES), ("away", _AWAY_NAMES))
        for i, name in enumerate(names)
    ]
    return MatchSheet("demo", "Harbour United", "Northgate Rovers", players=tuple(players), venue="Harbour Park")


def demo_event(kind: str, ts_us: int, anchor: str, **values: object) -> EventRecord:
    """An event record with every field that is not given empty."""
    fields: dict[str, object] = {
        "variant": "", "level": LEVELS.get(kind, 1), "team": "", "player": "", "x_m": None, "y_m": None, "z_m": None,
        "confidence": 1.0,
    }  # fmt: skip
    return EventRecord(id=f"{kind}#{anchor}", kind=kind, ts_us=ts_us, **{**fields, **values})  # type: ignore[arg-type]


class ScriptedFeed:
    """A feed that returns what a caller has set. Thread safe."""

    def __init__(self, sheet: MatchSheet) -> None:
        self._lock = threading.Lock()
        self._sheet = sheet
        self._log: list[UpdateRecord] = []
        self._view: View | None = None
        self._health: Health | None = None
        self._latency: Mapping[str, Mapping[str, float]] = {}
        self._cameras: tuple[CameraPose, ...] = ()
        self._input: InputState | None = None
        self._now_us = 0
        self._frontier_us = -(2**62)
        self._ended = False

    def publish(self, event: EventRecord, diff: int = 1, at_us: int | None = None) -> None:
        """Appends an update to the log, emitted now or ``at_us``."""
        with self._lock:
            emitted_us = self._now_us if at_us is None else at_us
            self._log.append(UpdateRecord(len(self._log), diff, emitted_us, event))

    def amend(self, old: EventRecord, new: EventRecord) -> None:
        """Withdraws ``old`` and asserts ``new`` in one go, as an engine does."""
        with self._lock:
            for event, diff in ((old, -1), (new, 1)):
                self._log.append(UpdateRecord(len(self._log), diff, self._now_us, event))

    def advance(self, now_us: int, frontier_us: int, view: View | None = None) -> None:
        """Sets the clocks and, if given, the newest positions."""
        with self._lock:
            self._now_us = now_us
            self._frontier_us = frontier_us
            self._view = view or self._view

    def report(self, health: Health, latency: Mapping[str, Mapping[str, float]], *cameras: CameraPose) -> None:
        """Sets what the health strip shows, and the cameras."""
        with self._lock:
            self._health, self._latency, self._cameras = health, latency, cameras

    def set_input(self, state: InputState) -> None:
        """Set the state of the input."""
        with self._lock:
            self._input = state

    def end(self) -> None:
        """End the match: all events are final."""
        with self._lock:
            self._frontier_us = 2**62
            self._ended = True

    def sheet(self) -> MatchSheet:
        return self._sheet

    def latest_view(self) -> View | None:
        with self._lock:
            return self._view

    def events_since(self, cursor: int) -> tuple[int, Sequence[UpdateRecord]]:
        with self._lock:
            return len(self._log), self._log[cursor:]

    def frontier_us(self) -> int:
        with self._lock:
            return self._frontier_us

    def now_us(self) -> int:
        with self._lock:
            return self._now_us

    def health(self) -> Health | None:
        with self._lock:
            return self._health

    def latency(self) -> Mapping[str, Mapping[str, float]]:
        with self._lock:
            return self._latency

    def input(self) -> InputState | None:
        with self._lock:
            return self._input

    def cameras(self) -> tuple[CameraPose, ...]:
        with self._lock:
            return self._cameras

    def ended(self) -> bool:
        with self._lock:
            return self._ended


class Choreography:
    """Plays the scripted match into a feed, moment by moment."""

    def __init__(self, feed: ScriptedFeed) -> None:
        self._feed = feed
        self._passes = 0
        self._pending: list[tuple[int, EventRecord, EventRecord | None]] = []

    def play(self, now_us: int) -> None:
        """Moves everything to ``now_us``; call it with rising times, at least 25 a second."""
        view = view_at(now_us)
        self._feed.advance(now_us, now_us - FRONTIER_LAG_US, view)
        while self._passes * PASS_US <= now_us:
            self._kick(self._passes)
            self._passes += 1
        due = [item for item in self._pending if item[0] <= now_us]
        self._pending = [item for item in self._pending if item[0] > now_us]
        for _, event, replaced in due:
            if replaced is not None:
                self._feed.publish(replaced, -1)
            if event is not replaced:
                self._feed.publish(event)
        self._feed.set_input(InputState(0.03, None, 1.0, 0, ()))
        self._feed.report(_health(now_us, self._passes), _latency(now_us), _camera(view))

    def _kick(self, number: int) -> None:
        """Events of the pass with this number, now and a little later."""
        ts_us = number * PASS_US
        anchor, (x_m, y_m), (to_x_m, to_y_m) = f"ball:{number}", _foot(number), _foot(number + 1)
        passer, receiver = _holder(number), _holder(number + 1)
        team: Team = "home" if passer.startswith("home") else "away"
        other: Team = "away" if team == "home" else "home"
        where = {"x_m": x_m, "y_m": y_m, "team": team, "player": passer}
        hit = demo_event("hit", ts_us, anchor, **where)
        self._feed.publish(hit, at_us=ts_us + 60_000)
        if number % 8 == 0:
            self._feed.publish(demo_event("play.live", ts_us, anchor))
            self._feed.publish(demo_event("team.possession", ts_us, anchor, team=team, variant=team))
        if number % _SHOT_EVERY == _SHOT_EVERY - 1:
            self._shoot(number, ts_us, where, team)
            return
        if number % _CORNER_EVERY == 4:
            side = "left" if number % 2 else "right"
            corner = (52.0 if team == "home" else -52.0, 33.5)
            event = demo_event(
                "restart.corner", ts_us, anchor, variant=side, team=team, player=passer, x_m=corner[0], y_m=corner[1]
            )
            self._pending.append((ts_us + 200_000, event, None))
        if number % _MISTAKEN_EVERY == 6:
            mistaken = demo_event("shot.attempt", ts_us, anchor, **where)
            self._pending.append((ts_us + 150_000, mistaken, None))
            self._pending.append((ts_us + 900_000, mistaken, mistaken))
        attempt = demo_event("pass.attempt", ts_us, anchor, **where)
        self._pending.append((ts_us + 180_000 + number * 37 % 220 * 1000, attempt, None))
        end_us = ts_us + PASS_US - 300_000
        if number % 3 == 0:
            self._pending.append((end_us, demo_event("progress.pass", ts_us, anchor, **where), None))
        end = {"x_m": to_x_m, "y_m": to_y_m, "causes": (attempt.id,), "team": team}
        complete = demo_event("pass.complete", end_us, anchor, player=passer, detail={"receiver": receiver}, **end)
        self._pending.append((end_us + 60_000, complete, None))
        if number % _INTERCEPTED_EVERY == 3:
            self._pending.append((end_us + 900_000, complete, complete))
            failed = demo_event(
                "pass.intercepted", end_us, anchor, player=passer, detail={"receiver": f"{other}_4"}, **end
            )
            self._pending.append((end_us + 900_000, failed, None))

    def _shoot(self, number: int, ts_us: int, where: Mapping[str, object], team: Team) -> None:
        anchor = f"ball:{number}"
        goal_x_m = 52.5 if team == "home" else -52.5
        shot = demo_event("shot.attempt", ts_us, anchor, **where)
        self._pending.append((ts_us + 180_000, shot, None))
        chance = demo_event("shot.xg", ts_us, anchor, detail={"xg": 0.06 + number % 4 * 0.11}, **where)
        self._pending.append((ts_us + 300_000, chance, None))
        end = {"team": team, "player": where["player"], "causes": (shot.id,), "x_m": goal_x_m}
        end_us = ts_us + 900_000
        if number % _GOAL_EVERY == _GOAL_EVERY - 1:
            goal = demo_event("goal.scored", end_us, anchor, y_m=1.8, **end)
            self._pending.append((end_us + 80_000, goal, None))
            confirmed = demo_event("goal.confirmed", end_us + 6_000_000, anchor, team=team, causes=(goal.id,))
            self._pending.append((end_us + 6_100_000, confirmed, None))
        else:
            off = demo_event("shot.off", end_us, anchor, variant="wide left", y_m=6.5, **end)
            self._pending.append((end_us + 80_000, off, None))


def view_at(now_us: int) -> View:
    """Positions of everybody at a time."""
    number, share = divmod(now_us, PASS_US)
    (x0, y0), (x1, y1) = _foot(number), _foot(number + 1)
    flown = min(1.0, share / (PASS_US - 300_000))
    x_m, y_m = x0 + (x1 - x0) * flown, y0 + (y1 - y0) * flown
    height_m = 4 * (5.0 if number % 3 == 0 else 0.4) * flown * (1 - flown)
    players = tuple(
        BodyView(f"{team}_{i + 1}", team, now_us, *_position(team, i, now_us, x_m, y_m), 0.0, 0.0)
        for team in ("home", "away")
        for i in range(11)
    )
    return View(now_us, BallView(now_us, x_m, y_m, height_m, 0.0, 0.0, 0.0), players)


def _position(team: str, index: int, now_us: int, ball_x_m: float, ball_y_m: float) -> tuple[float, float]:
    """Return the position of a player: in formation, leaning towards the ball, with a slow drift."""
    sign = 1 if team == "home" else -1
    base_x, base_y = _FORMATION[index][0] * sign, _FORMATION[index][1] * sign
    lean = 0.06 if index == 0 else 0.34
    phase = now_us / 1e6 * (0.35 + 0.02 * index) + index * 1.7 + sign
    x_m = base_x + lean * ball_x_m + 2.2 * math.sin(phase)
    y_m = base_y + lean * 0.6 * (ball_y_m - base_y) + 2.2 * math.cos(0.8 * phase)
    return max(-51.5, min(51.5, x_m)), max(-33.0, min(33.0, y_m))


def _holder(number: int) -> str:
    """The player with the ball when pass ``number`` is played: each team keeps it for eight passes."""
    team = "home" if number // 8 % 2 == 0 else "away"
    return f"{team}_{(number * 7 + 3) % 10 + 2}"


def _foot(number: int) -> tuple[float, float]:
    """Where the ball is when pass ``number`` is played."""
    sign = 1 if _holder(number).startswith("home") else -1
    return sign * (22 * math.sin(number * 0.9) + 12), 24 * math.sin(number * 1.7 + 1)


def _camera(view: View) -> CameraPose:
    """The pose of a camera at the default mount that follows the ball; the head lags a little behind its plan."""
    assert view.ball is not None
    achieved, planned = (_aim(0.85 * view.ball.x_m - lag_m, 0.6 * view.ball.y_m) for lag_m in (2.0, 0.0))
    return CameraPose("main", achieved, planned)


def _aim(x_m: float, y_m: float) -> Aim:
    mount = Mount()
    pan_deg, tilt_deg = mount.aim(x_m, y_m)
    pose = Pose(pan_deg, tilt_deg, 22.0)
    return Aim(pan_deg, tilt_deg, pose.width_deg, tuple(mount.footprint(pose, 16 / 9)))


def _health(now_us: int, passes: int) -> Health:
    slack = {"pass_outcome": 912_000, "shot": 181_000, "player_hits_ball": 146_000, "near": 144_000, "fusion": 88_000}
    return Health(
        clk_us=now_us, frontier_us=now_us - FRONTIER_LAG_US, slack_us=slack,
        alpha={"pass_outcome": 0.2, "shot": 0.35, "player_hits_ball": 0.35, "near": 0.5, "fusion": 1.0},
        buffered=412 + passes % 37, held=2_950 + passes % 91, late=passes // 4, retractions=passes // 5, lost=0,
        duplicates=passes * 3, quarantined=2, positions=now_us * 1150 // 1_000_000,
        lag_us={"pass_outcome": 182_000, "shot": 63_000, "player_hits_ball": 51_000, "near": 72_000, "fusion": 88_000},
        work_shares={"fusion": 0.31, "near": 0.22, "player_hits_ball": 0.04, "shot": 0.02, "pass_outcome": 0.01},
        hold=WatermarkHold("source", "home_7.left_foot", 800_000, 7_100_000),
        quality=InputQuality(ball_share=0.993, home_players=11, away_players=11, frozen_s=12.0, identity_jumps=12),
    )  # fmt: skip


def _latency(now_us: int) -> Mapping[str, Mapping[str, float]]:
    wobble = 1 + 0.1 * math.sin(now_us / 3e6)
    stages = {"source_to_engine": (9.0, 21.0, 64.0), "engine": (3.1, 7.4, 12.0), "engine_to_hub": (2.2, 4.0, 9.1)}
    stages["source_to_hub"] = (15.0, 38.0, 96.0)
    return {
        name: dict(zip(("p50", "p95", "p99"), (value * wobble for value in values), strict=True))
        for name, values in stages.items()
    }


def main() -> None:
    """Serves the scripted match until interrupted."""
    feed = ScriptedFeed(demo_sheet())
    choreography = Choreography(feed)
    with WebServer(page_routes(LiveState(feed)), port=8050) as server:
        print(f"scripted match at {server.url} (Ctrl-C ends it)")
        began = time.monotonic()
        try:
            while True:
                choreography.play(int((time.monotonic() - began) * 1e6))
                time.sleep(0.02)
        except KeyboardInterrupt:
            feed.end()


if __name__ == "__main__":
    main()
