"""Detectors of this room."""

from __future__ import annotations

from detectors.contacts.hits import KickReleased, PlayerHitsBall, SoftTouch
from detectors.contacts.mixed import Deflection, SimultaneousContact
from detectors.contacts.parts import BodyPart, Header
from detectors.roster import Line

#: In order of their numbers.
LINES: tuple[Line, ...] = (
    Line(lambda s, p: PlayerHitsBall(s, p.hit, p.near), ("hit", "near")),
    Line(lambda s, p: SoftTouch(s, p.touch, p.near), ("touch", "near")),
    Line(lambda s, p: BodyPart(s, p.body_part, p.hit, p.touch, p.near), ("body_part", "hit", "touch", "near")),
    Line(
        lambda s, p: Header(s, p.header, p.body_part, p.hit, p.touch, p.near),
        ("header", "body_part", "hit", "touch", "near"),
        lambda quality: quality.ball_height,
    ),
    Line(
        lambda s, p: Deflection(s, p.deflection, p.hit, p.touch, p.near),
        ("deflection", "hit", "touch", "near"),
    ),
    Line(lambda s, p: KickReleased(s, p.release, p.hit, p.near), ("release", "hit", "near")),
    Line(
        lambda s, p: SimultaneousContact(s, p.contest, p.hit, p.touch, p.near),
        ("contest", "hit", "touch", "near"),
    ),
)
