"""Registry of the detectors of ``detectors.stories``."""

from __future__ import annotations

from detectors.registry import DetectorEntry, limbs_named
from detectors.stories.clips import Clips
from detectors.stories.officials import RefereeSignal, Reviewable
from detectors.stories.ratings import PlayerRating
from detectors.stories.ticker import Ticker

hands = limbs_named("left_hand", "right_hand")

#: By number.
DETECTORS: tuple[DetectorEntry, ...] = (
    DetectorEntry(lambda s, p: Clips(s, p.clips), ("clips",)),
    DetectorEntry(lambda s, p: Reviewable(s, p.reviewable, falls=hands(s.quality)), ("reviewable",)),
    DetectorEntry(lambda s, p: RefereeSignal()),
    DetectorEntry(lambda s, p: Ticker(s)),
    DetectorEntry(lambda s, p: PlayerRating(s, p.player_rating), ("player_rating",)),
)
