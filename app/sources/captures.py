"""Writes the capture of a source to disk, to prepare a match for replay."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from app.base.program import PROGRAM
from football.errors import CaptureError
from football.match_sheet import MatchSheet
from football.recording import Recording, Track
from replay import wire
from replay.capture import (
    HEAD,
    VERSION,
    Capture,
    CaptureWriter,
)
from replay.formats.debs import debs_files
from replay.formats.match_sheets import METADATA, SIMULATED
from replay.formats.tracking import read_tracking

# The simulator is imported only where it is needed: it compiles kernels, and another process produces the matches.
if TYPE_CHECKING:
    from simulator.radio.transmission import Channel
    from simulator.simulate import MeasuredMatch, Simulation

#: Name of the simulator as a source, and the default of its tags and rates.
SIM = "sim"
DEFAULT_RATE = "live"

#: Version of the content: raised with each change by which the same source, channel and seed give other blocks.
_GENERATION = "4"

#: Receives the share of the match done, in 0..1.
Progress = Callable[[float], None]

#: See :meth:`simulator.simulate.MeasuredMatch.write`.
AfterStretch = Callable[[float, CaptureWriter], None]

_PACKETS_AT_ONCE = 50_000


def default_channel(source: str, rate: str = "") -> str:
    """Default channel of a source: the radio for a produced match, none for a tracking file."""
    return "rtls" if is_produced(source, rate) else "none"


def is_produced(source: str, rate: str = "") -> bool:
    """True if a source is simulated and measured during the run; its capture can then be played while it grows."""
    return source == SIM or bool(rate)


def is_capture(source: str) -> bool:
    """True if a source is the folder of a capture, or of a simulation that holds one."""
    return source != SIM and any((Path(source) / part / HEAD).is_file() for part in ("", "capture"))


def prepare_capture(
    source: str,
    channel: str,
    seed: int,
    out: Path,
    *,
    duration_s: float | None = None,
    pitch: tuple[float, float] = (105.0, 68.0),
    sheet_path: Path | None = None,
    rate: str = "",
    endless: bool = False,
    simulation: Simulation | None = None,
    progress: Progress | None = None,
    after: AfterStretch | None = None,
    resume: bool = False,
) -> Path:
    """Writes the capture of a source through a channel to ``out``, unless the same capture is there already.

    Args:
        source: ``sim``, the path of a tracking table, ``kloppy:<provider>:<path>[:<meta path>]``, or ``debs:<path>``.
        channel: a name in ``CHANNELS``, or empty for the source's default.
        seed: of the channel, and of the simulator unless ``simulation`` has another.
        out: the capture's folder.
        duration_s: length of the part to write, in seconds; None for the whole match.
        pitch: length and width in metres, for sources without them.
        sheet_path: match sheet to use instead of the source's own.
        rate: tags and rates of a locating system, see :func:`simulator.simulate.rates_named`; empty for ``live`` of the
            simulator, and for a tracking file as it is.
        endless: the simulated match has no end.
        simulation: settings of the simulator, in place of ``rate``, ``pitch`` and ``endless``.
        progress: called at intervals while packets are written.
        after: see :meth:`simulator.simulate.MeasuredMatch.write`; only where :func:`is_produced`.
        resume: True to continue the unfinished capture in ``out``.

    Returns:
        ``out``.

    Raises:
        TrackingError, ChannelError, SimulatorError: the source, the channel or a setting cannot be used.
        CaptureError: the capture cannot be resumed, because this program would continue it differently.
    """
    from simulator.radio.channels import channel_named

    chosen = channel_named(channel or default_channel(source, rate))
    settings = None
    if is_produced(source, rate):
        settings = _simulation(simulation, seed, duration_s, pitch, rate, endless)
    fingerprint = _fingerprint(source, chosen.name, seed, duration_s, pitch, sheet_path, settings)
    if resume and Capture.open(out).fingerprint != fingerprint:
        raise CaptureError(
            f"{out}: was begun by another version of this program, which would go on otherwise: begin anew elsewhere"
        )
    if _is_there(out, fingerprint):
        return out
    if settings is not None:
        from simulator.simulate import MeasuredMatch

        if source == SIM:
            production, notes = MeasuredMatch(settings), {"source": source}
        else:
            production, notes = tracked_production(settings, source, pitch, sheet_path)
        _produce(production, chosen, seed, out, fingerprint, notes, progress, after)
    else:
        recording = read_tracking(source, pitch=pitch, sheet_path=sheet_path)
        if duration_s is not None:
            recording = first_seconds(recording, duration_s)
        _transmit(recording, chosen, seed, out, fingerprint, source, progress)
    return out


def tracked_production(
    settings: Simulation, source: str, pitch: tuple[float, float] = (105.0, 68.0), sheet_path: Path | None = None
) -> tuple[MeasuredMatch, dict[str, str]]:
    """Production of a tracked match as a locating system would measure it.

    Returns:
        the production, and notes for its capture: the source, its unreadable rows, and the source's time at the
        capture's zero.

    Raises:
        TrackingError: the file cannot be used.
    """
    from simulator.from_tracking.tracked_match import TrackedMatch
    from simulator.simulate import MeasuredMatch, quality_of

    recording = read_tracking(source, pitch=pitch, sheet_path=sheet_path)
    match = TrackedMatch(recording)
    sheet = msgspec.structs.replace(match.sheet, quality=quality_of(settings))
    notes = {"source": source, **_notes_of(recording), "zero_us": str(match.zero_us)}
    return MeasuredMatch(settings, match, sheet, match.names), notes


def _produce(
    production: MeasuredMatch,
    channel: Channel,
    seed: int,
    out: Path,
    fingerprint: str,
    notes: dict[str, str],
    progress: Progress | None,
    after: AfterStretch | None,
) -> None:
    from app.sources.production import write_simulation

    settings, play = production.settings, production.play
    length_s = settings.duration_s or settings.match.half_s * 2 + settings.match.break_s
    if (end_s := getattr(play, "end_s", None)) is not None:
        length_s = min(settings.duration_s or end_s, end_s)

    def report(end_s: float, writer: CaptureWriter) -> None:
        if progress is not None:
            progress(min(end_s / length_s, 1.0))
        if after is not None:
            after(end_s, writer)

    write_simulation(production, out, channel, seed, fingerprint=fingerprint, notes=notes, after=report)
    if progress is not None:
        progress(1.0)


def _transmit(
    recording: Recording,
    channel: Channel,
    seed: int,
    out: Path,
    fingerprint: str,
    source: str,
    progress: Progress | None,
) -> None:
    from simulator.radio.channels import transmit

    transmission = transmit(recording, channel, seed)
    notes = {"source": source, **_notes_of(recording)}
    sheet, packets = _sheet(recording, channel), transmission.packets()
    with CaptureWriter(
        out, sheet, fingerprint=fingerprint, channel=channel.name, seed=seed, slot_us=channel.slot_us, notes=notes
    ) as writer:
        for first in range(0, len(packets), _PACKETS_AT_ONCE):
            stop = min(first + _PACKETS_AT_ONCE, len(packets))
            writer.write(packets.part(first, stop))
            if progress is not None:
                progress(stop / len(packets))
        writer.closing_notes = {
            "sent": str(transmission.sent),
            "lost": str(len(transmission.lost)),
            "duplicates": str(transmission.duplicates),
        }


def _notes_of(recording: Recording) -> dict[str, str]:
    """Refused records and findings of the reader of a file, as notes of a capture."""
    return {name: msgspec.json.encode(getattr(recording, name)).decode() for name in ("rejected", "findings")}


def _sheet(recording: Recording, channel: Channel) -> MatchSheet:
    """The match sheet with the quality after the channel: optical frames remain whole in an instant channel."""
    sheet = recording.sheet
    if not channel.is_instant or sheet.quality.kind != "optical":
        return sheet
    return msgspec.structs.replace(sheet, quality=msgspec.structs.replace(sheet.quality, framed=True))


def first_seconds(recording: Recording, duration_s: float) -> Recording:
    """The first seconds of a recording by event time; rows off the time line stay with the row before them."""
    until_us = recording.begin_us + round(duration_s * 1e6)
    tracks: list[Track] = []
    for track in recording.tracks:
        rows = int(np.searchsorted(track.ts_us[track.line], until_us))
        stop = int(track.line[rows]) if rows < len(track.line) else len(track)
        if rows:
            tracks.append(track.part(slice(stop)))
    return replace(recording, tracks=tuple(tracks))


def _simulation(
    given: Simulation | None,
    seed: int,
    duration_s: float | None,
    pitch: tuple[float, float],
    rate: str,
    endless: bool,
) -> Simulation:
    from simulator.settings import rates_named
    from simulator.simulate import Simulation

    if given is None:
        rates = rates_named(rate or DEFAULT_RATE)
        return Simulation(
            seed=seed, duration_s=duration_s, length_m=pitch[0], width_m=pitch[1], endless=endless, **rates
        )
    return given if duration_s is None else replace(given, duration_s=duration_s)


def _fingerprint(
    source: str,
    channel: str,
    seed: int,
    duration_s: float | None,
    pitch: tuple[float, float],
    sheet_path: Path | None,
    settings: Simulation | None,
) -> str:
    """Digest of everything that determines a capture's blocks: contents of files, settings, and versions."""
    from simulator.radio.channels import CHANNELS

    digest = hashlib.sha256()
    numbers = asdict(CHANNELS[channel])
    choices = (VERSION, wire.VERSION, _GENERATION, numbers, seed, duration_s, pitch, settings)
    digest.update(repr(choices).encode())
    if settings is not None:
        # The code of the simulator determines the blocks as much as the settings do.
        for path in _player():
            digest.update(path.read_bytes())
    for path in () if source == SIM else _files(source, sheet_path):
        digest.update(path.name.encode())
        if path.is_file():
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _player() -> list[Path]:
    """Source files of the code that simulates, measures and sends a match."""
    return [file for folder in ("football", "simulator") for file in sorted((PROGRAM / folder).rglob("*.py"))]


def _files(source: str, sheet_path: Path | None) -> list[Path]:
    if source.startswith("kloppy:"):
        paths = [Path(part) for part in source.split(":")[2:]]
        files = [file for path in paths for file in (sorted(path.iterdir()) if path.is_dir() else [path])]
        provider = [Path(source.split(":")[1])]
    elif source.startswith("debs:"):
        files, provider = debs_files(Path(source.removeprefix("debs:"))), []
    else:
        files, provider = [Path(source), Path(source).parent / METADATA, Path(source).parent / SIMULATED], []
    return [*provider, *files, *([sheet_path] if sheet_path else [])]


def _is_there(out: Path, fingerprint: str) -> bool:
    try:
        capture = Capture.open(out)
    except CaptureError:
        return False
    return capture.fingerprint == fingerprint and capture.is_finished
