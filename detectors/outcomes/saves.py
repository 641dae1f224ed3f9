"""7.2: saves, by hand or body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import msgspec

from detectors.actions.flight import project_on_goal
from detectors.ball.radio_breaks import fits_radio_breaks
from detectors.decisions import at_most, is_under
from detectors.emission import make_event
from detectors.reasons import reason
from football.match_sheet import MatchSheet
from football.payloads import EventPayload, Scalar, location_m, number, payload_of
from football.pitch import GOAL_AREA_DEPTH_M, end_of, pitch_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event

SAVES = ("caught", "parried", "punched", "body")
#: Variant of a save by the kind of 5.5. A ball that the goalkeeper drops was turned away.
GRIPS = {"gk.catch": "caught", "gk.parry": "parried", "gk.punch": "punched", "gk.drop": "parried"}
#: Parts of the body (5.3) that save without hands; of ``other`` nothing is known.
BODY = ("left foot", "right foot", "head", "chest")


class SaveParameters(msgspec.Struct, frozen=True):
    """Limits of a save.

    Attributes:
        within_us: a save is at most this long after the shot.
        caught_m_s: greatest speed of a ball that the goalkeeper keeps, after his contact.
        grip_us: events of 5.3 and 5.5 this near in time to his contact are about it.
        sure: least confidence of a part of the body that outweighs the ball's speed.
    """

    within_us: Annotated[int, reason("A shot from 40 m rolls for that long (7.1).")] = 3_000_000
    caught_m_s: Annotated[float, reason("5.5 has 1.5 m/s against the hand; a body moves as well.")] = 3.0
    grip_us: Annotated[int, reason("keeper.hold_us (5.5).")] = 300_000
    sure: Annotated[float, reason("Ours.")] = 0.8


class SaveState(msgspec.Struct, frozen=True, gc=False):
    """State of the detector.

    Attributes:
        shot: the shot without a contact since.
        save: the save as published at the contact.
        hands: the newest event of 5.5 about it.
        part: the newest event of 5.3 about it.
        turned_in: True if an opponent turned the shot on to the goal.
    """

    shot: Event | None = None
    save: Event | None = None
    hands: Event | None = None
    part: Event | None = None
    turned_in: bool = False


class Save:
    """7.2: ``shot.saved`` x {caught, parried, punched, body}: a goalkeeper is the first to touch a shot on target, or
    one that an opponent turned on to the goal, while it is in play. On radio, the ball just before his contact decides
    whether it was on target, because that is nearer to the goal than the kick.

    Published at his contact, by the speed of the ball after it; amended when his hands (5.5) or the part of the body
    (5.3) decide otherwise. Named by the kick; ``team`` and ``player`` are the goalkeeper's. ``detail``: ``shooter``.
    """

    def __init__(self, sheet: MatchSheet, parameters: SaveParameters | None = None) -> None:
        self.parameters = parameters or SaveParameters()
        self._is_keeper, self._pitch = keeper_test(sheet), pitch_of(sheet)
        self._radio = fits_radio_breaks(sheet.quality)
        self.spec = Spec(
            name="save",
            number="7.2",
            level=7,
            inputs=("clock.tick", "hit", "touch", "bodypart", *GRIPS, "play.dead", "shot.attempt"),
            outputs=("shot.saved",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="kloppy GoalkeeperActionType",
            team_variants={"shot.saved": SAVES},
            amends=("shot.saved",),
            known={
                "shot.saved": Known("at his contact", "when his hands or the part of his body are known", ("variant",))
            },
            details={"shot.saved": ("shooter",)},
        )

    def initial(self) -> SaveState:
        """No shot."""
        return SaveState()

    def step(self, state: SaveState, event: Event) -> Step[SaveState]:
        """Follow a shot, the first contact, and what is known of it a moment later."""
        if event.kind == "clock.tick":
            due = state.save is not None and event.ts_us - state.save.ts_us >= self.parameters.grip_us
            return self._settled(state, event) if due else (state, NOTHING)
        if event.kind == "play.dead":
            # A goalkeeper who fetches a ball that passed his goal saves nothing.
            return SaveState(None, state.save, state.hands, state.part), NOTHING
        payload = payload_of(event)
        if event.kind == "shot.attempt":
            return SaveState(event, state.save, state.hands, state.part), NOTHING
        if event.kind == "bodypart":
            mine = state.save is not None and self._about(state.save, event, payload)
            known = SaveState(state.shot, state.save, state.hands, event, state.turned_in)
            return (known if mine else state), NOTHING
        if event.kind in GRIPS:
            if state.save is not None and self._about(state.save, event, payload):
                return SaveState(state.shot, state.save, event, state.part, state.turned_in), NOTHING
            return self._touched(state, event, payload, GRIPS[event.kind])
        what, speed_m_s = "speed of the ball after it", number(payload, "speed_after_m_s")
        caught_m_s = self.parameters.caught_m_s
        slow = is_under(what, speed_m_s, caught_m_s, "save.caught_m_s")
        return self._touched(state, event, payload, "caught" if slow else "parried")

    def _touched(self, state: SaveState, event: Event, payload: EventPayload, variant: str) -> Step[SaveState]:
        """Judge the first contact with a shot: a save, or the end of the shot."""
        shot = state.shot
        if shot is None or event.ts_us <= shot.ts_us:
            return state, NOTHING
        struck = payload_of(shot)
        over = SaveState(None, state.save, state.hands, state.part)
        what, since_us, limit_us = "time since the shot", event.ts_us - shot.ts_us, self.parameters.within_us
        if payload.team == struck.team or not at_most(what, since_us, limit_us, "save.within_us"):
            return over, NOTHING
        if not self._is_keeper(payload):
            onward = project_on_goal(payload, number(struck, "vx_m_s") > 0.0, self._pitch)
            turned_in = onward is not None and onward.on_target
            return (SaveState(shot, state.save, state.hands, state.part, True) if turned_in else over), NOTHING
        if not self._was_on_target(struck, payload, state.turned_in):
            return over, NOTHING
        detail: dict[str, Scalar] = {"shooter": struck.player}
        save_payload = msgspec.structs.replace(payload, variant=variant, detail=detail)
        saved = make_event("shot.saved", event.ts_us, shot.source, save_payload, causes=(shot.id, event.id))
        return SaveState(None, saved, event if event.kind in GRIPS else None), (saved,)

    def _was_on_target(self, shot: EventPayload, contact: EventPayload, turned_in: bool) -> bool:
        """True if a shot would have gone in without the goalkeeper's contact."""
        parts = [contact.detail.get(name) for name in ("delta_vx_m_s", "delta_vy_m_s", "delta_vz_m_s")]
        if not self._radio or None in parts or contact.z_m is None:
            return bool(shot.detail["on_target"]) or turned_in
        names = ("vx_m_s", "vy_m_s", "vz_m_s")
        velocity_before = {name: number(contact, name) - number(contact, f"delta_{name}") for name in names}
        onward = project_on_goal(
            msgspec.structs.replace(contact, detail=velocity_before), number(shot, "vx_m_s") > 0.0, self._pitch
        )
        return onward is not None and onward.on_target

    def _settled(self, state: SaveState, event: Event) -> Step[SaveState]:
        """Amend a save whose variant is known better."""
        save = state.save
        if save is None:
            return state, NOTHING
        save_payload = payload_of(save)
        variant, cause = self._better(state, save_payload.variant)
        after = SaveState(state.shot, turned_in=state.turned_in)
        if variant == save_payload.variant:
            return after, NOTHING
        amended = msgspec.structs.replace(save_payload, variant=variant)
        causes = (*save.causes, cause)
        return after, (make_event("shot.saved", event.ts_us, save.source, amended, causes=causes, dated_us=save.ts_us),)

    def _better(self, state: SaveState, variant: str) -> tuple[str, str]:
        if state.hands is not None:
            return GRIPS[state.hands.kind], state.hands.id
        if state.part is not None:
            part = payload_of(state.part)
            if part.variant in BODY and part.confidence >= self.parameters.sure:
                return "body", state.part.id
        return variant, ""

    def _about(self, save: Event, event: Event, payload: EventPayload) -> bool:
        """True if an event is about the contact of a save."""
        save_payload = payload_of(save)
        return payload.player == save_payload.player and abs(event.ts_us - save.ts_us) <= self.parameters.grip_us


def keeper_test(sheet: MatchSheet) -> Callable[[EventPayload], bool]:
    """A test that a contact is a goalkeeper's: by the sheet; without goalkeepers there, by its position."""
    keepers, pitch = frozenset(p.object_id for p in sheet.players if p.goalkeeper), pitch_of(sheet)

    def is_keeper(payload: EventPayload) -> bool:
        if keepers:
            return payload.player in keepers
        x_m, y_m = location_m(payload)
        return pitch.goal_distance_m(x_m, y_m, end_of(x_m)) <= GOAL_AREA_DEPTH_M

    return is_keeper
