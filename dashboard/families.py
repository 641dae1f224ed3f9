"""Families of event kinds: the filters of the page.

A kind belongs to the family of its longest matching prefix, cut at dots: ``team.possession`` goes by its whole
name, ``ball.turn`` by ``ball``. Kinds that no rule names are shown under *other*, so that a new detector is
never invisible.
"""

from __future__ import annotations

from typing import Final

import msgspec

OTHER: Final = "other"


class Family(msgspec.Struct, frozen=True):
    """A group of kinds that is filtered as one. ``shown``: on when the page opens (dense ones are not)."""

    name: str
    label: str
    shown: bool
    prefixes: tuple[str, ...] = ()


FAMILIES: Final[tuple[Family, ...]] = (
    Family("shots", "Goals & shots", True, ("goal", "shot", "gk")),
    Family(
        "passes",
        "Passes",
        True,
        (
            "pass",
            "interception",
            "clearance",
            "recovery",
            "cross",
            "cutback",
            "keypass",
            "assist",
            "second_assist",
            "onetwo",
        ),
    ),
    Family(
        "restarts",
        "Restarts",
        True,
        ("restart", "out", "offside", "foul", "handball", "period", "sub", "sendoff"),
    ),
    Family(
        "possession",
        "Possession",
        False,
        (
            "possession",
            "team.possession",
            "recovery.time",
            "play",
            "carry",
            "duel",
            "aerial",
            "takeon",
            "tackle",
            "ball.loose",
        ),
    ),
    Family(
        "ball",
        "Ball & touches",
        False,
        (
            "ball",
            "hit",
            "touch",
            "kick",
            "bodypart",
            "header",
            "deflection",
            "contest",
            "near",
            "not_near",
            "pz",
            "nearest",
            "spot",
        ),
    ),
    Family("officials", "Officials", True, ("official",)),
    Family(
        "qualifiers",
        "Kinds of pass & shot",
        False,
        (
            "pass.dir",
            "pass.len",
            "pass.height",
            "pass.through",
            "pass.switch",
            "pass.xc",
            "progress",
            "packing",
            "linebreak",
            "shot.xg",
            "shot.on_target_pred",
            "shot.off_target_pred",
        ),
    ),
    Family(
        "space",
        "Space & pressure",
        False,
        (
            "press",
            "pressure",
            "intensity",
            "hull",
            "mbr",
            "stretch",
            "shape",
            "line",
            "lines",
            "control",
            "options",
            "offside.line",
            "offside.position",
            "opponents",
            "time",
        ),
    ),
    Family("players", "Players", False, ("sprint", "accel", "decel", "jump", "player", "leg", "run", "distance")),
    Family("areas", "Areas", False, ("area", "goal_ring", "entry")),
    Family(OTHER, "Other", False),
)

FAMILY_NAMES: Final = tuple(family.name for family in FAMILIES)
_BY_PREFIX: Final = {prefix: family.name for family in FAMILIES for prefix in family.prefixes}


def family_of(kind: str) -> str:
    """Name of the family that ``kind`` belongs to.

    >>> family_of("restart.corner"), family_of("ball.loose"), family_of("ball.turn"), family_of("momentum.shift")
    ('restarts', 'possession', 'ball', 'other')
    """
    prefix = kind
    while prefix:
        if prefix in _BY_PREFIX:
            return _BY_PREFIX[prefix]
        prefix = prefix.rpartition(".")[0]
    return OTHER
