"""Colours as people with a colour vision deficiency see them, and how far apart they look.

Simulation: Machado, Oliveira and Fernandes 2009, "A physiologically-based model for simulation of color vision
deficiency", IEEE TVCG 15(6), matrices of severity 1.0, over linear RGB. Distance: CIE 1976 L*a*b*, D65. The model is
fitted to red-green deficiency; its tritanopia is an approximation.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Final

import numpy as np

SIGHT: Final[Mapping[str, np.ndarray]] = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
_XYZ: Final = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE: Final = np.array([0.95047, 1.0, 1.08883])


def linear(colour: str) -> np.ndarray:
    """A colour ``#rrggbb`` as linear RGB."""
    values = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(colour: str, sight: str) -> np.ndarray:
    """A colour as seen, in CIE L*a*b*."""
    seen = np.clip(SIGHT[sight] @ linear(colour), 0.0, 1.0)
    ratio = _XYZ @ seen / _WHITE
    f = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def apart(one: str, other: str, sight: str) -> float:
    """How far two colours look apart; about 2 is just visible."""
    return float(np.linalg.norm(lab(one, sight) - lab(other, sight)))


def alike(colours: Mapping[str, str], least: float) -> list[tuple[str, str, str, float]]:
    """Pairs of names whose colours look nearer than ``least`` to some sight: names, sight, distance."""
    return [
        (one, other, sight, round(distance, 1))
        for one, other in itertools.combinations(colours, 2)
        for sight in SIGHT
        if (distance := apart(colours[one], colours[other], sight)) < least
    ]
