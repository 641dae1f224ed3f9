"""Decisions of match officials: records of an operator or a feed, and the kinds of decision."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from football.match_sheet import Team


class Official(msgspec.Struct, frozen=True, gc=False):
    """One decision of an operator or a feed. ``DECISIONS`` lists the kinds and the fields that each needs.

    Attributes:
        source: origin (``operator``, ``var`` ...).
        number: counts the source's decisions; repetitions of one number are one decision.
        kind, variant: such as ``card`` and ``yellow``.
        at_us: event time of its subject.
        team, player: the player who is booked, comes on or scores.
        other: the player who goes off (substitution).
        minutes: added time.
        event: id of one of our events that it voids or corrects.
        right_kind, right_variant, right_us: of a correction, the right values, also of ``team``, ``player`` and
            ``other``; what is empty stays as it was detected.
        note: for people.
    """

    source: str
    number: int
    kind: str
    at_us: int
    variant: str = ""
    team: Team = ""
    player: str = ""
    other: str = ""
    minutes: int | None = None
    event: str = ""
    note: str = ""
    right_kind: str = ""
    right_variant: str = ""
    right_us: int | None = None


class Decision(NamedTuple):
    """A kind of decision: its variants (first the default), its required fields, and whether variants are a team's."""

    variants: tuple[str, ...] = ("",)
    needs: tuple[str, ...] = ()
    of_team: bool = True


#: Periods of a match: two halves, two of extra time, the shoot-out (Law 7).
PERIODS = ("1", "2", "3", "4", "5")


#: Every kind of decision. A variant that must be chosen has no empty string among its variants.
DECISIONS: dict[str, Decision] = {
    "card": Decision(("yellow", "second yellow", "red"), ("variant", "team", "player")),
    "foul": Decision(("", "handball", "indirect"), ("team",)),
    "offside": Decision(needs=("team",)),
    "var": Decision(
        ("check", "goal", "no goal", "penalty", "no penalty", "red card", "no red card", "identity", "over"),
        ("variant",),
        of_team=False,
    ),
    "substitution": Decision(needs=("team", "player", "other")),
    "added_time": Decision(needs=("minutes",), of_team=False),
    "goal": Decision(("", "own"), ("team",)),
    "no_goal": Decision(("", "offside", "foul", "handball")),
    "penalty": Decision(needs=("team",)),
    "stop": Decision(("", "foul", "offside", "injury", "substitution", "var", "goal"), of_team=False),
    "resume": Decision(of_team=False),
    "period_start": Decision(PERIODS, ("variant",), of_team=False),
    "period_end": Decision(PERIODS, ("variant",), of_team=False),
    "void": Decision(needs=("event",), of_team=False),
    "correction": Decision(needs=("event",), of_team=False),
}
