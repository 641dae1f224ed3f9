"""``touchline simulate``: writes a simulated match into a folder, see :mod:`app.library.simulation`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from app.base.terminal import make_console
from app.cli.options import Given
from app.cli.output import print_json
from app.cli.simulate_tracking import print_tracked, produce_tracked
from app.library.simulation import SimulateOptions, prepare, produce, settings_of
from simulator.radio.channels import channel_named
from simulator.radio.delay_report import channel_report
from simulator.radio.transmission import Channel
from simulator.realism.targets import as_json, as_table
from simulator.scenario import find_scenario, read_scenario
from simulator.settings import DEFAULT_SEED
from simulator.simulate import Simulation
from simulator.tracking.profile import read_profile

app = typer.Typer(add_completion=False)


@app.command()
def simulate(
    out: Annotated[Path, Given(help="Folder for capture, truth and sheet; an earlier simulation in it is replaced.")],
    seed: Annotated[
        int | None,
        Given(
            help="Seed of match, tags and radio; the same seed gives the same bytes. "
            f"Default {DEFAULT_SEED}, or the scenario's.",
            show_default=False,
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        Given(help="Minutes to simulate; 0 for the whole match. Default 5, or the scenario's.", show_default=False),
    ] = None,
    rate: Annotated[
        str,
        Given(help="full (36,000 positions/s), 50k, live (what `live` shows), or BALL/LIMB in Hz such as 1000/100."),
    ] = "full",
    channel: Annotated[str, Given(help="Radio channel between tags and gateway: none, rtls, wifi, harsh.")] = "rtls",
    scenario: Annotated[
        str | None, Given(help="Scenario to play: a YAML file, or the name of one in the package.")
    ] = None,
    tracked: Annotated[
        str | None,
        Given(
            "--from",
            help="Tracked match for simulated tags: a table (parquet) or kloppy:<provider>:<file>[:<metadata>].",
        ),
    ] = None,
    tracking: Annotated[
        str | None,
        Given(
            help="Cameras instead of radio: a tracking profile (YAML), or the name of one in the package. "
            "Writes tracking.parquet, which `live --source` reads.",
        ),
    ] = None,
    match: Annotated[
        str | None,
        Given(
            help="Match day: warm-ups, quick restarts, length of half-time (YAML), or the name of one in the package."
        ),
    ] = None,
    half_length: Annotated[float | None, Given(help="Minutes of a half. Default 45.", show_default=False)] = None,
    noise: Annotated[float, Given(help="Standard deviation of positions in metres; 0 measures without error.")] = 0.02,
    realism: Annotated[
        bool, Given("--realism", help="Compare with a real match and published figures (slow).")
    ] = False,
    as_json: Annotated[bool, Given("--json", help="Print the report as JSON on stdout.")] = False,
) -> None:
    """Simulates a match: the packets that radio tags and gateway would deliver, and the exact truth about it.

    Exit code 1 if a scenario does not come out as its file expects.

    Examples:
        touchline simulate --out demo --minutes 10 --seed 7
        touchline simulate --out corner --scenario corner_header --rate live
        touchline simulate --out film --tracking broadcast
    """
    options = SimulateOptions(
        out, seed, minutes, rate, channel, scenario, tracked, tracking, match, half_length, noise, realism
    )
    raise typer.Exit(run_simulate(options, as_json_text=as_json))


def run_simulate(options: SimulateOptions, *, as_json_text: bool = False) -> int:
    """Simulates, writes and reports; returns 1 if a scenario did not end as its file expects, else 0.

    Raises:
        SimulateError: the folder holds something else, or a length makes no sense.
        DocumentError, SimulatorError, ChannelError: of scenario, rate or channel.
    """
    scenario = read_scenario(find_scenario(options.scenario)) if options.scenario else None
    settings = settings_of(options, scenario)
    channel = channel_named(options.channel)
    profile = read_profile(options.tracking) if options.tracking else None
    console = make_console(stderr=True, width=None if sys.stderr.isatty() else 150)
    prepare(options.out, settings, "none" if profile else channel.name, profile)
    if profile is not None:
        report = produce_tracked(options.out, settings, profile, scenario, console)
        if as_json_text:
            print_json(report)
        else:
            print_tracked(report, make_console(width=None if sys.stdout.isatty() else 170))
        return 1 if report["unmet"] else 0
    report = produce(options, settings, channel, scenario, console)
    if as_json_text:
        print_json(_verdicts(report, settings.seed))
    else:
        print_report(report, settings, channel, make_console(width=None if sys.stdout.isatty() else 170))
    return 1 if report["unmet"] else 0


def print_report(report: dict[str, Any], settings: Simulation, channel: Channel, console: Console) -> None:
    """Prints the report as text."""

    def print_line(text: str) -> None:
        console.print(text, highlight=False, soft_wrap=True)

    score = "" if report["score"] is None else " {}:{},".format(*report["score"])
    print_line(
        f"{report['out']}: {report['seconds']:.0f} s of play,{score} in {report['took_s']:.1f} s"
        f" ({report['times_real_time']:.1f} times real time)"
    )
    print_line(
        f"{report['positions']:,} positions ({report['positions_per_s']:,}/s) in {report['packets']:,} packets;"
        f" {report['lost']:,} lost, {report['duplicates']:,} doubled,"
        f" {100 * report['out_of_order_share']:.1f} % out of order; {report['truths']:,} true events"
    )
    sizes = ", ".join(f"{name} {size / 1e6:.2f} MB" for name, size in report["bytes"].items())
    print_line(f"{sizes}; capture {report['capture_bytes_per_minute'] / 1e6:.2f} MB a minute")
    print_line("")
    for line in _histogram(report["transmitters"], settings, channel).splitlines():
        print_line(line)
    if "realism" in report:
        print_line("")
        console.print(as_table({f"seed {settings.seed}": report["realism"]}))
    for unmet in report["unmet"]:
        print_line(f"expected but not true: {unmet}")


def _histogram(transmitters: dict[str, int], settings: Simulation, channel: Channel) -> str:
    """Delays of the channel with this number of transmitters, in comparison with the paper's figures."""
    return channel_report(
        channel, settings.seed, balls=transmitters["balls"], ball_hz=settings.ball_hz,
        limbs=transmitters["others"], limb_hz=settings.body_hz,
    )  # fmt: skip


def _verdicts(report: dict[str, Any], seed: int) -> dict[str, Any]:
    """The report with realism as values and verdicts."""
    if "realism" not in report:
        return report
    return {**report, "realism": as_json({f"seed {seed}": report["realism"]})}
