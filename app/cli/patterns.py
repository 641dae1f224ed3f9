"""``touchline patterns``: checks, runs and explains patterns over events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from app.base.terminal import make_console, waiting
from app.cli.options import Given
from app.cli.output import print_json
from app.library.patterns import StoreResult, find_stores, search_store, write_found
from app.settings.patterns import PatternFileError, read_pattern
from detectors.patterns.describe import describe
from detectors.patterns.limecep import LimeMatcher, LimeSettings
from detectors.patterns.matcher import MOST_MATCHES, Change, Matcher
from detectors.patterns.returns import Returns
from detectors.patterns.search import Match
from detectors.patterns.syntax import Query, Strategy
from football.errors import UserError
from replay.formats.pattern_events import EventRow, RejectedRow, read_pattern_events
from replay.formats.pattern_json import EventMapping, json_events, read_json_events, read_mapping

app = typer.Typer(add_completion=False, no_args_is_help=True)

STRATEGIES: tuple[str, ...] = get_args(Strategy)
PROFILES = ("exact", "limecep")

_File = Annotated[Path, typer.Argument(help="File of a pattern, as docs/patterns.md describes it.")]
_Chosen = Annotated[
    str | None, Given("--strategy", help=f"{', '.join(STRATEGIES)}; default: the query's own, else stnm.")
]
_Json = Annotated[bool, Given("--json", help="Print JSON.")]


class PatternCommandError(UserError):
    """A wrong option; the message names it."""


@app.callback()
def patterns() -> None:
    """Checks, runs and explains patterns: rules of your own over events, exact whatever the order of arrival.

    Examples:
        touchline patterns check corner.touchline
        touchline patterns run corner.touchline --events events.csv --json
    """


@app.command()
def check(
    files: Annotated[list[Path], typer.Argument(help="Files of patterns.")],
    as_json: _Json = False,
) -> None:
    """Reads patterns and says what is wrong with them, and how to mend it; exit code 2 if anything is.

    Examples:
        touchline patterns check corner.touchline counter.touchline
    """
    found = [_checked(file) for file in files]
    if as_json:
        print_json(found)
    else:
        for one in found:
            typer.echo(f"{one['file']}: {one['error'] or 'ok'}")
    if any(one["error"] for one in found):
        raise typer.Exit(2)


@app.command()
def explain(file: _File, strategy: _Chosen = None, as_json: _Json = False) -> None:
    """Shows what a pattern means: its sequences of steps, where each condition is decided, and how it is searched.

    Examples:
        touchline patterns explain corner.touchline
        touchline patterns explain corner.touchline --strategy stam --json
    """
    query = read_pattern(file)
    found = describe(query, _strategy(strategy, query))
    if as_json:
        print_json(found)
        return
    for line in found["lines"]:
        typer.echo(line)


@app.command()
def run(
    file: _File,
    stores: Annotated[list[Path] | None, typer.Argument(help="Match stores, or folders of them.")] = None,
    events: Annotated[
        str | None,
        Given(
            "--events", help="Events in order of arrival: CSV (id, type, ts_ms, payload), .jsonl, or kafka://... topic."
        ),
    ] = None,
    mapping: Annotated[
        Path | None,
        Given("--mapping", help="TOML file: what JSON events of other programs call id, type, time, values."),
    ] = None,
    strategy: _Chosen = None,
    as_json: _Json = False,
    with_log: Annotated[bool, Given("--log", help="Also print each change as it happens, as text.")] = False,
    most: Annotated[int, Given("--most", help="Bound on the matches of one event.")] = MOST_MATCHES,
    profile: Annotated[
        str, Given("--profile", help="exact; or limecep: as paper 003 evaluates, with drops.")
    ] = "exact",
    no_correction: Annotated[bool, Given("--no-correction", help="Of limecep: never correct a match (NC).")] = False,
    factor: Annotated[
        float, Given("--lateness-factor", help="Of limecep: an event above so many mean scores is dropped.")
    ] = LimeSettings().factor,
    slack_share: Annotated[
        float, Given("--slack-share", help="Of limecep: greatest slack, as a share of the window.")
    ] = LimeSettings().slack_share,
    jobs: Annotated[int, Given(help="Number of stored matches at a time; 0: as many as there are cores.", min=0)] = 0,
    master: Annotated[str, Given(help="Spark cluster, spark://host:port. Default this machine.")] = "",
    out: Annotated[Path | None, Given(help="Write what was found in stored matches to this Parquet file.")] = None,
) -> None:
    """Finds the matches of a pattern in stored matches, or in a file of events in any order of arrival.

    Rows of the file may be late, doubled, withdrawn and amended.

    The matches are those of the definition on the sorted events, each once. The log has every match that came (+1) and
    was withdrawn (-1), with the row that did it. Rows that cannot be used are named with file, row and reason.

    Several stored matches are searched in parallel, as a job of Spark. Exit code 1 if one of them cannot be searched;
    the others are.

    Examples:
        touchline patterns run corner.touchline --events events.csv
        touchline patterns run corner.touchline --events events.csv --strategy stam --json
        touchline patterns run corner.touchline --events events.csv --profile limecep
        touchline patterns run corner.touchline --events kafka://broker:9092/events --mapping provider.toml
        touchline patterns run patterns/give_and_go.touchline matches/demo
        touchline patterns run patterns/give_and_go.touchline matches/ --out found.parquet
    """
    query = read_pattern(file)
    chosen = _strategy(strategy, query)
    if most < 1:
        raise PatternCommandError(f"--most {most}: must be at least 1")
    query = query._replace(strategy=chosen)
    if mapping is not None and events is None:
        raise PatternCommandError("--mapping is of --events")
    if bool(stores) == (events is not None):
        raise PatternCommandError("give either folders of match stores, or a file with --events")
    if events is None:
        results = _in_stores(query, find_stores(stores or []), most, jobs, master)
        if out is not None:
            write_found(results, out)
        _show(results, as_json=as_json)
        return
    if out is not None or master or jobs:
        raise PatternCommandError("--out, --master and --jobs are of stored matches")
    if profile not in PROFILES:
        raise PatternCommandError(f"--profile {profile}: must be one of {', '.join(PROFILES)}")
    if profile == "exact" and (no_correction, factor, slack_share) != (False, LimeSettings().factor, 0):
        raise PatternCommandError("--no-correction, --lateness-factor and --slack-share are of --profile limecep")
    settings = LimeSettings(factor=factor, slack_share=slack_share, correction=not no_correction)
    rows = open_events(events, mapping)
    found = run_events(query, rows, events, most, settings if profile == "limecep" else None)
    for one in found["rejected"]:
        typer.echo(f"{one['file']} row {one['row']}: {one['reason']}", err=True)
    for one in found.get("dropped", ()):
        reason = f"dropped, its score {one['score']:.2f} is above {one['threshold']:.2f}"
        typer.echo(f"{events} row {one['row']}: {one['id']} is {reason}", err=True)
    if as_json:
        print_json(found)
        return
    for entry in found["log"] if with_log else []:
        typer.echo(f"row {entry['row']}: {entry['diff']:+} {' '.join(entry['match'])}")
    values = found.get("values") or [{}] * len(found["matches"])
    for match, carried in zip(found["matches"], values, strict=True):
        typer.echo(_line(match, carried))


def _in_stores(query: Query, stores: Sequence[Path], most: int, jobs: int, master: str) -> list[StoreResult]:
    """The matches of a query in stores; a single store needs no Spark, and its error ends the command."""
    if len(stores) == 1 and not master:
        return [search_store(query, stores[0], most)]
    from app.library.pattern_job import search_stores  # brings Spark, which nothing else here needs

    with waiting(make_console(stderr=True), f"Searching {len(stores)} matches"):
        return search_stores(query, stores, most, jobs=jobs, master=master)


def _show(results: Sequence[StoreResult], *, as_json: bool) -> None:
    """Print what was found, and the stores that could not be searched on stderr; exit code 1 if there is one."""
    for one in results:
        if one.broken:
            typer.echo(f"{one.store}: {one.broken}", err=True)
        elif as_json:
            print_json({"store": one.store, "matches": one.matches, "times_us": one.times_us, "values": one.values})
        else:
            for ids, (first_us, last_us), values in zip(one.matches, one.times_us, one.values, strict=True):
                typer.echo(f"{one.store} {first_us / 1e6:.2f} s to {last_us / 1e6:.2f} s: {_line(ids, values)}")
    if any(one.broken for one in results):
        raise typer.Exit(1)


def _line(ids: list[str], values: dict[str, Any]) -> str:
    return " ".join([*ids, *(f"{name}={value}" for name, value in values.items())])


def run_events(
    query: Query,
    entries: Iterable[EventRow | RejectedRow],
    origin: str,
    most: int = MOST_MATCHES,
    lime: LimeSettings | None = None,
) -> dict[str, Any]:
    """Run a query over rows of events.

    Args:
        query: with its strategy.
        entries: the rows.
        origin: what they come from, for those that cannot be used.
        most: bound on the matches of one event.
        lime: settings of the profile limecep; None for the exact matcher.

    Returns:
        ``matches`` (lists of ids, in order of their events), ``log`` (row, diff, match), ``rejected`` (file, row,
        reason), ``duplicates``; ``values``, one object a match, if the query returns any; and of limecep ``dropped``
        (row, id, score, threshold).

    Raises:
        TrackingError: the rows cannot be read.
        PatternError: the query means nothing, or has too many matches.
    """
    matcher = Matcher([query], most=most) if lime is None else LimeMatcher([query], settings=lime)
    returns = Returns(query)
    rows: dict[str, int] = {}
    row = 0
    log: list[dict[str, Any]] = []
    rejected: list[dict[str, Any]] = []
    for entry in entries:
        if isinstance(entry, RejectedRow):
            rejected.append({"file": origin, "row": entry.row, "reason": entry.reason})
            continue
        row, event, diff = entry
        standing = matcher.standing(event.id)
        reason = ""
        if diff < 0 and standing is None:
            reason = f"withdraws {event.id}, which does not stand"
        elif diff > 0 and standing is not None and standing != event:
            reason = f"{event.id} stands with other content: withdraw it first (diff -1)"
        if reason:
            rejected.append({"file": origin, "row": row, "reason": reason})
            continue
        rows.setdefault(event.id, row)
        log += _entries(row, matcher.push(event, diff))
    if isinstance(matcher, LimeMatcher):
        log += _entries(row, matcher.finish())
    matches = sorted((match for _, match in matcher.matches()), key=_order)
    found: dict[str, Any] = {"matches": [_ids(match) for match in matches], "log": log, "rejected": rejected}
    found["duplicates"] = matcher.duplicates
    if isinstance(matcher, LimeMatcher):
        found["dropped"] = [
            {"row": rows[one.event.id], "id": one.event.id, "score": one.score, "threshold": one.threshold}
            for one in matcher.dropped
        ]
    if query.returns:
        found["values"] = [returns.values(match) for match in matches]
    return found


def open_events(events: str, mapping: Path | None) -> Iterator[EventRow | RejectedRow]:
    """The rows of a file of events, or of a topic.

    Raises:
        TrackingError: the file, or the mapping, cannot be read.
        KafkaError: the topic cannot be read.
    """
    names = EventMapping() if mapping is None else read_mapping(mapping)
    if events.startswith("kafka://"):
        from app.kafka.address import parse as parse_address  # brings a client, which files do not need
        from app.kafka.event_topic import topic_records

        return json_events(topic_records(parse_address(events)), names)
    is_json = mapping is not None or any(f".{suffix}" in Path(events).name for suffix in ("jsonl", "ndjson"))
    return read_json_events(Path(events), names) if is_json else read_pattern_events(Path(events))


def _checked(file: Path) -> dict[str, Any]:
    try:
        read_pattern(file)
    except PatternFileError as error:
        return {"file": str(file), "error": str(error).removeprefix(f"{file}: ")}
    return {"file": str(file), "error": None}


def _strategy(given: str | None, query: Query) -> Strategy:
    name = given or query.strategy or "stnm"
    if name not in STRATEGIES:
        raise PatternCommandError(f"--strategy {name}: must be one of {', '.join(STRATEGIES)}")
    return name  # type: ignore[return-value]


def _entries(row: int, changes: Iterable[Change]) -> list[dict[str, Any]]:
    return [{"row": row, "diff": change.diff, "match": _ids(change.match)} for change in changes]


def _ids(match: Match) -> list[str]:
    return [event.id for event in match]


def _order(match: Match) -> list[tuple[Any, ...]]:
    return [event[:3] for event in match]
