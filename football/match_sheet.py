"""The match sheet: teams and players, pitch, direction of attack, and the declared quality of the input."""

from __future__ import annotations

from typing import Literal

import msgspec

Team = Literal["home", "away", ""]


class Player(msgspec.Struct, frozen=True):
    """A player of the match sheet. ``object_id`` is the source's own id; ``starts``: on the pitch, not on the bench."""

    object_id: str
    team: Team
    name: str = ""
    shirt: int | None = None
    goalkeeper: bool = False
    starts: bool = True


#: Beyond it a position tells nothing of a player: GPS without correction has 5 m.
NOISE_MAX_M = 10.0


class Quality(msgspec.Struct, frozen=True):
    """Declared quality of an input; detectors adapt their thresholds to it.

    Attributes:
        ball_hz, body_hz: nominal rates of ball and of players (or of each limb).
        limbs: names of the limb transmitters a player carries, empty for one centroid per player.
        ball_height: whether the ball's z is measured.
        position_noise_m: standard deviation of one position.
        framed: all objects of an instant come together, undisturbed, as from a tracking file: an instant is then one
            input to the engine (``raw.frame``), not one a transmitter.
        kind: ``optical`` (camera tracking, one clock for all) or ``rtls`` (radio, each transmitter its own).

    Raises:
        ValueError: an impossible noise; windows of detectors grow with it.
    """

    ball_hz: float = 25.0
    body_hz: float = 25.0
    limbs: tuple[str, ...] = ()
    ball_height: bool = True
    position_noise_m: float = 0.05
    kind: Literal["optical", "rtls"] = "optical"
    framed: bool = False

    def __post_init__(self) -> None:
        if not 0.0 <= self.position_noise_m <= NOISE_MAX_M:
            raise ValueError(f"the noise of a position must be 0 to {NOISE_MAX_M:g} m, not {self.position_noise_m:g}")


class MatchSheet(msgspec.Struct, frozen=True):
    """Teams, pitch and directions of a match, as far as they are known beforehand.

    ``attacks_positive_x`` names the team that attacks towards +x at the start of the stream; empty means unknown: it is
    then inferred from positions.
    """

    match_id: str = "match"
    home: str = "Home"
    away: str = "Away"
    length_m: float = 105.0
    width_m: float = 68.0
    attacks_positive_x: Team = ""
    players: tuple[Player, ...] = ()
    quality: Quality = Quality()


def team_of(object_id: str, sheet: MatchSheet) -> Team:
    """Return the team of an object id: by the sheet, else by the usual prefix (``home_7``), else empty."""
    for player in sheet.players:
        if player.object_id == object_id:
            return player.team
    if object_id.startswith("home_"):
        return "home"
    return "away" if object_id.startswith("away_") else ""
