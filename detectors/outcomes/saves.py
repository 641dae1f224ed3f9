"""7.2: saves, and with what."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from detectors.actions.flight import project_on_goal
from detectors.ball.radio_breaks import fits_radio_breaks
from detectors.emission import make_event
from football.match_sheet import MatchSheet
from football.payloads import EventPayload, Scalar, number, published
from football.pitch import GOAL_AREA_DEPTH_M, end_of, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

SAVES = ("caught", "parried", "punched", "body")
#: What 5.5 tells of a goalkeeper's hands, as a save. A ball that he drops was turned away.
GRIPS = {"gk.catch": "caught", "gk.parry": "parried", "gk.punch": "punched", "gk.drop": "parried"}
#: Parts of the body (5.3) that save without hands. ``other`` is none of them: there nothing is known.
BODY = ("left foot", "right foot", "head", "chest")


class SaveParameters(msgspec.Struct, frozen=True):
    """``within_us``: a shot from 40 m rolls so long (7.1). ``caught_m_s``: a ball that a goalkeeper keeps is this slow
    after his contact (5.5 has 1.5 m/s relative to the hand; a body moves too). ``grip_us``: what 5.3 and 5.5 tell
    so near in time to his contact is about it (5.5's hold). ``sure``: a part of the body must be this sure to
    outweigh the ball's speed."""

    within_us: int = 3_000_000
    caught_m_s: float = 3.0
    grip_us: int = 300_000
    sure: float = 0.8


class SaveState(msgspec.Struct, frozen=True, gc=False):
    """The shot that nobody has touched; the save as told at the contact; what is known of hands and body about it;
    whether an opponent turned the shot on to the goal."""

    shot: Event | None = None
    save: Event | None = None
    hands: Event | None = None
    part: Event | None = None
    turned_in: bool = False


class Save:
    """7.2: ``shot.saved`` x {caught, parried, punched, body}: a goalkeeper is the first to touch a shot on target, or
    one that an opponent turned on to the goal, while it is in play. Whether it was on target is asked of the ball as it
    came to him where its velocity is known that well (radio): that is a few metres from the goal, its kick was many.

    Told at his contact, by how fast the ball goes on; amended when his hands (5.5) or the part of the body (5.3) tell
    otherwise. Named by the kick; ``team`` and ``player`` are the goalkeeper's, ``detail.shooter`` who shot.
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
        )

    def initial(self) -> SaveState:
        """No shot."""
        return SaveState()

    def step(self, state: SaveState, event: Event) -> Step[SaveState]:
        """A shot, the first contact, and what is known of it a moment later."""
        if event.kind == "clock.tick":
            due = state.save is not None and event.ts_us - state.save.ts_us >= self.parameters.grip_us
            return self._settled(state, event) if due else (state, NOTHING)
        if event.kind == "play.dead":
            # Whoever fetches a ball that went past his goal saves nothing.
            return SaveState(None, state.save, state.hands, state.part), NOTHING
        payload = published(event)
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
        slow = number(payload, "speed_after_m_s") < self.parameters.caught_m_s
        return self._touched(state, event, payload, "caught" if slow else "parried")

    def _touched(self, state: SaveState, event: Event, payload: EventPayload, variant: str) -> Step[SaveState]:
        """The first contact with a shot: a save, or its end."""
        shot = state.shot
        if shot is None or event.ts_us <= shot.ts_us:
            return state, NOTHING
        made = published(shot)
        over = SaveState(None, state.save, state.hands, state.part)
        if event.ts_us - shot.ts_us > self.parameters.within_us or payload.team == made.team:
            return over, NOTHING
        if not self._is_keeper(payload):
            onward = project_on_goal(payload, number(made, "vx_m_s") > 0.0, self._pitch)
            turned_in = onward is not None and onward.on_target
            return (SaveState(shot, state.save, state.hands, state.part, True) if turned_in else over), NOTHING
        if not self._was_on_target(made, payload, state.turned_in):
            return over, NOTHING
        detail: dict[str, Scalar] = {"shooter": made.player}
        told = EventPayload(
            variant, payload.team, payload.player, payload.x_m, payload.y_m, payload.z_m, payload.confidence, detail
        )
        saved = make_event("shot.saved", event.ts_us, shot.source, told, causes=(shot.id, event.id))
        return SaveState(None, saved, event if event.kind in GRIPS else None), (saved,)

    def _was_on_target(self, shot: EventPayload, contact: EventPayload, turned_in: bool) -> bool:
        """Whether a shot would have gone in but for the goalkeeper's contact."""
        parts = [contact.detail.get(name) for name in ("delta_vx_m_s", "delta_vy_m_s", "delta_vz_m_s")]
        if not self._radio or None in parts or contact.z_m is None:
            return bool(shot.detail["on_target"]) or turned_in
        names = ("vx_m_s", "vy_m_s", "vz_m_s")
        came = {name: number(contact, name) - number(contact, f"delta_{name}") for name in names}
        onward = project_on_goal(
            msgspec.structs.replace(contact, detail=came), number(shot, "vx_m_s") > 0.0, self._pitch
        )
        return onward is not None and onward.on_target

    def _settled(self, state: SaveState, event: Event) -> Step[SaveState]:
        """The last word about a save, if it is another one."""
        save = state.save
        assert save is not None
        told = published(save)
        variant, cause = self._better(state, told.variant)
        after = SaveState(state.shot, turned_in=state.turned_in)
        if variant == told.variant:
            return after, NOTHING
        amended = msgspec.structs.replace(told, variant=variant)
        causes = (*save.causes, cause)
        return after, (make_event("shot.saved", event.ts_us, save.source, amended, causes=causes, dated_us=save.ts_us),)

    def _better(self, state: SaveState, variant: str) -> tuple[str, str]:
        if state.hands is not None:
            return GRIPS[state.hands.kind], state.hands.id
        if state.part is not None:
            part = published(state.part)
            if part.variant in BODY and part.confidence >= self.parameters.sure:
                return "body", state.part.id
        return variant, ""

    def _about(self, save: Event, event: Event, payload: EventPayload) -> bool:
        """Whether something is told of the contact that saved."""
        told = published(save)
        return payload.player == told.player and abs(event.ts_us - save.ts_us) <= self.parameters.grip_us


def keeper_test(sheet: MatchSheet) -> Callable[[EventPayload], bool]:
    """Whether a contact is a goalkeeper's: by the sheet; without one, if it is in a goal area."""
    keepers, pitch = frozenset(p.object_id for p in sheet.players if p.goalkeeper), pitch_of(sheet)

    def is_keeper(payload: EventPayload) -> bool:
        if keepers:
            return payload.player in keepers
        assert payload.x_m is not None
        assert payload.y_m is not None
        return pitch.goal_distance_m(payload.x_m, payload.y_m, end_of(payload.x_m)) <= GOAL_AREA_DEPTH_M

    return is_keeper
