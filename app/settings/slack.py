"""The slack policies of a run as text: one for all detectors, and those of single detectors.

    METHOD[:NUMBER[:MORE]][,DETECTOR=METHOD[:NUMBER[:MORE]]...]

NUMBER is K or B in milliseconds, with ``adaptive`` lambda, and with ``target`` the share of late inputs. MORE, in
milliseconds, is with ``target`` the longest wait, and with ``kslack`` how far the detector dates back.

    kslack:last                K-slack that begins with the K's of the newest match of the same input
    kslack:semi                K-slack that begins with jitter and back-setting of such a match, from which K follows
    duel=kslack:0:80           K-slack, known to date back by up to 80 ms
    target:0.001               a thousandth may be late
    target:0.001:400           and no input waits longer than 0.4 s
    kslack,pass_attempt=bett   K-slack, but BETT before one detector
    pass_attempt=bett          a target, the default, but BETT before one detector
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, cast, get_args

from football.errors import UserError
from middleware.ordering.slack.settings import Method, SlackSettings
from middleware.sources.delay_bound import ReleaseTarget

METHODS: tuple[str, ...] = get_args(Method)

#: What a match takes over from an earlier one: all K's, or jitter and back-setting.
Learned = Literal["last", "semi"]

#: Policies that begin with what an earlier match has learned (004, algorithms 2 and 3).
LEARNED: Mapping[str, Learned] = {"kslack:last": "last", "kslack:semi": "semi"}

#: The policy of a run that names none.
DEFAULT: Method = "target"


class SlackError(UserError, ValueError):
    """A policy for a detector that does not exist; the message names it."""


@dataclass(frozen=True)
class SlackChoice:
    """The policy of all detectors, and those of single ones by name.

    Attributes:
        unit: of all detectors.
        by_detector: exceptions.
        begins_with: what is taken over from an earlier match, if there is one; see ``app.run.last_slack``.
    """

    unit: SlackSettings = field(default_factory=lambda: SlackSettings(DEFAULT))
    by_detector: Mapping[str, SlackSettings] = field(default_factory=dict)
    begins_with: Learned | None = None

    def check(self, names: Iterable[str]) -> None:
        """Refuse policies of detectors that are not among ``names``.

        Raises:
            SlackError: there is one.
        """
        if unknown := set(self.by_detector) - set(names):
            raise SlackError(f"--slack: there is no detector {', '.join(sorted(unknown))}; see `touchline detectors`")


def parse_slack(text: str) -> SlackChoice:
    """Return the policies that a text names.

    >>> parse_slack("fixed:200").unit.k_us
    200000
    >>> parse_slack("target:0.01:400").unit.target
    ReleaseTarget(late_share=0.01, max_wait_us=400000)

    Raises:
        ValueError: no such method, or a number that it does not take; names the part.
    """
    unit = SlackSettings(DEFAULT)
    by_detector = {}
    begins_with = None
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, policy = part.rpartition("=")
        if equals and not name:
            raise ValueError(f"{part}: a detector is missing before =")
        learned = None if name else LEARNED.get(policy)
        begins_with = learned or begins_with
        settings = SlackSettings("kslack") if learned else _policy(policy)
        if name:
            by_detector[name] = settings
        else:
            unit = settings
    return SlackChoice(unit, by_detector, begins_with)


def fixed(slack_ms: int) -> SlackChoice:
    """Return a set K for all detectors."""
    return SlackChoice(SlackSettings("fixed", slack_ms * 1_000))


def _policy(text: str) -> SlackSettings:
    method, *numbers = text.split(":")
    if method not in METHODS:
        raise ValueError(f"{text}: must be one of {', '.join(METHODS)}")
    takes = {"target": 2, "kslack": 2, "progress": 0}.get(method, 1)
    if len(numbers) > takes:
        raise ValueError(f"{text}: {method} takes {('no number', 'one number', 'two numbers')[takes]}")
    values = [_number(number, text) for number in numbers]
    known = cast(Method, method)
    if method == "target":
        share, longest_ms = [*values, *[None] * (2 - len(values))]
        longest_us = None if longest_ms is None else round(longest_ms * 1_000)
        try:
            target = ReleaseTarget(max_wait_us=longest_us) if share is None else ReleaseTarget(share, longest_us)
        except ValueError as error:
            raise ValueError(f"{text}: {error}") from None
        return SlackSettings(known, target=target)
    if not values:
        return SlackSettings(known)
    if method == "adaptive":
        return SlackSettings(known, scale=values[0])
    first_us, *more_us = [round(value * 1_000) for value in values]
    return SlackSettings(known, first_us, backset_us=sum(more_us))


def _number(text: str, whole: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise ValueError(f"{whole}: {text or 'nothing'} is no number of 0 or more")
    return number
