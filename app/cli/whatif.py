"""``touchline whatif``: a stretch of a match played again with a change, and the events that differ."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated

import msgspec
import typer

from app.base.terminal import make_console, waiting
from app.cli.options import Folder, Given
from app.cli.output import print_json
from app.what_if.change import Change, Delay, Move, WhatIfError
from app.what_if.run import Difference, Outcome, Side, WhatIf
from replay.event_choice import format_time, parse_time_us

app = typer.Typer(add_completion=False)


@app.command()
def whatif(
    folder: Folder,
    begin: Annotated[str, Given("--from", help="Begin of the stretch: 4:01, 1:07:30 or seconds.")],
    end: Annotated[str, Given("--to", help="End of the stretch, two minutes later at most.")],
    alpha: Annotated[float | None, Given(help="Share of the slack that is waited, 0 to 1.")] = None,
    slack: Annotated[int | None, Given(help="Fixed slack of all units in milliseconds.")] = None,
    thresholds: Annotated[list[str] | None, Given("--set", help="A threshold: near.enter_m=0.9. Repeatable.")] = None,
    detectors: Annotated[str, Given(help="Opt-in detectors in addition, with commas.")] = "",
    delays: Annotated[
        list[str] | None, Given("--delay", help="Packets that arrive later: home_7=500 or all=500, in ms.")
    ] = None,
    moves: Annotated[list[str] | None, Given("--move", help="An object elsewhere: home_7=1.5,-2, in metres.")] = None,
    removed: Annotated[list[str] | None, Given("--remove", help="An object without packets: home_7.")] = None,
    as_json: Annotated[bool, Given("--json", help="Print one JSON object.")] = False,
) -> None:
    """Plays a stretch of a match again with a change, and lists the events that differ.

    Both sides are played: as it was recorded, and with the change. Changes to packets hold in the stretch only.

    Examples:
        touchline whatif matches/demo --from 4:00 --to 5:00 --set near.enter_m=0.9
        touchline whatif matches/demo --from 4:00 --to 5:00 --remove home_7
        touchline whatif matches/demo --from 4:00 --to 4:20 --delay all=4000 --alpha 0.5
    """
    change = Change(
        parse_time_us(begin), parse_time_us(end), alpha, slack,
        {name: _number(value, name) for name, value in map(_pair, thresholds or ())},
        tuple(filter(None, detectors.split(","))),
        tuple(Delay("" if name == "all" else name, int(_number(ms, name))) for name, ms in map(_pair, delays or ())),
        tuple(_move(*_pair(text)) for text in moves or ()), tuple(removed or ()),
    )  # fmt: skip
    change = checked(change)
    with waiting(make_console(stderr=True), "Reading the match") as line:
        outcome = WhatIf(folder).play(change, line.say)
    if as_json:
        print_json(msgspec.to_builtins(outcome))
    else:
        sys.stdout.write("\n".join(_lines(outcome)) + "\n")


def checked(change: Change) -> Change:
    """Return the change with its values in their ranges. Raises WhatIfError for any other."""
    try:
        return msgspec.convert(msgspec.to_builtins(change), Change)
    except msgspec.ValidationError as error:
        raise WhatIfError(str(error)) from error


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not (name and sign and value):
        raise WhatIfError(f"{text}: must be NAME=VALUE")
    return name, value


def _number(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise WhatIfError(f"{name}={text}: not a number") from None


def _move(name: str, text: str) -> Move:
    x, _, y = text.partition(",")
    return Move(name, _number(x, name), _number(y or "0", name))


def _lines(outcome: Outcome) -> Iterator[str]:
    yield f"as recorded: {_figures(outcome.before)}"
    yield f"with change: {_figures(outcome.now)}"
    yield f"{outcome.kept} events are the same, {len(outcome.differences)} differ; {outcome.took_s:.1f} s"
    if outcome.as_stored < 1.0:
        yield f"Note: {100 * outcome.as_stored:.1f} % of the unchanged side's events are those of the store"
    for one in outcome.differences:
        yield _difference(one)


def _figures(side: Side) -> str:
    delay = "" if side.delay_ms is None else f", first reported after {side.delay_ms:.0f} ms (median)"
    return f"{side.events} events, {side.updates} updates, {side.withdrawn} withdrawn{delay}"


def _difference(one: Difference) -> str:
    times = " -> ".join("-" if us is None else format_time(us) for us in (one.before_us, one.now_us))
    fields = f" ({', '.join(one.altered)})" if one.altered else ""
    return f"{one.change:8}{times:24}  {one.kind} {one.player or one.team}{fields}"
