"""The command line: ``touchline live | simulate | order | events | updates | config | doctor | test`` and more.

Errors that a person can do something about are one line on stderr and exit code 2. Anything else is a bug and
shows its traceback.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from app.base.errors import one_line
from app.cli.archive import archive
from app.cli.broker import broker
from app.cli.options import Folder, Format, Given, Out
from football.errors import UserError
from football.officials import DECISIONS

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Live football intelligence: what happens in a match, while it happens, and taken back when it was wrong.",
)

app.add_typer(broker, name="broker")
app.add_typer(archive)

_ROOT = Path(__file__).resolve().parents[2]


@app.command()
def live(
    context: typer.Context,
    source: Annotated[
        str | None,
        Given(
            help="sim, a tracking table (parquet), kloppy:<provider>:<file>[:<metadata>], debs:<stream>, the folder of "
            "a capture (or of `simulate`), or kafka://host:port/topic[?match=...&start=latest]. Default sim."
        ),
    ] = None,
    rate: Annotated[
        str | None,
        Given(
            help="Tags and rates of the locating system: live, full (36,000 positions/s), 50k, or BALL/LIMB in Hz such "
            "as 1000/100. Default live for sim; a tracking file is taken as it is unless a rate is given.",
        ),
    ] = None,
    endless: Annotated[
        bool | None, Given("--endless/--no-endless", help="Play on: half follows half without end (sim).")
    ] = None,
    channel: Annotated[
        str | None,
        Given(help="Radio channel between tags and gateway: none, rtls, wifi, harsh. Default rtls for sim, else none."),
    ] = None,
    seed: Annotated[int | None, Given(help="Seed of simulation and channel. Default 32.")] = None,
    speed: Annotated[str | None, Given(help="1, 4 or max. Default 1.")] = None,
    duration: Annotated[float | None, Given(help="Seconds of the match to play. Default all of it.")] = None,
    store: Annotated[
        Path | None,
        Given(help="Folder of the match; an interrupted run in it is gone on with. Default matches/<match>-<time>."),
    ] = None,
    pitch: Annotated[str | None, Given(help="Pitch in metres if no sheet says. Default 105x68.")] = None,
    sheet: Annotated[Path | None, Given(help="Match sheet (metadata.json) with names, pitch and sides.")] = None,
    engine: Annotated[str | None, Given(help="spark or inprocess. Default spark.")] = None,
    alpha: Annotated[
        str | None,
        Given(
            help="Share of the slack to wait: 0 speaks at once, 1 never takes back, auto as little as the load allows. "
            "Default auto."
        ),
    ] = None,
    retraction: Annotated[
        str | None,
        Given(
            help="How to take back: full, on-demand (only what changed), or auto (what costs each detector least). "
            "Default auto."
        ),
    ] = None,
    parameters: Annotated[
        Path | None,
        Given(help="Settings file (TOML) of the detectors; `touchline detectors --toml` writes a whole one."),
    ] = None,
    detectors: Annotated[
        str | None,
        Given(help="Detectors that a match gets only when asked for, with commas; see `touchline detectors`."),
    ] = None,
    window: Annotated[
        float | None, Given(help="Wall seconds between commits, 1 to 120. Default 30.", show_default=False)
    ] = None,
    dashboard: Annotated[
        bool | None, Given("--dashboard/--no-dashboard", help="Serve the live page. Default yes.")
    ] = None,
    port: Annotated[int | None, Given(help="Port of the live page, 0 for a free one. Default 8050.")] = None,
    camera: Annotated[
        bool | None,
        Given("--camera/--no-camera", help="Steer a simulated camera over VISCA. Default unless --speed max."),
    ] = None,
    publish: Annotated[
        str | None,
        Given(
            help="kafka://host:port/topic that updates go to; positions and rejected records go to topics beside it."
        ),
    ] = None,
    official: Annotated[
        Path | None,
        Given(help="File of JSON lines with what officials decide; may grow. `touchline official` writes another."),
    ] = None,
    host: Annotated[
        str | None,
        Given(help="Interface of page and metrics. Default 127.0.0.1; beyond loopback TOUCHLINE_TOKEN must be set."),
    ] = None,
    metrics_port: Annotated[
        int | None,
        Given(help="Port of /metrics and /health, 0 for none. Default 8049, or a free one if that is taken."),
    ] = None,
    logs: Annotated[
        str | None, Given(help="Where JSON lines go: files (DIR/logs), stderr, or off. Default files.")
    ] = None,
    log_level: Annotated[
        str | None, Given(help="Least level that is logged: debug, info, warning, error. Default info.")
    ] = None,
    config: Annotated[
        Path | None,
        Given(help="Settings file (TOML). Default touchline.toml in the working folder, if there is one."),
    ] = None,
    matches: Annotated[
        list[str] | None,
        Given(
            help="Instead of --source, and as often as there are matches: each a source, or a list of matches (.toml) "
            "that may grow meanwhile; kafka://host:port/topic is every match that comes there, ?match=NAME that one. "
            "--store is the folder of all of them.",
        ),
    ] = None,
    seats: Annotated[
        int | None, Given(help="Engines at a time with --matches. Default 0: as many as there are cores.")
    ] = None,
    master: Annotated[
        str | None, Given(help="Spark cluster for --matches, spark://host:port. Default this machine.")
    ] = None,
    standby: Annotated[
        bool | None,
        Given("--standby", help="With Spark started and warm, wait until the run in --store is gone, and go on there."),
    ] = None,
    as_json: Annotated[bool, Given("--json", help="Print the summary as JSON on stdout.")] = False,
) -> None:
    """Plays a match through Spark: events, page, camera and store, live. Ctrl-C ends it cleanly.

    Every option but --matches can also stand in a settings file, or be a variable: window = 20, TOUCHLINE_WINDOW=20.
    `touchline config` shows what holds, and why.
    """
    from app.run.live import run_live
    from app.settings.model import SettingsError, resolve_settings

    settings = resolve_settings(context.params, os.environ, Path()).settings
    if not matches:
        run_live(settings, as_json=as_json)
        return
    from app.many.match_list import wishes_of
    from app.many.run import common_of, run_many

    if source is not None or camera or standby:
        raise SettingsError("--matches: without --source, --camera and --standby")
    common = common_of(settings, context.params)
    code = run_many(lambda: wishes_of(matches), common, as_json=as_json)
    raise typer.Exit(code)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def config(
    context: typer.Context,
    as_json: Annotated[bool, Given("--json", help="Print one JSON object.")] = False,
) -> None:
    """Shows the settings that `touchline live` would run with, and where each comes from.

    Takes the options of `live`: flags go before the environment (TOUCHLINE_...), that before a settings file
    (--config, TOUCHLINE_CONFIG or touchline.toml), that before the defaults.
    """
    from app.cli.config import run_config

    run_config(context, as_json=as_json)


@app.command()
def simulate(
    out: Annotated[Path, Given(help="Folder for capture, truth and sheet; an earlier simulation in it is replaced.")],
    seed: Annotated[
        int | None,
        Given(
            help="Decides the match, the tags and the radio; the same seed gives the same bytes. Default 32, or the "
            "scenario's.",
            show_default=False,
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        Given(help="Length; 0 for the whole match. Default 5, or as the scenario says.", show_default=False),
    ] = None,
    rate: Annotated[
        str,
        Given(help="full (36,000 positions/s), 50k, live (what `live` shows), or BALL/LIMB in Hz such as 1000/100."),
    ] = "full",
    channel: Annotated[str, Given(help="Radio channel between tags and gateway: none, rtls, wifi, harsh.")] = "rtls",
    scenario: Annotated[
        str | None, Given(help="A situation to play: a YAML file, or the name of one that comes with us.")
    ] = None,
    tracking: Annotated[
        str | None,
        Given(
            "--from",
            help="A tracked match to measure anew: a table (parquet) or kloppy:<provider>:<file>[:<metadata>].",
        ),
    ] = None,
    half_length: Annotated[float | None, Given(help="Minutes of a half. Default 45.", show_default=False)] = None,
    noise: Annotated[float, Given(help="Standard deviation of positions in metres; 0 measures without error.")] = 0.02,
    realism: Annotated[
        bool, Given("--realism", help="Compare with a real match and published figures (slow).")
    ] = False,
    as_json: Annotated[bool, Given("--json", help="Print the report as JSON on stdout.")] = False,
) -> None:
    """Makes a match: what radio tags and gateway would deliver, and the exact truth about it."""
    from app.cli.simulate import SimulateOptions, run_simulate

    wish = SimulateOptions(out, seed, minutes, rate, channel, scenario, tracking, half_length, noise, realism)
    raise typer.Exit(run_simulate(wish, as_json_text=as_json))


@app.command()
def official(
    folder: Folder,
    kind: Annotated[str, typer.Argument(help=f"{', '.join(DECISIONS)}.")],
    variant: Annotated[str, Given(help="Such as yellow of a card, no goal of a var.")] = "",
    team: Annotated[str, Given(help="home or away.")] = "",
    player: Annotated[str, Given(help="Object id of whom it is about; who comes on.")] = "",
    other: Annotated[str, Given(help="Object id of who goes off.")] = "",
    minutes: Annotated[int | None, Given(help="Of added time.")] = None,
    event: Annotated[str, Given(help="Id of the event of ours that is void.")] = "",
    at: Annotated[float | None, Given(help="When it happened, in seconds of the match's clock. Default now.")] = None,
    source: Annotated[str, Given(help="Who says it. Default operator.")] = "",
    number: Annotated[int | None, Given(help="Tells a decision from its repetition. Default the line's.")] = None,
    note: Annotated[str, Given(help="For people.")] = "",
) -> None:
    """Says in a running match what its officials decide; it takes back what we said against it."""
    from app.cli.official import run_official

    fields = {
        "kind": kind, "variant": variant, "team": team, "player": player, "other": other, "minutes": minutes,
        "event": event, "at_s": at, "source": source, "number": number, "note": note,
    }  # fmt: skip
    run_official(folder, fields)


@app.command()
def events(folder: Folder, form: Format = "csv", out: Out = None) -> None:
    """Writes what happened in a match: one record per event, corrections applied, sorted by time."""
    from app.cli.export import export_events

    export_events(folder, form, out)


@app.command()
def updates(folder: Folder, form: Format = "csv", out: Out = None) -> None:
    """Writes all that was said during a match and when, what was taken back included."""
    from app.cli.export import export_updates

    export_updates(folder, form, out)


@app.command()
def score(
    folder: Folder,
    truth: Annotated[
        Path,
        Given(help="truth.parquet of the simulator, Opta's events (.csv), or the DEBS 2013 annotation (its folder)."),
    ],
    as_json: Annotated[bool, Given("--json", help="Print the figures as JSON on stdout.")] = False,
) -> None:
    """Holds what was found in a match against the truth: precision, recall, F1, time error and confusion by kind."""
    from app.cli.score import run_score

    run_score(folder, truth, as_json=as_json)


@app.command()
def annotate(
    folder: Folder,
    out: Annotated[Path, Given(help="Folder of the tables.")],
    like: Annotated[
        Path | None, Given(help="Folder of a DEBS 2013 stream or annotation whose clock is used. Default one half.")
    ] = None,
) -> None:
    """Writes possession, shots on goal and interruptions in the form of the DEBS 2013 annotation."""
    from app.cli.annotate import run_annotate

    run_annotate(folder, out, like)


@app.command()
def detectors(
    as_json: Annotated[bool, Given("--json", help="An array with an object for each detector.")] = False,
    graph: Annotated[
        bool, Given("--graph", help="Who feeds whom: Graphviz text, or a picture with --out x.svg.")
    ] = False,
    markdown: Annotated[bool, Given("--markdown", help="The page docs/detectors.md.")] = False,
    thresholds: Annotated[bool, Given("--thresholds", help="The page docs/thresholds.md.")] = False,
    toml: Annotated[bool, Given("--toml", help="A whole settings file with all parameters.")] = False,
    parameters: Annotated[Path | None, Given(help="Settings file (TOML) to check, and to show the values of.")] = None,
    out: Annotated[Path | None, Given(help="File to write; default stdout.")] = None,
) -> None:
    """Lists the detectors: levels, inputs, outputs, parameters, horizons and sources, and counts them."""
    from app.cli.detectors import FORMS, DetectorsError, run_detectors

    forms = [form for form, asked in zip(FORMS, (as_json, graph, markdown, thresholds, toml), strict=True) if asked]
    if len(forms) > 1:
        raise DetectorsError(f"--{' and --'.join(forms)}: one at a time")
    run_detectors("".join(forms), parameters, out)


@app.command()
def trace(
    folder: Annotated[Path, typer.Argument(help="Folder of a match store, or of a capture.")],
    event: Annotated[
        str,
        typer.Argument(
            help="Id of an event as `touchline events` lists it; of a packet kind:transmitter:number, "
            "such as raw.player:home_7:123."
        ),
    ],
    alpha: Annotated[str | None, Given(help="Play with another alpha than the match had: 0 to 1, or auto.")] = None,
    retraction: Annotated[
        str | None, Given(help="Play with another retraction than the match had: full, on-demand or auto.")
    ] = None,
    as_json: Annotated[bool, Given("--json", help="Print an array of records.")] = False,
) -> None:
    """Tells of one event when it came, when it was released and why then, what led to it and what it displaced.

    The match is played once more from its capture, twice over: once to find the event, once to trace it.
    """
    from app.cli.trace import run_trace

    run_trace(folder, event, alpha=alpha, retraction=retraction, as_json=as_json)


@app.command()
def explain(
    folder: Folder,
    event: Annotated[str, typer.Argument(help="Id of an event as `touchline events` lists it.")],
    as_json: Annotated[bool, Given("--json", help="Print one JSON object.")] = False,
) -> None:
    """Tells why an event is what it is: its causes, thresholds and margins down to positions, and its history.

    The match is played once more around the event, with the parameters and detectors that it had.
    """
    from app.cli.explain import run_explain

    run_explain(folder, event, as_json=as_json)


@app.command()
def order(
    dataset: Annotated[
        Path, typer.Argument(help="A CSV file of the out-of-order data sets (.csv, .csv.gz), or a capture's folder.")
    ],
    method: Annotated[
        str, Given(help="fixed, kslack, adaptive, sba, bett, betta, bettwa, bettd, frontier, or all.")
    ] = "frontier",
    profile: Annotated[
        str, Given(help="Reading of paper 001: literal, or paper (what its tables come from).")
    ] = "literal",
    alpha: Annotated[float, Given(help="Share of the slack to wait, 0 to 1.")] = 1.0,
    k: Annotated[int | None, Given(help="Slack in ms of fixed and sba, or what the others begin with.")] = None,
    scale: Annotated[float, Given("--lambda", help="Margin of adaptive, in standard deviations.")] = 0.5,
    patience: Annotated[float, Given(help="Seconds that frontier waits for a silent source.")] = 7.0,
    newcomers: Annotated[float, Given(help="Seconds of quiet until frontier expects no new source.")] = 6.0,
    sources: Annotated[int | None, Given(help="How many sources there are, if known; for frontier.")] = None,
    as_json: Annotated[bool, Given("--json", help="A JSON object on stdout, one a method.")] = False,
) -> None:
    """Puts an out-of-order stream in order by a slack policy, and tells what that did to order and time."""
    from app.cli.order import run_order

    given = {
        "method": method, "profile": profile, "alpha": alpha, "k": k, "lambda": scale, "patience": patience,
        "newcomers": newcomers, "sources": sources,
    }  # fmt: skip
    run_order(dataset, given, as_json=as_json)


@app.command()
def publish(
    captures: Annotated[
        list[Path], typer.Argument(help="Folders of captures, of `simulate`, or of match stores: played side by side.")
    ],
    topic: Annotated[str, typer.Argument(help="kafka://host:port/topic; it is made if it is not there.")],
    speed: Annotated[str, Given(help="1, 4 or max.")] = "1",
    match: Annotated[
        list[str] | None,
        Given(help="What a match is called there, once for each capture in their order. Default: as its sheet says."),
    ] = None,
    partitions: Annotated[int, Given(help="Of a topic that is made.", min=1)] = 1,
    as_json: Annotated[bool, Given("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Plays captures into a Kafka topic, at the pace at which they arrived; `live --matches TOPIC` plays them all."""
    from app.cli.publish import run_publish

    run_publish(captures, topic, speed, matches=match or (), partitions=partitions, as_json=as_json)


@app.command()
def follow(
    topic: Annotated[str, typer.Argument(help="kafka://host:port/topic[?match=...] that `live --publish` writes.")],
    idle: Annotated[float | None, Given(help="End when nothing came for so many seconds. Default: never.")] = None,
    as_json: Annotated[bool, Given("--json", help="Print one JSON object a line.")] = False,
) -> None:
    """Tells what a match's updates say, as they come, until the match is over."""
    from app.cli.publish import run_follow

    run_follow(topic, idle_s=idle, as_json=as_json)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def doctor(
    context: typer.Context,
    as_json: Annotated[bool, Given("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Says what this machine lacks for a live match and how to mend it; exit code 1 if one would not run.

    Takes the options of `live`: ports, the store's disk and the brokers are those that a run with them would use.
    """
    from app.cli.config import options_of_live
    from app.cli.doctor import run_doctor

    if not run_doctor(options_of_live(context), as_json=as_json):
        raise typer.Exit(1)


@app.command("test", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def run_tests(
    context: typer.Context,
    slow: Annotated[bool, Given("--slow", help="Run the slow tests too.")] = False,
) -> None:
    """Runs the tests, two files at a time; further arguments go to pytest, which then runs one after the other."""
    chosen = [] if slow or "-m" in context.args else ["-m", "not slow"]
    beside = [] if slow or context.args else ["-n", "2", "--dist", "loadfile"]
    command = [sys.executable, "-m", "pytest", *chosen, *beside, *context.args]
    raise typer.Exit(subprocess.run(command, cwd=_ROOT, check=False).returncode)


def _show_version(wanted: bool) -> None:
    if wanted:
        try:
            typer.echo(f"touchline {version('touchline')}")
        except PackageNotFoundError:
            typer.echo("touchline (not installed)")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _main(
    context: typer.Context,
    _version: Annotated[
        bool, Given("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Entry point of the ``touchline`` command."""
    try:
        code = app(standalone_mode=False)
    except typer.Abort:
        _give_up("stopped")
    except UserError as error:
        _give_up(one_line(error))
    except Exception as error:
        if not hasattr(error, "format_message"):  # Typer's own: a command line that cannot be
            raise
        _give_up(error.format_message())
    raise SystemExit(code if isinstance(code, int) else 0)


def _give_up(reason: str) -> NoReturn:
    print(f"touchline: {reason}", file=sys.stderr)
    raise SystemExit(2)


if __name__ == "__main__":
    main()
