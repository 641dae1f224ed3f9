"""Match days: how long halves and half-time are, and what goes on around the play, as YAML.

    name: Cup match
    half_time_minutes: 15
    warm_ups: true
    quick_share: 0.3
    extra_time: true

``simulator.play.squads`` explains the fields; ``simulator/matches`` has those that come with the product.
"""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from simulator.play.squads import MatchSettings, Occasions
from simulator.yaml_document import find_document, parse_model, read_text

#: Folder of the match days that come with the product.
SHIPPED = Path(__file__).parent / "matches"

_Share = Annotated[float, Field(ge=0, le=1)]


class MatchDay(BaseModel):
    """A match day.

    Attributes:
        name, about: for people.
        half_minutes, half_time_minutes: lengths.
        warm_ups, quick_share, review_share, new_shape_share, role_swap_share, extra_time, dead_factor, tempo_factor,
            take_on_share: see :class:`Occasions`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(min_length=1, max_length=80)]
    about: str = ""
    half_minutes: Annotated[float, Field(gt=0, le=1000)] = 45.0
    half_time_minutes: Annotated[float, Field(ge=0, le=60)] = 1.0
    warm_ups: bool = False
    quick_share: _Share = 0.0
    review_share: _Share = 0.0
    new_shape_share: _Share = 0.0
    role_swap_share: _Share = 0.0
    extra_time: bool = False
    dead_factor: Annotated[float, Field(gt=0, le=10)] = 1.0
    tempo_factor: Annotated[float, Field(gt=0, le=10)] = 1.0
    take_on_share: _Share = 0.0

    def settings(self, match: MatchSettings) -> MatchSettings:
        """Return the settings of a match on such a day."""
        names = [name.name for name in fields(Occasions)]
        occasions = Occasions(**{name: getattr(self, name) for name in names})
        return replace(
            match, half_s=60.0 * self.half_minutes, break_s=60.0 * self.half_time_minutes, occasions=occasions
        )


def read_match_day(name: str) -> MatchDay:
    """Read a match day: a file, or the name of one that comes with the product.

    Raises:
        DocumentError: there is no such file, or it is wrong; names file, line and reason.
    """
    path = find_document(name, SHIPPED, "match days")
    text = read_text(path, "match day")
    return parse_model(MatchDay, text, str(path), "a match day is a mapping: name: ..., half_time_minutes: ...")
