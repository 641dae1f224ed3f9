"""The match sheet: teams and players, pitch, direction of attack, and the declared quality of the input."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final, Literal

import msgspec

from football.untrusted import ID_CHARACTERS_MAX, is_name, is_text

Team = Literal["home", "away", ""]
TEAMS: Final[tuple[Team, Team]] = ("home", "away")


_COLOUR: Final = re.compile(r"(#[0-9a-fA-F]{6})?")

#: Players of a sheet and limbs of each: more than two squads have. The cost of detectors grows with their square.
PLAYERS_MAX, LIMBS_MAX = 200, 20

#: Positions a second of one match; the fastest systems give 50,000.
RATE_MAX_HZ = 500_000

#: Numbers on shirts have two digits; some sources number otherwise.
SHIRT_MAX = 999_999


class Player(msgspec.Struct, frozen=True):
    """A player of the match sheet. ``object_id`` is the source's own id; ``starts``: on the pitch, not on the bench.

    Raises:
        ValueError: an id or a name that is too long, or has control characters; a number that no shirt has.
    """

    object_id: str
    team: Team
    name: str = ""
    shirt: int | None = None
    goalkeeper: bool = False
    starts: bool = True

    def __post_init__(self) -> None:
        if not is_text(self.object_id, ID_CHARACTERS_MAX) or not is_text(self.name):
            raise ValueError(f"{self.object_id[:40]!r}: an id or a name that is too long, or has control characters")
        if self.shirt is not None and not 0 <= self.shirt <= SHIRT_MAX:
            raise ValueError(f"{self.object_id}: the number of a shirt is 0 to {SHIRT_MAX}")


#: Beyond it a position tells nothing of a player: GPS without correction has 5 m.
NOISE_MAX_M = 10.0

#: Two touches of a dribble are one in positions that are smoothed more.
SMOOTHING_MAX_S = 0.5


class Quality(msgspec.Struct, frozen=True):
    """Declared quality of an input; detectors adapt their thresholds to it.

    Attributes:
        ball_hz, body_hz: nominal rates of ball and of players (or of each limb).
        limbs: names of the limb transmitters a player carries, empty for one centroid per player.
        ball_height: whether the ball's z is measured.
        position_noise_m: standard deviation of one position.
        ball_smoothing_s: standard deviation of the filter that the ball's positions have gone through; 0: of none.
        framed: all objects of an instant come together, undisturbed, as from a tracking file: an instant is then one
            input to the engine (``raw.frame``), not one a transmitter.
        kind: ``optical`` (camera tracking, one clock for all) or ``rtls`` (radio, each transmitter its own).

    Raises:
        ValueError: an impossible noise or smoothing, since windows of detectors grow with them; too many limbs, or
            impossible ones.
    """

    ball_hz: float = 25.0
    body_hz: float = 25.0
    limbs: tuple[str, ...] = ()
    ball_height: bool = True
    position_noise_m: float = 0.05
    kind: Literal["optical", "rtls"] = "optical"
    framed: bool = False
    ball_smoothing_s: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.ball_smoothing_s <= SMOOTHING_MAX_S:
            raise ValueError(
                f"the smoothing of the ball must be 0 to {SMOOTHING_MAX_S:g} s, not {self.ball_smoothing_s:g}"
            )
        if not 0.0 <= self.position_noise_m <= NOISE_MAX_M:
            raise ValueError(f"the noise of a position must be 0 to {NOISE_MAX_M:g} m, not {self.position_noise_m:g}")
        if len(self.limbs) > LIMBS_MAX or not all(is_text(limb, ID_CHARACTERS_MAX) for limb in self.limbs):
            raise ValueError(f"at most {LIMBS_MAX} limbs, with names of at most {ID_CHARACTERS_MAX} characters")


#: Periods of a match: two halves, two of extra time, the shoot-out.
PERIODS_MAX = 5


class Period(msgspec.Struct, frozen=True):
    """A period as the source knows it.

    ``number`` is 1 to 5, ``from_us`` the event time of its kick-off, and ``attacks_positive_x`` the team that attacks
    towards +x in it; empty means unknown.

    Raises:
        ValueError: a number that no period has.
    """

    number: int
    from_us: int
    attacks_positive_x: Team = ""

    def __post_init__(self) -> None:
        if not 1 <= self.number <= PERIODS_MAX:
            raise ValueError(f"a match has the periods 1 to {PERIODS_MAX}, not {self.number}")


def period_at(periods: tuple[Period, ...], at_us: int) -> Period | None:
    """The newest period that has begun at an event time; None before the first."""
    return next((period for period in reversed(periods) if period.from_us <= at_us), None)


class MatchSheet(msgspec.Struct, frozen=True):
    """Teams, pitch and directions of a match, as far as they are known beforehand.

    ``attacks_positive_x`` names the team that attacks towards +x at the start of the stream; empty means unknown: it is
    then inferred from positions. ``periods`` are in order of time, where the source knows them.
    ``home_colour`` and ``away_colour`` are those of the kits, such as ``#c8102e``; ``venue`` is where it is played.

    Raises:
        ValueError: it declares more than any match has, for which memory would be reserved, or an id that no folder
            can have.
    """

    match_id: str = "match"
    home: str = "Home"
    away: str = "Away"
    length_m: float = 105.0
    width_m: float = 68.0
    attacks_positive_x: Team = ""
    players: tuple[Player, ...] = ()
    quality: Quality = Quality()
    periods: tuple[Period, ...] = ()
    home_colour: str = ""
    away_colour: str = ""
    venue: str = ""

    def __post_init__(self) -> None:
        begun = [(period.number, period.from_us) for period in self.periods]
        if any(number >= later or at_us >= later_us for (number, at_us), (later, later_us) in pairwise(begun)):
            raise ValueError("periods are in order of their numbers and times, each once")
        if not is_name(self.match_id):
            raise ValueError("the id of the match cannot be the name of a folder")
        if not is_text(self.home) or not is_text(self.away):
            raise ValueError("the name of a team is too long, or has control characters")
        if not is_text(self.venue):
            raise ValueError("the name of the venue is too long, or has control characters")
        if not all(_COLOUR.fullmatch(one) for one in (self.home_colour, self.away_colour)):
            raise ValueError("the colour of a kit is six digits behind #, such as #c8102e")
        if len(self.players) > PLAYERS_MAX:
            raise ValueError(f"at most {PLAYERS_MAX} players, not {len(self.players)}")
        quality = self.quality
        bodies = len(self.players) * max(1, len(quality.limbs))
        total_hz = quality.ball_hz + bodies * quality.body_hz
        if not (quality.ball_hz > 0 and quality.body_hz > 0 and total_hz <= RATE_MAX_HZ):
            raise ValueError(f"rates must be above 0, and all together at most {RATE_MAX_HZ} positions/s")

    @property
    def names_sources(self) -> bool:
        """True if it names the sources of the input: the players, or one system that sees all objects."""
        return self.quality.framed or len(self.players) > 0


def team_of(object_id: str, sheet: MatchSheet) -> Team:
    """Return the team of an object id: by the sheet, else by the usual prefix (``home_7``), else empty."""
    for player in sheet.players:
        if player.object_id == object_id:
            return player.team
    if object_id.startswith("home_"):
        return "home"
    return "away" if object_id.startswith("away_") else ""
