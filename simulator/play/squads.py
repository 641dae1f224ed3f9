"""Teams of the simulator: shapes, roles, names and abilities; and the settings of a match."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from football.packet_table import Floats
from simulator.play.script import Script
from simulator.records import AWAY, HOME, PERSONS, SQUAD, STARTERS

_NAMES = (
    "Adler", "Birk", "Castor", "Dunn", "Egede", "Falk", "Garnet", "Hale",
    "Ibsen", "Jora", "Kestrel", "Lind", "Moor", "Nyman", "Orel", "Pryce",
    "Lund", "Marlow", "Nimmo", "Osei", "Pardo", "Quist", "Rowan", "Sato",
    "Teal", "Urban", "Vega", "Wirth", "Yates", "Zeller", "Abara", "Brandt",
    "Referee", "Assistant 1", "Assistant 2",
)  # fmt: skip

#: Shapes: of slots 1 to 10 (0 is the goalkeeper) the role, the depth in the block (0 last line, 1 front) and the
#: side (+1 left touch line as the team attacks, -1 right).
SHAPES: dict[str, tuple[tuple[str, float, float], ...]] = {
    "4-4-2": (
        ("fb", 0.06, 0.85), ("cb", 0.0, 0.27), ("cb", 0.0, -0.27), ("fb", 0.06, -0.85),
        ("wm", 0.52, 0.85), ("cm", 0.42, 0.24), ("cm", 0.42, -0.24), ("wm", 0.52, -0.85),
        ("st", 0.88, 0.2), ("st", 1.0, -0.2),
    ),
    "4-3-3": (
        ("fb", 0.06, 0.85), ("cb", 0.0, 0.27), ("cb", 0.0, -0.27), ("fb", 0.06, -0.85),
        ("dm", 0.3, 0.0), ("cm", 0.5, 0.36), ("cm", 0.5, -0.36),
        ("wg", 0.85, 0.85), ("st", 1.0, 0.0), ("wg", 0.85, -0.85),
    ),
    "4-2-3-1": (
        ("fb", 0.06, 0.85), ("cb", 0.0, 0.27), ("cb", 0.0, -0.27), ("fb", 0.06, -0.85),
        ("dm", 0.34, 0.24), ("dm", 0.34, -0.24), ("wg", 0.72, 0.85), ("am", 0.7, 0.0), ("wg", 0.72, -0.85),
        ("st", 1.0, 0.0),
    ),
    "3-5-2": (
        ("cb", 0.02, 0.45), ("cb", 0.0, 0.0), ("cb", 0.02, -0.45),
        ("wb", 0.4, 0.92), ("cm", 0.48, 0.36), ("dm", 0.32, 0.0), ("cm", 0.48, -0.36), ("wb", 0.4, -0.92),
        ("st", 0.92, 0.22), ("st", 1.0, -0.22),
    ),
    "3-4-3": (
        ("cb", 0.02, 0.45), ("cb", 0.0, 0.0), ("cb", 0.02, -0.45),
        ("wb", 0.44, 0.92), ("cm", 0.4, 0.24), ("cm", 0.4, -0.24), ("wb", 0.44, -0.92),
        ("wg", 0.85, 0.6), ("st", 1.0, 0.0), ("wg", 0.85, -0.6),
    ),
    "5-3-2": (
        ("wb", 0.14, 0.92), ("cb", 0.0, 0.45), ("cb", 0.0, 0.0), ("cb", 0.0, -0.45), ("wb", 0.14, -0.92),
        ("cm", 0.5, 0.42), ("dm", 0.4, 0.0), ("cm", 0.5, -0.42), ("st", 0.92, 0.22), ("st", 1.0, -0.22),
    ),
}  # fmt: skip

#: Roles of the five substitutes (rows 11 to 15 of a squad).
BENCH = ("cb", "fb", "cm", "wg", "st")

#: What a role is good at, added to the team's strength: speed, passing, control, dribbling, tackling, heading, shot.
_ABILITIES = ("pace", "passing", "control", "dribbling", "tackling", "heading", "shooting")
_ROLES: dict[str, tuple[float, ...]] = {
    "gk": (-1.0, -0.4, -0.6, -2.0, -1.0, -1.0, -2.0),
    "cb": (-0.3, 0.0, -0.2, -0.8, 0.8, 1.0, -0.8),
    "fb": (0.4, 0.0, 0.0, 0.2, 0.4, -0.2, -0.6),
    "wb": (0.4, 0.0, 0.0, 0.3, 0.3, -0.2, -0.4),
    "dm": (-0.3, 0.5, 0.2, -0.2, 0.6, 0.2, -0.3),
    "cm": (0.0, 0.5, 0.4, 0.1, 0.1, -0.1, 0.1),
    "am": (0.1, 0.5, 0.6, 0.7, -0.5, -0.4, 0.5),
    "wm": (0.4, 0.2, 0.4, 0.6, -0.2, -0.5, 0.2),
    "wg": (0.8, 0.2, 0.5, 0.9, -0.5, -0.6, 0.4),
    "st": (0.4, -0.1, 0.3, 0.3, -0.8, 0.5, 1.0),
}


@dataclass(frozen=True)
class TeamSettings:
    """Playing style of a team.

    Attributes:
        name: as in the sheet.
        shape: one of ``SHAPES``.
        strength: ability of its players, 0 is average, +-1 a class better or worse.
        tempo: how soon its players pass on the ball, 1 is average.
        pressing: how far up and with how many players it presses, 1 is average.
        directness: preference for forward passes, 1 is average.
    """

    name: str
    shape: str = "4-3-3"
    strength: float = 0.0
    tempo: float = 1.0
    pressing: float = 1.0
    directness: float = 1.0

    def __post_init__(self) -> None:
        if self.shape not in SHAPES:
            raise ValueError(f"shape {self.shape!r} is not one of {', '.join(SHAPES)}")


@dataclass(frozen=True)
class Occasions:
    """Occasions of a match day besides the usual play; the default has none.

    Attributes:
        warm_ups: substitutes warm up behind the goal lines and along the touchline, stand before their benches, and
            pass a ball around on the pitch at half-time.
        quick_share: share of throw-ins and short free kicks that are taken at once.
        review_share: share of goals after which a video review holds up the kick-off.
        new_shape_share: chance of each team to change its shape in the second half.
        role_swap_share: chance of each team in each half that two players on opposite sides exchange their places.
        extra_time: two halves of 15 minutes follow if the score is level after 90.
        dead_factor: restarts take so many times as long.
        tempo_factor: players pass on the ball so many times as soon.
        take_on_share: chance that a player with the ball takes on an opponent who stands in the way, five times a
            second. An opponent whose try misses the ball stops for a moment.
    """

    warm_ups: bool = False
    quick_share: float = 0.0
    review_share: float = 0.0
    new_shape_share: float = 0.0
    role_swap_share: float = 0.0
    extra_time: bool = False
    dead_factor: float = 1.0
    tempo_factor: float = 1.0
    take_on_share: float = 0.0

    def __post_init__(self) -> None:
        for name in ("quick_share", "review_share", "new_shape_share", "role_swap_share", "take_on_share"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ValueError(f"{name} {getattr(self, name)} is not a share")
        if not (self.dead_factor > 0.0 and self.tempo_factor > 0.0):
            raise ValueError("a factor of dead time or tempo is positive")


@dataclass(frozen=True)
class MatchSettings:
    """Settings of a match; two matches with equal settings are equal.

    Attributes:
        seed: seeds all random numbers.
        length_m, width_m: the pitch.
        half_s: length of a half before stoppage time.
        break_s: between two halves.
        endless: halves follow each other without end.
        scenario: script of the beginning and of instructions; None: the match begins before a kick-off.
        spare_balls: a spare ball may replace one that has rolled far.
        home, away: the teams; None: drawn by the seed.
        interruptions: 1 the usual share of fouls, injuries and cards; 0 none.
        occasions: what the day has besides the usual play.
    """

    seed: int = 0
    length_m: float = 105.0
    width_m: float = 68.0
    half_s: float = 2700.0
    break_s: float = 60.0
    endless: bool = False
    scenario: Script | None = None
    spare_balls: bool = True
    home: TeamSettings | None = None
    away: TeamSettings | None = None
    interruptions: float = 1.0
    occasions: Occasions = Occasions()

    def __post_init__(self) -> None:
        if not 90 <= self.length_m <= 120 or not 45 <= self.width_m <= 90:
            raise ValueError(f"a pitch of {self.length_m} x {self.width_m} m is not within Law 1")
        if self.half_s <= 0 or self.break_s < 0:
            raise ValueError(f"half_s {self.half_s} or break_s {self.break_s} is not a length of time")


@dataclass(frozen=True)
class Person:
    """A person of the match sheet: row, name, shirt (0: none), team (empty: referee), role, starts on the pitch."""

    row: int
    name: str
    shirt: int
    team: str
    role: str
    is_starting: bool

    @property
    def is_goalkeeper(self) -> bool:
        """True if the person may use the hands."""
        return self.role == "gk"


@dataclass(frozen=True, eq=False)
class Squads:
    """Both squads and the officials.

    Attributes:
        people: by row.
        teams: home, away.
        ability: name -> (PERSONS,) standard scores about 0.
    """

    people: tuple[Person, ...]
    teams: tuple[TeamSettings, TeamSettings]
    ability: dict[str, Floats] = field(default_factory=dict)


def draw_squads(settings: MatchSettings) -> Squads:
    """Squads of a match: shapes and strengths where the settings leave them open, and everybody's abilities."""
    rng = np.random.default_rng([settings.seed, 11])
    drawn = tuple(
        TeamSettings(
            name,
            str(rng.choice(list(SHAPES))),
            *(round(float(rng.normal(mean, spread)), 2) for mean, spread in _KNOBS),
        )
        for name in ("Simulated Reds", "Simulated Blues")
    )
    factor = settings.occasions.tempo_factor
    teams = tuple(
        replace(team, tempo=team.tempo * factor) for team in (settings.home or drawn[0], settings.away or drawn[1])
    )
    people = [_person(row, teams) for row in range(PERSONS)]
    strength = np.zeros(PERSONS)
    for part, team in zip((HOME, AWAY), teams, strict=True):
        strength[part] = team.strength
    ability = {}
    for number, name in enumerate(_ABILITIES):
        own = np.array([_ROLES[p.role][number] if p.role in _ROLES else 0.0 for p in people])
        ability[name] = 0.6 * own + 0.6 * strength + 0.4 * rng.standard_normal(PERSONS)
    ability["keeping"] = 0.6 * strength + 0.4 * rng.standard_normal(PERSONS)
    return Squads(tuple(people), teams, ability)


#: Mean and spread of strength, tempo, pressing, directness.
_KNOBS = ((0.0, 0.35), (1.0, 0.1), (1.0, 0.15), (1.0, 0.15))


def _person(row: int, teams: tuple[TeamSettings, TeamSettings]) -> Person:
    if row >= 2 * SQUAD:
        return Person(row, _NAMES[row], 0, "", "referee" if row == 2 * SQUAD else "assistant", True)
    number = row % SQUAD
    if number == 0:
        role = "gk"
    elif number < STARTERS:
        role = SHAPES[teams[row // SQUAD].shape][number - 1][0]
    else:
        role = BENCH[number - STARTERS]
    return Person(row, _NAMES[row], number + 1, "home" if row < SQUAD else "away", role, number < STARTERS)
