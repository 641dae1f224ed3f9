"""The names of ``import touchline``: ten, no more; each module behind them is imported when it is needed."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

from app.base.terminal import make_console
from app.library.client import Client, connect
from app.library.match import Match, Time
from app.library.own_detector import detector
from app.library.play import Play, play
from football.errors import UserError as TouchlineError
from football.match_sheet import MatchSheet
from football.payloads import EventPayload as Payload
from football.update_stream import UpdateRecord as Update
from replay.event_choice import check_kinds, make_choice
from replay.scoring.figures import Score
from replay.scoring.figures import score as score_events

__all__ = (
    "Client", "Match", "Payload", "Play", "TouchlineError", "Update", "connect", "detector", "follow", "play", "score",
    "simulate",
)  # fmt: skip


def follow(
    topic: str,
    *,
    kind: str | Iterable[str] = (),
    team: str = "",
    player: str | int = "",
    begin: Time | None = None,
    end: Time | None = None,
    match: Match | None = None,
    idle_s: float | None = None,
) -> Iterator[Update]:
    """Yield the updates of a match from the topic that ``touchline live --publish`` writes, until the match is over.

    A topic that does not exist yet is waited for. A record that cannot be read is left out, with a warning. No event is
    asserted twice, or withdrawn without having been asserted, whatever died on the other side.

    Args:
        topic: ``kafka://host:port/topic``, with ``?match=`` where it holds several matches.
        kind, team, player, begin, end: only such events, as in :meth:`Match.events`.
        match: has the names of teams and players; without it ``player`` is an object id.
        idle_s: end after so long without an update; default never.

    Raises:
        TouchlineError: no broker answers, or no topic appears within ``idle_s``.
    """
    from app.kafka.follow import follow as follow_topic

    sheet = match.sheet if match is not None else MatchSheet()
    choice = make_choice(sheet, kind, team, player, begin, end)
    check_kinds(choice.kinds)
    for change in follow_topic(topic, idle_s=idle_s, notify=lambda text: warnings.warn(text, stacklevel=3)):
        one = change.update
        if choice.takes(one.event):
            yield Update(one.seq, one.diff, one.emitted_us, one.event)


def simulate(
    out: str | Path,
    *,
    minutes: float | None = None,
    seed: int | None = None,
    rate: str = "live",
    channel: str = "rtls",
    scenario: str | None = None,
) -> Path:
    """Simulate a match into a folder: a source for :func:`play`, with its truth for :func:`score`.

    Args:
        out: folder; an earlier simulation in it is replaced.
        minutes: length; default five, or the scenario's; 0 for the whole match.
        seed: the same seed gives the same match.
        rate: ``live``, ``full`` (36,000 positions a second), ``50k``, or BALL/LIMB in Hz such as ``1000/100``.
        channel: radio channel: ``none``, ``rtls``, ``wifi``, ``harsh``.
        scenario: a YAML file, or the name of a scenario of the package.

    Returns:
        The folder, with ``truth.parquet`` and ``sheet.json``.

    Raises:
        TouchlineError: the folder holds something else, or an option is wrong.
    """
    from app.library.simulation import SimulateOptions, prepare, produce, settings_of
    from simulator.radio.channels import channel_named
    from simulator.scenario import find_scenario, read_scenario

    options = SimulateOptions(Path(out), seed, minutes, rate, channel, scenario)
    chosen = read_scenario(find_scenario(scenario)) if scenario else None
    settings, radio = settings_of(options, chosen), channel_named(channel)
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        prepare(options.out, settings, radio.name)
        produce(options, settings, radio, chosen, make_console(file=nowhere))
    return options.out


def score(match: Match | str | Path, truth: str | Path) -> Score:
    """Compare the events of a match with the truth.

    Args:
        match: a match, or the folder of its store.
        truth: folder of a simulation or its ``truth.parquet``, Opta's events (``.csv``), or the DEBS 2013 annotation.

    Returns:
        Figures by kind in ``kinds`` (precision, recall, F1, time error), and agreement by frames.

    Raises:
        TouchlineError: store or truth cannot be read, or are of different matches.
    """
    from app.library.scores import truth_and_events

    folder = match.folder if isinstance(match, Match) else Path(match)
    return score_events(*truth_and_events(folder, Path(truth)))
