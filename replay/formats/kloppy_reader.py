"""Read tracking files through kloppy, which parses them; this module turns a kloppy data set into a recording.

kloppy gives positions in metres from the centre of the pitch, x along it, +y to the left of a team that attacks
towards +x. The direction of play stays as in the file. Event time counts from the start of the first period that has
frames; frames in which the ball is dead are read, too.
"""

from __future__ import annotations

import importlib
import inspect
import math
import re
import warnings
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from detectors.signals.sampling import with_jitter
from football.errors import TrackingError
from football.input_quality import InputFinding
from football.match_sheet import TEAMS, MatchSheet, Period, Player, Quality, Team
from football.recording import Recording, Track, flag_track, measured_jitter_m, track_order
from football.untrusted import NUMBER_MAX, ROWS_MAX, SOURCES_MAX, UntrustedError
from football.untrusted_files import check_expanded
from replay.formats.goalkeepers import with_goalkeepers
from replay.formats.match_sheets import read_sheet, says_pitch, within_limits
from replay.formats.periods import PAUSE_US
from replay.formats.pitch_size import UNKNOWN_M, with_pitch
from replay.formats.smoothing import ball_smoothing
from replay.formats.unnamed import IDS_MAX, unnamed_players

#: provider -> (kloppy module, its loader, names of the files it takes; the first is the positions).
PROVIDERS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "hawkeye": ("hawkeye", "load", ("ball_feeds", "player_centroid_feeds", "meta_data")),
    "metrica": ("metrica", "load_tracking_csv", ("home_data", "away_data")),
    "metrica_epts": ("metrica", "load_tracking_epts", ("raw_data", "meta_data")),
    "pff": ("pff", "load_tracking", ("raw_data", "meta_data", "roster_meta_data")),
    "secondspectrum": ("secondspectrum", "load", ("raw_data", "meta_data", "additional_meta_data")),
    "signality": ("signality", "load", ("raw_data_feeds", "meta_data", "venue_information")),
    "skillcorner": ("skillcorner", "load", ("raw_data", "meta_data")),
    "sportec": ("sportec", "load_tracking", ("raw_data", "meta_data")),
    "statsperform": ("statsperform", "load_tracking", ("ma25_data", "ma1_data")),
    "tracab": ("tracab", "load", ("raw_data", "meta_data")),
}

#: Arguments of loaders that take several files (of each minute, or of each half), and what the files' names have.
_LISTS = {"ball_feeds": "samples.ball", "player_centroid_feeds": "samples.centroids", "raw_data_feeds": ""}

#: Loaders that leave out frames in which the ball is dead by default.
_ONLY_ALIVE = frozenset({"secondspectrum", "skillcorner", "sportec", "statsperform", "tracab", "pff"})

#: Providers of no alive flag: kloppy takes the ball for alive while a team has it.
_NO_FLAG = frozenset({"skillcorner"})

#: kloppy's name for metres from the centre, y upwards.
_COORDINATES = "secondspectrum"


def read_kloppy(
    provider: str, paths: list[Path], pitch: tuple[float, float], sheet_path: Path | None = None
) -> Recording:
    """Read a provider's tracking files.

    Args:
        provider: a key of ``PROVIDERS``.
        paths: the files in the order of ``PROVIDERS``; a folder for all files in it, where kloppy takes several.
        pitch: length and width in metres, if the provider does not give them.
        sheet_path: match sheet to use instead of the provider's metadata.

    Raises:
        TrackingError: unknown provider, too few files, no ball, or kloppy cannot read them.
    """
    if provider not in PROVIDERS:
        raise TrackingError(f"unknown format: kloppy provider {provider!r}; known: {', '.join(PROVIDERS)}")
    label = f"kloppy:{provider}:{':'.join(map(str, paths))}"
    dataset = _load(provider, paths, label)
    with within_limits(label):
        starts = _period_starts(dataset.records)
        tracks, sides = _tracks(dataset, starts, has_flag=provider not in _NO_FLAG)
    ball = next((track for track in tracks if track.transmitter == "ball"), None)
    if ball is None:
        raise TrackingError(f"{label}: no ball: no frame has a position of it")
    match_id = paths[0].stem
    with within_limits(label):
        sheet = read_sheet(sheet_path, pitch) if sheet_path else _sheet(dataset.metadata, match_id, pitch)
        # Whom a sheet of the user leaves out is a stranger.
        listed = sides.keys() if sheet_path else {player.object_id for player in sheet.players}
        others = {name: side for name, side in sides.items() if name not in listed and side in TEAMS}
        tracks, unnamed = unnamed_players(tracks, others)
        if len(tracks) > SOURCES_MAX:
            raise UntrustedError(f"more than {SOURCES_MAX} objects")
        sheet = msgspec.structs.replace(
            sheet, periods=_periods(dataset.metadata, starts), players=(*sheet.players, *unnamed)
        )
    rate = float(dataset.metadata.frame_rate or 25.0)
    height = bool(np.any(ball.z_m != 0.0))
    smoothing_s, smoothed = ball_smoothing(tracks)
    quality = Quality(rate, rate, (), height, 0.1, "optical", ball_smoothing_s=smoothing_s)
    quality = with_jitter(quality, measured_jitter_m([ball]))
    is_known = dataset.metadata.coordinate_system is not None
    size = dataset.metadata.pitch_dimensions  # None of a file of EPTS whose maker kloppy does not know
    says = says_pitch(sheet_path) if sheet_path else size is not None and bool(size.pitch_length and size.pitch_width)
    sheet, sized = with_pitch(sheet, tracks, is_known=says or pitch != UNKNOWN_M)
    sheet, kept = with_goalkeepers(sheet, tracks)
    findings = (*sized, *kept, *smoothed, *(() if is_known else (_unknown_maker(sheet),)))
    with within_limits(label):
        return Recording(msgspec.structs.replace(sheet, quality=quality), tracks, (), findings)


def _unknown_maker(sheet: MatchSheet) -> InputFinding:
    return InputFinding(
        "maker",
        "note",
        "kloppy does not know the maker of this file: its positions are taken for metres from the centre spot, "
        f"of a pitch of {sheet.length_m:g} x {sheet.width_m:g} m",
        "",
        "--pitch gives the pitch, --sheet the match sheet",
    )


def _load(provider: str, paths: list[Path], label: str) -> Any:
    """Load kloppy's dataset in our coordinates; any error inside kloppy becomes an error of the file."""
    module, function, names = PROVIDERS[provider]
    loader = getattr(importlib.import_module(f"kloppy.{module}"), function)
    wanted = inspect.signature(loader).parameters
    least = sum(wanted[name].default is inspect.Parameter.empty for name in names)
    if not least <= len(paths) <= len(names):
        raise TrackingError(f"{label}: give the files {', '.join(names)}, separated by colons")
    several = {name: _in_folder(path, _LISTS[name]) for name, path in zip(names, paths, strict=False) if name in _LISTS}
    single = [path for name, path in zip(names, paths, strict=False) if name not in _LISTS]
    for path in (*chain.from_iterable(several.values()), *single):
        if not path.is_file():
            raise TrackingError(f"{path}: no such file")
        if path.stat().st_size == 0:
            raise TrackingError(f"{path}: the file is empty")
        try:
            check_expanded(path)
        except (OSError, UntrustedError) as error:
            raise TrackingError(f"{path}: {error}") from error
    files = {
        n: [str(one) for one in several[n]] if n in several else str(p) for n, p in zip(names, paths, strict=False)
    }
    options: dict[str, object] = {"only_alive": False} if provider in _ONLY_ALIVE else {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return loader(**files, **options, coordinates=_COORDINATES)
    except Exception as error:
        order = f"its files are {', '.join(names)}, in this order"
        raise TrackingError(f"{label}: kloppy cannot read it: {type(error).__name__}: {error}; {order}") from error


def _in_folder(path: Path, part: str) -> list[Path]:
    """Return the path, or if it is a folder its files with a part in their names, in the order of their numbers."""
    if not path.is_dir():
        return [path]
    files = [file for file in path.iterdir() if part in file.name and file.is_file() and not file.name.startswith(".")]
    if not files:
        raise TrackingError(f"{path}: no file {f'named ...{part}...' if part else 'at all'} in this folder")
    return sorted(files, key=lambda file: [int(n) for n in re.findall(r"\d+", file.name)] or [0])


def _tracks(dataset: Any, starts: dict[int, int], *, has_flag: bool) -> tuple[tuple[Track, ...], dict[str, Team]]:
    """Positions by object in the order of the frames, and the teams of the players.

    An object without a position in a frame has no row. ``starts``: see :func:`_period_starts`.

    Raises:
        UntrustedError: too many objects or positions, or a time that cannot be.
    """
    rows: dict[str, list[tuple[int, float, float, float]]] = {}
    sides: dict[str, Team] = {}
    flags: list[tuple[int, bool]] = []
    left = ROWS_MAX
    for frame in dataset.records:
        ts_us = starts[frame.period.id] + round(frame.timestamp.total_seconds() * 1e6)
        left -= 1 + len(frame.players_data)
        if left < 0 or len(rows) > IDS_MAX:
            raise UntrustedError(f"more than {ROWS_MAX} positions, or {IDS_MAX} objects")
        if abs(ts_us) > NUMBER_MAX:
            raise UntrustedError("a time that cannot be")
        if has_flag and frame.ball_state is not None:
            flags.append((ts_us, frame.ball_state.name == "ALIVE"))
        if (at := _position(frame.ball_coordinates)) is not None:
            rows.setdefault("ball", []).append((ts_us, *at))
        for player, data in frame.players_data.items():
            if (at := _position(data.coordinates)) is not None:
                name = str(player.player_id)
                rows.setdefault(name, []).append((ts_us, *at))
                sides.setdefault(name, player.team.ground.value)
    tracks = [_track(name, rows[name]) for name in sorted(rows, key=track_order)]
    flag = flag_track(np.array([at for at, _ in flags], np.int64), np.array([is_alive for _, is_alive in flags], bool))
    return (*tracks, *(() if flag is None else (flag,))), sides


def _track(name: str, rows: list[tuple[int, float, float, float]]) -> Track:
    ts_us, x_m, y_m, z_m = zip(*rows, strict=True)
    return Track(name, np.array(ts_us, np.int64), *(np.array(c, np.float64) for c in (x_m, y_m, z_m)))


def _position(point: Any) -> tuple[float, float, float] | None:
    """The coordinates of a point; None of one that kloppy does not have, or has as no numbers."""
    if point is None or point.x is None or point.y is None or math.isnan(point.x) or math.isnan(point.y):
        return None
    height = getattr(point, "z", None)
    return float(point.x), float(point.y), 0.0 if height is None or math.isnan(height) else float(height)


def _period_starts(frames: Iterable[Any]) -> dict[int, int]:
    """Event time at which each period's own clock is 0.

    Periods keep their distance in the provider's time. If the provider gives none, or if the periods would overlap,
    the next begins ``PAUSE_US`` after the last frame of the one before.
    """
    last_us: dict[int, int] = {}
    periods: dict[int, Any] = {}
    for frame in frames:
        periods[frame.period.id] = frame.period
        last_us[frame.period.id] = round(frame.timestamp.total_seconds() * 1e6)
    starts: dict[int, int] = {}
    first: Any = None
    end_us = 0
    for number in sorted(periods):
        start = periods[number].start_timestamp
        first = start if first is None else first
        offset_us = math.nan if start is None else (start - first).total_seconds() * 1e6
        starts[number] = round(offset_us) if offset_us >= end_us else end_us
        end_us = starts[number] + last_us[number] + PAUSE_US
    return starts


def _sheet(metadata: Any, match_id: str, pitch: tuple[float, float]) -> MatchSheet:
    names = {"home": "Home", "away": "Away"}
    players: list[Player] = []
    for team in metadata.teams:
        side: Team = team.ground.value
        names[side] = str(team.name or names[side])
        for player in team.players:
            position = getattr(player.starting_position, "name", "")
            # Names out of XML are a kind of text of its parser, which a match sheet cannot store.
            name, shirt = str(player.full_name or "").strip(), player.jersey_no
            label = name if name != str(player.player_id) else ""
            number, goalkeeper = None if shirt is None else int(shirt), position == "Goalkeeper"
            players.append(Player(str(player.player_id), side, label, number, goalkeeper, player.starting is not False))
    size = metadata.pitch_dimensions
    length_m, width_m = (size.pitch_length, size.pitch_width) if size else (None, None)
    return MatchSheet(
        str(metadata.game_id or match_id),
        names["home"],
        names["away"],
        float(length_m or pitch[0]),
        float(width_m or pitch[1]),
        _attackers(metadata, metadata.periods[0].id if metadata.periods else 1),
        tuple(players),
    )


def _periods(metadata: Any, starts: dict[int, int]) -> tuple[Period, ...]:
    """The periods that have frames, with the team that attacks towards +x if kloppy's orientation says it."""
    return tuple(Period(number, at_us, _attackers(metadata, number)) for number, at_us in starts.items())


def _attackers(metadata: Any, period: int) -> Team:
    """The team that attacks towards +x in a period; empty if kloppy's orientation does not say it."""
    orientation = metadata.orientation.name if metadata.orientation else ""
    turned = period % 2 == 0
    if orientation in ("STATIC_HOME_AWAY", "STATIC_AWAY_HOME"):
        return "home" if orientation == "STATIC_HOME_AWAY" else "away"
    if orientation in ("HOME_AWAY", "AWAY_HOME"):
        return "home" if (orientation == "HOME_AWAY") != turned else "away"
    return ""
