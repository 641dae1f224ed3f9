"""How good is the steering: the cost of latency on screen, the gain of events by chance, the distance to the best?

Five questions on simulated matches (seeds 11 to 20), or on a tracked one, sent by the radio channel ``wifi``:

    latency   the ball reaches a planner with a picture of 15 degrees after a fixed delay: RMS and p95 error of the
              picture's middle, share of time with the ball outside, jerk of the plan
    heads     the same plan through heads with a lag (second order, --lag-ms): jerk of the head against the plan's,
              with error feedback and with the nearest speed, for the BRC-X400, for the 50 steps of the ILME-FR7 and
              for a fine table of 127 speeds
    events    the whole planner on the engine's messages: pure buffering (K-slack that waits K out), speculation with
              every event believed, by chance, and waiting for confirmation; reaction and arrival
              (``camera.event_scores``), and path wasted on withdrawn events
    best      the score of the planner and of a ball-follower, as shares of the score of an oracle: the true path of
              the ball with room in front of it, smoothed with knowledge of the future
    foresight the score of the planner if it knew the true path of the ball for a while ahead: what the goal asks for,
              and whether the planner or what it can know is short of it

The score of a track is the geometric mean of four shares:

    inside    time with the ball in the inner 70 % of the picture
    calm      1 / (1 + (RMS jerk / 100 deg/s3)^2), with the jerk of ``camera.metrics``
    composed  of the time in which the ball moves on: 1 with a lead room of 0.1 to 0.2 of the picture's width, less with
              more or less, 0 from -0.2 and 0.5 on
    shown     of the time in which events that stand in the end hold the picture: that with their subject in it

    python -m bench.camera_latency [--seeds 11 12 ..] [--minutes 3] [--source FILE] [--traces DIR] [--json FILE]
        [--table latency|events|foresight] [--chances FILE]

``--chances`` writes the table of chances that the matches show (``camera/chances.toml``).
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from scipy.ndimage import gaussian_filter1d

from bench.camera_traces import BUFFERED, SPECULATIVE, Floats, Trace, recorded_trace, simulated_trace
from camera.chances import Chance, Chances, certain, load_chances
from camera.drive import Fit, Response, best_step, nearest_step
from camera.event_scores import EventScores
from camera.framing import FramingTable, load_framing
from camera.head import Pose
from camera.interest import Pull, pulls_of
from camera.lookahead import STEP_S
from camera.metrics import derivatives, exact_jerk, rms
from camera.motion import Motion, follow
from camera.mount import Mount
from camera.planner import NORMAL, TICK_US, Plan, Planner
from camera.profile import AxisProfile, load_profile
from football.update_stream import BallView, UpdateRecord, View

SEEDS = tuple(range(11, 21))
DELAYS_MS = (60, 150, 300, 500, 800, 1276)
FORESIGHTS_MS = (0, 300, 600, 1200)
PICTURE_DEG, FRAME_US = 15.0, 40_000
LAG_S = 0.1
#: First seconds of a track that are not judged.
SETTLES = 150
#: A ball that pans faster moves on; the lead room that is wanted then, and how far off it counts for nothing.
MOVES_ON_DEG_S = 2.0
WANTED_ROOM, ROOM_TOLERANCE = (0.1, 0.2), 0.3
#: Of the oracle: share of the picture ahead of the ball, times of its filters.
ORACLE_ROOM, ORACLE_TREND_S, ORACLE_SMOOTH_S = 0.25, 0.5, 0.35
#: The subject of an event should be in the picture for so long at most: then play may go on.
SHOWN_S_MAX = 1.0

MOUNT, PROFILE, FRAMING = Mount(), load_profile(), load_framing()
#: Speeds of a head with a fine table: 127 from 0.05 to 180 degrees a second, evenly in their logarithm.
FINE = tuple(float(speed) for speed in np.geomspace(0.05, 180.0, 127))
FR7_AXIS = load_profile("ilme-fr7").pan
FINE_AXIS = msgspec.structs.replace(PROFILE.pan, speeds_deg_s=FINE)
#: A lens that is always ``PICTURE_DEG`` wide.
FIXED = msgspec.structs.replace(
    PROFILE,
    zoom=msgspec.structs.replace(
        PROFILE.zoom, wide_width_deg=PICTURE_DEG, curve=((0, 1.0), (PROFILE.zoom.max_units, 1.0))
    ),
)
Row = dict[str, float | str]


@dataclass(frozen=True)
class Track:
    """A planned movement tick by tick, and where the ball truly was."""

    plans: list[Plan]
    ball_pan_deg: Floats
    scores: dict[str, float]

    @property
    def pan_deg(self) -> Floats:
        """Planned pan."""
        return np.array([plan.pan.position for plan in self.plans])

    @property
    def width_deg(self) -> Floats:
        """Planned width of the picture."""
        return np.array([plan.width_deg for plan in self.plans])


def true_pan(trace: Trace, ticks_us: Sequence[int] | Floats) -> Floats:
    """Return the direction of the ball at each tick."""
    x_m, y_m = (np.interp(ticks_us, trace.ball[:, 0], trace.ball[:, column]) for column in (1, 2))
    return np.degrees(np.arctan2(x_m - MOUNT.x_m, y_m - MOUNT.y_m))  # the mount looks along +y


def delayed(trace: Trace, delay_us: int) -> Track:
    """Return the plan of a picture of 15 degrees when every frame of the ball comes ``delay_us`` late; no events."""
    ball = trace.ball[:: max(1, round(FRAME_US / np.median(np.diff(trace.ball[:, 0]))))]
    speed = np.zeros((len(ball), 3))
    speed[2:] = (ball[2:, 1:] - ball[:-2, 1:]) / ((ball[2:, :1] - ball[:-2, :1]) / 1e6)
    views = [
        View(int(b[0]), BallView(int(b[0]), *b[1:], *v), ()) for b, v in zip(ball.tolist(), speed.tolist(), strict=True)
    ]
    planner = Planner(MOUNT, FIXED, Pose(0.0, -11.0, PICTURE_DEG), framing=_ball_alone())
    planner.delay_us = delay_us
    plans, frame = [], 0
    for now_us in range(views[0].ts_us + delay_us, views[-1].ts_us, TICK_US):
        while frame < len(views) and views[frame].ts_us + delay_us <= now_us:
            planner.take_view(views[frame], views[frame].ts_us + delay_us)
            frame += 1
        plans.append(planner.tick(now_us))
    return Track(plans, true_pan(trace, [plan.now_us for plan in plans]), {})


class Foresight(Planner):
    """A planner that knows the true path of the ball for ``known_us`` ahead; then the ball stays."""

    def __init__(self, trace: Trace, known_us: int) -> None:
        super().__init__(MOUNT, PROFILE, Pose(0.0, -11.0, 25.0), size_m=trace.size_m, chance=load_chances().of)
        self._truth, self._known_us = trace.ball, known_us

    def take_view(self, view: View, now_us: int) -> None:
        """Take a view, and replace what its look-ahead expects of the ball."""
        super().take_view(view, now_us)
        if self._outlook is not None and self._known_us:
            steps_us = np.arange(len(self._outlook.path)) * STEP_S * 1e6
            times_us = self._outlook.ball.ts_us + np.minimum(steps_us, self._known_us)
            columns = [np.interp(times_us, self._truth[:, 0], self._truth[:, column]).tolist() for column in (1, 2, 3)]
            path = tuple(zip(*columns, strict=True))
            self._outlook = msgspec.structs.replace(self._outlook, path=path, contact_s=math.inf, contact=None)


def _ball_alone() -> FramingTable:
    """Return a framing table that knows nothing but the ball."""
    play = msgspec.structs.replace(FRAMING.play, players=0, goal_within_m=0.0)
    return msgspec.structs.replace(FRAMING, play=play, situation=())


def steered(trace: Trace, chance: Chance, waits: bool = False, planner: Planner | None = None) -> Track:
    """Return the plan of the whole planner on the engine's messages.

    Args:
        trace: the messages.
        chance: that a tentative event stands.
        waits: True to hold updates back until they are confirmed.
        planner: another one; ``chance`` is then its own.
    """
    planner = planner or Planner(MOUNT, PROFILE, Pose(0.0, -11.0, 25.0), size_m=trace.size_m, chance=chance)
    scores = EventScores(MOUNT, PROFILE.aspect)
    plans: list[Plan] = []
    waiting: dict[str, UpdateRecord] = {}
    arrived, after, frontier_us = trace.arrived, 0, 0
    for now_us in range(arrived[0].now_us, arrived[-1].now_us, TICK_US):
        while after < len(arrived) and arrived[after].now_us <= now_us:
            message, after = arrived[after], after + 1
            frontier_us = message.frontier_us
            if message.view is not None:
                planner.take_view(message.view, message.now_us)
                planner.delay_us += round(0.05 * (message.now_us - message.view.ts_us - planner.delay_us))
            for update in message.updates:
                if not waits:
                    planner.take_update(update)
                    scores.take_update(update)
                elif update.diff > 0:
                    waiting[update.event.id] = update
                else:
                    waiting.pop(update.event.id, None)
        for event_id in [one for one, update in waiting.items() if update.event.ts_us < frontier_us]:
            planner.take_update(waiting.pop(event_id))
        plan = planner.tick(now_us, frontier_us)
        pose = Pose(plan.pan.position, plan.tilt.position, plan.width_deg)
        scores.tick(planner.stream_us, pose, plan.causes, TICK_US / 1e6)
        plans.append(plan)
    return Track(plans, true_pan(trace, [plan.now_us for plan in plans]), scores.figures())


def driven(
    plans: Sequence[Plan],
    axis: AxisProfile,
    nearest: bool = False,
    known: AxisProfile | None = None,
    lag_s: float = LAG_S,
) -> Floats:
    """Return the pan of a head with a lag, which gets a speed of a table every 40 ms.

    Args:
        plans: the planned movement.
        axis: of the head.
        nearest: True to send the nearest speed.
        known: the axis as the controller knows it; None is the same.
        lag_s: of the head, which the controller knows.
    """
    response, position, step, found = Response(lag_s=lag_s), plans[0].pan.position, 0, []
    for tick, plan in enumerate(plans):
        if tick % 2 == 0:
            fitted = best_step(known or axis, plan.pan, position, step, response, Fit(), plan.width_deg)
            step = nearest_step(known or axis, plan.pan.velocity) if nearest else fitted
        found.append(position)
        speed = axis.speed_deg_s(step)
        by_speed, anyway = response.path(TICK_US / 1e6)
        position, response = position + by_speed * speed + anyway, response.after(speed, TICK_US / 1e6)
    return np.array(found)


def followed(trace: Trace, plans: Sequence[Plan]) -> Floats:
    """Return the pan of a camera that follows the ball where it was last seen."""
    motion, after, seen, found = Motion(plans[0].pan.position), 0, None, []
    for plan in plans:
        while after < len(trace.arrived) and trace.arrived[after].now_us <= plan.now_us:
            view, after = trace.arrived[after].view, after + 1
            seen = view.ball if view is not None and view.ball is not None else seen
        if seen is not None:
            target_deg = MOUNT.aim(seen.x_m, seen.y_m)[0]
            motion = follow(motion, target_deg, 0.0, TICK_US / 1e6, NORMAL.pan, NORMAL.trail_s)
        found.append(motion.position)
    return np.array(found)


def errors(pan_deg: Floats, ball_deg: Floats, width_deg: Floats) -> Row:
    """Return the aim error, the share of time with the ball outside, and the jerk of a movement."""
    off, half = np.abs(pan_deg - ball_deg)[SETTLES:], width_deg[SETTLES:] / 2
    return {
        "rms_deg": rms(off),
        "p95_deg": float(np.quantile(off, 0.95)),
        "out": float((off > half).mean()),
        "jerk_deg_s3": rms(exact_jerk(pan_deg[SETTLES:])),
    }


def lead_room(pan_deg: Floats, ball_deg: Floats, width_deg: Floats) -> Floats:
    """Return the room in front of a ball that moves on, tick by tick, as a share of the picture beyond its half."""
    speed = gaussian_filter1d(np.gradient(ball_deg, TICK_US / 1e6), 12)
    room: Floats = ((pan_deg - ball_deg) * np.sign(speed) / width_deg)[np.abs(speed) > MOVES_ON_DEG_S]
    return room


def oracle_pan(ball_deg: Floats, width_deg: Floats) -> Floats:
    """Return the path of the ball with room in the direction of play, smoothed with knowledge of the future.

    Its three numbers give the best score among 45 choices on seeds 11 to 14.
    """
    tick_s = TICK_US / 1e6
    trend = gaussian_filter1d(np.gradient(ball_deg, tick_s), ORACLE_TREND_S / tick_s)
    ahead = ORACLE_ROOM * width_deg * trend / (np.abs(trend) + 3.0)
    pan: Floats = gaussian_filter1d(ball_deg + ahead, ORACLE_SMOOTH_S / tick_s)
    return pan


def subjects(trace: Trace, begin_us: int) -> list[tuple[slice, float]]:
    """Return the ticks in which events that stand in the end hold the picture, and the direction of their subjects."""
    pulled: dict[str, tuple[int, tuple[Pull, ...]]] = {}
    view: View | None = None
    for message in trace.arrived:
        view = message.view or view
        for update in message.updates:
            pulled.pop(update.event.id, None)
            if update.diff > 0:
                pulls = pulls_of(update.event, FRAMING, view, update.event.ts_us, trace.size_m[0])
                pulled[update.event.id] = update.event.ts_us, pulls
    found = []
    for ts_us, pulls in pulled.values():
        for pull in pulls:
            if pull.situation.subject == "ball" or pull.situation.after_s:
                continue
            first = (ts_us - begin_us) // TICK_US
            last = first + round(min(pull.situation.hold_s, SHOWN_S_MAX) * 1e6 / TICK_US)
            if first >= SETTLES:
                found.append((slice(first, last), MOUNT.aim(pull.x_m, pull.y_m)[0]))
    return found


def shares(pan_deg: Floats, ball_deg: Floats, width_deg: Floats, shown: list[tuple[slice, float]]) -> dict[str, float]:
    """Return the shares of which the score of a track is the mean (see the module); without events, not ``shown``."""
    seen = [np.abs(pan_deg[when] - subject) < width_deg[when] / 2 for when, subject in shown]
    pan, ball, width = pan_deg[SETTLES:], ball_deg[SETTLES:], width_deg[SETTLES:]
    jerk = rms(derivatives(np.arange(len(pan)) * TICK_US / 1e6, pan)[2])
    room = lead_room(pan, ball, width)
    least, most = WANTED_ROOM
    found = {
        "inside": float((np.abs(pan - ball) < 0.35 * width).mean()),
        "calm": 1 / (1 + (jerk / 100.0) ** 2),
        "composed": float(np.clip(1 - np.maximum(least - room, room - most) / ROOM_TOLERANCE, 0.0, 1.0).mean()),
    }
    return found | ({"shown": float(np.concatenate(seen).mean())} if seen else {})


def score(found: dict[str, float]) -> float:
    """Return the score of a track, 0 to 1: the geometric mean of its shares."""
    return float(np.prod(list(found.values())) ** (1 / len(found)))


def latency_rows(traces: Sequence[Trace], lag_s: float = LAG_S) -> list[Row]:
    """Return the table of the first two questions, a row for each delay, with heads of a lag."""
    rows: list[Row] = []
    for delay_ms in DELAYS_MS:
        found = []
        for trace in traces:
            track = delayed(trace, delay_ms * 1000)
            row = errors(track.pan_deg, track.ball_pan_deg, np.full(len(track.plans), PICTURE_DEG))
            plan_jerk = float(row["jerk_deg_s3"])
            for name, axis, nearest in (
                ("x400", PROFILE.pan, False),
                ("nearest", PROFILE.pan, True),
                ("fine", FINE_AXIS, False),
                ("fr7", FR7_AXIS, False),
            ):
                head = driven(track.plans, axis, nearest, lag_s=lag_s)
                row[f"{name}_jerk_ratio"] = rms(exact_jerk(head[SETTLES:])) / plan_jerk
                row[f"{name}_off_deg"] = rms((head - track.pan_deg)[SETTLES:])
            found.append(row)
        rows.append({"delay_ms": float(delay_ms), **_means(found)})
    return rows


def event_rows(buffered: Sequence[Trace], speculative: Sequence[Trace]) -> list[Row]:
    """Return the table of the last two questions, a row for each way of using events."""
    ways: dict[str, Callable[[], Iterable[tuple[Trace, Track]]]] = {
        "buffered": lambda: ((trace, steered(trace, certain)) for trace in buffered),
        "believes all": lambda: ((trace, steered(trace, certain)) for trace in speculative),
        "by chance": lambda: ((trace, steered(trace, load_chances().of)) for trace in speculative),
        "waits": lambda: ((trace, steered(trace, certain, waits=True)) for trace in speculative),
    }
    rows: list[Row] = []
    for name, tracks in ways.items():
        found = []
        for trace, track in tracks():
            ball, width = track.ball_pan_deg, track.width_deg
            row = errors(track.pan_deg, ball, width) | track.scores
            row["width_deg"] = float(width.mean())
            row["out_of_15_deg"] = errors(track.pan_deg, ball, np.full(len(ball), PICTURE_DEG))["out"]
            shown = subjects(trace, track.plans[0].now_us)
            tracks_deg = {
                "": track.pan_deg,
                "follower_": followed(trace, track.plans),
                "oracle_": oracle_pan(ball, width),
            }
            for track_name, pan_deg in tracks_deg.items():
                found_shares = shares(pan_deg, ball, width, shown)
                row |= {f"{track_name}{key}": value for key, value in found_shares.items()}
                row[f"{track_name}score"] = score(found_shares)
                row[f"{track_name}lead_room"] = float(lead_room(pan_deg, ball, width).mean())
            row["of_oracle"] = float(row["score"]) / float(row["oracle_score"])
            row["follower_of_oracle"] = float(row["follower_score"]) / float(row["oracle_score"])
            row["view_age_ms"] = _age_ms(trace)
            found.append(row)
        rows.append({"events": name, **_means(found)})
    return rows


def foresight_rows(traces: Sequence[Trace]) -> list[Row]:
    """Return the table of what the planner would score with the true path of the ball, a row for each foresight."""
    rows: list[Row] = []
    for known_ms in FORESIGHTS_MS:
        found = []
        for trace in traces:
            track = steered(trace, certain, planner=Foresight(trace, known_ms * 1000))
            ball, width = track.ball_pan_deg, track.width_deg
            shown = subjects(trace, track.plans[0].now_us)
            row: Row = {**shares(track.pan_deg, ball, width, shown)}
            best = score(shares(oracle_pan(ball, width), ball, width, shown))
            found.append(row | {"of_oracle": score(shares(track.pan_deg, ball, width, shown)) / best})
        rows.append({"known_ms": float(known_ms), **_means(found)})
    return rows


def measured_chances(traces: Sequence[Trace], least: int = 3) -> Chances:
    """Return how soon wrong events are withdrawn, of each kind that a framing uses."""
    lives_ms: dict[str, list[float]] = defaultdict(list)
    for trace in traces:
        first_us: dict[str, int] = {}
        last: dict[str, tuple[int, UpdateRecord]] = {}
        for message in trace.arrived:
            for update in message.updates:
                first_us.setdefault(update.event.id, message.now_us)
                last[update.event.id] = (message.now_us, update)
        for event_id, (now_us, update) in last.items():
            if update.diff < 0 and FRAMING.of(update.event.kind):
                lives_ms[update.event.kind].append((now_us - first_us[event_id]) / 1000)
    return Chances({kind: round(float(np.mean(lives))) for kind, lives in lives_ms.items() if len(lives) >= least})


def _age_ms(trace: Trace) -> float:
    return float(np.median([(m.now_us - m.view.ts_us) / 1000 for m in trace.arrived if m.view is not None]))


def _means(rows: Sequence[Row]) -> Row:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: float(np.mean([float(row[name]) for row in rows if name in row])) for name in names}


def _toml(chances: Chances) -> str:
    lines = [
        "# Mean time in milliseconds until a wrong event is withdrawn, by kind; `other_ms` is that of all other kinds.",
        "# Made by `python -m bench.camera_latency --chances camera/chances.toml` from simulated matches.",
        f"other_ms = {chances.other_ms:g}",
        "",
        "[settles_ms]",
        *(f'"{kind}" = {max(ms, 1.0):g}' for kind, ms in sorted(chances.settles_ms.items())),
    ]
    return "\n".join(lines) + "\n"


def _print(rows: Sequence[Row]) -> None:
    for row in rows:
        print(
            "  ".join(
                f"{name} {value:.4g}" if isinstance(value, float) else f"{value:13}" for name, value in row.items()
            )
        )


def main() -> None:
    """Prints the tables; writes them with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--lag-ms", type=float, default=LAG_S * 1000, help="of the heads")
    parser.add_argument("--source", type=Path, help="a tracked match instead")
    parser.add_argument("--table", choices=("latency", "events", "both", "foresight"), default="both")
    parser.add_argument("--traces", type=Path, help="folder that keeps the engine's messages for the next time")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--chances", type=Path, help="measure the table of chances, and write it to this file")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kept = chosen.traces or Path(folder)

        def traces(alpha: float) -> list[Trace]:
            if chosen.source:
                return [recorded_trace(chosen.source, chosen.minutes, alpha, kept)]
            return [simulated_trace(seed, chosen.minutes, alpha, kept) for seed in chosen.seeds]

        speculative = traces(SPECULATIVE)
        if chosen.chances:
            chosen.chances.write_text(_toml(measured_chances(speculative)), encoding="utf-8")
            return
        tables: dict[str, list[Row]] = {}
        if chosen.table in ("both", "latency"):
            tables["latency"] = latency_rows(speculative, chosen.lag_ms / 1000)
        if chosen.table == "foresight":
            tables["foresight"] = foresight_rows(speculative)
        if chosen.table in ("both", "events"):
            tables["events"] = event_rows(traces(BUFFERED), speculative)
    for rows in tables.values():
        _print(rows)
    if chosen.json:
        chosen.json.write_text(json.dumps(tables, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
