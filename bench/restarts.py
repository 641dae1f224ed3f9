"""Which restarts, exits and goals are found, and is the ball in play when they say so?

Three questions on the sorted stream (no engine: this measures football, not ordering):

* Portugal-Switzerland, first 20 minutes: the restarts found against a list made by eye, from where the ball rests, who
  stands beside it and where it goes then. The list was read off the tracking second by second before the detectors
  were run; its tenths, but those of the four corner kicks, were read again at the places that they found. Whoever
  made it also wrote the detectors and chose their thresholds on this match: the figure shows that nothing broke,
  not how well they generalise. What the referee gave (offside or foul, whose throw) no tracking tells.
* Opta/TRACAB clip, 3 minutes: in play or not, frame by frame, against the provider's flag; restarts against Opta.
  Two thresholds were chosen there (the way of a throw-in and of a free kick).
* The built-in generator at several seeds: restarts, exits and goals against its truth. Chosen there: that a ball
  lifted overhead still rests, that goal kicks are taken inside the field, the way of a free kick after a long rest,
  and that a ball run back to the centre after a goal is not in play.

    python -m bench.restarts [--data DIR] [--seeds 1 2 3] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from bench.opta_clip import clip
from bench.sorted_world import events_of, records_of
from football.payloads import EventPayload
from middleware.events import Event
from replay.formats.tracking import read_tracking
from replay.scoring.frames import FrameScore, score_frames
from replay.scoring.matching import assign, within
from replay.scoring.readers import read_truth
from simulator.simulate import Simulation, simulate

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
TOLERANCE_S = 1.0

#: Kinds that are compared with truth; ``out`` at the time of its crossing.
COMPARED = ("restart.", "out", "goal.scored", "goal.own")


class Mark(NamedTuple):
    """Something that happened: time, kind, team, player, place, and a note."""

    at_s: float
    kind: str
    team: str
    player: str = ""
    x_m: float = 0.0
    y_m: float = 0.0
    note: str = ""


class Score(NamedTuple):
    """Truth against found: pairs (truth, found), truths missed, found too many."""

    pairs: tuple[tuple[Mark, Mark], ...]
    missed: tuple[Mark, ...]
    extra: tuple[Mark, ...]


def _by_eye(minutes: int, seconds: float, kind: str, team: str, x_m: float, y_m: float, note: str = "") -> Mark:
    return Mark(minutes * 60 + seconds, f"restart.{kind}", team, "", x_m, y_m, note)


#: Portugal-Switzerland: every restart in the first 20 minutes, read off the tracking by eye. The four corner kicks
#: are also given by the data's keeper (07:15.8, 15:10.4, 15:36.5, 16:03.9).
PORTUGAL_RESTARTS = (
    _by_eye(0, 0.0, "kick_off", "home", 0.0, 0.0, "the first frame is just after it: the ball leaves home_10"),
    _by_eye(1, 37.6, "throw_in", "away", -5.5, 33.8, "the track never leaves the field; taker 0.1-0.8 m outside"),
    _by_eye(3, 12.6, "free_kick", "away", 23.5, -20.0),
    _by_eye(4, 24.6, "goal_kick", "home", -47.5, 0.0),
    _by_eye(7, 15.8, "corner", "home", 52.5, 33.5),
    _by_eye(7, 35.2, "free_kick", "away", 18.3, -2.9),
    _by_eye(9, 1.9, "free_kick", "away", 10.7, 21.7),
    _by_eye(10, 27.9, "free_kick", "home", -20.3, -19.8),
    _by_eye(10, 55.7, "throw_in", "away", 21.8, -33.5),
    _by_eye(11, 19.2, "goal_kick", "away", 47.2, 8.4, "2 s after the exit; goal area's edge"),
    _by_eye(12, 58.8, "throw_in", "away", -38.8, 35.8),
    _by_eye(13, 23.7, "throw_in", "away", -38.9, 35.0),
    _by_eye(13, 49.2, "goal_kick", "home", -50.0, -7.2),
    _by_eye(15, 10.4, "corner", "home", 52.0, 32.8),
    _by_eye(15, 36.5, "corner", "home", 52.4, 33.3),
    _by_eye(16, 3.9, "corner", "home", 52.6, 33.8),
    _by_eye(16, 13.4, "goal_kick", "away", 50.6, -5.5),
    _by_eye(16, 38.6, "free_kick", "home", -7.9, 14.3, "the ball drifts to its place with nobody near"),
    _by_eye(17, 9.9, "free_kick", "away", 28.1, -7.1, "the ball drifts to its place with nobody near"),
    _by_eye(18, 51.2, "throw_in", "away", 11.1, -33.1),
    _by_eye(19, 0.2, "throw_in", "away", 2.7, -33.5),
    _by_eye(19, 49.7, "throw_in", "away", -31.1, -35.2),
)

#: Opta's restarts in the clip; times from the tracking (the flag turns alive at 28.52, 68.76 and 149.48 s).
OPTA_RESTARTS = (
    _by_eye(0, 0.0, "kick_off", "away", 0.0, 0.0, "the first frame is at or just after it: the ball leaves away_6"),
    _by_eye(0, 28.3, "throw_in", "home", -40.2, 34.3),
    _by_eye(1, 8.7, "free_kick", "home", -4.3, 7.3),
    _by_eye(2, 29.4, "goal_kick", "away", 46.9, -0.4),
)


def marks_of(events: Iterable[Event], kinds: Sequence[str] = COMPARED) -> list[Mark]:
    """The events of some kinds (or prefixes of kinds) as marks, each in its newest version."""
    marks: list[Mark] = []
    newest = {event.id or str(number): event for number, event in enumerate(sorted(events, key=lambda e: e.ts_us))}
    for event in newest.values():
        payload = event.payload
        if not event.kind.startswith(tuple(kinds)) or not isinstance(payload, EventPayload):
            continue
        ts_us = payload.detail["since_us"] if event.kind == "out" else event.ts_us
        assert isinstance(ts_us, int)
        place = payload.x_m or 0.0, payload.y_m or 0.0
        note = " ".join(filter(None, (payload.variant, f"conf {payload.confidence:.1f}")))
        marks.append(Mark(ts_us / 1e6, event.kind, payload.team, payload.player, *place, note))
    return sorted(marks)


def compare(truth: Iterable[Mark], found: Iterable[Mark], tolerance_s: float = TOLERANCE_S) -> Score:
    """Pairs truths and finds of one kind within the tolerance, whichever team: as many as can be, then the nearest."""
    truths, finds = sorted(truth), sorted(found)
    true_us, found_us = (np.array([round(m.at_s * 1e6) for m in marks], np.int64) for marks in (truths, finds))
    rows, cols = within(true_us, found_us, round(tolerance_s * 1e6))
    same = np.array([truths[i].kind == finds[j].kind for i, j in zip(rows, cols, strict=True)], np.bool_)
    edges = rows[same], cols[same]
    pairs = assign(edges, np.abs(true_us[edges[0]] - found_us[edges[1]]), len(truths), len(finds))
    used = [set(side.tolist()) for side in pairs]
    return Score(
        tuple((truths[i], finds[j]) for i, j in sorted(zip(*(side.tolist() for side in pairs), strict=True))),
        tuple(mark for i, mark in enumerate(truths) if i not in used[0]),
        tuple(mark for j, mark in enumerate(finds) if j not in used[1]),
    )


def portugal(data: Path) -> tuple[list[Event], Score]:
    """Events of Portugal-Switzerland, and its restarts against the list made by eye."""
    recording = read_tracking(str(data / "portugal_switzerland_2019" / "first_20_minutes.parquet"))
    events = events_of(recording)
    return events, compare(PORTUGAL_RESTARTS, marks_of(events, ("restart.",)))


def opta(data: Path) -> tuple[list[Event], Score, FrameScore]:
    """Events of the Opta/TRACAB clip, its restarts, and agreement of in play with the flag."""
    folder = data / "opta_tracab_clip"
    recording = clip(folder)
    events = events_of(recording)
    flags = read_truth(folder / "events_first_3_minutes.csv", recording.sheet).flags
    assert flags is not None, "the clip has flags"
    frames = score_frames(flags, records_of(recording, events))["in_play"]
    return events, compare(OPTA_RESTARTS, marks_of(events, ("restart.",))), frames


def generated(simulation: Simulation) -> tuple[list[Event], Score]:
    """Events of a generated match, and its restarts, exits and goals against the truth."""
    recording, truth = simulate(simulation)
    marks = [
        Mark(r.ts_us / 1e6, r.kind, r.team, r.player, r.x_m or 0.0, r.y_m or 0.0, r.variant)
        for r in truth
        if r.kind.startswith(COMPARED)
    ]
    events = events_of(recording)
    return events, compare(marks, marks_of(events))


def table(title: str, score: Score) -> list[str]:
    """Lines of a table: every truth with what was found for it, then what was found besides."""
    lines = [f"## {title}: {len(score.pairs)} found, {len(score.missed)} missed, {len(score.extra)} too many"]
    rows = [(t, f, "") for t, f in score.pairs]
    rows += [(t, None, "MISSED") for t in score.missed] + [(f, f, "TOO MANY") for f in score.extra]
    for truth, found, verdict in sorted(rows, key=lambda row: row[0].at_s):
        left = f"{clock(truth.at_s)}  {truth.kind:<18} {truth.team:<4} ({truth.x_m:6.1f},{truth.y_m:6.1f})"
        right = ""
        if found is not None and not verdict:
            verdict = "" if found.team == truth.team else "WRONG TEAM"
            place = f"({found.x_m:6.1f},{found.y_m:6.1f})"
            right = f"{found.at_s - truth.at_s:+5.2f} s {found.team:<4} {found.player:<8} {place} {found.note}"
        lines.append(f"{left} | {right} {verdict} {truth.note}".rstrip())
    return lines


def clock(at_s: float) -> str:
    """Seconds as mm:ss.s."""
    return f"{int(at_s // 60):02d}:{at_s % 60:04.1f}"


def figures(score: Score) -> dict[str, object]:
    """A score as numbers for a file."""
    return {
        "found": len(score.pairs),
        "missed": [m._asdict() for m in score.missed],
        "too_many": [m._asdict() for m in score.extra],
        "wrong_team": [t._asdict() for t, f in score.pairs if t.team != f.team],
        "greatest_error_s": max((abs(f.at_s - t.at_s) for t, f in score.pairs), default=0.0),
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Prints the tables; see the module's text."""
    parser = argparse.ArgumentParser(description="restarts, exits, goals and ball in play against truth")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--seeds", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument("--seconds", type=float, default=300.0, help="length of a generated match")
    parser.add_argument("--json", type=Path)
    settings = parser.parse_args(argv)
    out: dict[str, object] = {}
    if settings.data.is_dir():
        events, score = portugal(settings.data)
        goals = [e.kind for e in events if e.kind.startswith("goal.")]
        print("\n".join(table("Portugal-Switzerland, restarts", score)), f"\ngoals: {goals or 'none'}\n")
        print("\n".join(["## exits", *map(_line, marks_of(events, ("out",)))]), "\n")
        out["portugal"] = {**figures(score), "goals": goals}
        events, score, frames = opta(settings.data)
        print("\n".join(table("Opta/TRACAB clip, restarts", score)))
        print("\n".join(map(_line, marks_of(events, ("out",)))))
        print(f"in play as the flag: {frames.agreement:.1%}, as known at the time {frames.live:.1%}\n")
        out["opta"] = {**figures(score), "in_play": msgspec.to_builtins(frames)}
    for seed in settings.seeds:
        for name, optical in (("radio", False), ("optical", True)):
            rates = {"ball_hz": 25, "body_hz": 25, "limbs": ()} if optical else {}
            _, score = generated(Simulation(seed=seed, duration_s=settings.seconds, **rates))
            print("\n".join(table(f"generated, seed {seed}, {name} rates", score)), "\n")
            out[f"generated_{seed}_{name}"] = figures(score)
    if settings.json:
        settings.json.write_text(json.dumps(out, indent=1))


def _line(mark: Mark) -> str:
    place = f"({mark.x_m:6.1f},{mark.y_m:6.1f})"
    return f"{clock(mark.at_s)}  {mark.kind:<18} {mark.team:<4} {mark.player:<8} {place} {mark.note}"


if __name__ == "__main__":
    main()
