"""A small match generator: a seeded game as radio tags would measure it, with the truth about it.

The game itself is played in :mod:`replay.sim_match`; here it is measured: each transmitter samples at its own
rate and phase, with noise, and the truth list becomes records like those that the engine publishes.

Truth kinds: ``touch`` (variant: the limb; detail ``what``), ``pass.attempt`` (detail ``outcome``: complete,
intercepted, out or empty if the game ended first; ``receiver``, ``received_us``), ``shot.attempt`` (detail
``outcome``: goal, saved, blocked, off, short), ``woodwork``, ``goal.scored``, ``out`` (variant: the line),
``foul``, ``restart.kick_off``, ``restart.throw_in``, ``restart.corner``, ``restart.goal_kick`` and
``restart.free_kick``. ``level`` is 0: truth has no level.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from detectors.inputs import MatchSheet, Player, Quality
from detectors.lane import EventRecord
from replay.recording import Floats, Recording, Track, track_order
from replay.sim_match import Game
from replay.sim_players import Contact, limb_track
from replay.sim_state import TICK_S, Log, Row, object_id

FEET = ("left_foot", "right_foot")
HANDS = ("left_hand", "right_hand")
FOUR_LIMBS = (*FEET, *HANDS)

#: A seed whose first five minutes hold a goal, every kind of restart, and shots saved and off target.
DEFAULT_SEED = 18

#: Ball steps a second at least, whatever the rate that is recorded.
_STEPS_HZ = 200

_NAMES = (
    ("Adler", "Birk", "Castor", "Dunn", "Egede", "Falk", "Garnet", "Hale", "Ibsen", "Jora", "Kestrel"),
    ("Lund", "Marlow", "Nimmo", "Osei", "Pardo", "Quist", "Rowan", "Sato", "Teal", "Urban", "Vega"),
)


class SimulatorError(ValueError):
    """Settings that cannot be simulated; the message names the setting."""


@dataclass(frozen=True)
class Simulation:
    """Settings of the generator.

    Attributes:
        seed: decides the game, the phases and the noise.
        duration_s: length; the game begins a little before its first kick-off.
        ball_hz: rate of the ball; divides 200 or is a multiple of it by whole numbers, at most 2,000.
        body_hz: rate of each limb, or of each player if there are no limbs.
        limbs: names of the limb transmitters; empty for one transmitter a player. Goalkeepers carry hands besides,
            as in the DEBS 2013 match.
        noise_m: standard deviation of each coordinate.
        length_m, width_m: the pitch.
    """

    seed: int = DEFAULT_SEED
    duration_s: float = 300.0
    ball_hz: int = 200
    body_hz: int = 50
    limbs: tuple[str, ...] = FEET
    noise_m: float = 0.02
    length_m: float = 105.0
    width_m: float = 68.0

    def __post_init__(self) -> None:
        if not 1 <= self.ball_hz <= 2000 or max(self.ball_hz, _STEPS_HZ) % min(self.ball_hz, _STEPS_HZ):
            raise SimulatorError(f"ball_hz {self.ball_hz} neither divides {_STEPS_HZ} nor is a multiple up to 2000")
        if not 1 <= self.body_hz <= 1000:
            raise SimulatorError(f"body_hz {self.body_hz} is not in 1..1000")
        if self.duration_s <= 0:
            raise SimulatorError(f"duration_s {self.duration_s} is not positive")
        if unknown := set(self.limbs) - set(FOUR_LIMBS):
            raise SimulatorError(f"limbs {', '.join(sorted(unknown))} are not known: {', '.join(FOUR_LIMBS)}")


def simulate(settings: Simulation) -> tuple[Recording, tuple[EventRecord, ...]]:
    """Plays and measures a game.

    Returns:
        the recording, and the truth in order of time.
    """
    steps_hz = max(settings.ball_hz, _STEPS_HZ)
    game = Game(settings.seed, settings.length_m, settings.width_m, round(steps_hz * TICK_S))
    log = game.play(settings.duration_s)
    tracks = [_ball_track(log, settings, steps_hz), *_body_tracks(log, settings)]
    tracks.sort(key=lambda track: track_order(track.transmitter))
    truth = sorted(log.truth, key=lambda row: row.t_s)
    return Recording(_sheet(settings), tuple(tracks)), tuple(_record(n, row) for n, row in enumerate(truth))


def _sheet(settings: Simulation) -> MatchSheet:
    players = tuple(
        Player(object_id(i), "home" if i < 11 else "away", _NAMES[i // 11][i % 11], i % 11 + 1, i % 11 == 0)
        for i in range(22)
    )
    quality = Quality(float(settings.ball_hz), float(settings.body_hz), settings.limbs, True, settings.noise_m, "rtls")
    return MatchSheet(
        f"sim-{settings.seed}",
        "Simulated Reds",
        "Simulated Blues",
        settings.length_m,
        settings.width_m,
        "home",
        players,
        quality,
    )


def _ball_track(log: Log, settings: Simulation, steps_hz: int) -> Track:
    rng = np.random.default_rng([settings.seed, 1])
    every = steps_hz // settings.ball_hz
    places = np.array(log.ball)[::every]
    ts_us = np.rint(np.arange(len(places)) * (1e6 / settings.ball_hz)).astype(np.int64)
    x, y, z = (places + rng.normal(0.0, settings.noise_m, places.shape)).T
    return Track("ball", ts_us, x, y, z)


def _body_tracks(log: Log, settings: Simulation) -> list[Track]:
    rng = np.random.default_rng([settings.seed, 2])
    ticks_s = np.array(log.ticks_s)
    bodies = np.array(log.bodies)
    contacts: dict[tuple[int, str], list[Contact]] = defaultdict(list)
    for contact in log.contacts:
        contacts[contact.player, contact.limb].append(contact)
    carried = [(player, limb) for player in range(22) for limb in settings.limbs or ("",)]
    if settings.limbs:
        carried += [(keeper, hand) for keeper in (0, 11) for hand in HANDS if hand not in settings.limbs]
    tracks: list[Track] = []
    for player, limb in carried:
        name = object_id(player) + (f"/{limb}" if limb else "")
        # Tags have no common clock: each samples at a phase of its own.
        phase_us = int(rng.integers(0, 1_000_000 // settings.body_hz))
        count = int((ticks_s[-1] * 1e6 - phase_us) * settings.body_hz // 1_000_000) + 1
        ts_us = phase_us + np.rint(np.arange(count) * (1e6 / settings.body_hz)).astype(np.int64)
        way = limb_track(ts_us / 1e6, ticks_s, bodies[:, player], limb, contacts[player, limb])
        x, y, z = (_noisy(column, settings.noise_m, rng) for column in way)
        tracks.append(Track(name, ts_us, x, y, z))
    return tracks


def _noisy(column: Floats, noise_m: float, rng: np.random.Generator) -> Floats:
    return column + rng.normal(0.0, noise_m, len(column))


def _record(number: int, row: Row) -> EventRecord:
    x_m, y_m, z_m = (round(float(value), 3) for value in row.place)
    return EventRecord(
        f"truth#{number}",
        row.kind,
        row.variant,
        0,
        round(row.t_s * 1e6),
        ("home", "away")[row.team],
        object_id(row.player),
        x_m,
        y_m,
        z_m,
        1.0,
        (),
        row.detail,
    )
