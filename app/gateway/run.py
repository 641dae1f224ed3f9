"""Runs a gateway from end to end: lock, capture or topic, feeds, figures on disk, and an end on request."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from app.base.files import write_atomically
from app.base.pace import wall_us
from app.gateway.address import FeedError
from app.gateway.gateway import FeedRequest, Gateway, GatewayFigures, fingerprint_of, sheet_of
from app.gateway.outputs import CaptureOutput
from app.kafka.address import Address
from football.errors import CaptureInUseError
from football.match_sheet import MatchSheet
from replay.capture_documents import HEAD

#: File in the capture's folder: figures of the gateway, every second.
FIGURES = "gateway.json"

_LOOK_S = 0.2


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
    with contextlib.ExitStack() as stack:
        output = _open(options, sheet)
        if options.topic is not None:
            from app.gateway.forward import Forwarder

            stack.enter_context(Forwarder(options.folder, options.topic))
        stack.push(output)  # leaves first, so that the topic gets the end
        return asyncio.run(_run(options, sheet, output, stopping, watch, listens))


def _open(options: GatewayOptions, sheet: MatchSheet) -> CaptureOutput:
    """Open the capture; of a spare as soon as nobody else writes it."""
    fingerprint = fingerprint_of(options.feeds, sheet)
    while True:
        zero_us = wall_us() // 1_000_000 * 1_000_000
        output = CaptureOutput(options.folder, sheet, fingerprint, zero_us, options.keep_us)
        try:
            return output.__enter__()
        except CaptureInUseError:
            if not options.stand_by:
                raise
            time.sleep(_LOOK_S)


async def _run(
    options: GatewayOptions,
    sheet: MatchSheet,
    output: CaptureOutput,
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

    def note(figures: GatewayFigures) -> None:
        if (options.folder / HEAD).exists():
            write_atomically(options.folder / FIGURES, msgspec.json.encode(figures))
        watch(figures)
        listens(gateway.ports())
        heard_us = [feed.silent_us for feed in figures.feeds.values() if feed.silent_us is not None]
        if options.end_after_us is not None and heard_us and min(heard_us) > options.end_after_us:
            stop.set()

    gateway = Gateway(options.feeds, sheet, output, note)

    async def look() -> None:
        while not stopping():
            await asyncio.sleep(_LOOK_S)
        leave_open()

    looking = loop.create_task(look())
    try:
        await gateway.run(stop)
    finally:
        looking.cancel()
    return gateway.figures()
