"""How real is the simulated match? The same figures of simulated matches and of a real one, side by side.

    python -m bench.realism [--seeds 1 2 3] [--minutes 90] [--match DAY] [--data DIR] [--json FILE] [--play-only]

``--match`` plays on a day like ``league``; half-time, in which nothing is measured, lasts a minute. ``--play-only``
leaves out what the product's detectors find in the simulated matches, the slow half of the work; in play is then what
truth says.
The matches are sampled as a camera system would, without noise and without the radio.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console

from replay.formats.tracking import read_tracking
from simulator.match_day import read_match_day
from simulator.play.match import Match
from simulator.play.match_sheet import sheet_of
from simulator.play.squads import MatchSettings
from simulator.realism.estimates import Sampler, footage_of, live_spans, measure, measure_positions, periods_of
from simulator.realism.targets import as_json, as_table, outside, tally

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
REAL = "portugal_switzerland_2019/first_20_minutes.parquet"


def measure_match(settings: MatchSettings, seconds: float, *, detect: bool) -> dict[str, float]:
    """Play a match without the radio; return its figures, and its truth's."""
    match = Match(settings)
    sampler = Sampler(sheet_of(settings, match.squads))
    for interval in match.intervals(seconds):
        sampler.take(interval)
    periods = periods_of(match.rows, seconds)
    live_s = live_spans(match.rows, seconds)
    in_play_s = sum(end - begin for begin, end in live_s)
    truth = tally(match.rows, seconds, sum(end - begin for begin, end in periods), in_play_s)
    pieces = sampler.pieces(periods)
    return {**(measure(pieces) if detect else measure_positions(pieces, live_s)), **truth}


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument("--minutes", type=float, default=90.0)
    parser.add_argument("--match", metavar="DAY", help="a match day, as of `touchline simulate`")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--play-only", action="store_true")
    args = parser.parse_args()
    matches: dict[str, dict[str, float]] = {}
    if (args.data / REAL).is_file():
        matches["real"] = measure(footage_of(read_tracking(str(args.data / REAL))))
    for seed in args.seeds:
        settings = MatchSettings(seed=seed)
        if args.match:
            settings = replace(read_match_day(args.match).settings(settings), break_s=settings.break_s)
        matches[f"seed {seed}"] = measure_match(settings, args.minutes * 60.0, detect=not args.play_only)
        print(f"seed {seed}: {len(outside(matches[f'seed {seed}']))} outside", flush=True)
    simulated = [matches[f"seed {seed}"] for seed in args.seeds]
    if len(simulated) > 1:
        matches["mean"] = {name: float(np.mean([figures[name] for figures in simulated])) for name in simulated[0]}
    console = Console(width=190)
    console.print(as_table(matches))
    for name, figures in matches.items():
        console.print(f"{name}: {len(outside(figures))} of {len(figures)} outside: {', '.join(outside(figures))}")
    if args.json:
        args.json.write_text(json.dumps(as_json(matches), indent=1))


if __name__ == "__main__":
    main()
