"""``touchline publish``: captures into a Kafka topic, or as a vendor's feed, at the pace at which they arrived."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, TaskProgressColumn, TimeRemainingColumn

from app.base.files import write_atomically, writing
from app.base.pace import wall_us
from app.base.terminal import make_console, make_progress
from app.cli.options import Given
from app.cli.output import print_json
from app.gateway.address import parse_feed
from app.gateway.profile import read_profile
from app.gateway.vendor import VendorEncoder, losses_of, play_as_vendor
from app.kafka.address import parse
from app.kafka.clients import make_topic
from app.kafka.publish import Published
from app.kafka.publish import publish as publish_capture
from app.settings.model import SettingsError, parse_speed
from replay.capture import Capture

app = typer.Typer(add_completion=False)

#: Beginning of a capture in which all its transmitters are looked for.
_TAGS_US = 60_000_000


@app.command()
def publish(
    places: Annotated[
        list[str],
        typer.Argument(
            help="Folders of captures, of `simulate`, or of match stores, and then kafka://host:port/topic, which is "
            "created if it does not exist. With --as one folder only."
        ),
    ],
    speed: Annotated[
        str, Given(help="Playback speed: times real time, such as 0.5, 1 or 4, or max (as fast as possible).")
    ] = "1",
    match: Annotated[
        list[str] | None,
        Given(help="Name of a match in the topic, once for each capture in their order. Default: its sheet's."),
    ] = None,
    partitions: Annotated[int, Given(help="Number of partitions of a topic that is created.", min=1)] = 1,
    profile: Annotated[
        str, Given("--as", help="Send as a vendor's system would: a profile of `gateway`. Then --to names the address.")
    ] = "",
    to: Annotated[
        str, Given(help="With --as: tcp://, tcp-listen://, udp://, ws://, ws-listen://, mqtt:// or file:PATH.")
    ] = "",
    tags: Annotated[
        Path | None,
        Given("--tags", help="With --as: writes the table of tags that the gateway needs; without --to only that."),
    ] = None,
    as_json: Annotated[bool, Given("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Plays captures into a Kafka topic, at the pace at which they arrived; `live --matches TOPIC` plays them all.

    With --as it plays one capture as a vendor's locating system would send it, for tests of a gateway.
    Ctrl-C ends it early, without a record that ends the matches.

    Examples:
        touchline publish demo kafka://127.0.0.1:9092/positions
        touchline publish first second kafka://127.0.0.1:9092/positions --match one --match two --speed 4
        touchline publish demo --as pozyx-mqtt --tags tags.csv
        touchline publish demo --as pozyx-mqtt --to mqtt://127.0.0.1
    """
    if profile:
        _as_vendor(places, profile, to, tags, _times(speed), as_json=as_json)
        return
    if to or tags or len(places) < 2:
        raise SettingsError("publish: folders of captures and then kafka://host:port/topic; --to and --tags need --as")
    *folders, topic = places
    captures = [Path(folder) for folder in folders]
    times = _times(speed)
    address = parse(topic)
    named = _named([Capture.open(folder) for folder in captures], match or ())
    console, stop = make_console(stderr=as_json), threading.Event()
    signal.signal(signal.SIGINT, lambda number, frame: stop.set())
    make_topic(address, partitions)
    columns = (BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with make_progress(console, *columns) as bar, ThreadPoolExecutor(len(named)) as pool:

        def play(name: str, capture: Capture) -> Published:
            total = (capture.end_us - capture.begin_us) / 1e6 if capture.is_finished else None
            task = bar.add_task(f"Publishing {name} to {address.topic}", total=total)

            def progress(arrival_us: int) -> None:
                bar.update(task, completed=(arrival_us - capture.begin_us) / 1e6)

            return publish_capture(
                capture, address, times, stop=stop, progress=progress, partitions=partitions, match=name
            )

        playing = [pool.submit(play, name, capture) for name, capture in named.items()]
        try:
            published = [one.result() for one in as_completed(playing)]
        finally:
            stop.set()  # one that cannot be sent ends all
    if as_json:
        print_json(published[0] if len(published) == 1 else published)
        return
    for one in published:
        per_block = one.bytes / max(one.blocks, 1)
        console.print(
            f"{one.match}: {one.blocks} blocks ({one.bytes / 1e6:.1f} MB, {per_block:.0f} bytes each) of "
            f"{one.seconds:.1f} s in {one.wall_s:.1f} s; {one.delayed} left more than 5 ms late"
        )


def _as_vendor(places: Sequence[str], profile: str, to: str, tags: Path | None, speed: float, *, as_json: bool) -> None:
    """Plays one capture in the form of a profile."""
    if len(places) != 1 or not (to or tags):
        raise SettingsError("--as: one capture, and --to with the address to send to, or --tags for the table alone")
    capture, form = Capture.open(places[0]), read_profile(profile)
    encoder = VendorEncoder(form, capture.sheet, wall_us() - capture.begin_us)
    if tags is not None:
        for block in capture.blocks(capture.begin_us, min(capture.end_us, capture.begin_us + _TAGS_US)):
            encoder.encode([block])
        with writing(tags):
            write_atomically(tags, encoder.tag_table().encode())
    if not to:
        return
    address = parse_feed(to)
    console, stop = make_console(stderr=True), threading.Event()
    signal.signal(signal.SIGINT, lambda number, frame: stop.set())
    for loss in losses_of(form):
        console.print(f"lost on the way: {loss}", markup=False)
    played = asyncio.run(play_as_vendor(capture, form, address, speed, encoder=encoder, stopped=stop.is_set))
    if as_json:
        print_json(played)
    else:
        size = f"{played.messages} messages ({played.bytes / 1e6:.1f} MB)"
        console.print(f"{size} of {played.seconds:.1f} s in {played.wall_s:.1f} s")


def _named(captures: Sequence[Capture], names: Sequence[str]) -> dict[str, Capture]:
    """Captures by the name of their match in the topic."""
    if names and len(names) != len(captures):
        raise SettingsError(f"--match: {len(names)} names for {len(captures)} captures; one each, in their order")
    names = list(names) or [capture.sheet.match_id for capture in captures]
    if repeated := sorted({name for name in names if not name or names.count(name) > 1}):
        raise SettingsError(f"{repeated[0] or 'no name'}: several captures have it; give each a name with --match")
    return dict(zip(names, captures, strict=True))


def _times(speed: str) -> float:
    """Stream seconds in a wall second, 0 for as fast as possible."""
    try:
        return parse_speed(speed)
    except ValueError as error:
        raise SettingsError(f"--speed {speed}: {error}") from None
