"""Detectors of this room."""

from __future__ import annotations

from detectors.roster import Line, framed, limbs, single
from detectors.signals.conditioning import Conditioning
from detectors.signals.frames import FrameFusion
from detectors.signals.fusion import ActiveBall, PlayerFusion
from detectors.signals.health import TransmitterHealth
from detectors.signals.official import Officials
from detectors.signals.optical import OpticalAdapter
from detectors.signals.pace import Pace

#: In order of their numbers.
LINES: tuple[Line, ...] = (
    Line(
        lambda s, p: OpticalAdapter(s, p.conditioning, p.active_ball, p.frame_fusion),
        ("conditioning", "active_ball", "frame_fusion"),
        framed,
    ),
    Line(lambda s, p: Conditioning(s, p.conditioning), ("conditioning",), single),
    Line(lambda s, p: PlayerFusion(p.player_fusion), ("player_fusion",), limbs),
    Line(lambda s, p: ActiveBall(s, p.active_ball), ("active_ball",), single),
    Line(lambda s, p: FrameFusion(s, p.frame_fusion), ("frame_fusion",), single),
    Line(lambda s, p: TransmitterHealth(s, p.transmitter_health), ("transmitter_health",)),
    Line(lambda s, p: Officials()),
    Line(lambda s, p: Pace()),
)
