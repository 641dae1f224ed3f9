"""``touchline patterns``: checks, runs and explains patterns over events."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from app.cli.options import Given
from app.cli.output import print_json
from app.library.patterns import PatternFileError, match_store, read_pattern
from detectors.patterns.describe import describe
from detectors.patterns.matcher import MOST_MATCHES, Change, Matcher
from detectors.patterns.returns import Returns
from detectors.patterns.search import Match
from detectors.patterns.syntax import Query, Strategy
from football.errors import UserError
from replay.formats.pattern_events import RejectedRow, read_pattern_events

app = typer.Typer(add_completion=False, no_args_is_help=True)

STRATEGIES: tuple[str, ...] = get_args(Strategy)

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
    stores: Annotated[list[Path] | None, typer.Argument(help="Folders of match stores.")] = None,
    events: Annotated[
        Path | None, Given("--events", help="CSV of events: id, type, ts_ms and payload; rows in order of arrival.")
    ] = None,
    strategy: _Chosen = None,
    as_json: _Json = False,
    with_log: Annotated[bool, Given("--log", help="Also print each change as it happens, as text.")] = False,
    most: Annotated[int, Given("--most", help="Bound on the matches of one event.")] = MOST_MATCHES,
) -> None:
    """Finds the matches of a pattern in stored matches, or in a file of events in any order of arrival.

    Rows of the file may be late, doubled, withdrawn and amended.

    The matches are those of the definition on the sorted events, each once. The log has every match that came (+1) and
    was withdrawn (-1), with the row that did it. Rows that cannot be used are named with file, row and reason.

    Examples:
        touchline patterns run corner.touchline --events events.csv
        touchline patterns run corner.touchline --events events.csv --strategy stam --json
        touchline patterns run patterns/give_and_go.touchline matches/demo
    """
    query = read_pattern(file)
    chosen = _strategy(strategy, query)
    if most < 1:
        raise PatternCommandError(f"--most {most}: must be at least 1")
    query = query._replace(strategy=chosen)
    if bool(stores) == (events is not None):
        raise PatternCommandError("give either folders of match stores, or a file with --events")
    if events is None:
        _run_stores(query, stores or [], most, as_json=as_json)
        return
    found = run_events(query, events, most)
    for one in found["rejected"]:
        typer.echo(f"{one['file']} row {one['row']}: {one['reason']}", err=True)
    if as_json:
        print_json(found)
        return
    for entry in found["log"] if with_log else []:
        typer.echo(f"row {entry['row']}: {entry['diff']:+} {' '.join(entry['match'])}")
    values = found.get("values") or [{}] * len(found["matches"])
    for match, carried in zip(found["matches"], values, strict=True):
        typer.echo(_line(match, carried))


def _run_stores(query: Query, stores: Iterable[Path], most: int, *, as_json: bool) -> None:
    """Print the matches of a query in stores."""
    returns = Returns(query)
    for found in (match_store(query, store, most) for store in stores):
        values = [returns.values(match) for match in found.matches]
        if as_json:
            times = [[match[0].ts_us, match[-1].ts_us] for match in found.matches]
            matches = [_ids(match) for match in found.matches]
            print_json({"store": str(found.store), "matches": matches, "times_us": times, "values": values})
            continue
        for match, carried in zip(found.matches, values, strict=True):
            first_s, last_s = (event.ts_us / 1e6 for event in (match[0], match[-1]))
            typer.echo(f"{found.store} {first_s:.2f} s to {last_s:.2f} s: {_line(_ids(match), carried)}")


def _line(ids: list[str], values: dict[str, Any]) -> str:
    return " ".join([*ids, *(f"{name}={value}" for name, value in values.items())])


def run_events(query: Query, events: Path, most: int = MOST_MATCHES) -> dict[str, Any]:
    """Run a query over a file of events.

    Returns:
        ``matches`` (lists of ids, in order of their events), ``log`` (row, diff, match), ``rejected`` (file, row,
        reason), ``duplicates``; and ``values``, one object a match, if the query returns any.

    Raises:
        TrackingError: the file cannot be read.
        PatternError: the query means nothing, or has too many matches.
    """
    matcher = Matcher([query], most=most)
    returns = Returns(query)
    log: list[dict[str, Any]] = []
    rejected: list[dict[str, Any]] = []
    for entry in read_pattern_events(events):
        if isinstance(entry, RejectedRow):
            rejected.append({"file": str(events), "row": entry.row, "reason": entry.reason})
            continue
        row, event, diff = entry
        standing = matcher.standing(event.id)
        reason = ""
        if diff < 0 and standing is None:
            reason = f"withdraws {event.id}, which does not stand"
        elif diff > 0 and standing is not None and standing != event:
            reason = f"{event.id} stands with other content: withdraw it first (diff -1)"
        if reason:
            rejected.append({"file": str(events), "row": row, "reason": reason})
            continue
        log += _entries(row, matcher.push(event, diff))
    matches = sorted((match for _, match in matcher.matches()), key=_order)
    found: dict[str, Any] = {"matches": [_ids(match) for match in matches], "log": log, "rejected": rejected}
    found["duplicates"] = matcher.duplicates
    if query.returns:
        found["values"] = [returns.values(match) for match in matches]
    return found


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
