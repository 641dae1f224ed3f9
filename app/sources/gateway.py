"""A live feed as a source: ``gateway:URL?profile=P``, received by a child process into the match store's live capture.

The child ends with its parent, and leaves the capture open, so the same command goes on with the match.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import msgspec

from app.base.errors import one_line
from app.base.program import IMPORT_ROOT
from app.sources.captured import CAPTURE, CapturedSource
from app.sources.interface import SourceRequest
from football.errors import CaptureError, UserError
from replay.capture import Capture
from replay.capture_documents import HEAD

if TYPE_CHECKING:
    from rich.console import Console

_PREFIX = "gateway:"

_LOOK_S, _GRACE_S = 0.05, 10.0


class GatewaySource(CapturedSource):
    """``gateway:URL?profile=P&tags=FILE``, with several addresses separated by blanks."""

    def recognises(self, source: str, rate: str) -> bool:
        """See :class:`app.sources.interface.Source`."""
        return source.startswith(_PREFIX)

    def with_absolute_paths(self, source: str, folder: Path) -> str:
        """See :class:`app.sources.interface.Source`."""
        from app.gateway.address import FeedError, parse_feed

        try:
            addresses = [parse_feed(url) for url in source.removeprefix(_PREFIX).split()]
        except FeedError:
            return source
        return _PREFIX + " ".join(address.with_absolute_paths(folder).url for address in addresses)

    def complete_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """See :class:`app.sources.interface.Source`."""
        from app.gateway.address import FeedError, parse_feed
        from app.gateway.identities import TagTable
        from app.gateway.profile import GatewayProfileError, read_profile

        for name in ("channel", "rate", "duration_s", "endless"):
            if options.get(name) not in (None, "", False, "none"):
                raise ValueError(f"--{name.removesuffix('_s')}: a feed is played as it comes")
        if options.get("speed", "1") != "1":
            raise ValueError(f"--speed {options['speed']}: a feed has its own pace")
        try:
            for url in options["source"].removeprefix(_PREFIX).split():
                address = parse_feed(url)
                read_profile(address.profile)
                if address.tags:  # better now than once processes have started
                    TagTable(Path(address.tags))
        except (FeedError, GatewayProfileError) as error:
            raise ValueError(str(error)) from None
        return {**options, "channel": "none"}

    def prepare(self, request: SourceRequest, folder: Path, console: Console, background: ExitStack) -> None:
        """See :class:`app.sources.interface.Source`."""
        if not request.sheet:
            console.print("No match sheet: nobody has a team, so most events are missing. --sheet FILE names one.")
        console.print(f"Waiting for the first position of {request.source.removeprefix(_PREFIX)}", markup=False)
        self._receive(request, folder, background)

    def resume(self, request: SourceRequest, folder: Path, background: ExitStack) -> None:
        """See :class:`app.sources.interface.Source`."""
        if (folder / CAPTURE).is_symlink():  # the author of a store must not choose the folder to write to
            raise CaptureError(f"{folder / CAPTURE}: is a link, so no feed is received into it")
        if not Capture.open(folder / CAPTURE).is_finished:
            self._receive(request, folder, background)

    def _receive(self, request: SourceRequest, folder: Path, background: ExitStack) -> None:
        background.enter_context(GatewayChild(request, folder / CAPTURE)).first_look()


class GatewayChild:
    """Handle of the receiving process in its parent; a context manager.

    Args:
        request: of the match.
        out: the capture's folder; it may be renamed while the child runs.
    """

    def __init__(self, request: SourceRequest, out: Path) -> None:
        self._request, self._out = request, out
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> GatewayChild:
        self._out.mkdir(parents=True, exist_ok=True)
        path = os.pathsep.join(filter(None, [str(IMPORT_ROOT), os.environ.get("PYTHONPATH")]))
        request = msgspec.json.encode(
            {"source": self._request.source.removeprefix(_PREFIX), "sheet": self._request.sheet,
             "pitch": self._request.pitch}
        )  # fmt: skip
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, request.decode()],
            cwd=self._out,
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C must not end the child before the parent has read everything
        )
        return self

    def first_look(self) -> Capture:
        """Wait until the first block is there, and open the capture.

        Raises:
            CaptureError: the child has failed; the message is its reason.
        """
        child = self._child
        assert child is not None, "enter the context first"
        while True:
            if child.poll() is not None:
                reason = child.communicate()[1].decode(errors="replace").strip()
                raise CaptureError(reason.splitlines()[-1] if reason else "the gateway stopped without a reason")
            if (self._out / HEAD).exists():
                capture = Capture.open(self._out)
                if capture.is_growing():
                    return capture
            time.sleep(_LOOK_S)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        child = self._child
        assert child is not None, "enter the context first"
        try:
            child.communicate(timeout=_GRACE_S)  # closes its standard input
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()


def main(request: str) -> int:
    """Entry point of the child: receives into the working directory. Returns the exit code."""
    from app.gateway.address import parse_feed
    from app.gateway.gateway import FeedRequest
    from app.gateway.run import GatewayOptions, run_gateway
    from football.match_sheet import MatchSheet
    from football.untrusted import decode_json
    from replay.formats.match_sheets import read_sheet

    closed = threading.Event()

    def wait_for_parent() -> None:
        # Reads the descriptor: a thread blocked in sys.stdin would hold its lock at the exit of this process.
        os.read(sys.stdin.fileno(), 1)
        closed.set()

    threading.Thread(target=wait_for_parent, daemon=True).start()
    try:
        options = decode_json(request, dict[str, Any])
        length_m, width_m = options["pitch"]
        sheet = MatchSheet(length_m=length_m, width_m=width_m)
        if options["sheet"]:
            sheet = read_sheet(Path(options["sheet"]), (length_m, width_m))
        addresses = map(parse_feed, options["source"].split())
        feeds = tuple(map(FeedRequest, addresses))
        run_gateway(GatewayOptions(feeds, sheet, Path(), leave_open=True), closed.is_set)
    except (UserError, OSError) as error:
        print(one_line(error), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
