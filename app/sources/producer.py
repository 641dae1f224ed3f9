"""A process beside the match that makes its capture while the capture is played.

Theory of operation
-------------------
The match runs in processes of its own (engine, Spark, page), which must not wait for the simulator. So this one runs
as a child of lower priority, writes segment after segment as fast as the machine has time for it, and ends with
the match. It is a pure function of its request: started again over a capture that it did not finish, it plays from
the beginning, leaves the segments that are there, and writes the others.

It ends when its standard input is closed, which the system does if the parent dies. Of a match without end it stays
``AHEAD_US`` ahead of what has been played, as the parent tells in ``PLAYED``, and deletes what is ``BEHIND_US`` behind.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from football.errors import CaptureError, TrackingError
from replay.capture import HEAD, Capture, CaptureWriter

#: File in the capture's folder: arrival time up to which everything has been played and committed.
PLAYED = "played"

AHEAD_US = 120_000_000
BEHIND_US = 120_000_000

#: Nice enough not to disturb the match, not so nice as to starve on a busy machine: it needs a tenth of a core.
_NICE = 5
_LOOK_S = 0.05
_GRACE_S = 5.0


class Producer:
    """The child, seen from its parent; a context manager.

    Args:
        request: arguments of :func:`app.sources.captures.prepare_capture`, without ``out`` and functions, as JSON has
            them.
        out: the capture's folder; it may be renamed while the child runs.
    """

    def __init__(self, request: Mapping[str, Any], out: Path) -> None:
        self._request, self._out = dict(request), out
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Producer:
        self._out.mkdir(parents=True, exist_ok=True)
        root = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
        self._child = subprocess.Popen(
            [sys.executable, "-m", "app.sources.producer", json.dumps(self._request)],
            cwd=self._out,
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # signals to the group are the parent's: what it still has to read must be there
        )
        return self

    @property
    def _process(self) -> subprocess.Popen[bytes]:
        if self._child is None:
            raise RuntimeError("the producer was not started: enter its context first")
        return self._child

    def first_look(self) -> Capture:
        """The capture, once it has begun to grow (again).

        Raises:
            CaptureError: the child gave up before; the message is its reason.
        """
        process = self._process
        while True:
            ended = process.poll() is not None
            if (self._out / HEAD).exists():
                capture = Capture.open(self._out)
                if capture.is_finished or capture.is_growing():
                    return capture
            if ended:
                reason = process.communicate()[1].decode(errors="replace").strip()
                raise CaptureError(reason.splitlines()[-1] if reason else "the simulator stopped without a reason")
            time.sleep(_LOOK_S)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process = self._process
        process.terminate()
        try:
            process.communicate(timeout=_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def keep_pace(folder: Path, writer: CaptureWriter) -> None:
    """Waits until a match without end is needed further, and forgets what nobody will ask for again."""
    while writer.written_us > (played_us := _played_us(folder)) + AHEAD_US:
        time.sleep(_LOOK_S)
    writer.forget_before(played_us - BEHIND_US)


def tell_played(capture: Path, played_us: int) -> None:
    """Notes beside a capture how far it has been played and committed."""
    draft = capture / f"{PLAYED}.draft"
    draft.write_text(str(played_us))
    draft.replace(capture / PLAYED)


def _played_us(folder: Path) -> int:
    try:
        return int((folder / PLAYED).read_text())
    except FileNotFoundError:
        return 0


def main(request: str) -> int:
    """The child: makes the capture in the working directory. Returns the exit code."""
    from app.sources.captures import prepare_capture
    from simulator.radio.channels import ChannelError
    from simulator.settings import SimulatorError

    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.nice(_NICE)
    folder = Path()
    arguments: dict[str, Any] = json.loads(request)
    arguments["pitch"] = tuple(arguments["pitch"])
    arguments["sheet_path"] = Path(arguments["sheet_path"]) if arguments.get("sheet_path") else None
    if arguments.get("endless"):
        arguments["after"] = lambda end_s, writer: keep_pace(folder, writer)
    try:
        prepare_capture(out=folder, **arguments)
    except (TrackingError, CaptureError, ChannelError, SimulatorError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 1
    return 0


def _end_with_parent() -> None:
    # Not through sys.stdin: its lock would be held when this process ends first.
    os.read(sys.stdin.fileno(), 1)
    os._exit(0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
