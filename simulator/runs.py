"""Runs of frames in which something holds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def runs_of(flags: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return begins and ends (exclusive) of the runs of true among some flags (n,), in order."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
