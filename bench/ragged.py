"""How right is what is found in matches whose tracking is ragged, profile by profile?

Each seed is played once and filmed without noise. Every profile of ``touchline simulate --tracking`` spoils that film;
the file is read as any tracking file, folded by all detectors in order, and scored against the truth of the noiseless
match. Figures are those of all matches of a profile together, with 90 % intervals by bootstrap over matches.

    python -m bench.ragged [--profiles optical ragged ...] [--seeds 201 202 ...] [--minutes 5] [--held-out]
                           [--match DAY] [--cases PROFILE] [--errors] [--keep DIR] [--json FILE]

Thresholds and rules are chosen on the seeds ``TRAINING`` and no others. ``HELD_OUT`` is for the end: look once, change
nothing afterwards. ``--match`` plays a match day of ``touchline simulate``, such as ``duels``, which has take-ons.
``--errors`` prints for each profile by what its errors are: an event that is missed or invented, or one with a wrong
player, team or time. ``--keep`` leaves films in a folder for later runs with the same simulator.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from app.pipeline.seal import fingerprint
from detectors.arrivals import instant_arrivals
from detectors.catalogue import build_detectors
from detectors.records import RecordMaker
from football.match_sheet import MatchSheet
from football.packets import RAW_KINDS, Packet
from football.recording import Recording
from football.update_stream import EventRecord
from middleware.events import Arrival
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from replay.formats.tracking import read_tracking
from replay.scoring.figures import Judged, Score, judge, score
from replay.scoring.readers import read_truth
from replay.scoring.truth import Mark, Truth
from simulator.filming import film
from simulator.match_day import read_match_day
from simulator.play.squads import MatchSettings
from simulator.settings import rates_named
from simulator.simulate import Simulation
from simulator.tracking.artefacts import artefacts_of
from simulator.tracking.profile import read_profile, shipped_profiles
from simulator.tracking.tracked_table import track, write_tracked
from simulator.tracking.true_frames import TrueFrames
from simulator.truth.match_truth import write_truth

#: Seeds on which thresholds and rules may be chosen, and seeds that are looked at once, at the end.
TRAINING = (201, 202, 203, 204, 205)
HELD_OUT = (9301, 9302, 9303, 9304, 9305)

#: Draws of the bootstrap, and the share that its interval covers.
DRAWS, COVERED = 2_000, 0.9

_ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Figure:
    """A figure of a profile: its name, its goal, and how to compute it from some matches."""

    name: str
    goal: float
    of: Callable[[Sequence[Score]], float | None]
    at_most: bool = False


def f1_of(*kinds: str) -> Callable[[Sequence[Score]], float | None]:
    """Return F1 of some kinds, or of kinds that begin so (``restart.``), all matches together."""

    def value(scores: Sequence[Score]) -> float | None:
        tp = fp = fn = 0
        for figures in scores:
            for kind, found in figures.kinds.items():
                if kind in kinds or (kind.startswith(kinds) and kinds[0].endswith(".")):
                    tp, fp, fn = tp + found.tp, fp + found.fp, fn + found.fn
        return 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else None

    return value


def share_of(question: str) -> Callable[[Sequence[Score]], float | None]:
    """Return the share of frames on which truth and detections agree."""

    def value(scores: Sequence[Score]) -> float | None:
        frames = [figures.frames[question] for figures in scores if question in figures.frames]
        total = sum(figure.frames for figure in frames)
        return sum(figure.agreement * figure.frames for figure in frames) / total if total else None

    return value


def variants_of(*kinds: str) -> Callable[[Sequence[Score]], float | None]:
    """Return the share of pairs whose variant is right."""

    def value(scores: Sequence[Score]) -> float | None:
        found = [figures.kinds[kind] for figures in scores for kind in kinds if kind in figures.kinds]
        pairs = sum(one.tp for one in found)
        return 1.0 - sum(sum(one.variants.values()) for one in found) / pairs if pairs else None

    return value


def _longest_wrong_s(scores: Sequence[Score]) -> float:
    return max(figures.frames["in_play"].longest_wrong_s for figures in scores)


def _goals_invented(scores: Sequence[Score]) -> float:
    """Count goals where there was none; an own goal that was given to a scorer is a goal."""
    goals = [figures.kinds[kind] for figures in scores for kind in ("goal.scored", "goal.own") if kind in figures.kinds]
    renamed = sum(count for goal in goals for label, count in goal.confusion.items() if label.startswith("goal."))
    return float(sum(goal.fp for goal in goals) - renamed)


#: What two players contest.
DUELS = ("duel.start", "tackle.won", "tackle.lost", "takeon.won", "takeon.lost", "interception")

FIGURES = (
    Figure("pass.attempt F1", 0.93, f1_of("pass.attempt")),
    Figure("pass.complete F1", 0.93, f1_of("pass.complete")),
    Figure("team in possession", 0.95, share_of("team_possession")),
    Figure("in play", 0.98, share_of("in_play")),
    Figure("longest wrong in/out, s", 3.0, _longest_wrong_s, at_most=True),
    Figure("restarts F1", 0.97, f1_of("restart.")),
    Figure("shots and goals F1", 0.95, f1_of("shot.attempt", "goal.scored", "goal.own")),
    Figure("goals invented", 0.0, _goals_invented, at_most=True),
    Figure("pass variants right", 0.9, variants_of("pass.dir", "pass.len", "pass.height")),
    Figure("duels F1", 0.75, f1_of(*DUELS)),
)


# -- matches --------------------------------------------------------------------------------------------------------


#: Arrays of a film.
_ARRAYS = ("ts_us", "ball", "bodies", "in_play", "period", "touches")


@cache
def _simulator() -> str:
    """Return a fingerprint of the simulator's code, as it was when this process began to film."""
    files = sorted((_ROOT / "simulator").rglob("*.py"))
    return fingerprint([(str(file.relative_to(_ROOT)), file.read_text("utf-8")) for file in files])[:12]


def filmed(seed: int, minutes: float, folder: Path, day: str = "") -> tuple[TrueFrames, Path]:
    """Return a seed's noiseless frames, and the folder with its truth; from ``folder`` if the same code made them."""
    into = folder / f"film-{seed}-{minutes:g}{day and '-' + day}-{_simulator()}"
    stored = into / "film.npz"
    if not stored.is_file():
        into.mkdir(parents=True, exist_ok=True)
        match = read_match_day(day).settings(MatchSettings(seed=seed)) if day else MatchSettings(seed=seed)
        done = film(Simulation(seed=seed, duration_s=60.0 * minutes or None, match=match, **rates_named("full")))
        write_truth(into, done.truth, done.truth_frames)
        # The mark of a simulation: its truth covers all kinds, also those that did not happen.
        (into / "simulation.json").write_text("{}\n")
        (into / "sheet.json").write_bytes(msgspec.json.encode(done.frames.sheet))
        arrays = {name: getattr(done.frames, name) for name in _ARRAYS}
        part = into / "part.npz"
        np.savez_compressed(part, ids=np.array(done.frames.ids), **arrays)
        part.rename(stored)
    loaded = np.load(stored)
    sheet = msgspec.json.decode((into / "sheet.json").read_bytes(), type=MatchSheet)
    ids = tuple(loaded["ids"].tolist())
    parts = (loaded[name] for name in _ARRAYS)
    return TrueFrames(sheet, ids, *parts), into


def instants(recording: Recording) -> Iterator[Arrival]:
    """Yield the instants of a tracking file as a run without faults of the network pushes them."""
    by_instant: defaultdict[int, list[Packet]] = defaultdict(list)
    for one in recording.tracks:
        for row in one.line.tolist():
            by_instant[int(one.ts_us[row])].append(one.packet(row, row, row + 1))
    for number, (_, packets) in enumerate(sorted(by_instant.items())):
        yield from instant_arrivals(packets, number)


def detected(recording: Recording) -> list[EventRecord]:
    """Return what all detectors publish of a framed recording."""
    detectors = build_detectors(recording.sheet)
    maker = RecordMaker(detectors, recording.sheet)
    raw = [one.event for one in instants(recording)]
    return [maker.record(event) for event in published(Hierarchy(RAW_KINDS, detectors), raw)]


def spoiled(
    profile: str, seed: int, minutes: float, folder: Path, day: str = ""
) -> tuple[Recording, Truth, dict[str, float]]:
    """Return a seed as a profile of tracking shows it, with the truth and the rates of artefacts."""
    true, truth_folder = filmed(seed, minutes, folder, day)
    tracked = track(true, read_profile(profile), seed)
    with tempfile.TemporaryDirectory() as made:
        write_tracked(Path(made), tracked)
        recording = read_tracking(str(Path(made) / "tracking.parquet"))
    quality = msgspec.structs.replace(recording.sheet.quality, framed=True)
    recording = replace(recording, sheet=msgspec.structs.replace(recording.sheet, quality=quality))
    truth = read_truth(truth_folder / "truth.parquet", recording.sheet)
    return recording, truth.between(recording.begin_us, recording.end_us), artefacts_of(tracked)


@dataclass(frozen=True)
class Scored:
    """A seed under a profile: its score, the rates of artefacts, misses and inventions as lines, errors by kind."""

    score: Score
    artefacts: dict[str, float]
    cases: list[str]
    errors: dict[str, Counter[str]]


def scored(profile: str, seed: int, minutes: float, folder: Path, day: str = "") -> Scored:
    """Return what a seed under a profile scores."""
    recording, truth, artefacts = spoiled(profile, seed, minutes, folder, day)
    found = detected(recording)
    cases: list[tuple[int, str]] = []
    errors: dict[str, Counter[str]] = defaultdict(Counter)
    for judged in judge(truth, found):
        if group := next((name for name, kinds in ERROR_KINDS.items() if judged.kind.startswith(kinds)), ""):
            errors[group].update(errors_of(judged, truth.rule(judged.kind).window_us))
        if judged.kind.startswith(("pass.attempt", "pass.complete", "restart.", "shot.attempt", "goal.", "play.")):
            for what, marks in (("missed  ", judged.missed), ("invented", judged.surplus)):
                cases += [
                    (m.ts_us, f"seed {seed} {m.ts_us / 1e6:8.2f} s {what} {m.kind} {m.variant} {m.player or m.team}")
                    for m in marks
                ]
    return Scored(score(truth, found), artefacts, [line for _, line in sorted(cases)], errors)


# -- errors ---------------------------------------------------------------------------------------------------------

#: Kinds, or their beginnings, whose errors are counted together.
ERROR_KINDS = {
    "contacts": ("hit", "touch"),
    "passes attempted": ("pass.attempt",),
    "passes completed": ("pass.complete",),
    "gains of possession": ("possession.gain",),
    "restarts": ("restart.",),
    "duels": DUELS,
}
#: How an event may be wrong, in the order of the columns.
ERRORS = ("wrong player", "wrong team", "wrong time", "missed", "invented")
#: A pair so many windows apart has a wrong time.
TIME_WINDOWS = 3


def errors_of(judged: Judged, window_us: int) -> Counter[str]:
    """Count the pairs of a kind (``right``), and its errors by how an event is wrong.

    What is missed and what is invented within the window belong together: the player or the team is wrong. The same
    player farther away has the wrong time.
    """
    missed, surplus = list(judged.missed), list(judged.surplus)
    counts = Counter({"right": len(judged.pairs[0])})

    def belongs(what: str, true: Mark, found: Mark) -> bool:
        if what == "wrong time":
            within_us = TIME_WINDOWS * window_us
            return (true.team, true.player) == (found.team, found.player) and abs(true.ts_us - found.ts_us) <= within_us
        same_team = true.team == found.team
        return same_team == (what == "wrong player") and abs(true.ts_us - found.ts_us) <= window_us

    for what in ERRORS[:3]:
        for true in list(missed):
            near = [found for found in surplus if belongs(what, true, found)]
            if near:
                surplus.remove(min(near, key=lambda found: abs(found.ts_us - true.ts_us)))
                missed.remove(true)
                counts[what] += 1
    counts.update({"missed": len(missed), "invented": len(surplus)})
    return counts


def error_table(rows: dict[str, dict[str, Counter[str]]]) -> list[str]:
    """Return the lines of a table: of each profile and kind what is true, what is right, and the errors."""
    lines = [f"| profile | kind | true | right | {' | '.join(ERRORS)} |", "|---" * (4 + len(ERRORS)) + "|"]
    for profile, kinds in rows.items():
        for kind, counts in kinds.items():
            true = sum(counts.values()) - counts["invented"]
            cells = " | ".join(str(counts[what]) for what in ("right", *ERRORS))
            lines.append(f"| `{profile}` | {kind} | {true} | {cells} |")
    return lines


# -- figures --------------------------------------------------------------------------------------------------------


def row_of(scores: Sequence[Score]) -> dict[str, dict[str, Any]]:
    """Return each figure over some matches, with its interval."""
    rng = np.random.default_rng(1)
    draws = rng.integers(len(scores), size=(DRAWS, len(scores)))
    row: dict[str, dict[str, Any]] = {}
    for figure in FIGURES:
        value = figure.of(scores)
        # Figures are cheap, and few draws differ.
        again = {tuple(sorted(draw)): None for draw in draws.tolist()}
        values = {drawn: figure.of([scores[i] for i in drawn]) for drawn in again}
        spread = [v for draw in draws.tolist() if (v := values[tuple(sorted(draw))]) is not None]
        tail = 50.0 * (1.0 - COVERED)
        low, high = np.percentile(spread, [tail, 100.0 - tail]) if spread else (None, None)
        met = None if value is None else (value <= figure.goal if figure.at_most else value >= figure.goal)
        row[figure.name] = {"value": value, "low": low, "high": high, "goal": figure.goal, "met": met}
    return row


def table(rows: dict[str, dict[str, dict[str, Any]]]) -> list[str]:
    """Return the lines of a table; figures that miss their goal are bold."""
    goals = [f"{f.name} ({'<=' if f.at_most else '>='} {f.goal:g})" for f in FIGURES]
    lines = ["| profile | " + " | ".join(goals) + " |", "|---" * (len(FIGURES) + 1) + "|"]
    for profile, row in rows.items():
        cells = []
        for figure in FIGURES:
            one = row[figure.name]
            if one["value"] is None:
                cells.append("-")
                continue
            digits = 1 if figure.at_most else 3
            text = f"{one['value']:.{digits}f}"
            text = text if one["met"] else f"**{text}**"
            cells.append(f"{text} ({one['low']:.{digits}f} to {one['high']:.{digits}f})")
        lines.append(f"| `{profile}` | {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Prints the table; writes all figures with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profiles", nargs="+", default=list(shipped_profiles()))
    parser.add_argument("--seeds", type=int, nargs="+", default=list(TRAINING))
    parser.add_argument(
        "--held-out", action="store_true", help="the seeds that nothing is chosen on, in place of --seeds"
    )
    parser.add_argument("--minutes", type=float, default=5.0, help="of each match; 0 is the whole match")
    parser.add_argument("--match", default="", help="a match day, as of touchline simulate")
    parser.add_argument("--cases", help="a profile of which every miss and invention is listed")
    parser.add_argument("--errors", action="store_true", help="by what the errors of each profile are")
    parser.add_argument("--keep", type=Path, help="a folder for films, to use them again")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    seeds = list(HELD_OUT) if chosen.held_out else chosen.seeds
    begun = time.perf_counter()
    rows: dict[str, dict[str, dict[str, Any]]] = {}
    errors: dict[str, dict[str, Counter[str]]] = {}
    result: dict[str, Any] = {"seeds": seeds, "minutes": chosen.minutes, "profiles": {}}
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.keep or Path(temporary)
        for profile in chosen.profiles:
            done = [scored(profile, seed, chosen.minutes, folder, chosen.match) for seed in seeds]
            rows[profile] = row_of([one.score for one in done])
            errors[profile] = {
                kind: sum((one.errors.get(kind, Counter()) for one in done), Counter()) for kind in ERROR_KINDS
            }
            artefacts = {name: float(np.mean([one.artefacts[name] for one in done])) for name in done[0].artefacts}
            result["profiles"][profile] = {"figures": rows[profile], "artefacts": artefacts}
            print(f"{profile}: {time.perf_counter() - begun:.0f} s", flush=True)
            if profile == chosen.cases:
                print("\n".join(line for one in done for line in one.cases))
    print(f"\nseeds {seeds}, {chosen.minutes:g} min each\n")
    print("\n".join(table(rows)))
    if chosen.errors:
        print("\n" + "\n".join(error_table(errors)))
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
