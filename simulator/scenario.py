"""Scenario files: a situation and what persons are told to do in it, as YAML that anybody can write.

    name: Blocked shot
    about: A defender throws himself into the way.
    seconds: 10
    persons:
      home_9: [35, 4]                        # x, y in metres from the centre spot
      away_4: {at: [41, 3], velocity: [-1, 0], heading_deg: 180}
    ball: [35.6, 4]
    holder: home_9
    then:
      - {who: home_9, do: shot, at_s: 1.0, target: [52.5, 1.0, 0.6], speed_m_s: 24}
      - {who: away_4, do: block, after: shot.attempt}
    expect:
      - {kind: shot.blocked, who: home_9}

``docs/simulator.md`` lists every field. A mistake is an error that names the file, the line and the reason.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from football.constants import BALL_RADIUS_M
from football.truth_kinds import KINDS
from football.update_stream import EventRecord
from simulator.play.script import DOINGS, Instruction, Opening, Script, Start
from simulator.play.squads import SHAPES, MatchSettings, TeamSettings
from simulator.records import PERSONS, object_id
from simulator.yaml_document import DocumentError, find_document, parse_model, read_text

#: Folder of the scenarios that come with the product.
SHIPPED = Path(__file__).parent / "scenarios"

_ROWS: Mapping[str, int] = {object_id(person): person for person in range(PERSONS)}
#: What play notes itself, and how a script calls it; only that can be waited for.
_PLAYED = {name: {"ball.woodwork": "woodwork"}.get(name, name) for name, kind in KINDS.items() if kind.source == "play"}

_Metres = Annotated[float, Field(ge=-80, le=80, allow_inf_nan=False)]
_Speed = Annotated[float, Field(ge=-45, le=45, allow_inf_nan=False)]
_Seconds = Annotated[float, Field(ge=0, le=7200, allow_inf_nan=False)]
_Flat = tuple[_Metres, _Metres]
_Position = Annotated[tuple[_Metres, ...], Field(min_length=2, max_length=3)]
_Spin = Annotated[float, Field(ge=-120, le=120, allow_inf_nan=False)]
_PersonId = Literal[tuple(_ROWS)]  # type: ignore[valid-type]
_Players = Literal[tuple(name for name in _ROWS if not name.startswith("referee"))]  # type: ignore[valid-type]
_Team = Literal["home", "away"]
_Does = Literal[DOINGS]  # type: ignore[valid-type]
_After = Literal[tuple(_PLAYED)]  # type: ignore[valid-type]
_Kind = Literal[tuple(KINDS)]  # type: ignore[valid-type]
_Limb = Literal["left_foot", "right_foot", "left_hand", "right_hand", "head", "chest", "body"]
_Restart = Literal["kick_off", "throw_in", "corner", "goal_kick", "free_kick", "penalty"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=False, frozen=True)


class _Person(_Model):
    at: _Flat
    velocity: tuple[Annotated[float, Field(ge=-9, le=9)], Annotated[float, Field(ge=-9, le=9)]] = (0.0, 0.0)
    heading_deg: Annotated[float, Field(ge=-360, le=360, allow_inf_nan=False)] | None = None


def _at(person: object) -> object:
    """Read a position alone as a person who stands there."""
    return {"at": person} if isinstance(person, list) else person


class _Step(_Model):
    who: _PersonId
    do: _Does
    at_s: _Seconds = 0.0
    after: _After | None = None
    after_who: _PersonId | None = None
    delay_s: Annotated[float, Field(ge=0, le=600, allow_inf_nan=False)] = 0.0
    to: _Players | None = None
    target: _Position | None = None
    speed_m_s: Annotated[float, Field(gt=0, le=45, allow_inf_nan=False)] | None = None
    height_m: Annotated[float, Field(gt=0, le=30, allow_inf_nan=False)] | None = None
    spin: tuple[_Spin, _Spin, _Spin] | None = None
    limb: _Limb | None = None
    for_s: Annotated[float, Field(gt=0, le=600, allow_inf_nan=False)] | None = None

    @model_validator(mode="after")
    def _makes_sense(self) -> _Step:
        if self.after_who is not None and self.after is None:
            raise ValueError("after_who needs after: what he has done")
        if self.to is not None and self.to == self.who:
            raise ValueError("nobody passes to himself")
        return self


class _Expected(_Model):
    kind: _Kind
    variant: str | None = None
    who: _PersonId | None = None
    team: _Team | None = None
    times: Annotated[int, Field(ge=0, le=1000)] | None = None
    between_s: tuple[_Seconds, _Seconds] | None = None


class _Side(_Model):
    name: str | None = None
    shape: Literal[tuple(SHAPES)] | None = None  # type: ignore[valid-type]
    strength: Annotated[float, Field(ge=-3, le=3, allow_inf_nan=False)] = 0.0


class _Pitch(_Model):
    length_m: Annotated[float, Field(ge=90, le=120)] = 105.0
    width_m: Annotated[float, Field(ge=45, le=90)] = 68.0


class _File(_Model):
    name: Annotated[str, Field(min_length=1, max_length=80)]
    about: str = ""
    seconds: Annotated[float, Field(gt=0, le=7200, allow_inf_nan=False)] = 15.0
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    pitch: _Pitch = _Pitch()
    home: _Side = _Side()
    away: _Side = _Side()
    still: bool = True
    persons: Mapping[_PersonId, Annotated[_Person, BeforeValidator(_at)]] = {}  # type: ignore[valid-type]
    absent: tuple[_Players, ...] = ()  # type: ignore[valid-type]
    ball: _Position = (0.0, 0.0)
    ball_velocity: Annotated[tuple[_Speed, ...], Field(min_length=2, max_length=3)] = (0.0, 0.0)
    holder: _Players | None = None
    period: Annotated[int, Field(ge=1, le=20)] = 1
    clock_s: _Seconds = 0.0
    score: tuple[Annotated[int, Field(ge=0, le=99)], Annotated[int, Field(ge=0, le=99)]] = (0, 0)
    home_attacks: Literal["+x", "-x"] = "+x"
    restart: _Restart | None = None
    restart_team: _Team | None = None
    then: tuple[_Step, ...] = ()
    expect: tuple[_Expected, ...] = ()

    @model_validator(mode="after")
    def _makes_sense(self) -> _File:
        if (self.restart is None) != (self.restart_team is None):
            raise ValueError("restart and restart_team go together")
        if self.restart is not None and self.holder is not None:
            raise ValueError("nobody holds the ball before a restart: give holder or restart")
        if not 0 <= _in_space(self.ball, BALL_RADIUS_M)[2] <= 40:
            raise ValueError("the ball is below the ground, or higher than 40 m")
        if self.holder in self.absent:
            raise ValueError(f"holder {self.holder} is absent")
        return self


_NAMES = "a person: home_1 to home_16, away_1 to away_16, referee_1 to referee_3"
#: What to say of fields that have more choices than anybody reads.
_CHOICES = {
    **dict.fromkeys(("who", "to", "after_who", "holder", "[key]"), _NAMES),
    "after": "a kind of event that play itself notes; docs/simulator.md lists them",
    "kind": "a kind of truth; docs/simulator.md lists them",
}


@dataclass(frozen=True)
class Expected:
    """An expectation of truth: a kind, and as many further fields as are given; ``times`` None means at least once."""

    kind: str
    variant: str | None = None
    player: str | None = None
    team: str | None = None
    times: int | None = None
    between_s: tuple[float, float] | None = None

    def matches(self, record: EventRecord) -> bool:
        """True if a record fits the expectation."""
        return (
            record.kind == self.kind
            and self.variant in (None, record.variant)
            and self.player in (None, record.player)
            and self.team in (None, record.team)
            and (self.between_s is None or self.between_s[0] <= record.ts_us / 1e6 <= self.between_s[1])
        )

    def holds(self, records: Sequence[EventRecord]) -> bool:
        """True if the truth meets the expectation."""
        count = sum(self.matches(record) for record in records)
        return count > 0 if self.times is None else count == self.times

    def __str__(self) -> str:
        """The expectation as a sentence."""
        parts = [self.kind, *(f"{v}" for v in (self.variant, self.player, self.team) if v)]
        if self.times is not None:
            parts.append(f"{self.times} times")
        if self.between_s is not None:
            parts.append("between {:g} and {:g} s".format(*self.between_s))
        return " ".join(parts)


@dataclass(frozen=True)
class Scenario:
    """A scenario that can be played: the settings of its match, its duration, and its expectations."""

    name: str
    about: str
    seconds: float
    settings: MatchSettings
    expect: tuple[Expected, ...]


def find_scenario(name: str) -> Path:
    """Return the path of a scenario file: as given, or by its name among those that come with the product.

    Raises:
        DocumentError: there is no such file.
    """
    return find_document(name, SHIPPED, "scenarios")


def read_scenario(path: Path) -> Scenario:
    """Read a scenario file.

    Raises:
        DocumentError: it cannot be read, is not YAML, or a field is wrong; names file, line and reason.
    """
    return parse_scenario(read_text(path, "scenario"), str(path))


def parse_scenario(text: str, file: str) -> Scenario:
    """Read a scenario from a text; ``file`` names it in errors, else as :func:`read_scenario`."""
    given = parse_model(_File, text, file, "a scenario is a mapping: name: ..., persons: ..., then: ...", _CHOICES)
    try:
        return Scenario(given.name, given.about, given.seconds, _settings(given), _expected(given))
    except ValueError as error:
        raise DocumentError(f"{file}: line 1: {error}") from error


# -- into what the match obeys ------------------------------------------------------------------------------------


def _settings(given: _File) -> MatchSettings:
    opening = Opening(
        persons={_ROWS[name]: _start(person) for name, person in given.persons.items()},
        ball=_in_space(given.ball, BALL_RADIUS_M),
        ball_velocity=_in_space(given.ball_velocity, 0.0),
        holder=_ROWS[given.holder] if given.holder else None,
        period=given.period,
        clock_s=given.clock_s,
        score=given.score,
        home_attacks_positive_x=given.home_attacks == "+x",
        restart=given.restart or "",
        restart_team=1 if given.restart_team == "away" else 0,
        absent=tuple(_ROWS[name] for name in given.absent),
    )
    script = Script(opening, tuple(_instruction(step) for step in given.then), given.still)
    sides = (TeamSettings(side.name or name, side.shape or "4-4-2", side.strength)
             for side, name in ((given.home, "Simulated Reds"), (given.away, "Simulated Blues")))  # fmt: skip
    return MatchSettings(
        seed=given.seed, length_m=given.pitch.length_m, width_m=given.pitch.width_m, scenario=script,
        **dict(zip(("home", "away"), sides, strict=True)),
    )  # fmt: skip


def _start(person: _Person) -> Start:
    heading = math.radians(person.heading_deg) if person.heading_deg is not None else None
    return Start(*person.at, *person.velocity, heading)


def _in_space(value: Sequence[float], z: float) -> tuple[float, float, float]:
    x, y, *rest = value
    return x, y, rest[0] if rest else z


def _instruction(step: _Step) -> Instruction:
    return Instruction(
        do=step.do,
        person=_ROWS[step.who],
        at_s=step.at_s,
        after=_PLAYED[step.after] if step.after else "",
        after_person=_ROWS[step.after_who] if step.after_who else None,
        delay_s=step.delay_s,
        mate=_ROWS[step.to] if step.to else None,
        target=_in_space(step.target, BALL_RADIUS_M) if step.target else None,
        speed_m_s=step.speed_m_s,
        height_m=step.height_m,
        spin=step.spin,
        limb=step.limb or "",
        for_s=step.for_s,
    )


def _expected(given: _File) -> tuple[Expected, ...]:
    return tuple(Expected(e.kind, e.variant, e.who, e.team, e.times, e.between_s) for e in given.expect)
