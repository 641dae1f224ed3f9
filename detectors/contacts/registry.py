"""Detectors of this room."""

from __future__ import annotations

from detectors.contacts.body_parts import BodyPart, Header
from detectors.contacts.contested_contacts import Deflection, SimultaneousContact
from detectors.contacts.hits import PlayerHitsBall, SoftTouch
from detectors.contacts.releases import KickReleased
from detectors.registry import DetectorEntry

#: In order of their numbers.
DETECTORS: tuple[DetectorEntry, ...] = (
    DetectorEntry(lambda s, p: PlayerHitsBall(s, p.hit, p.near), ("hit", "near")),
    DetectorEntry(lambda s, p: SoftTouch(s, p.touch, p.near), ("touch", "near")),
    DetectorEntry(lambda s, p: BodyPart(s, p.body_part), ("body_part",)),
    DetectorEntry(
        lambda s, p: Header(s, p.header, p.body_part), ("header", "body_part"), lambda quality: quality.ball_height
    ),
    DetectorEntry(lambda s, p: Deflection(s, p.deflection), ("deflection",)),
    DetectorEntry(lambda s, p: KickReleased(s, p.release), ("release",)),
    DetectorEntry(lambda s, p: SimultaneousContact(s, p.contest), ("contest",)),
)
