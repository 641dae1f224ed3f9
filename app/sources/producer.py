"""Producer of a growing capture: a child process that writes the capture while the match plays it.

Theory of operation
-------------------
The processes of a match (engine, Spark, page) must not wait for the simulator. The simulator therefore runs in a child
process of lower priority, which writes segment after segment and ends with the match. A match that is played at a pace
is written a few times as fast, so that the producer leaves the processors to the match.
The output is a pure function of the request. A child that is restarted over an unfinished capture plays from the
beginning, leaves the existing segments, and writes the missing ones.

The child ends when its standard input is closed, which the system does if the parent dies. In a match without end, the
child stays ``AHEAD_US`` ahead of the played time, which the parent writes to ``PLAYED``, and deletes segments that are
``BEHIND_US`` behind.
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

from app.base.arrow import without_pandas
from app.base.program import IMPORT_ROOT
from football.errors import CaptureError, TrackingError
from replay.capture import HEAD, SEGMENT_US, Capture, CaptureWriter

#: File in the capture's folder: arrival time up to which everything has been played and committed.
PLAYED = "played"

AHEAD_US = 120_000_000
BEHIND_US = 120_000_000

#: Priority of the child: low enough not to disturb the match, and high enough to get the tenth of a core that it needs.
_NICE = 5
_LOOK_S = 0.05

#: Start of a paced match that is written at once, and the rate of the rest, both relative to its pace.
_AT_ONCE_S, _TIMES_PACE = 20.0, 4.0
_GRACE_S = 5.0


class Producer:
    """Handle of the child in its parent; a context manager.

    Args:
        request: arguments of :func:`app.sources.captures.prepare_capture` as JSON values, without ``out`` and
            functions.
        out: the capture's folder; it may be renamed while the child runs.
    """

    def __init__(self, request: Mapping[str, Any], out: Path) -> None:
        self._request, self._out = dict(request), out
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Producer:
        self._out.mkdir(parents=True, exist_ok=True)
        path = os.pathsep.join(filter(None, [str(IMPORT_ROOT), os.environ.get("PYTHONPATH")]))
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, json.dumps(self._request)],
            cwd=self._out,
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # signals to the group must not end the child before the parent has read everything
        )
        return self

    @property
    def _process(self) -> subprocess.Popen[bytes]:
        if self._child is None:
            raise RuntimeError("the producer was not started: enter its context first")
        return self._child

    def first_look(self) -> Capture:
        """Waits until the capture begins to grow (again), and opens it.

        Raises:
            CaptureError: the child has failed; the message is its reason.
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
    """Waits while a match without end is far enough ahead, and deletes segments that are no longer needed."""
    while writer.written_us > (played_us := _played_us(folder)) + AHEAD_US:
        time.sleep(_LOOK_S)
    writer.forget_before(played_us - BEHIND_US)


class Throttle:
    """Limits the rate at which a paced match is written, so that its producer leaves the processors to the match.

    Args:
        folder: of the capture. What it holds already is not limited.
        pace: stream seconds per wall second; 0 is no limit.
    """

    def __init__(self, folder: Path, pace: float) -> None:
        written = [int(path.stem) + 1 for path in folder.glob("*.arrow")]
        self._from_s = max(written, default=0) * SEGMENT_US / 1e6
        self._pace, self._began_s = pace, time.monotonic()

    def wait(self, end_s: float) -> None:
        """Waits until the match may be written beyond ``end_s`` of its time."""
        if self._pace:
            due_s = ((end_s - self._from_s) / self._pace - _AT_ONCE_S) / _TIMES_PACE
            time.sleep(max(0.0, self._began_s + due_s - time.monotonic()))


def tell_played(capture: Path, played_us: int) -> None:
    """Writes into a capture's folder the arrival time up to which it has been played and committed."""
    draft = capture / f"{PLAYED}.draft"
    draft.write_text(str(played_us))
    draft.replace(capture / PLAYED)


def _played_us(folder: Path) -> int:
    try:
        return int((folder / PLAYED).read_text())
    except FileNotFoundError:
        return 0


def main(request: str) -> int:
    """Entry point of the child: writes the capture in the working directory. Returns the exit code."""
    without_pandas()
    from app.sources.captures import prepare_capture
    from simulator.radio.channels import ChannelError
    from simulator.settings import SimulatorError

    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.nice(_NICE)
    folder = Path()
    arguments: dict[str, Any] = json.loads(request)
    arguments["pitch"] = tuple(arguments["pitch"])
    arguments["sheet_path"] = Path(arguments["sheet_path"]) if arguments.get("sheet_path") else None
    throttle, endless = Throttle(folder, arguments.pop("pace", 0.0)), arguments.get("endless", False)

    def after(end_s: float, writer: CaptureWriter) -> None:
        throttle.wait(end_s)
        if endless:
            keep_pace(folder, writer)

    arguments["after"] = after
    try:
        prepare_capture(out=folder, **arguments)
    except (TrackingError, CaptureError, ChannelError, SimulatorError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 1
    return 0


def _end_with_parent() -> None:
    # Reads the descriptor: a thread blocked in sys.stdin would hold its lock at the exit of this process.
    os.read(sys.stdin.fileno(), 1)
    os._exit(0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
