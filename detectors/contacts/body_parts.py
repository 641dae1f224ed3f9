"""5.3 and 5.4: the part of the body that played the ball, and headers.

Theory of operation
-------------------
A limb with a transmitter within the contact band played the ball. Farther from all limbs a part without a transmitter
did, and the height of the ball decides which: from the shoulders to a leap's height the head, from the hip up the
chest. Limbs without transmitters are no evidence: where only feet are known, a ball at chest height may have been
caught; where no limbs are, a low ball was played by an unknown leg: *other*. The same holds of a ball that rests at
that height before or after, and of one at a touch line while play is dead, as at a throw-in: hands hold it there.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.contacts.hits import CONTACTS, Contact, contact_of
from detectors.decisions import at_most, is_over, is_under
from detectors.emission import make_event
from detectors.reasons import reason
from football.match_sheet import MatchSheet
from football.payloads import EventPayload, Scalar, height_m, number, payload_of
from football.pitch import Pitch, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Play ends, and goes on.
PLAY = ("phase.dead", "phase.live")
PARTS = ("left foot", "right foot", "head", "chest", "left hand", "right hand", "other")


class BodyPartParameters(msgspec.Struct, frozen=True):
    """Parts of the body.

    Attributes:
        limb_m: a nearer limb played the ball.
        clear_m: another part played the ball if no limb is nearer.
        chest_m: least height of the chest.
        head_m: least height of the head.
        head_most_m: greatest height of the head.
        leap_m: without jumps, a ball headed above it was headed in a leap.
        held_m_s: a ball no faster before or after its contact was, or is, held.
        touch_m: a ball that is played from this near to a touch line, or beyond it, while play is dead is thrown in.
        guess_confidence: confidence if height alone decides, or a limb between the two distances.
    """

    limb_m: Annotated[float, reason("hierarchy 5.3")] = 0.35
    clear_m: Annotated[float, reason("hierarchy 5.3")] = 0.5
    chest_m: Annotated[float, reason("hierarchy 5.3")] = 0.9
    head_m: Annotated[float, reason("hierarchy 5.3")] = 1.5
    head_most_m: Annotated[float, reason("hierarchy 5.3")] = 2.6
    leap_m: Annotated[float, reason("ours: a tall player's brow")] = 2.0
    held_m_s: Annotated[float, reason("as of 5.5")] = 1.5
    touch_m: Annotated[
        float,
        reason("Law 15: from where it went out; measured places are wrong by decimetres, and arms reach in."),
    ] = 1.5
    guess_confidence: Annotated[float, reason("ours")] = 0.6


def body_part_of(contact: Contact, p: BodyPartParameters, has_height: bool, thrown: bool = False) -> tuple[str, float]:
    """The part of the body that made a contact, and the confidence; ``thrown``: the ball is not headed, if high.

    >>> from detectors.emission import make_event
    >>> from football.payloads import EventPayload
    >>> def at(before_m_s, after_m_s):
    ...     speeds = {"speed_before_m_s": before_m_s, "speed_after_m_s": after_m_s}
    ...     payload = EventPayload("", "home", "h", 0.0, 0.0, 1.9, detail=speeds)
    ...     return Contact(make_event("hit", 0, "b", payload), ())
    >>> p = BodyPartParameters()
    >>> body_part_of(at(9.0, 7.0), p, True), body_part_of(at(0.4, 9.0), p, True)
    (('head', 0.6), ('other', 0.6))
    """
    payload = payload_of(contact.event)
    mine = [r for r in contact.candidates if r.object_id == payload.player and r.limb]
    # Of two feet that are equally near, the one that can have pushed the ball (5.1).
    pushed = payload.detail.get("limb")
    limb = min(mine, key=lambda r: (r.limb != pushed, r.distance_m, r.limb), default=None)
    high = payload.z_m if has_height else None
    what = "height of the ball"
    if limb is not None and is_under("the limb from the ball", limb.distance_m, p.limb_m, "body_part.limb_m"):
        return limb.limb.replace("_", " "), 1.0
    clear = limb is None or limb.distance_m >= p.clear_m
    sure = 0.9 if limb is not None and clear else p.guess_confidence
    if (
        high is not None
        and clear
        and not is_under(what, high, p.chest_m, "body_part.chest_m")
        and not is_over(what, high, p.head_most_m, "body_part.head_most_m")
    ):
        slower_m_s = min(number(payload, "speed_before_m_s"), number(payload, "speed_after_m_s"))
        if thrown or at_most("the slower speed of the ball", slower_m_s, p.held_m_s, "body_part.held_m_s"):
            return "other", p.guess_confidence
        return "chest" if is_under(what, high, p.head_m, "body_part.head_m") else "head", sure
    return (limb.limb.replace("_", " "), p.guess_confidence) if limb is not None else ("other", p.guess_confidence)


def is_thrown_in(contact: Contact, dead: bool, pitch: Pitch, p: BodyPartParameters) -> bool:
    """True of a contact at a touch line, or beyond it, while play is dead."""
    y_m = payload_of(contact.event).y_m
    if not dead or y_m is None:
        return False
    inside_m = pitch.half_width_m - abs(y_m)
    return at_most("the ball inside the touch line", inside_m, p.touch_m, "body_part.touch_m")


class BodyPart:
    """5.3: ``bodypart`` of every hit and touch, anchored by its ball state. ``detail.contact``: kind of the contact.

    Further ``detail``: ``distance_m`` (of the ball, as of the contact), ``limb_m`` (of the ball from his nearest limb).
    """

    def __init__(self, sheet: MatchSheet, parameters: BodyPartParameters | None = None) -> None:
        self.parameters = parameters or BodyPartParameters()
        self._has_height = sheet.quality.ball_height
        self._pitch = pitch_of(sheet)
        self.spec = Spec(
            name="body_part",
            number="5.3",
            level=5,
            inputs=(*CONTACTS, *PLAY),
            outputs=("bodypart",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="kloppy, SPADL and StatsBomb (body parts); numbers ours",
            team_variants={"bodypart": PARTS},
            details={"bodypart": ("contact", "distance_m", "limb_m")},
        )

    def initial(self) -> bool:
        """True while play is dead."""
        return False

    def step(self, state: bool, event: Event) -> Step[bool]:
        """Follow play; emit the part of a contact."""
        if event.kind in PLAY:
            return event.kind == "phase.dead", NOTHING
        return state, (self._emit(contact_of(event), state),)

    def _emit(self, contact: Contact, dead: bool) -> Event:
        made = contact.event
        payload = payload_of(made)
        thrown = is_thrown_in(contact, dead, self._pitch, self.parameters)
        part, sure = body_part_of(contact, self.parameters, self._has_height, thrown)
        detail: dict[str, Scalar] = {"contact": made.kind, "distance_m": payload.detail["distance_m"]}
        mine = [r for r in contact.candidates if r.object_id == payload.player and r.limb.replace("_", " ") == part]
        if mine:
            detail["limb_m"] = round(mine[0].distance_m, 3)
        played = EventPayload(
            part,
            payload.team,
            payload.player,
            payload.x_m,
            payload.y_m,
            payload.z_m,
            min(sure, payload.confidence),
            detail,
        )
        # A hit and a touch may share a ball state where both were found: their anchors must differ.
        anchor = made.source if made.kind == "hit" else f"{made.source}/touch"
        return make_event("bodypart", made.ts_us, anchor, played, causes=made.causes)


class HeaderParameters(msgspec.Struct, frozen=True):
    """Headers.

    Attributes:
        jump_us: greatest time since the take-off of a jumping header.
    """

    jump_us: Annotated[int, reason("hierarchy 5.4")] = 400_000


class HeaderState(msgspec.Struct, frozen=True, gc=False):
    """State: each player's last take-off (event time); true while play is dead."""

    jumps: tuple[tuple[str, int], ...] = ()
    dead: bool = False


class Header:
    """5.4: ``header`` x {standing, jumping}: a contact of the head.

    With limb transmitters a jump of 3.5 decides; without, how high the ball was headed.
    ``detail``: ``speed_before_m_s``, ``speed_after_m_s`` (of the ball).
    """

    def __init__(
        self,
        sheet: MatchSheet,
        parameters: HeaderParameters | None = None,
        parts: BodyPartParameters | None = None,
    ) -> None:
        self.parameters, self._parts = parameters or HeaderParameters(), parts or BodyPartParameters()
        # 3.5 reports jumps where each player has a transmitter on each foot.
        feet = {"left_foot", "right_foot"} <= {*sheet.quality.limbs}
        self._jumps = feet and not sheet.quality.framed
        self._pitch = pitch_of(sheet)
        self.spec = Spec(
            name="header",
            number="5.4",
            level=5,
            inputs=(*(("jump.take_off",) if self._jumps else ()), *CONTACTS, *PLAY),
            outputs=("header",),
            parameters={**msgspec.structs.asdict(self.parameters), **msgspec.structs.asdict(self._parts)},
            source="Opta qualifier 'Head'",
            needs="ball height",
            team_variants={"header": ("standing", "jumping")},
            details={"header": ("speed_before_m_s", "speed_after_m_s")},
        )

    def initial(self) -> HeaderState:
        """No jump."""
        return HeaderState()

    def step(self, state: HeaderState, event: Event) -> Step[HeaderState]:
        """Remember jumps, follow play, and judge each contact."""
        if event.kind in PLAY:
            return msgspec.structs.replace(state, dead=event.kind == "phase.dead"), NOTHING
        if event.kind == "jump.take_off":
            payload = payload_of(event)
            oldest_us = event.ts_us - self.parameters.jump_us
            recent = tuple(j for j in state.jumps if j[0] != payload.player and j[1] >= oldest_us)
            return msgspec.structs.replace(state, jumps=(*recent, (payload.player, event.ts_us))), NOTHING
        contact = contact_of(event)
        thrown = is_thrown_in(contact, state.dead, self._pitch, self._parts)
        part, sure = body_part_of(contact, self._parts, True, thrown)
        return state, (self._emit(contact, state, sure),) if part == "head" else NOTHING

    def _emit(self, contact: Contact, state: HeaderState, sure: float) -> Event:
        made = contact.event
        payload = payload_of(made)
        if self._jumps:
            off_us, most_us = made.ts_us - dict(state.jumps).get(payload.player, -(2**62)), self.parameters.jump_us
            what, about = "time since the take-off", payload.player
            leapt = off_us >= 0 and at_most(what, off_us, most_us, "header.jump_us", about)
        else:
            leapt = is_over("height of the ball", height_m(payload), self._parts.leap_m, "body_part.leap_m")
        detail: dict[str, Scalar] = {name: payload.detail[name] for name in ("speed_before_m_s", "speed_after_m_s")}
        variant = "jumping" if leapt else "standing"
        played = EventPayload(
            variant,
            payload.team,
            payload.player,
            payload.x_m,
            payload.y_m,
            payload.z_m,
            min(sure, payload.confidence),
            detail,
        )
        anchor = made.source if made.kind == "hit" else f"{made.source}/touch"
        return make_event("header", made.ts_us, anchor, played, causes=made.causes)
