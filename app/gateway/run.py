"""Runs a gateway from end to end: lock, capture or topic, feeds, figures on disk, and an end on request."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import msgspec

from app.base.files import write_atomically
from app.base.pace import wall_us
from app.gateway.address import FeedError
from app.gateway.gateway import FeedRequest, Gateway, GatewayFigures, fingerprint_of, sheet_of
from app.gateway.hand_over import SpareOutput
from app.gateway.outputs import CaptureOutput
from app.kafka.address import Address
from football.errors import CaptureError, CaptureInUseError
from football.match_sheet import MatchSheet
from replay.capture import Capture
from replay.capture_documents import END, HEAD
from replay.house_times import STAMP, Stamp

#: File in the capture's folder: figures of the gateway, every second.
FIGURES = "gateway.json"

#: Pauses of a look at the request to end, and at a lock that may be free.
_LOOK_S, _TAKE_OVER_S = 0.2, 0.02


class GatewayOptions(msgspec.Struct, frozen=True):
    """Options of a gateway.

    Attributes:
        feeds: at least one.
        sheet: of the match.
        folder: of the capture; for a topic that of the spool.
        topic: to send to, or None.
        keep_us: arrival time that stays on disk; None for all of it.
        stand_by: wait while another gateway writes the folder, and go on when it stops.
        end_after_us: the match is over after so long without a message, once there was one; None for never.
        leave_open: do not end the capture when the gateway stops.
    """

    feeds: tuple[FeedRequest, ...]
    sheet: MatchSheet
    folder: Path
    topic: Address | None = None
    keep_us: int | None = None
    stand_by: bool = False
    end_after_us: int | None = None
    leave_open: bool = False


def run_gateway(
    options: GatewayOptions,
    stopping: Callable[[], bool] = lambda: False,
    watch: Callable[[GatewayFigures], None] = lambda figures: None,
    listens: Callable[[dict[str, int]], None] = lambda ports: None,
) -> GatewayFigures:
    """Run a gateway until it is stopped; returns its last figures.

    SIGINT ends the match; SIGTERM leaves the capture open, so that another gateway can go on with it.

    Args:
        options: of the gateway.
        stopping: asked several times a second; True leaves the capture open as well.
        watch: gets the figures every second.
        listens: gets the ports on which feeds listen, by label, every second.

    Raises:
        FeedError, GatewayProfileError: a feed cannot be used.
        CaptureError: the folder cannot be written.
    """
    profiles = [feed.profile for feed in options.feeds]
    if not profiles:
        raise FeedError("no feed: name one with --from")
    sheet = sheet_of(options.sheet, profiles)
    with _output(options, sheet) as output:
        return asyncio.run(_run(options, sheet, output, stopping, watch, listens))


def _output(options: GatewayOptions, sheet: MatchSheet) -> SpareOutput:
    """Return the output: open, or of a spare while another gateway writes not yet."""
    fingerprint = fingerprint_of(options.feeds, sheet)
    numbered = all(feed.profile.numbers_packets for feed in options.feeds if feed.profile.gives == "positions")
    sends: list[AbstractContextManager[object]] = []
    if options.topic is not None:
        from app.gateway.forward import Forwarder

        sends.append(Forwarder(options.folder, options.topic))
    zero_us = wall_us() // 1_000_000 * 1_000_000
    opens = partial(CaptureOutput, options.folder, sheet, fingerprint, zero_us, options.keep_us)
    output = SpareOutput(opens, zero_us, sends, numbered=numbered)
    while not output.try_open():
        if not options.stand_by:
            raise CaptureInUseError(f"{options.folder}: another process is writing it")
        if (options.folder / HEAD).exists():
            # All that it keeps is on the time line of the capture that it may go on with.
            return SpareOutput(opens, Capture.open(options.folder).live_zero_us or 0, sends, numbered=numbered)
        time.sleep(_LOOK_S)
    return output


async def _run(
    options: GatewayOptions,
    sheet: MatchSheet,
    output: SpareOutput,
    stopping: Callable[[], bool],
    watch: Callable[[GatewayFigures], None],
    listens: Callable[[dict[str, int]], None],
) -> GatewayFigures:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    output.ends = not options.leave_open

    def leave_open() -> None:
        output.ends = False
        stop.set()

    with contextlib.suppress(ValueError, RuntimeError):  # signals belong to the main thread
        loop.add_signal_handler(signal.SIGINT, stop.set)
        loop.add_signal_handler(signal.SIGTERM, leave_open)

    stamped: list[Stamp] = []

    def completed(figures: GatewayFigures) -> GatewayFigures:
        return msgspec.structs.replace(figures, stands_by=not output.is_open, filled=output.filled)

    def note(figures: GatewayFigures) -> None:
        figures = completed(figures)
        if output.is_open and (options.folder / HEAD).exists():
            write_atomically(options.folder / FIGURES, msgspec.json.encode(figures))
            if (stamp := figures.stamp) is not None and stamp not in stamped:
                write_atomically(options.folder / STAMP, msgspec.json.encode(stamp))
                stamped[:] = [stamp]
        watch(figures)
        listens(gateway.ports())
        heard_us = [feed.silent_us for feed in figures.feeds.values() if feed.silent_us is not None]
        if output.is_open and options.end_after_us is not None and heard_us and min(heard_us) > options.end_after_us:
            stop.set()

    gateway = Gateway(options.feeds, sheet, output, note)

    async def look() -> None:
        while not stopping():
            await asyncio.sleep(_LOOK_S)
        leave_open()

    failures: list[CaptureError] = []

    async def take_over() -> None:
        try:
            while not (output.is_open or output.try_open()):
                await asyncio.sleep(_TAKE_OVER_S)
            gateway.begin_writing()
        except CaptureError as error:
            if not (options.folder / END).exists():  # with an end the spare is not needed
                failures.append(error)
            stop.set()

    meanwhile = [loop.create_task(look()), loop.create_task(take_over())]
    try:
        await gateway.run(stop)
    finally:
        for task in meanwhile:
            task.cancel()
    for failure in failures:
        raise failure
    return completed(gateway.figures())
