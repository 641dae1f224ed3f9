"""Registry of the detectors of ``detectors.stories``."""

from __future__ import annotations

from detectors.registry import DetectorEntry
from detectors.stories.clips import Clips
from detectors.stories.ratings import PlayerRating
from detectors.stories.ticker import Ticker

#: By number.
DETECTORS: tuple[DetectorEntry, ...] = (
    DetectorEntry(lambda s, p: Clips(s, p.clips), ("clips",)),
    DetectorEntry(lambda s, p: Ticker(s)),
    DetectorEntry(lambda s, p: PlayerRating(s, p.player_rating), ("player_rating",)),
)
