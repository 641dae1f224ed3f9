"""Detectors of this room."""

from __future__ import annotations

from detectors.registry import DetectorEntry, framed, limbs, single
from detectors.signals.conditioning import Conditioning
from detectors.signals.frames import FrameFusion
from detectors.signals.fusion import ActiveBall, PlayerFusion
from detectors.signals.health import TransmitterHealth
from detectors.signals.official import Officials
from detectors.signals.optical import OpticalAdapter
from detectors.signals.smoothed_speed import SmoothedSpeed

#: In order of their numbers.
DETECTORS: tuple[DetectorEntry, ...] = (
    DetectorEntry(
        lambda s, p: OpticalAdapter(s, p.conditioning, p.active_ball, p.frame_fusion, p.playing, p.exchange),
        ("conditioning", "active_ball", "frame_fusion", "playing", "exchange"),
        framed,
    ),
    DetectorEntry(lambda s, p: Conditioning(s, p.conditioning), ("conditioning",), single),
    DetectorEntry(lambda s, p: PlayerFusion(p.player_fusion), ("player_fusion",), limbs),
    DetectorEntry(lambda s, p: ActiveBall(s, p.active_ball), ("active_ball",), single),
    DetectorEntry(lambda s, p: FrameFusion(s, p.frame_fusion, p.playing), ("frame_fusion", "playing"), single),
    DetectorEntry(lambda s, p: TransmitterHealth(s, p.transmitter_health), ("transmitter_health",)),
    DetectorEntry(lambda s, p: Officials()),
    DetectorEntry(lambda s, p: SmoothedSpeed()),
)
