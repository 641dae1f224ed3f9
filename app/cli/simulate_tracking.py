"""``touchline simulate --tracking``: writes a simulated match as a camera system tracks it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console

from app.base.files import writing
from app.base.terminal import waiting
from simulator.filming import film
from simulator.scenario import Scenario
from simulator.simulate import Simulation
from simulator.tracking.artefacts import artefacts_of
from simulator.tracking.profile import Profile
from simulator.tracking.tracked_table import track, write_tracked
from simulator.truth.match_truth import records_of, write_truth


def produce_tracked(
    out: Path, settings: Simulation, profile: Profile, scenario: Scenario | None, console: Console
) -> dict[str, Any]:
    """Plays a match, and writes its table, sheet and truth; returns the report."""
    begun = time.perf_counter()
    with waiting(console, "playing") as shown:
        filmed = film(settings, lambda end_s: shown.say(f"playing: {end_s:.0f} s"))
        shown.say("tracking")
        tracked = track(filmed.frames, profile, settings.seed)
        with writing(out):
            write_tracked(out, tracked)
            write_truth(out, filmed.truth, filmed.truth_frames)
            sheet = msgspec.json.format(msgspec.json.encode(tracked.sheet), indent=1)
            (out / "sheet.json").write_bytes(sheet + b"\n")
    unmet: list[str] = []
    if scenario is not None:
        records = records_of(filmed.truth)
        unmet = [str(expected) for expected in scenario.expect if not expected.holds(records)]
    return {
        "out": str(out),
        "profile": profile.name,
        "seconds": filmed.seconds,
        "took_s": round(time.perf_counter() - begun, 3),
        "frames": len(tracked.ts_us),
        "rate_hz": profile.frames.rate_hz,
        "strengths": {name: round(value, 4) for name, value in tracked.strengths.items()},
        "artefacts": {name: round(value, 4) for name, value in artefacts_of(tracked).items()},
        "truths": filmed.truth.num_rows,
        "score": list(filmed.match.score),
        "unmet": unmet,
    }


def print_tracked(report: dict[str, Any], console: Console) -> None:
    """Prints the report as text."""

    def print_line(text: str) -> None:
        console.print(text, highlight=False, soft_wrap=True)

    home, away = report["score"]
    print_line(
        f"{report['out']}: {report['profile']}, {report['seconds']:.0f} s of play, {home}:{away}, {report['frames']:,} "
        f"frames at {report['rate_hz']} Hz, {report['truths']:,} true events, in {report['took_s']:.1f} s"
    )
    for name, value in report["artefacts"].items():
        print_line(f"  {name.replace('_', ' '):32} {value:g}")
    print_line(f"Play it: touchline live --source {report['out']}/tracking.parquet")
    for unmet in report["unmet"]:
        print_line(f"expected but not true: {unmet}")
