"""``touchline timecode``: UTC and SMPTE timecode of a match, shown, or set by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from app.base.terminal import make_console
from app.cli.options import Folder, Given
from app.cli.output import print_json
from football.house_time import RATES, HouseTime, TimecodeError
from replay.event_choice import parse_time_us
from replay.house_times import read_house_time, read_stamp, stated_house_time, write_house_time
from replay.match_store import read_sheet_of

app = typer.Typer(add_completion=False)


@app.command()
def timecode(
    folder: Folder,
    rate: Annotated[str, Given(help=f"Rate of the house timecode: {', '.join(RATES)}.")] = "",
    zone: Annotated[str, Given(help="House clock less UTC, such as +01:00.")] = "",
    zero: Annotated[str, Given(help="UTC of event time 0, such as 2026-11-21T19:00:00Z.")] = "",
    at: Annotated[str, Given(help="Event time of a moment whose timecode was read, such as 4:01.2.")] = "",
    reads: Annotated[str, Given(help="That timecode, such as 20:15:33:07.")] = "",
    as_json: Annotated[bool, Given("--json", help="Print JSON.")] = False,
) -> None:
    """Shows how event time stands to UTC and to the timecode of the house, after changing what options give.

    A match that a gateway has received knows UTC by itself, and the timecode if a feed of it was received, too.
    Otherwise state the timecode of one moment, or UTC of event time 0.

    Examples:
        touchline timecode matches/demo --rate 29.97df --zone -05:00
        touchline timecode matches/demo --at 4:01.2 --reads 20:15:33:07
        touchline timecode matches/demo --json
    """
    read_sheet_of(folder)
    house = stated_house_time(folder) or HouseTime()
    changed = _changed(house, rate, zone, zero, at, reads)
    if changed != house:
        write_house_time(folder, changed)
    _show(folder, read_house_time(folder) or changed, as_json=as_json)


def _changed(house: HouseTime, rate: str, zone: str, zero: str, at: str, reads: str) -> HouseTime:
    if bool(at) != bool(reads):
        raise TimecodeError("--at and --reads belong together: a moment, and the timecode that was read then")
    changes: dict[str, object] = {}
    if rate:
        changes |= {"rate": rate}
        if house.anchor_code and not reads and rate != house.rate:
            raise TimecodeError(
                f"--rate {rate}: the moment that was read was at {house.rate}: give --at and --reads again"
            )
    if zone:
        changes |= {"zone_s": _zone_s(zone)}
    if zero:
        changes |= {"zero_utc_us": _utc_us(zero), "utc_error_us": None}
    if reads:
        changes |= {"anchor_us": parse_time_us(at), "anchor_code": reads}
    return msgspec.structs.replace(house, **changes)


def _zone_s(text: str) -> int:
    try:
        offset = datetime.strptime(text, "%z").utcoffset()
    except ValueError:
        offset = None
    if offset is None:
        raise TimecodeError(f"--zone {text}: give hours and minutes such as +01:00")
    return round(offset.total_seconds())


def _utc_us(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise TimecodeError(f"--zero {text}: give UTC such as 2026-11-21T19:00:00Z") from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def _show(folder: Path, house: HouseTime, *, as_json: bool) -> None:
    if as_json:
        print_json({"house": house, "zero": {"utc": house.utc(0), "timecode": house.timecode(0)}})
        return
    console = make_console()
    if not house.timecode(0):
        console.print(f"{folder}: nobody knows its house time. Give --at and --reads, or --zero.", markup=False)
        return
    if house.zero_utc_us is not None:
        error = "" if house.utc_error_us is None else f", to {house.utc_error_us / 1e3:.1f} ms"
        console.print(f"event time 0 is {house.utc(0)}{error or ', by a clock that states no error'}", markup=False)
    source = f"read at {house.anchor_us / 1e6:.3f} s" if house.anchor_code else f"UTC {house.zone_s / 3600:+.1f} h"
    if (stamp := read_stamp(folder)) is not None and (stamp.at_us, stamp.code) == (house.anchor_us, house.anchor_code):
        source = f"by the feed of timecode, to {stamp.error_us / 1e3:.0f} ms"
    console.print(f"timecode {house.timecode(0)} at {house.rate} frames a second ({source})", markup=False)
