"""7.1, 7.3, 7.4: what becomes of shots; 7.2 is in :mod:`detectors.outcomes.saves`."""

from __future__ import annotations

import msgspec

from detectors.actions.flight import project_on_goal
from detectors.emission import make_event
from detectors.outcomes.saves import keeper_test
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, published
from football.pitch import pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class ShotOutcomeParameters(msgspec.Struct, frozen=True):
    """``block_us``: 7.1, 1.5 s. ``within_us``: a shot from 40 m rolls so long (ours). ``woodwork_us``: 7.4, 2 s."""

    block_us: int = 1_500_000
    within_us: int = 3_000_000
    woodwork_us: int = 2_000_000


class ShotState(msgspec.Struct, frozen=True, gc=False):
    """Who attacks +x; the shot under way."""

    attacks: Team = ""
    shot: Event | None = None


class ShotOutcome:
    """7.1, covering 7.3: ``shot.blocked``, ``shot.deflected``, ``shot.off``.

    The first contact of an opponent decides: a goalkeeper's is a save or nothing (7.2); a field player's blocks the
    shot, or deflects it if the ball still goes on to the goal. Without a contact, the line decides. Named by the
    kick; ``team`` and ``player`` are the shooter's.
    """

    def __init__(self, sheet: MatchSheet, parameters: ShotOutcomeParameters | None = None) -> None:
        self.parameters = parameters or ShotOutcomeParameters()
        self._pitch = pitch_of(sheet)
        self._is_keeper = keeper_test(sheet)
        self.spec = Spec(
            name="shot_outcome",
            number="7.1",
            level=7,
            inputs=("ball.crossed", "ball.over_bar", "direction", "hit", "touch", "shot.attempt"),
            outputs=("shot.blocked", "shot.deflected", "shot.off"),
            parameters={"block_us": self.parameters.block_us, "within_us": self.parameters.within_us},
            source="000 Fig 5, 004 (blocked shot); StreamTeam shotOffTarget",
            team_variants={
                "shot.blocked": ("",),
                "shot.deflected": ("",),
                "shot.off": ("wide left", "wide right", "over"),
            },
            covers=("7.3",),
        )

    def initial(self) -> ShotState:
        """No shot."""
        return ShotState()

    def step(self, state: ShotState, event: Event) -> Step[ShotState]:
        """A shot, then the first contact or line."""
        payload = published(event)
        if event.kind == "direction":
            return ShotState(payload.team, state.shot), NOTHING
        if event.kind == "shot.attempt":
            return ShotState(state.attacks, event), NOTHING
        if state.shot is None:
            return state, NOTHING
        if event.ts_us - state.shot.ts_us > self.parameters.within_us:
            return ShotState(state.attacks), NOTHING
        made = published(state.shot)
        if event.kind in ("hit", "touch"):
            return self._contact(state, state.shot, made, event, payload)
        return self._line(state, state.shot, made, event, payload)

    def _contact(
        self, state: ShotState, shot: Event, made: EventPayload, event: Event, payload: EventPayload
    ) -> Step[ShotState]:
        """Contacts that came before the shot was told are its own kick's."""
        if event.ts_us <= shot.ts_us:
            return state, NOTHING
        done = ShotState(state.attacks)
        if payload.team == made.team or self._is_keeper(payload):
            return done, NOTHING
        if event.ts_us - shot.ts_us > self.parameters.block_us:
            return done, NOTHING
        onward = project_on_goal(payload, state.attacks == made.team, self._pitch)
        kind = "shot.deflected" if onward is not None and onward.on_target else "shot.blocked"
        detail: dict[str, Scalar] = {"by": payload.player}
        blocked = EventPayload(
            "", made.team, made.player, payload.x_m, payload.y_m, payload.z_m, payload.confidence, detail
        )
        return done, (_named(kind, shot, event, blocked),)

    def _line(
        self, state: ShotState, shot: Event, made: EventPayload, event: Event, payload: EventPayload
    ) -> Step[ShotState]:
        """Over the bar, or over the goal line beside the posts as the shooter sees it."""
        assert payload.y_m is not None
        if event.kind == "ball.over_bar":
            variant = "over"
        elif payload.variant.endswith((" +y out", " -y out")):
            to_left = (payload.y_m > 0) == (state.attacks == made.team)
            variant = "wide left" if to_left else "wide right"
        else:
            ended = payload.variant.endswith(("touch out", "mouth out"))
            return (ShotState(state.attacks) if ended and "touch" in payload.variant else state), NOTHING
        off = EventPayload(variant, made.team, made.player, payload.x_m, payload.y_m, payload.z_m, payload.confidence)
        return ShotState(state.attacks), (_named("shot.off", shot, event, off),)


def _named(kind: str, shot: Event, event: Event, payload: EventPayload) -> Event:
    return make_event(kind, event.ts_us, shot.source, payload, causes=(shot.id, event.id))


class ShotOnWoodwork:
    """7.4: ``shot.post``: a shot comes off a post or the bar of the goal that it was meant for.

    Dated at the frame, named by the kick; ``team`` and ``player`` are the shooter's, ``detail.part`` is what it hit.
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
        )

    def initial(self) -> ShotState:
        """No shot."""
        return ShotState()

    def step(self, state: ShotState, event: Event) -> Step[ShotState]:
        """A shot, then the frame of the right goal; once, however often the ball bounces between the posts."""
        payload = published(event)
        if event.kind == "direction":
            return ShotState(payload.team, state.shot), NOTHING
        if event.kind == "shot.attempt":
            return ShotState(state.attacks, event), NOTHING
        if state.shot is None or event.ts_us <= state.shot.ts_us:
            return state, NOTHING
        made, after = published(state.shot), ShotState(state.attacks)
        attacked = "right" if made.team == state.attacks else "left"
        late = event.ts_us - state.shot.ts_us > self.parameters.woodwork_us
        if late or payload.detail["side"] != attacked:
            return after, NOTHING
        detail: dict[str, Scalar] = {"part": payload.variant}
        post = EventPayload(
            "", made.team, made.player, payload.x_m, payload.y_m, payload.z_m, payload.confidence, detail
        )
        return after, (_named("shot.post", state.shot, event, post),)
