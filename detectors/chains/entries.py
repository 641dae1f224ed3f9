"""13.7: entries: a team brings the ball into the attacking third or into the opponents' penalty area.

Theory of operation
-------------------
The ball enters the zone (3.9) after a contact of the team that attacks it, and that team has the next contact, too,
while the ball is still there: by a pass or a carry. An entry is shown when the ball enters, and published at that
contact. A ball that only flies through, that an opponent plays first, or that is dead, is none: who brings it to the
corner enters nothing.
"""

from __future__ import annotations

import msgspec

from detectors.emission import make_event
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, payload_of
from football.pitch import GOAL_AREA_HALF_WIDTH_M, PENALTY_AREA_HALF_WIDTH_M, pitch_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event

LANES = ("left wing", "left half-space", "centre lane", "right half-space", "right wing")
#: The penalty area is as wide as the three inner lanes.
VARIANTS = (*(f"third, {strip}" for strip in LANES), *(f"box, {strip}" for strip in LANES[1:4]))

#: Zone by the area that the ball enters, and the end that it is at.
_ZONES = {
    "left third": ("third", "left"),
    "right third": ("third", "right"),
    "left penalty area": ("box", "left"),
    "right penalty area": ("box", "right"),
}


class EntryState(msgspec.Struct, frozen=True, gc=False):
    """State: the team that attacks +x; the newest contact in play; the entrances of the ball since it, in order; true
    while play is dead."""

    attacks: Team = ""
    contact: Event | None = None
    entrances: tuple[Event, ...] = ()
    dead: bool = False


class Entry:
    """13.7: ``entry`` x {third, box} x lanes x team: a team brings the ball into an attacking zone and keeps it.

    ``variant`` is zone and lane, such as ``box, centre lane``; the lane is where the ball enters, as the team sees it.
    Position and time are those of the entrance, the id derives from it. ``player`` is who played the ball into the
    zone. ``detail``: ``receiver`` (the next player of the team to play it, who may be the same), ``how`` (``pass`` or
    ``carry``), ``received_us`` (event time of his contact).
    """

    def __init__(self, sheet: MatchSheet) -> None:
        self.pitch = pitch_of(sheet)
        self.spec = Spec(
            name="zone_entry",
            number="13.7",
            level=13,
            inputs=("direction", "area.enter", "area.leave", "hit", "touch", "play.dead", "play.live", "chain.start"),
            outputs=("entry",),
            source="FIFA EFI; lanes of football.areas",
            amends=("entry",),
            team_variants={"entry": VARIANTS},
            details={"entry": ("receiver", "how", "received_us")},
            known={"entry": Known("at the next contact of the team, in the zone")},
        )

    def initial(self) -> EntryState:
        """No contact."""
        return EntryState()

    def step(self, state: EntryState, event: Event) -> Step[EntryState]:
        """Remember entrances after a contact; the next contact decides."""
        payload = payload_of(event)
        if event.kind == "direction":
            return msgspec.structs.replace(state, attacks=payload.team), NOTHING
        if event.kind == "play.dead":
            return EntryState(state.attacks, dead=True), NOTHING
        if event.kind == "play.live":
            return (EntryState(state.attacks) if state.dead else state), NOTHING
        if event.kind == "chain.start":
            # The kick of a restart comes before play is known to be live.
            before = state.contact is None and payload.detail["began"] != "gain"
            return (EntryState(state.attacks, event) if before else state), NOTHING
        if state.dead:
            return state, NOTHING
        if event.kind in ("hit", "touch"):
            return EntryState(state.attacks, event), self._decided(state, event, payload)
        if payload.player or payload.variant not in _ZONES:
            return state, NOTHING
        if event.kind == "area.leave":
            left = tuple(e for e in state.entrances if payload_of(e).variant != payload.variant)
            return msgspec.structs.replace(state, entrances=left), NOTHING
        return msgspec.structs.replace(state, entrances=(*state.entrances, event)), NOTHING

    def _decided(self, state: EntryState, event: Event, contact: EventPayload) -> tuple[Event, ...]:
        if state.contact is None or not state.attacks:
            return NOTHING
        played = payload_of(state.contact)
        if played.team != contact.team or not contact.team:
            return NOTHING
        end = "right" if contact.team == state.attacks else "left"
        out = [self._entry(state.contact, e, event) for e in state.entrances if _ZONES[payload_of(e).variant][1] == end]
        return tuple(out)

    def _entry(self, before: Event, entrance: Event, event: Event) -> Event:
        played, where, contact = payload_of(before), payload_of(entrance), payload_of(event)
        zone, end = _ZONES[where.variant]
        strip = strip_of((where.y_m or 0.0) * (1.0 if end == "right" else -1.0))
        if zone == "box":
            strip = LANES[min(max(LANES.index(strip), 1), 3)]
        same = played.player == contact.player
        detail: dict[str, Scalar] = {
            "receiver": contact.player,
            "how": "carry" if same else "pass",
            "received_us": event.ts_us,
        }
        payload = EventPayload(
            f"{zone}, {strip}", played.team, played.player, where.x_m, where.y_m, None, contact.confidence, detail
        )
        causes = (before.id, entrance.id, event.id)
        return make_event("entry", event.ts_us, entrance.source, payload, causes=causes, dated_us=entrance.ts_us)


def strip_of(y_m: float) -> str:
    """The lane of a position across the pitch, positive to the left of the attack.

    >>> strip_of(30.0), strip_of(0.0), strip_of(-15.0)
    ('left wing', 'centre lane', 'right half-space')
    """
    if abs(y_m) <= GOAL_AREA_HALF_WIDTH_M:
        return LANES[2]
    inner = abs(y_m) <= PENALTY_AREA_HALF_WIDTH_M
    return LANES[1 if inner else 0] if y_m > 0 else LANES[3 if inner else 4]
