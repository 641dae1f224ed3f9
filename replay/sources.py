"""From the name of a source to a capture on disk: the one way in which a match is prepared for replay."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import msgspec
import numpy as np

from detectors.inputs import MatchSheet
from replay import wire
from replay.capture import VERSION, Capture, CaptureError, CaptureWriter
from replay.channel import CHANNELS, Channel, channel_named, transmit
from replay.recording import Recording, Track
from replay.simulator import Simulation, simulate
from replay.tracking import METADATA, read_tracking

#: Name of the built-in generator as a source.
SIM = "sim"

#: Raised whenever the same source, channel and seed would give other blocks than before.
_GENERATION = "4"

#: Is told the share of the match done, in 0..1.
Progress = Callable[[float], None]

_PACKETS_AT_ONCE = 50_000


def default_channel(source: str) -> str:
    """The generator speaks through the radio channel, a file as it is."""
    return "rtls" if source == SIM else "none"


def prepare_capture(
    source: str,
    channel: str,
    seed: int,
    out: Path,
    *,
    duration_s: float | None = None,
    pitch: tuple[float, float] = (105.0, 68.0),
    sheet_path: Path | None = None,
    progress: Progress | None = None,
    simulation: Simulation | None = None,
) -> Path:
    """Writes the capture of a source through a channel to ``out``; does nothing if that very one is there.

    Args:
        source: ``sim``, the path of a tracking table, or ``kloppy:<provider>:<path>[:<meta path>]``.
        channel: a name in ``CHANNELS``, or empty for the source's default.
        seed: of the channel, and of the generator unless ``simulation`` says otherwise.
        out: the capture's folder.
        duration_s: only the first so many seconds; None for a whole file, or the generator's own length.
        pitch: length and width in metres where the source does not tell.
        sheet_path: match sheet to use instead of the source's own.
        progress: called now and then while packets are written.
        simulation: settings of the generator.

    Returns:
        ``out``.

    Raises:
        TrackingError, ChannelError, SimulatorError: the source, the channel or a setting cannot be used.
    """
    chosen = channel_named(channel or default_channel(source))
    settings = _simulation(simulation, seed, duration_s, pitch) if source == SIM else None
    fingerprint = _fingerprint(source, chosen.name, seed, duration_s, pitch, sheet_path, settings)
    if _is_there(out, fingerprint):
        return out
    if settings is not None:
        recording, _ = simulate(settings)
    else:
        recording = read_tracking(source, pitch=pitch, sheet_path=sheet_path)
        if duration_s is not None:
            recording = first_seconds(recording, duration_s)
    transmission = transmit(recording, chosen, seed)
    notes = {"source": source, "rejected": msgspec.json.encode(recording.rejected).decode()}
    sheet, packets = _sheet(recording, chosen), transmission.packets()
    with CaptureWriter(
        out, sheet, fingerprint=fingerprint, channel=chosen.name, seed=seed, slot_us=chosen.slot_us, notes=notes
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
    return out


def _sheet(recording: Recording, channel: Channel) -> MatchSheet:
    """The sheet, with what the channel makes of the quality: optical frames left alone stay whole."""
    sheet = recording.sheet
    if not channel.is_instant or sheet.quality.kind != "optical":
        return sheet
    return msgspec.structs.replace(sheet, quality=msgspec.structs.replace(sheet.quality, framed=True))


def first_seconds(recording: Recording, duration_s: float) -> Recording:
    """What a recording holds of its first seconds, by event time; rows off the time line go with their row."""
    until_us = recording.begin_us + round(duration_s * 1e6)
    tracks: list[Track] = []
    for track in recording.tracks:
        rows = int(np.searchsorted(track.ts_us[track.line], until_us))
        stop = int(track.line[rows]) if rows < len(track.line) else len(track)
        if rows:
            tracks.append(track.part(slice(stop)))
    return replace(recording, tracks=tuple(tracks))


def _simulation(
    given: Simulation | None, seed: int, duration_s: float | None, pitch: tuple[float, float]
) -> Simulation:
    settings = given or Simulation(seed=seed, length_m=pitch[0], width_m=pitch[1])
    return settings if duration_s is None else replace(settings, duration_s=duration_s)


def _fingerprint(
    source: str,
    channel: str,
    seed: int,
    duration_s: float | None,
    pitch: tuple[float, float],
    sheet_path: Path | None,
    settings: Simulation | None,
) -> str:
    """A digest of all that decides a capture's blocks: contents of files, settings, and our own versions."""
    digest = hashlib.sha256()
    numbers = asdict(CHANNELS[channel])
    told = (VERSION, wire.VERSION, _GENERATION, numbers, seed, duration_s, pitch, settings)
    digest.update(repr(told).encode())
    for path in () if settings is not None else _files(source, sheet_path):
        digest.update(path.name.encode())
        if path.is_file():
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _files(source: str, sheet_path: Path | None) -> list[Path]:
    if source.startswith("kloppy:"):
        files = [Path(part) for part in source.split(":")[2:]]
        provider = [Path(source.split(":")[1])]
    else:
        files, provider = [Path(source), Path(source).parent / METADATA], []
    return [*provider, *files, *([sheet_path] if sheet_path else [])]


def _is_there(out: Path, fingerprint: str) -> bool:
    try:
        capture = Capture.open(out)
    except CaptureError:
        return False
    return capture.fingerprint == fingerprint and capture.is_finished
