"""Plays a source in this process, without Spark and Java: its updates as an iterator, its match as tables."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.base.private import temporary_folder
from app.base.terminal import make_console
from app.library.match import Match
from app.library.own_detector import DetectorError
from app.pipeline.folder import MatchCommits, open_match
from app.pipeline.inprocess import InProcessConfig, InProcessHost, NoFollower
from app.pipeline.options import PIPELINE, options_of, with_costs
from app.settings.model import PATTERN_SUFFIX, LiveSettings, SettingsError
from app.settings.resolve import make_settings
from football.update_stream import Health, UpdateRecord
from middleware.detector import Detector
from middleware.hierarchy import HierarchyError


class Play:
    """A match that is being played: iterate it for its updates. It is played as the iteration goes on.

    Each iteration continues where the last one stopped. :meth:`run` plays the rest.
    """

    def __init__(self, settings: LiveSettings, own: tuple[Detector[Any], ...], folder: Any) -> None:
        self._settings, self._own, self._folder = settings, own, folder
        self._updates = self._play()

    def __iter__(self) -> Iterator[UpdateRecord]:
        return self._updates

    def run(self) -> Match:
        """Plays to the end; returns the match with its tables."""
        for _ in self:
            pass
        return self.match

    @property
    def match(self) -> Match:
        """The match as far as it is stored: a minute of the stream at a time, all of it at the end."""
        if self._settings.store is None:
            raise SettingsError("a match without a folder has no tables")
        return Match(self._settings.store, keep=self._folder)

    def _play(self) -> Iterator[UpdateRecord]:
        settings = self._settings
        with ExitStack() as background, open(os.devnull, "w", encoding="utf-8") as nowhere:
            match = background.enter_context(open_match(settings, make_console(file=nowhere)))
            recording = match.input.recording
            if recording is None:
                raise SettingsError(f"{settings.source}: is no recording; `touchline live` plays a topic")
            try:
                options = with_costs(replace(options_of(settings), own=self._own), recording.sheet, recording)
            except HierarchyError as error:
                raise DetectorError(str(error)) from None
            states = match.folder / "states"
            config = InProcessConfig(PIPELINE, options, states, settings.pace, settings.window_us)
            host = InProcessHost(recording, config, NoFollower(), MatchCommits(match))
            for message in host.messages(threading.Event()):
                if message.health is not None:
                    self._check(message.health)
                yield from message.updates

    def _check(self, health: Health) -> None:
        """Refuse to go on with a detector of the caller that has failed; the engine alone would only silence it.

        Raises:
            DetectorError: the message has the reason.
        """
        patterns = (f"pattern_{name}" for name in self._settings.patterns)
        for name in (*(detector.spec.name for detector in self._own), *patterns):
            if reason := health.failed.get(name):
                raise DetectorError(f"detector {name} failed: {reason}")
            if name in health.faults:
                how = health.fault_texts.get(name, "")
                raise DetectorError(
                    f"detector {name} breaks the contract of detectors ({how}): it gives other results for the same "
                    "state and event, or changes its state, or emits what it has not declared"
                )


def play(
    source: str | Path = "sim",
    *,
    detectors: Iterable[str | Detector[Any]] = (),
    parameters: str | Path | None = None,
    seconds: float | None = None,
    seed: int | None = None,
    channel: str | None = None,
    rate: str | None = None,
    sheet: str | Path | None = None,
    alpha: float | str | None = None,
    speed: float | str = "max",
    store: str | Path | None = None,
) -> Play:
    """Play a source in this process; nothing happens until the result is iterated or run.

    Args:
        source: ``sim``, a tracking file, ``kloppy:...``, ``debs:...``, or the folder of a capture, of a simulation or
            of a match store, as ``touchline live --source`` takes them.
        detectors: names of opt-in detectors, detectors of your own, see :func:`detector`, and files of patterns
            (``*.touchline``), whose matches are events ``pattern.NAME``.
        parameters: settings file (TOML) of the detectors.
        seconds: of a simulated match or a tracking file to play; default all of it. A recorded match is played as it
            is: stop iterating to play a part of it.
        seed, channel, rate: of the simulation.
        sheet: match sheet of a tracking file.
        alpha: share of the slack that is waited; ``auto`` (default) follows the load, 1 waits the whole slack.
        speed: stream seconds in a second, or ``max``.
        store: folder of the match store; default a temporary one, which is deleted with the result.

    Raises:
        TouchlineError: the source cannot be used, or an option is wrong.
    """
    chosen = list(detectors)
    texts = [one for one in chosen if isinstance(one, str)]
    names = [one for one in texts if not one.endswith(PATTERN_SUFFIX)]
    own = tuple(one for one in chosen if not isinstance(one, str))
    patterns = [one for one in texts if one.endswith(PATTERN_SUFFIX)]
    temporary = tempfile.TemporaryDirectory(dir=temporary_folder()) if store is None else None
    folder = Path(temporary.name) / "match" if temporary is not None else store
    settings = make_settings(
        {
            "source": str(source), "detectors": names or None, "patterns": patterns or None,
            "parameters": parameters, "duration_s": seconds,
            "seed": seed, "channel": channel, "rate": rate, "sheet": sheet, "alpha": alpha, "speed": str(speed),
            "store": folder, "engine": "inprocess", "dashboard": False, "camera": False,
        }
    )  # fmt: skip
    return Play(settings, own, temporary)
