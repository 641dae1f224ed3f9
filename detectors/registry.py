"""The entry of a detector in the ``registry.py`` of its folder, and the tests of input quality that entries use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from detectors.parameters import Parameters
from football.match_sheet import MatchSheet, Quality
from middleware.detector import Detector

#: Builds a detector for a match.
Builder = Callable[[MatchSheet, Parameters], Detector[Any]]


class DetectorEntry(NamedTuple):
    """A detector in the ``registry.py`` of its folder.

    Attributes:
        build: builds it for a match sheet and parameters.
        groups: the groups of parameters that it is built from, as ``Parameters`` names them.
        enabled_for: True if a match with such an input gets it.
        opt_in_name: its name for ``--detectors``, if a match gets it only on request because of its cost; else empty.
    """

    build: Builder
    groups: tuple[str, ...] = ()
    enabled_for: Callable[[Quality], bool] = lambda quality: True
    opt_in_name: str = ""


def framed(quality: Quality) -> bool:
    """True if all objects of an instant arrive together."""
    return quality.framed


def single(quality: Quality) -> bool:
    """True if each transmitter sends packets of its own."""
    return not quality.framed


def limbs(quality: Quality) -> bool:
    """True if players wear a transmitter per limb, each with packets of its own."""
    return bool(quality.limbs) and not quality.framed


def limbs_named(*names: str) -> Callable[[Quality], bool]:
    """A test that every player wears a transmitter on each of some limbs."""
    return lambda quality: limbs(quality) and {*names} <= {*quality.limbs}


feet = limbs_named("left_foot", "right_foot")
