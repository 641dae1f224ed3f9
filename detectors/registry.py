"""How a detector is listed: who makes it, from which parameters, and which inputs want it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from detectors.parameters import Parameters
from football.match_sheet import MatchSheet, Quality
from middleware.detector import Detector

#: Makes a detector for a match.
Maker = Callable[[MatchSheet, Parameters], Detector[Any]]


class DetectorEntry(NamedTuple):
    """A detector of the catalogue.

    ``groups``: the groups of parameters that it is made from. ``wanted``: on which inputs a match gets it.
    ``asked``: its name, if a match gets it only when it is asked for, since it costs more than most want to pay.
    """

    make: Maker
    groups: tuple[str, ...] = ()
    wanted: Callable[[Quality], bool] = lambda quality: True
    asked: str = ""


def framed(quality: Quality) -> bool:
    """All objects of an instant come together."""
    return quality.framed


def single(quality: Quality) -> bool:
    """Each transmitter comes by itself."""
    return not quality.framed


def limbs(quality: Quality) -> bool:
    """Players carry a transmitter a limb, each by itself."""
    return bool(quality.limbs) and not quality.framed


def worn(*names: str) -> Callable[[Quality], bool]:
    """Whether everybody wears a transmitter on these limbs, each by itself."""
    return lambda quality: limbs(quality) and {*names} <= {*quality.limbs}


feet = worn("left_foot", "right_foot")
