"""How many of the labelled passes of the Opta/TRACAB clip are found, and whose ball is it, frame by frame?

    python -m bench.opta_clip [--data DIR] [--json FILE] [--list]

Detectors run on the sorted stream (no engine): this measures football, not ordering. A pass counts as found if an
attempt by the same player lies within one second of the label; both lists are matched in order, one to one.
"""

from __future__ import annotations

import argparse
import bisect
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from detectors.catalogue import build_detectors
from detectors.facts import Fact
from detectors.inputs import RAW_KINDS, MatchSheet, Packet, Player, arrival, team_of
from middleware.events import Event
from middleware.hierarchy import Hierarchy
from middleware.oracle import sorted_replay

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "opta_tracab_clip"
TOLERANCE_MS = 1_000


class Mark(NamedTuple):
    """A pass or shot, labelled or found: time, player, and whether it reached a mate (None if unknown)."""

    t_ms: float
    player: str
    success: bool | None


def packets(tracking: pd.DataFrame) -> Iterator[Packet]:
    """One packet per object and frame."""
    for object_id, rows in tracking.groupby("object_id", sort=False):
        columns = (rows[c].astype(float).tolist() for c in ("x", "y", "z"))
        for i, (t_ms, x, y, z) in enumerate(zip(rows["t_ms"].tolist(), *columns, strict=True)):
            yield Packet(str(object_id), i, (t_ms * 1000,), (x,), (y,), (z,))


def sheet_of(tracking: pd.DataFrame) -> MatchSheet:
    """The clip's sheet: goalkeepers wear 1, home attacks towards +x."""
    ids = sorted(o for o in tracking["object_id"].unique() if o != "ball")
    players = tuple(Player(o, team_of(o, MatchSheet()), goalkeeper=o.endswith("_1")) for o in ids)
    return MatchSheet("opta", length_m=104.9, width_m=67.8, attacks_positive_x="home", players=players)


def replay(sheet: MatchSheet, tracking: pd.DataFrame) -> list[Event]:
    """Sparse events of all levels, by time."""
    hierarchy = Hierarchy(RAW_KINDS, build_detectors(sheet))
    events = sorted_replay(hierarchy, (arrival(p).event for p in packets(tracking)))
    return sorted((e for e in events if isinstance(e.payload, Fact)), key=lambda e: e.ts_us)


def match(labels: Sequence[Mark], found: Sequence[Mark]) -> list[tuple[int, int]]:
    """Largest one-to-one match in order: same player, at most ``TOLERANCE_MS`` apart (dynamic programming)."""
    rows, cols = len(labels), len(found)
    best = [[0] * (cols + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        for j in range(cols - 1, -1, -1):
            hit = 1 + best[i + 1][j + 1] if _same(labels[i], found[j]) else 0
            best[i][j] = max(hit, best[i + 1][j], best[i][j + 1])
    pairs, i, j = [], 0, 0
    while i < rows and j < cols:
        if _same(labels[i], found[j]) and best[i][j] == 1 + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _same(label: Mark, found: Mark) -> bool:
    return label.player == found.player and abs(label.t_ms - found.t_ms) <= TOLERANCE_MS


def labelled(events: pd.DataFrame, label: str) -> list[Mark]:
    """Labels of one kind, by estimated time of kick."""
    rows = events[events["label"] == label].sort_values("kick_t_ms", kind="stable")
    return [Mark(r.kick_t_ms, r.object_id, str(r.success) == "True") for r in rows.itertuples()]


def attempts(events: Sequence[Event], kind: str) -> list[Mark]:
    """Attempts found, with their outcome if there was one."""
    complete = {e.source for e in events if e.kind == "pass.complete"}
    failed = {e.source for e in events if e.kind in ("pass.intercepted", "pass.out")}
    marks = []
    for event in events:
        if event.kind == kind:
            fact = event.payload
            assert isinstance(fact, Fact)
            outcome = True if event.source in complete else False if event.source in failed else None
            marks.append(Mark(event.ts_us / 1000, fact.player, outcome))
    return marks


def possession_agreement(events: Sequence[Event], tracking: pd.DataFrame) -> float:
    """Share of alive frames whose team in possession agrees with the provider's flag.

    While the ball is contested or dead for us, the team that had it last counts, as it does for the provider.
    """
    shown = [(e.ts_us, e.payload.team) for e in events if e.kind == "team.possession" and e.payload.team]
    times = [ts_us for ts_us, _ in shown]
    ball = tracking[(tracking["object_id"] == "ball") & (tracking["ball_status"] == "alive")]
    agree = 0
    for t_ms, team in zip(ball["t_ms"].tolist(), ball["team_possession"].tolist(), strict=True):
        at = bisect.bisect_right(times, t_ms * 1000) - 1
        agree += at >= 0 and shown[at][1] == team
    return agree / len(ball)


def score(folder: Path = DATA) -> tuple[dict[str, float], list[str]]:
    """All figures of the clip, and a readable list of what was missed and what was invented."""
    tracking = pd.read_parquet(folder / "tracking_first_3_minutes.parquet")
    labels = pd.read_csv(folder / "events_first_3_minutes.csv")
    events = replay(sheet_of(tracking), tracking)
    wanted, found = labelled(labels, "pass"), attempts(events, "pass.attempt")
    pairs = match(wanted, found)
    recall, precision = len(pairs) / len(wanted), len(pairs) / max(1, len(found))
    judged = [(wanted[i], found[j]) for i, j in pairs if found[j].success is not None]
    shots = labelled(labels, "shot")
    shot_pairs = match(shots, attempts(events, "shot.attempt"))
    figures = {
        "labelled": len(wanted),
        "attempts": len(found),
        "matched": len(pairs),
        "recall": recall,
        "precision": precision,
        "f1": 2 * recall * precision / max(1e-9, recall + precision),
        "outcomes_judged": len(judged),
        "outcome_agreement": sum(w.success == f.success for w, f in judged) / max(1, len(judged)),
        "shots_labelled": len(shots),
        "shots_found": len(shot_pairs),
        "shot_attempts": len(attempts(events, "shot.attempt")),
        "possession_agreement": possession_agreement(events, tracking),
    }
    hit_labels, hit_found = {i for i, _ in pairs}, {j for _, j in pairs}
    lines = [(m.t_ms, f"missed   {_line(m)}") for i, m in enumerate(wanted) if i not in hit_labels]
    lines += [(m.t_ms, f"invented {_line(m)}") for j, m in enumerate(found) if j not in hit_found]
    lines += [
        (wanted[i].t_ms, f"outcome  {_line(wanted[i])}, found {found[j].success}")
        for i, j in pairs
        if found[j].success != wanted[i].success
    ]
    return figures, [line for _, line in sorted(lines)]


def _line(mark: Mark) -> str:
    return f"{mark.t_ms / 1000:8.2f} s {mark.player} success={mark.success}"


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--list", action="store_true", help="what was missed and what was invented")
    args = parser.parse_args()
    figures, lines = score(args.data)
    for name, value in figures.items():
        print(f"{name:22} {value:.3f}" if isinstance(value, float) else f"{name:22} {value}")
    if args.list:
        print("\n".join(lines))
    if args.json:
        args.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
