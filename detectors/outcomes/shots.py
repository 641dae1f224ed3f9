"""7.1, 7.3, 7.4: outcomes of shots; 7.2 is in :mod:`detectors.outcomes.saves`."""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.actions.flight import project_on_goal
from detectors.decisions import at_most
from detectors.emission import make_event
from detectors.outcomes.saves import keeper_test
from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, location_m, payload_of, time_us
from football.pitch import pitch_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event


class ShotOutcomeParameters(msgspec.Struct, frozen=True):
    """Limits of the outcome of a shot.

    Attributes:
        block_us: an opponent's contact blocks or deflects a shot within this time.
        within_us: a shot ends within this time.
        woodwork_us: a shot meets the woodwork within this time.
    """

    block_us: Annotated[int, reason("Hierarchy 7.1.")] = 1_500_000
    within_us: Annotated[int, reason("Ours: a shot from 40 m rolls for that long.")] = 3_000_000
    woodwork_us: Annotated[int, reason("Hierarchy 7.4.")] = 2_000_000


class ShotState(msgspec.Struct, frozen=True, gc=False):
    """State: the team that attacks +x; the shot under way, and whether a goalkeeper has touched it; the outcome of one
    that left the pitch after he had."""

    attacks: Team = ""
    shot: Event | None = None
    met: bool = False
    off: Event | None = None


#: An ``out`` is of a crossing that is dated within this time of it.
_SAME_CROSSING_US = 500_000


class ShotOutcome:
    """7.1, covering 7.3: ``shot.blocked``, ``shot.deflected``, ``shot.off``.

    The first contact of an opponent decides: a goalkeeper's is a save or nothing (7.2); a field player's blocks the
    shot, or deflects it if the ball goes on to the goal. Without a contact, the line decides; so it does if the restart
    shows that the goalkeeper had none (6.5). Named by the kick; ``team`` and ``player`` are the shooter's, the position
    is that of the contact or crossing. ``detail``: ``by`` (the player who blocked or deflected it).
    """

    def __init__(self, sheet: MatchSheet, parameters: ShotOutcomeParameters | None = None) -> None:
        self.parameters = parameters or ShotOutcomeParameters()
        self._pitch = pitch_of(sheet)
        self._is_keeper = keeper_test(sheet)
        self.spec = Spec(
            name="shot_outcome",
            number="7.1",
            level=7,
            inputs=("ball.crossed", "ball.over_bar", "direction", "hit", "touch", "shot.attempt", "out"),
            outputs=("shot.blocked", "shot.deflected", "shot.off"),
            parameters={"block_us": self.parameters.block_us, "within_us": self.parameters.within_us},
            source="000 Fig 5, 004 (blocked shot); StreamTeam shotOffTarget",
            team_variants={
                "shot.blocked": ("",),
                "shot.deflected": ("",),
                "shot.off": ("wide left", "wide right", "over"),
            },
            covers=("7.3",),
            amends=("shot.off",),
            known={"shot.off": Known("at the line, or when the restart shows that the goalkeeper had no contact")},
            details=dict.fromkeys(("shot.blocked", "shot.deflected"), ("by",)),
        )

    def initial(self) -> ShotState:
        """No shot."""
        return ShotState()

    def step(self, state: ShotState, event: Event) -> Step[ShotState]:
        """Follow a shot, then the first contact or line."""
        payload = payload_of(event)
        if event.kind == "direction":
            return msgspec.structs.replace(state, attacks=payload.team), NOTHING
        if event.kind == "shot.attempt":
            return ShotState(state.attacks, event), NOTHING
        if event.kind == "out":
            return self._out(state, event, payload)
        if state.shot is None:
            return state, NOTHING
        what, since_us, limit_us = "time since the shot", event.ts_us - state.shot.ts_us, self.parameters.within_us
        if not at_most(what, since_us, limit_us, "shot_outcome.within_us"):
            return ShotState(state.attacks, off=state.off), NOTHING
        struck = payload_of(state.shot)
        if event.kind in ("hit", "touch"):
            return self._contact(state, state.shot, struck, event, payload)
        return self._line(state, state.shot, struck, event, payload)

    def _contact(
        self, state: ShotState, shot: Event, struck: EventPayload, event: Event, payload: EventPayload
    ) -> Step[ShotState]:
        """Judge a contact; those before the shot was known belong to its own kick."""
        if event.ts_us <= shot.ts_us:
            return state, NOTHING
        done = ShotState(state.attacks, off=state.off)
        if payload.team == struck.team:
            return done, NOTHING
        if self._is_keeper(payload):
            return msgspec.structs.replace(state, met=True), NOTHING
        if state.met:
            return done, NOTHING
        since_us, limit_us = event.ts_us - shot.ts_us, self.parameters.block_us
        if not at_most("time since the shot", since_us, limit_us, "shot_outcome.block_us"):
            return done, NOTHING
        onward = project_on_goal(payload, state.attacks == struck.team, self._pitch)
        kind = "shot.deflected" if onward is not None and onward.on_target else "shot.blocked"
        detail: dict[str, Scalar] = {"by": payload.player}
        blocked = EventPayload(
            "", struck.team, struck.player, payload.x_m, payload.y_m, payload.z_m, payload.confidence, detail
        )
        return done, (_named(kind, shot, event, blocked),)

    def _line(
        self, state: ShotState, shot: Event, struck: EventPayload, event: Event, payload: EventPayload
    ) -> Step[ShotState]:
        """Judge a ball over the bar, or over the goal line outside the posts, in the shooter's view."""
        if event.kind == "ball.over_bar":
            variant = "over"
        elif payload.variant.endswith((" +y out", " -y out")):
            to_left = (location_m(payload)[1] > 0) == (state.attacks == struck.team)
            variant = "wide left" if to_left else "wide right"
        else:
            ended = payload.variant.endswith("touch out")
            return (ShotState(state.attacks, off=state.off) if ended else state), NOTHING
        x_m, y_m, z_m = payload.x_m, payload.y_m, payload.z_m
        off = EventPayload(variant, struck.team, struck.player, x_m, y_m, z_m, payload.confidence)
        outcome = _named("shot.off", shot, event, off)
        return (ShotState(state.attacks, off=outcome), NOTHING) if state.met else (ShotState(state.attacks), (outcome,))

    def _out(self, state: ShotState, event: Event, payload: EventPayload) -> Step[ShotState]:
        """Publish the outcome of a shot that a goalkeeper seemed to touch, if the shooter's team touched it last."""
        off = state.off
        if off is None or payload.team != payload_of(off).team:
            return state, NOTHING
        if abs(time_us(payload, "since_us") - off.ts_us) > _SAME_CROSSING_US:
            return state, NOTHING
        outcome = msgspec.structs.replace(off, ts_us=event.ts_us, causes=(*off.causes, event.id), dated_us=off.ts_us)
        return msgspec.structs.replace(state, off=None), (outcome,)


def _named(kind: str, shot: Event, event: Event, payload: EventPayload) -> Event:
    return make_event(kind, event.ts_us, shot.source, payload, causes=(shot.id, event.id))


class ShotOnWoodwork:
    """7.4: ``shot.post``: a shot rebounds from a post or the bar of the goal that it was aimed at.

    Dated at the rebound, named by the kick; ``team`` and ``player`` are the shooter's. ``detail``: ``part`` (the post
    or bar).
    """

    def __init__(self, parameters: ShotOutcomeParameters | None = None) -> None:
        self.parameters = parameters or ShotOutcomeParameters()
        self.spec = Spec(
            name="shot_on_woodwork",
            number="7.4",
            level=7,
            inputs=("ball.woodwork", "direction", "shot.attempt"),
            outputs=("shot.post",),
            parameters={"woodwork_us": self.parameters.woodwork_us},
            source="kloppy ShotResult.POST",
            team_variants={"shot.post": ("",)},
            details={"shot.post": ("part",)},
        )

    def initial(self) -> ShotState:
        """No shot."""
        return ShotState()

    def step(self, state: ShotState, event: Event) -> Step[ShotState]:
        """Follow a shot, then the first rebound from the attacked goal."""
        payload = payload_of(event)
        if event.kind == "direction":
            return ShotState(payload.team, state.shot), NOTHING
        if event.kind == "shot.attempt":
            return ShotState(state.attacks, event), NOTHING
        if state.shot is None or event.ts_us <= state.shot.ts_us:
            return state, NOTHING
        struck, after = payload_of(state.shot), ShotState(state.attacks)
        attacked = "right" if struck.team == state.attacks else "left"
        what, since_us, limit_us = "time since the shot", event.ts_us - state.shot.ts_us, self.parameters.woodwork_us
        late = not at_most(what, since_us, limit_us, "shot_outcome.woodwork_us")
        if late or payload.detail["side"] != attacked:
            return after, NOTHING
        detail: dict[str, Scalar] = {"part": payload.variant}
        post = EventPayload(
            "", struck.team, struck.player, payload.x_m, payload.y_m, payload.z_m, payload.confidence, detail
        )
        return after, (_named("shot.post", state.shot, event, post),)
