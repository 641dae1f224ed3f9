"""Simulates a match into a folder: the packets of the radio, and the truth.

DIR/capture/         packets in arrival order (replay.capture); or, with --tracking,
DIR/tracking.parquet positions as a camera system has them, and metadata.json, its match sheet
DIR/truth.parquet    every true event, in the columns of ``touchline events``
DIR/frames.parquet   every 40 ms: in play, who has the ball, period, score
DIR/sheet.json       the match sheet
DIR/simulation.json  the settings; marks the folder as a simulation, which the next one may replace
"""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.progress import BarColumn, Progress, TimeRemainingColumn

from app.base.files import writing
from app.base.terminal import make_progress, plain_column, waiting
from app.sources.captures import tracked_production
from app.sources.production import Written, write_simulation
from football.errors import UserError
from simulator.from_tracking.tracked_match import TrackedMatch
from simulator.match_day import read_match_day
from simulator.play.match import Match
from simulator.play.squads import MatchSettings
from simulator.radio.transmission import Channel
from simulator.realism.estimates import Sampler, live_spans, measure, periods_of
from simulator.realism.targets import tally
from simulator.records import PlayedInterval
from simulator.scenario import Scenario
from simulator.settings import DEFAULT_SEED, rates_named
from simulator.simulate import MeasuredMatch, Simulation
from simulator.tracking.profile import Profile
from simulator.truth.match_truth import KnownTouches, Truth, records_of, write_truth

MARK = "simulation.json"
#: Files and folders of a simulation besides its mark.
HOLDS = ("capture", "tracking.parquet", "metadata.json", "truth.parquet", "frames.parquet", "sheet.json")
#: Version of the layout, in ``simulation.json``.
VERSION = 1


class SimulateError(UserError, ValueError):
    """A simulation that cannot be played or written; the message has the reason."""


@dataclass(frozen=True)
class SimulateOptions:
    """The options of the command.

    Attributes:
        out: folder.
        seed: of match, tags and radio; None: the scenario's, else ``DEFAULT_SEED``.
        minutes: length; None: the scenario's, else five; 0: the whole match.
        rate: as ``simulator.simulate.rates_named`` takes it.
        channel: radio channel.
        scenario: a file, or the name of a scenario of the product.
        tracked: a tracked match to measure, instead of a simulated one; as ``touchline live --source``.
        tracking: profile of a camera system that tracks the match, instead of radio tags.
        match: match day: a file, or the name of one of the product.
        half_minutes: length of a half.
        noise_m: noise of positions.
        realism: True to compare the match with figures of real ones.
    """

    out: Path
    seed: int | None = None
    minutes: float | None = None
    rate: str = "full"
    channel: str = "rtls"
    scenario: str | None = None
    tracked: str | None = None
    tracking: str | None = None
    match: str | None = None
    half_minutes: float | None = None
    noise_m: float = 0.02
    realism: bool = False


def settings_of(options: SimulateOptions, scenario: Scenario | None) -> Simulation:
    """Settings of the simulator.

    Raises:
        SimulateError: a length out of range.
        SimulatorError: an invalid rate.
    """
    if options.minutes is not None and not 0 <= options.minutes <= 100_000:
        raise SimulateError(f"--minutes {options.minutes:g}: give 0 for the whole match, or a length")
    if options.half_minutes is not None and not 0 < options.half_minutes <= 1000:
        raise SimulateError(
            f"--half-length {options.half_minutes:g}: a half lasts longer than 0 and up to 1000 minutes"
        )
    if options.tracked and (options.scenario or options.match or options.half_minutes is not None):
        raise SimulateError("--from has its own match: leave out --scenario, --match and --half-length")
    if options.seed is not None and not 0 <= options.seed < 2**63:
        raise SimulateError(f"--seed {options.seed}: give a whole number from 0 on")
    match = scenario.settings if scenario else MatchSettings()
    if options.match is not None:
        match = read_match_day(options.match).settings(match)
    if options.half_minutes is not None:
        match = replace(match, half_s=60.0 * options.half_minutes)
    if options.tracking and (options.tracked or options.realism):
        raise SimulateError("--tracking films a simulated match: leave out --from and --realism")
    own_s = scenario.seconds if scenario else None if options.tracked else 300.0
    duration_s = own_s if options.minutes is None else 60.0 * options.minutes or None
    own_seed = scenario.settings.seed if scenario else DEFAULT_SEED
    return Simulation(
        seed=own_seed if options.seed is None else options.seed, duration_s=duration_s, noise_m=options.noise_m,
        match=match, length_m=match.length_m, width_m=match.width_m, **rates_named(options.rate),
    )  # fmt: skip


def prepare(out: Path, settings: Simulation, channel: str, profile: Profile | None = None) -> None:
    """Creates the folder, or deletes the simulation in it; writes the mark before anything else.

    Args:
        out: folder.
        settings, channel, profile: what the mark says of the simulation.

    Raises:
        SimulateError: it is a file, or holds something that no simulation wrote.
    """
    if out.exists() and not out.is_dir():
        raise SimulateError(f"--out {out}: a file of that name exists")
    there = sorted(path.name for path in out.iterdir()) if out.exists() else []
    foreign = [name for name in there if name not in (*HOLDS, MARK)]
    if there and (foreign or MARK not in there):
        named = ", ".join((foreign or there)[:3])
        raise SimulateError(f"--out {out}: holds {named}, which no simulation wrote; give another folder")
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        mark: dict[str, Any] = {"simulation": VERSION, "channel": channel, "settings": settings}
        if profile is not None:
            mark["tracking"] = profile.model_dump()
        (out / MARK).write_bytes(msgspec.json.format(msgspec.json.encode(mark), indent=1) + b"\n")
        for name in HOLDS:
            if (out / name).is_dir():
                shutil.rmtree(out / name)
            else:
                (out / name).unlink(missing_ok=True)


def produce(
    options: SimulateOptions, settings: Simulation, channel: Channel, scenario: Scenario | None, console: Console
) -> dict[str, Any]:
    """Plays and writes the match; returns the report.

    Raises:
        TrackingError: a tracked match cannot be used.
    """
    production, truth = _production(options, settings)
    play = production.play
    sampler = Sampler(production.sheet) if options.realism and isinstance(play, Match) else None

    def watch(interval: PlayedInterval) -> None:
        truth.take(interval)
        if sampler is not None:
            sampler.take(interval)

    begun = time.perf_counter()
    total_s = settings.duration_s or 2 * settings.match.half_s + settings.match.break_s
    if isinstance(play, TrackedMatch):
        total_s = min(settings.duration_s or play.end_s, play.end_s)
    with _bar(console) as bar:
        task = bar.add_task("playing", total=total_s)

        def after(until_s: float, _: object) -> None:
            bar.update(task, completed=min(until_s, total_s))

        written = write_simulation(
            production, options.out / "capture", channel, settings.seed, watch=watch, after=after
        )
        bar.update(task, completed=total_s, description="writing truth")
        table, frames = truth.finish()
        # The truth of a tracked match lacks possession and the times in play.
        write_truth(options.out, table, frames if isinstance(play, Match) else None)
        sheet = msgspec.json.format(msgspec.json.encode(production.sheet), indent=1)
        (options.out / "sheet.json").write_bytes(sheet + b"\n")
    report = _report(options, written, time.perf_counter() - begun, table.num_rows)
    report["transmitters"] = {"balls": sum(n.startswith("ball") for n in production.names)}
    report["transmitters"]["others"] = len(production.names) - report["transmitters"]["balls"]
    report["score"] = list(play.score) if isinstance(play, Match) else None
    report["unmet"] = []
    if scenario is not None:
        records = records_of(table)
        report["unmet"] = [str(expected) for expected in scenario.expect if not expected.holds(records)]
    if sampler is not None and isinstance(play, Match):
        with waiting(console, "measuring realism"):
            report["realism"] = _realism(play, sampler, written.seconds)
    return report


def _production(options: SimulateOptions, settings: Simulation) -> tuple[MeasuredMatch, Truth]:
    """The match as its tags measure it, and its truth."""
    if options.tracked is None:
        production = MeasuredMatch(settings)
        assert isinstance(production.play, Match)
        return production, Truth(production.sheet, production.play)
    production, _ = tracked_production(settings, options.tracked)
    play = production.play
    assert isinstance(play, TrackedMatch)
    return production, Truth(production.sheet, KnownTouches(play.contacts, play.on_pitch), names=play.names)


def _bar(console: Console) -> Progress:
    seconds = plain_column("{task.completed:.0f} of {task.total:.0f} s")
    return make_progress(console, BarColumn(), seconds, TimeRemainingColumn())


def _report(options: SimulateOptions, written: Written, took_s: float, truths: int) -> dict[str, Any]:
    sizes = {name: _size(options.out / name) for name in HOLDS}
    seconds = max(written.seconds, 1e-9)
    return {
        "out": str(options.out),
        "seconds": written.seconds,
        "took_s": round(took_s, 3),
        "times_real_time": round(seconds / max(took_s, 1e-9), 2),
        "positions": written.positions,
        "positions_per_s": round(written.positions / seconds),
        "packets": written.packets,
        "sent": written.sent,
        "lost": written.lost,
        "duplicates": written.duplicates,
        "out_of_order_share": round(written.out_of_order_share, 4),
        "bytes": sizes,
        "capture_bytes_per_minute": round(sizes["capture"] * 60 / seconds),
        "truths": truths,
    }


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def _realism(match: Match, sampler: Sampler, seconds: float) -> dict[str, float]:
    periods = periods_of(match.rows, seconds)
    in_play_s = sum(end - begin for begin, end in live_spans(match.rows, seconds))
    played_s = sum(end - begin for begin, end in periods)
    return {**measure(sampler.pieces(periods)), **tally(match.rows, seconds, played_s, in_play_s)}
