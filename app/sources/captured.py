"""Sources that are played from a capture: an existing capture, a match produced during the run, a tracking file."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from app.kafka.warm_up_capture import write_warm_up_capture
from app.sources.captures import SIM, default_channel, is_capture, is_produced, prepare_capture
from app.sources.interface import InputMonitor, SourceRequest
from app.sources.producer import Producer, tell_played
from app.sources.recorded import RecordedInput, RecordedSource
from replay.capture import Capture, CaptureError
from replay.capture_documents import HEAD

if TYPE_CHECKING:
    from rich.console import Console

#: Folder of the capture in a match store.
CAPTURE = "capture"

#: Folder of the capture on which the processes of a live match warm up.
WARM_UP = "warm_up"

#: Prefixes of sources: of one that is not a path, and of one with a path after the prefix.
_KLOPPY, _DEBS = "kloppy:", "debs:"


class CapturedInput(RecordedInput):
    """A match in a capture. Commits report the played time to the producer of a growing capture.

    Args:
        capture: the match.
        warm_up: capture to warm up on while a live capture has too little; None for the match itself.
    """

    def __init__(self, capture: Capture, warm_up: Capture | None = None) -> None:
        self._capture, self._warm_up = capture, warm_up
        spec = {"path": str(capture.path), **({"warm_up": str(warm_up.path)} if warm_up else {})}
        super().__init__(f"{__name__}:CaptureSource", capture, spec)
        self.is_live = capture.live_zero_us is not None and not capture.is_finished
        self.sample = warm_up or capture

    def has_ended(self, offset: int, *, ended: bool) -> bool:
        """See :class:`app.sources.interface.MatchInput`."""
        return self._capture.is_finished and offset >= self._capture.end_us

    def length_us(self) -> int | None:
        """See :class:`app.sources.interface.MatchInput`."""
        return self._capture.end_us - self.begin if self._capture.is_finished else None

    def watch(self, offset: int, monitor: InputMonitor) -> AbstractContextManager[Any]:
        """See :class:`app.sources.interface.MatchInput`."""
        if not self.is_live:
            return super().watch(offset, monitor)
        from app.sources.feed_watch import FeedWatch

        return FeedWatch(self._capture.path, monitor)

    def committed(self, offset: int) -> None:
        """See :class:`app.sources.interface.MatchInput`."""
        live = self._capture.live_zero_us is not None
        if not live and not self._capture.is_finished and not self._capture.path.is_symlink():
            tell_played(self._capture.path, offset)


class CapturedSource(RecordedSource):
    """Base of the sources whose matches have a capture in the match store."""

    def open(self, spec: Mapping[str, Any]) -> Capture:
        """Opens the capture that a spec names."""
        return Capture.open(spec["path"])

    def load(self, source: str, folder: Path) -> CapturedInput:
        """See :class:`app.sources.interface.Source`."""
        capture, warm_up = Capture.open(folder / CAPTURE), folder / WARM_UP
        if capture.live_zero_us is None or capture.is_finished:
            return CapturedInput(capture)
        if not (warm_up / HEAD).is_file():
            write_warm_up_capture(warm_up, capture.sheet)
        return CapturedInput(capture, Capture.open(warm_up))

    def sample(self, spec: Mapping[str, Any]) -> Capture:
        """See :class:`app.sources.interface.Source`."""
        return Capture.open(spec.get("warm_up", spec["path"]))

    def restart_source(self, source: str, folder: Path) -> str:
        """See :class:`app.sources.interface.Source`."""
        return str(folder / CAPTURE)

    def complete_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """See :class:`app.sources.interface.Source`."""
        if options.get("channel") is not None:
            return dict(options)
        source, rate = options.get("source", SIM), options.get("rate") or ""
        return {**options, "channel": default_channel(source, rate if isinstance(rate, str) else "")}


class CaptureSource(CapturedSource):
    """A capture on disk, or the folder of a simulation that holds one. It is linked to, not copied."""

    def recognises(self, source: str, rate: str) -> bool:
        """See :class:`app.sources.interface.Source`."""
        return is_capture(source)

    def with_absolute_paths(self, source: str, folder: Path) -> str:
        """See :class:`app.sources.interface.Source`."""
        return str((folder / source).resolve())

    def complete_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """See :class:`app.sources.interface.Source`."""
        recorded = Capture.open(options["source"]).channel
        if options.get("channel") not in (None, recorded):
            raise ValueError(f"--channel {options['channel']}: the capture was recorded through channel {recorded}")
        if options.get("rate") or options.get("duration_s") is not None:
            raise ValueError("a recorded match is played as it is: no rate and no number of seconds can be given")
        capture = Capture.open(options["source"])
        if capture.live_zero_us is not None and not capture.is_finished and options.get("speed", "1") != "1":
            raise ValueError(f"--speed {options['speed']}: a gateway's capture that still grows has its own pace")
        return {**options, "channel": recorded}

    def prepare(self, request: SourceRequest, folder: Path, console: Console, background: ExitStack) -> None:
        """See :class:`app.sources.interface.Source`."""
        folder.mkdir(parents=True, exist_ok=True)
        capture = Capture.open(request.source)
        (folder / CAPTURE).symlink_to(capture.path.resolve(), target_is_directory=True)


class ProducedSource(CapturedSource):
    """The simulator, or a tracking file at the rates of a locating system; the capture is produced during the run."""

    def recognises(self, source: str, rate: str) -> bool:
        """See :class:`app.sources.interface.Source`."""
        return is_produced(source, rate)

    def with_absolute_paths(self, source: str, folder: Path) -> str:
        """See :class:`app.sources.interface.Source`."""
        return source if source == SIM else FileSource().with_absolute_paths(source, folder)

    def prepare(self, request: SourceRequest, folder: Path, console: Console, background: ExitStack) -> None:
        """See :class:`app.sources.interface.Source`."""
        console.print(f"Simulating {request.source} through channel {request.channel}")
        self._produce(request, folder, background, resume=False)

    def resume(self, request: SourceRequest, folder: Path, background: ExitStack) -> None:
        """See :class:`app.sources.interface.Source`."""
        if not Capture.open(folder / CAPTURE).is_finished:
            self._produce(request, folder, background, resume=True)

    def _produce(self, request: SourceRequest, folder: Path, background: ExitStack, *, resume: bool) -> None:
        options = msgspec.structs.asdict(request)
        del options["location"]
        options["sheet_path"] = options.pop("sheet")
        if resume:
            if (folder / CAPTURE).is_symlink():  # the author of a store must not choose the folder to write to
                raise CaptureError(f"{folder / CAPTURE}: is a link, so the capture is not simulated any further")
            options["resume"] = True
        background.enter_context(Producer(options, folder / CAPTURE)).first_look()


class FileSource(CapturedSource):
    """A tracking file; its whole capture is written before the first block is played."""

    def recognises(self, source: str, rate: str) -> bool:
        """See :class:`app.sources.interface.Source`."""
        return True

    def with_absolute_paths(self, source: str, folder: Path) -> str:
        """See :class:`app.sources.interface.Source`."""
        if source.startswith(_KLOPPY):
            return source
        prefix = _DEBS if source.startswith(_DEBS) else ""
        return f"{prefix}{(folder / source.removeprefix(prefix)).resolve()}"

    def prepare(self, request: SourceRequest, folder: Path, console: Console, background: ExitStack) -> None:
        """See :class:`app.sources.interface.Source`."""
        from rich.progress import BarColumn, TaskProgressColumn, TimeRemainingColumn

        from app.base.terminal import make_progress

        columns = (BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        with make_progress(console, *columns) as bar:
            task = bar.add_task(f"Preparing {request.source} through channel {request.channel}", total=1.0)
            prepare_capture(
                request.source,
                request.channel,
                request.seed,
                folder / CAPTURE,
                duration_s=request.duration_s,
                pitch=request.pitch,
                sheet_path=Path(request.sheet) if request.sheet else None,
                progress=lambda share: bar.update(task, completed=share),
            )
