"""How many of the labelled passes of the Opta/TRACAB clip are found, and whose ball is it, frame by frame?

    python -m bench.opta_clip [--data DIR] [--json FILE] [--list]

Detectors run on the sorted stream (no engine): this measures football, not ordering. The figures are those of
``touchline score`` (:mod:`replay.scoring`), whose windows hold here: an attempt by the same player within a second.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec

from app.cli.score import lines
from bench.sorted_world import events_of, records_of
from football.packets import ALIVE_FLAG
from football.recording import Recording
from football.update_stream import EventRecord
from replay.formats.tracking import read_tracking
from replay.scoring.figures import Score, judge, score
from replay.scoring.readers import read_truth
from replay.scoring.truth import Mark, Truth

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "opta_tracab_clip"


def clip(folder: Path = DATA) -> Recording:
    """Return the clip's sheet: its pitch, home attacks towards +x, goalkeepers wear 1."""
    recording = read_tracking(str(folder / "tracking_first_3_minutes.parquet"), pitch=(104.9, 67.8))
    players = tuple(msgspec.structs.replace(player, goalkeeper=player.shirt == 1) for player in recording.sheet.players)
    sheet = msgspec.structs.replace(recording.sheet, attacks_positive_x="home", players=players)
    # Its truth of play is the alive flag, which play must therefore be found without.
    tracks = tuple(track for track in recording.tracks if track.transmitter != ALIVE_FLAG)
    return Recording(sheet, tracks, recording.rejected)


def detected_in(folder: Path = DATA) -> tuple[Truth, list[EventRecord]]:
    """Return the labels, and the detected events."""
    recording = clip(folder)
    times_us = [int(at_us) for track in recording.tracks for at_us in (track.ts_us.min(), track.ts_us.max())]
    truth = read_truth(folder / "events_first_3_minutes.csv", recording.sheet).between(min(times_us), max(times_us))
    return truth, records_of(recording, events_of(recording))


def cases(truth: Truth, found: list[EventRecord]) -> list[str]:
    """Return missed and invented passes, shots and restarts, by time."""
    rows: list[tuple[int, str]] = []
    for judged in judge(truth, found):
        rows += [(mark.ts_us, f"missed   {_line(mark)}") for mark in judged.missed]
        rows += [(mark.ts_us, f"invented {_line(mark)}") for mark in judged.surplus]
    return [line for _, line in sorted(rows)]


def _line(mark: Mark) -> str:
    return f"{mark.ts_us / 1e6:8.2f} s {mark.kind:<18} {mark.player or mark.team}"


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--list", action="store_true", help="what was missed and what was invented")
    args = parser.parse_args()
    truth, found = detected_in(args.data)
    figures: Score = score(truth, found)
    print("\n".join(lines(figures)))
    if args.list:
        print("\n".join(["", *cases(truth, found)]))
    if args.json:
        args.json.write_bytes(msgspec.json.format(msgspec.json.encode(figures), indent=2))


if __name__ == "__main__":
    main()
