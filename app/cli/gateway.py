"""``touchline gateway``: live feeds of locating systems into a capture that grows, or into a topic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.table import Table

from app.base.terminal import make_console
from app.cli.options import Given
from app.cli.output import print_json
from app.gateway.address import FeedError, parse_feed
from app.gateway.check import CheckResult, check_sample
from app.gateway.gateway import FeedRequest, GatewayFigures, gateway_lines
from app.gateway.identities import TagTable
from app.gateway.profile import read_profile, shipped_profiles
from app.gateway.run import GatewayOptions, run_gateway
from app.kafka.address import is_kafka, parse
from football.match_sheet import MatchSheet
from replay.formats.match_sheets import read_sheet

app = typer.Typer(add_completion=False)

#: Minutes of a spool that stay on disk by default.
_SPOOL_MINUTES = 60.0

Sheet = Annotated[Path | None, Given("--sheet", help="Match sheet (JSON): players, pitch. Default: any players.")]
Tags = Annotated[
    Path | None, Given("--tags", help="Table of tags (CSV: tag, object, limb, since), read again on change.")
]
Json = Annotated[bool, Given("--json", help="Print the result as JSON.")]


@app.callback(invoke_without_command=True)
def gateway(
    context: typer.Context,
    feeds: Annotated[
        list[str] | None,
        Given(
            "--from",
            help="Address of a feed: tcp://, tcp-listen://, udp://, ws://, wss://, ws-listen://, mqtt://, mqtts://, "
            "file:PATH; several for several sources. Options follow after ?, such as profile, name, settings.",
        ),
    ] = None,
    profile: Annotated[str, Given(help="Profile of the feeds whose address names none.")] = "",
    to: Annotated[
        str, Given(help="Folder of a capture that grows, for `live --source`, or kafka://host:port/topic.")
    ] = "",
    sheet: Sheet = None,
    tags: Tags = None,
    match: Annotated[str, Given(help="Name of the match. Default: the sheet's.")] = "",
    spool: Annotated[
        Path | None, Given(help="Folder in which blocks wait for a topic's broker. Default: spool, here.")
    ] = None,
    keep: Annotated[
        float | None, Given(help="Minutes that stay on disk. Default: everything of a capture, 60 of a spool.", min=1)
    ] = None,
    stand_by: Annotated[
        bool,
        Given(
            "--stand-by", help="Receive while another gateway writes the folder; take over when it stops or crashes."
        ),
    ] = False,
    end_after: Annotated[
        float | None, Given(help="Seconds of silence after which the match is over. Default: never.", min=1)
    ] = None,
    as_json: Json = False,
) -> None:
    """Receives live feeds of positions, of officials' decisions and of timecode into a capture that grows, or a topic.

    Ctrl-C ends the match. SIGTERM leaves the capture open: the same command, or one with --stand-by, goes on with it.

    Examples:
        touchline gateway --from mqtt://10.0.0.5 --profile pozyx-mqtt --to match --sheet metadata.json --tags tags.csv
        touchline gateway --from udp://0.0.0.0:5000 --profile packed-binary --to kafka://127.0.0.1:9092/positions
        touchline live --source match
    """
    if context.invoked_subcommand is not None:
        return
    if not feeds or not to:
        raise FeedError("--from and --to: a gateway needs a feed and a place to put it")
    defaults = {"profile": profile, "tags": str(tags) if tags else ""}
    requests = []
    for address in map(parse_feed, feeds):
        missing = {name: value for name, value in defaults.items() if not getattr(address, name)}
        requests.append(FeedRequest(msgspec.structs.replace(address, **missing)))
    found = read_sheet(sheet) if sheet else MatchSheet()
    topic = parse(to) if is_kafka(to) else None
    if topic is not None and any(request.profile.gives != "positions" for request in requests):
        raise FeedError("--from: a match out of a topic takes no decisions and no timecode: name a folder with --to")
    kept_minutes = keep if keep is not None or topic is None else _SPOOL_MINUTES
    options = GatewayOptions(
        tuple(requests),
        msgspec.structs.replace(found, match_id=match or found.match_id),
        (spool or Path("spool")) if topic else Path(to),
        topic,
        None if kept_minutes is None else round(kept_minutes * 60e6),
        stand_by,
        None if end_after is None else round(end_after * 1e6),
    )
    console = make_console(stderr=True)
    console.print(f"Receiving {', '.join(one.address.label for one in requests)} into {to}")
    known: list[str] = []
    stood_by = False

    def watch(figures: GatewayFigures) -> None:
        nonlocal known, stood_by
        if figures.stands_by != stood_by:
            stood_by = figures.stands_by
            console.print(
                f"Standing by: another gateway writes {to}" if stood_by
                else f"Taken over; {figures.filled} packets filled in"
            )  # fmt: skip
        if figures.problems != known:
            known = figures.problems
            for problem in known or ["all feeds are well"]:
                console.print(problem, markup=False)

    figures = run_gateway(options, watch=watch)
    if as_json:
        print_json(figures)
        return
    for line in gateway_lines(figures):
        make_console().print(line, markup=False)


@app.command()
def profiles(as_json: Json = False) -> None:
    """Lists the profiles of the package, each with its documents.

    Examples:
        touchline gateway profiles
    """
    found = {name: read_profile(name) for name in shipped_profiles()}
    if as_json:
        print_json({name: {"title": one.title, "documents": one.documents} for name, one in found.items()})
        return
    table = Table("profile", "feed", "documents")
    for name, one in found.items():
        table.add_row(name, one.title, one.documents)
    make_console().print(table)


@app.command()
def check(
    profile: Annotated[str, typer.Argument(help="Name of a profile of the package, or a file.")],
    sample: Annotated[Path, typer.Argument(help="Messages of the feed in a file.")],
    sheet: Sheet = None,
    tags: Tags = None,
    topic: Annotated[str, Given(help="Topic of MQTT on which the sample came.")] = "",
    show: Annotated[int, Given(help="Records to list.", min=0, max=10_000)] = 20,
    as_json: Json = False,
) -> None:
    """Shows the value of each field in a sample, what it became, and what was refused and why.

    Exit code 1 if nothing can be used.

    Examples:
        touchline gateway check pozyx-mqtt sample.json
        touchline gateway check mine.toml sample.csv --sheet metadata.json --tags tags.csv
    """
    result = check_sample(
        read_profile(profile), sample, read_sheet(sheet) if sheet else MatchSheet(),
        TagTable(tags) if tags else None, topic, show,
    )  # fmt: skip
    if as_json:
        print_json(result)
    else:
        _print_check(result)
    if not result.measurements:
        raise typer.Exit(1)


def _print_check(result: CheckResult) -> None:
    console = make_console()
    for record in result.records:
        found = ", ".join(f"{name} {'missing' if value is None else value!r}" for name, value in record.found.items())
        console.print(f"message {record.message}: {found[:400]}", markup=False)
        if stated := record.decision or record.timecode:
            console.print(f"  -> {stated}", markup=False)
        elif record.transmitter:
            time = "time of arrival" if record.source_us is None else f"{record.source_us / 1e6:.6f} s"
            place = f"({record.x_m:.3f}, {record.y_m:.3f}, {record.z_m:.3f}) m"
            console.print(f"  -> {record.transmitter} at {place}, {time}, quality {record.quality:.2f}", markup=False)
        else:
            console.print(f"  -> {f'refused: {record.reason}' if record.reason else 'left out'}", markup=False)
    console.print(f"{result.messages} messages, {result.measurements} positions, decisions or frames of timecode")
    for kind, counts in (("refused", result.refused), ("left out", result.left_out)):
        for reason, count in counts.items():
            console.print(f"{kind}: {count} x {reason}", markup=False)
    if result.corner_errors_m:
        errors = ", ".join(f"{error:.2f}" for error in result.corner_errors_m)
        console.print(f"corners of the survey lie within {errors} m of those of the pitch")
