"""Tracking profiles: which errors a camera tracking system makes, and how strong they are, as YAML.

    name: Optical, keyed ball
    about: Operators key the ball at touches; a computer draws straight lines between.
    sources:
      linke2020: "Linke, Link, Lames: Football-specific validity of TRACAB's optical video tracking systems, 2020"
    frames: {rate_hz: 25}
    bodies:
      error_m: {range: [0.06, 0.12], source: linke2020}

A *strength* is a range with the key of its source. A match draws one value of each from the range, by its seed; a
range of durations or distances is drawn from anew for each occurrence. ``docs/simulator.md`` lists the fields.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from simulator.yaml_document import find_document, parse_model, read_text

#: Folder of the profiles that come with the product.
SHIPPED = Path(__file__).parent / "profiles"

_Number = Annotated[float, Field(ge=-1000, le=1000, allow_inf_nan=False)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=False, frozen=True)


class Strength(_Model):
    """A range of an error's strength, and the key of the source that states it.

    Attributes:
        range: least and greatest value.
        source: key in ``sources`` of the profile.
    """

    range: tuple[_Number, _Number]
    source: str

    @model_validator(mode="after")
    def _ascends(self) -> Self:
        if not self.range[0] <= self.range[1]:
            raise ValueError("a range goes from the least to the greatest value")
        return self


def _fixed(value: float) -> Strength:
    return Strength(range=(value, value), source="")


_NONE = _fixed(0.0)


class Spans(_Model):
    """An error that comes and goes.

    Attributes:
        per_min: how often it begins, per minute in which it can.
        seconds: how long it lasts; drawn for each occurrence, short ones more often.
    """

    per_min: Strength
    seconds: Strength


class Frames(_Model):
    """Instants of the file.

    Attributes:
        rate_hz: frames a second.
        dropped_share: share of single frames that are missing.
        gaps: stretches without any frame.
        dead: frames of a dead ball are kept, or cut out of the file.
        periods: True if the file has the number of the period, column ``period``.
    """

    rate_hz: Literal[5, 10, 25, 50] = 25
    dropped_share: Strength = _NONE
    gaps: Spans | None = None
    dead: Literal["kept", "cut"] = "kept"
    periods: bool = False


class Keys(_Model):
    """Keyframes of a ball that people follow: a key at each touch, and where a straight line would be visibly wrong.

    Attributes:
        error_m: standard deviation of a key's coordinates.
        error_s: standard deviation of a key's time.
        missed_share: share of touches that get no key.
        tolerance_m: a key is added where the line is further than this from the ball.
    """

    error_m: Strength
    error_s: Strength
    missed_share: Strength
    tolerance_m: Strength


class Teleports(_Model):
    """Single frames or a few in which something else is taken for the ball.

    Attributes:
        per_min: how often.
        seconds: how long each.
        metres: distance from the ball.
    """

    per_min: Strength
    seconds: Strength
    metres: Strength


class Hidden(_Model):
    """The ball is not seen while it is at somebody's feet.

    Attributes:
        within_m: so near a player over the ground.
        share: of the times that it comes so near.
    """

    within_m: Strength
    share: Strength


class Ball(_Model):
    """The ball of the file.

    Attributes:
        jitter_m: standard deviation of a coordinate from frame to frame.
        error_m: standard deviation of an error that changes within ``error_s``.
        error_s: its time constant.
        keys: the ball is keyed by people; None: it is tracked frame by frame.
        frozen, frozen_dead: it keeps its position, in play and while it is dead.
        lost, lost_dead: it is not tracked, in play and while it is dead.
        hidden: it is lost behind players.
        lost_as: a lost ball has no row, keeps its last position, or lies on the centre spot.
        dead: a dead ball is tracked as one in play, has no row, or lies on the centre spot.
        teleports: it is somewhere else for a moment.
        height: measured; zero throughout; or empty.
        height_error_m: standard deviation of a measured height above the ground.
        ground_height_m: standard deviation of the height that is measured of a ball on the ground, cut off at zero.
        height_factor: a measured height is multiplied by it.
        flat_share: share of flights that have height zero.
        smoothing_s: standard deviation of the filter that positions, wrong ones too, have gone through.
    """

    jitter_m: Strength = _NONE
    error_m: Strength = _NONE
    error_s: Strength = _fixed(1.0)
    keys: Keys | None = None
    frozen: Spans | None = None
    frozen_dead: Spans | None = None
    lost: Spans | None = None
    lost_dead: Spans | None = None
    hidden: Hidden | None = None
    lost_as: Literal["absent", "held", "origin"] = "absent"
    dead: Literal["tracked", "absent", "origin"] = "tracked"
    teleports: Teleports | None = None
    height: Literal["measured", "zero", "empty"] = "measured"
    height_error_m: Strength = _NONE
    ground_height_m: Strength = _NONE
    height_factor: Strength = _fixed(1.0)
    flat_share: Strength = _NONE
    smoothing_s: Strength = _NONE


class Swaps(_Model):
    """Two players who are close together get each other's identity, until somebody puts it right.

    Attributes:
        per_min: how often, in the whole match.
        within_m: distance at which it can happen.
        seconds: until it is put right.
    """

    per_min: Strength
    within_m: Strength
    seconds: Strength


class Bodies(_Model):
    """The players of the file.

    Attributes:
        jitter_m, error_m, error_s: as of the ball.
        lag_s: a position is that of so long before, as filters make it.
        jumps: single positions that nobody could run to, per player.
        lost: not tracked, per player.
        swaps: of identities.
    """

    jitter_m: Strength = _NONE
    error_m: Strength = _NONE
    error_s: Strength = _fixed(1.0)
    lag_s: Strength = _NONE
    jumps: Teleports | None = None
    lost: Spans | None = None
    swaps: Swaps | None = None


class View(_Model):
    """The picture of a broadcast: a camera in the middle of a touchline follows the ball, at times it is cut away.

    Attributes:
        width_m: width of the picture over the middle of the pitch.
        lag_s: how far the camera trails the ball.
        cut, cut_dead: close-ups and replays, in play and while the ball is dead: nothing is tracked.
        unseen: a player out of view has no row, or a guessed position.
        guess_m: standard deviation that a guess grows by in a second, up to ten seconds.
    """

    width_m: Strength
    lag_s: Strength
    cut: Spans | None = None
    cut_dead: Spans | None = None
    unseen: Literal["absent", "guessed"] = "absent"
    guess_m: Strength = _NONE


class AliveFlag(_Model):
    """The provider's flag of the ball in play, column ``ball_status``.

    Attributes:
        late_s: how late a change is shown; drawn for each change.
        wrong_share: share of stops shorter than ten seconds that the flag leaves out.
    """

    late_s: Strength = _NONE
    wrong_share: Strength = _NONE


class Profile(_Model):
    """A tracking profile.

    Attributes:
        name, about: for people.
        sources: key to citation.
        frames, ball, bodies: errors of instants, ball and players.
        view: None: everybody is in view.
        alive_flag: None: the file has no such flag.
    """

    name: Annotated[str, Field(min_length=1, max_length=80)]
    about: str = ""
    sources: dict[str, str] = {}
    frames: Frames = Frames()
    ball: Ball = Ball()
    bodies: Bodies = Bodies()
    view: View | None = None
    alive_flag: AliveFlag | None = None

    @model_validator(mode="after")
    def _cites(self) -> Self:
        used = {strength.source for strength in strengths_of(self).values()} - {""}
        if missing := sorted(used - self.sources.keys()):
            raise ValueError(f"sources lacks {', '.join(missing)}")
        if unused := sorted(self.sources.keys() - used):
            raise ValueError(f"sources has {', '.join(unused)}, which no strength names")
        return self


def strengths_of(profile: BaseModel, prefix: str = "") -> dict[str, Strength]:
    """Return all strengths of a profile by their path, such as ``ball.keys.error_m``."""
    found: dict[str, Strength] = {}
    for name in type(profile).model_fields:
        value: Any = getattr(profile, name)
        if isinstance(value, Strength):
            found[prefix + name] = value
        elif isinstance(value, BaseModel):
            found |= strengths_of(value, f"{prefix}{name}.")
    return found


def shipped_profiles() -> tuple[str, ...]:
    """Return the names of the profiles that come with the product."""
    return tuple(sorted(path.stem for path in SHIPPED.glob("*.yaml")))


def read_profile(name: str) -> Profile:
    """Read a profile: a file, or the name of one that comes with the product.

    Raises:
        DocumentError: there is no such file, or it is wrong; names file, line and reason.
    """
    path = find_document(name, SHIPPED, "tracking profiles")
    text = read_text(path, "tracking profile")
    return parse_model(Profile, text, str(path), "a tracking profile is a mapping: name: ..., frames: ..., ball: ...")
