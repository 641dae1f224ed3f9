"""5.7 and 5.9: deflections, and contacts of two opponents at once.

Theory of operation
-------------------
A *deflection* hardly changes a fast ball: it turns by less than 60 degrees, and keeps at least half of its speed
without gaining much. A ball at head height is headed on, not deflected. A runner's own push looks like a deflection,
but follows a contact of the same player. The first touch of a player who takes a pass along looks the same: intent is
not measured. His next contact shows that he took the ball: if it comes within ``own_us``, and nobody else's in between,
the deflection is withdrawn. In fifteen simulated matches under profiles of tracking, 196 of 441 wrong ones were
followed by such a contact, and 12 of 205 right ones.

A *contest* is a contact that two opponents share (50-50): each makes one within ``within_us``. An opponent who is as
near at a single contact says nothing: of 246 such guesses (seeds 11 to 14 by radio and as cameras see them, 201 to 205)
26 were contests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import msgspec

from detectors.contacts.hits import CONTACTS, contact_of
from detectors.decisions import at_least, at_most, below, note
from detectors.emission import make_event, withdrawal
from detectors.reasons import reason
from football.match_sheet import MatchSheet
from football.payloads import EventPayload, Scalar, number, payload_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event


class DeflectionParameters(msgspec.Struct, frozen=True):
    """Deflections.

    Attributes:
        turn_rad: greatest turn of the path over the ground.
        least_factor: least speed after, as a multiple of the speed before.
        most_factor: greatest speed after, as a multiple of the speed before.
        speed_m_s: least speed before.
        head_m: higher balls are headed.
        own_us: so long after an own contact, and before the next one, it is the player's own ball.
    """

    turn_rad: Annotated[float, reason("hierarchy 5.7")] = math.pi / 3
    least_factor: Annotated[float, reason("hierarchy 5.7")] = 0.5
    most_factor: Annotated[float, reason("hierarchy 5.7")] = 1.1
    speed_m_s: Annotated[
        float,
        reason(
            "ours: slower balls are taken; 2.7's class pass begins there; generated matches, seeds 11 to 19: with 5 "
            "instead of 8 there are 25 of 33 instead of 20, 11 invented instead of 3, and 22 wrong ends of passes "
            "instead of 29"
        ),
    ] = 5.0
    head_m: Annotated[float, reason("as of 5.3")] = 1.5
    own_us: Annotated[int, reason("ours")] = 2_000_000


class DeflectionState(msgspec.Struct, frozen=True, gc=False):
    """State of the detector.

    Attributes:
        last: the newest contact.
        deflected: the deflection that it made, while the next contact may show that he has taken the ball.
    """

    last: Event | None = None
    deflected: Event | None = None


class Deflection:
    """5.7: ``deflection``: a player turns a fast ball a little and hardly slows it.

    If he has the next contact, too, and soon, he has taken the ball, and it is withdrawn.

    ``detail``: ``turn_rad`` over the ground, ``speed_before_m_s``, ``speed_after_m_s``.
    """

    def __init__(self, sheet: MatchSheet, parameters: DeflectionParameters | None = None) -> None:
        self.parameters = parameters or DeflectionParameters()
        self._has_height = sheet.quality.ball_height
        self.spec = Spec(
            name="deflection",
            number="5.7",
            level=5,
            inputs=CONTACTS,
            outputs=("deflection",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="ours",
            annuls=("deflection",),
            amends=("deflection",),
            known={"deflection": Known("at the contact")},
            team_variants={"deflection": ("",)},
            details={"deflection": ("turn_rad", "speed_before_m_s", "speed_after_m_s")},
        )

    def initial(self) -> DeflectionState:
        """No contact."""
        return DeflectionState()

    def step(self, state: DeflectionState, event: Event) -> Step[DeflectionState]:
        """Judge a contact by the ball's path before and after, and the deflection before it by this contact."""
        made, deflected = contact_of(event).event, state.deflected
        if deflected is not None and _own(made, deflected, self.parameters.own_us):
            if made.ts_us == deflected.ts_us:  # a hit and a touch are one contact
                return DeflectionState(made, deflected), NOTHING
            since_us, own_us = made.ts_us - deflected.ts_us, self.parameters.own_us
            note("time to his next contact", since_us, "at most", own_us, "deflection.own_us")
            return DeflectionState(made), (withdrawal(deflected, made.ts_us),)
        judged = self._judge(made, state.last)
        return DeflectionState(made, judged[0] if judged else None), judged

    def _judge(self, made: Event, last: Event | None) -> Sequence[Event]:
        payload, p = payload_of(made), self.parameters
        before_m_s, after_m_s = number(payload, "speed_before_m_s"), number(payload, "speed_after_m_s")
        headed = self._has_height and payload.z_m is not None and payload.z_m >= p.head_m
        if headed or not at_least("speed before", before_m_s, p.speed_m_s, "deflection.speed_m_s"):
            return NOTHING
        factor, turn_rad, what = after_m_s / before_m_s, turned_rad(payload), "speed after, of that before"
        deflected = (
            at_least(what, factor, p.least_factor, "deflection.least_factor")
            and at_most(what, factor, p.most_factor, "deflection.most_factor")
            and below("turn of the ball", turn_rad, p.turn_rad, "deflection.turn_rad")
        )
        if not deflected or (last is not None and _own(made, last, p.own_us)):
            return NOTHING
        detail: dict[str, Scalar] = {
            "turn_rad": round(turn_rad, 2),
            "speed_before_m_s": payload.detail["speed_before_m_s"],
            "speed_after_m_s": payload.detail["speed_after_m_s"],
        }
        turned = msgspec.structs.replace(payload, variant="", detail=detail)
        return (make_event("deflection", made.ts_us, made.source, turned, causes=made.causes),)


def turned_rad(payload: EventPayload) -> float:
    """Angle by which a contact turned the ball's path over the ground, radians."""
    vx, vy = number(payload, "vx_m_s"), number(payload, "vy_m_s")
    into = math.atan2(vy - number(payload, "delta_vy_m_s"), vx - number(payload, "delta_vx_m_s"))
    return abs(math.remainder(math.atan2(vy, vx) - into, math.tau))


def _own(made: Event, last: Event, own_us: int) -> bool:
    """True if the contact before was the same player's, not long ago."""
    payload, before = payload_of(made), payload_of(last)
    return payload.player == before.player and made.ts_us - last.ts_us <= own_us


class ContestParameters(msgspec.Struct, frozen=True):
    """Contacts of two opponents at once.

    Attributes:
        within_us: greatest time between two contacts.
    """

    within_us: Annotated[int, reason("hierarchy 5.9")] = 100_000


class SimultaneousContact:
    """5.9: ``contest.contact``: two opponents play the ball at once.

    ``player`` had the first contact, ``detail.other`` the second, ``detail.apart_us`` later.
    """

    def __init__(self, sheet: MatchSheet, parameters: ContestParameters | None = None) -> None:
        self.parameters = parameters or ContestParameters()
        # It is known with the second contact, and dated at the first.
        self.spec = Spec(
            name="simultaneous_contact",
            number="5.9",
            level=5,
            inputs=CONTACTS,
            outputs=("contest.contact",),
            horizon_us=self.parameters.within_us,
            parameters=msgspec.structs.asdict(self.parameters),
            source="ours (50-50)",
            details={"contest.contact": ("other", "apart_us")},
        )

    def initial(self) -> Event | None:
        """No contact. The state is the newest one that is in no contest."""
        return None

    def step(self, state: Event | None, event: Event) -> Step[Event | None]:
        """Compare a contact with the one before; a contest is over with its second contact."""
        made = contact_of(event).event
        contest = self._judge(made, state)
        return (None if contest else made), contest

    def _judge(self, made: Event, last: Event | None) -> Sequence[Event]:
        if last is None or payload_of(last).team == payload_of(made).team:
            return NOTHING
        apart_us, within_us = made.ts_us - last.ts_us, self.parameters.within_us
        if not at_most("time between the contacts", apart_us, within_us, "contest.within_us", last.source):
            return NOTHING
        detail: dict[str, Scalar] = {"other": payload_of(made).player, "apart_us": apart_us}
        shared = msgspec.structs.replace(payload_of(last), variant="", detail=detail)
        return (make_event("contest.contact", last.ts_us, last.source, shared, causes=last.causes),)
