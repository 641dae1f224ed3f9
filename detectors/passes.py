"""Level 6 and 7: pass attempts and what becomes of them."""

from __future__ import annotations

import math

import msgspec

from detectors.deadball import Play, RestartParameters, contact, crossed
from detectors.facts import Fact, Scalar, fact_event
from detectors.flight import FlightParameters, Reach, ShotParameters, first_to_reach, shot_projection
from detectors.inputs import MatchSheet, Team
from detectors.pitch import pitch_of
from detectors.states import Frame
from detectors.touches import number
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class PassParameters(msgspec.Struct, frozen=True):
    """``dated_back_us``: a pass is dated at its kick; a ball that takes longer to leave its kicker than this is
    dated so much before it leaves (1.2 s is 2.25 m at walking pace). ``block_us``: a contact so soon after an
    opponent's is a block, not a decision (simple human reaction 0.2 s and a leg's movement)."""

    dated_back_us: int = 1_200_000
    block_us: int = 350_000


class PassState(msgspec.Struct, frozen=True, gc=False):
    """Who attacks +x; in play or not; newest frame; last contacts, newest last; a release taken for a dribble."""

    attacks: Team = ""
    play: Play = Play()
    frame: Event | None = None
    contacts: tuple[Event, ...] = ()
    dribble: Event | None = None


class PassAttempt:
    """6.7: ``pass.attempt``, dated at the kick, named by the kick's ball state.

    A released kick is a pass unless it is a shot (6.1's projection), a block, play is dead, or the kicker himself
    gets to the ball first (a dribble). If a mate plays the dribbled ball next after all, the pass is given then,
    as long as it can still be dated back. ``detail``: the mate who gets there first (``receiver``), when and where.
    """

    def __init__(
        self,
        sheet: MatchSheet,
        parameters: PassParameters | None = None,
        flight: FlightParameters | None = None,
        shot: ShotParameters | None = None,
        restart: RestartParameters | None = None,
    ) -> None:
        self.parameters = parameters or PassParameters()
        self.flight = flight or FlightParameters()
        self.shot = shot or ShotParameters()
        self.restart = restart or RestartParameters()
        self._pitch = pitch_of(sheet)
        self.spec = Spec(
            name="pass_attempt",
            number="6.7",
            level=6,
            inputs=("frame", "ball.crossed", "direction", "hit", "touch", "kick.released"),
            outputs=("pass.attempt",),
            horizon_us=self.parameters.dated_back_us,
            parameters={
                **msgspec.structs.asdict(self.parameters),
                **msgspec.structs.asdict(self.flight),
                **msgspec.structs.asdict(self.restart),
            },
            source="StreamTeam kickEvent; 000 5.1 (pass); Spearman's time to intercept for the receiver",
        )

    def initial(self) -> PassState:
        """Nothing known."""
        return PassState()

    def step(self, state: PassState, event: Event) -> Step[PassState]:
        """Frames and contacts are noted; a release decides, or a mate's contact after a dribble."""
        replace = msgspec.structs.replace
        if event.kind == "frame":
            return PassState(state.attacks, state.play, event, state.contacts, state.dribble), NOTHING
        fact = event.payload
        assert isinstance(fact, Fact)
        if event.kind == "direction":
            return replace(state, attacks=fact.team), NOTHING
        if event.kind == "ball.crossed":
            return replace(state, play=crossed(state.play, event), dribble=None), NOTHING
        if event.kind == "kick.released":
            return self._released(state, event, fact)
        return self._contact(state, event, fact)

    def _contact(self, state: PassState, event: Event, fact: Fact) -> Step[PassState]:
        contacts = (*state.contacts[-3:], event)
        after = msgspec.structs.replace(state, contacts=contacts, dribble=None)
        if state.dribble is None:
            return after, NOTHING
        release = state.dribble.payload
        assert isinstance(release, Fact)
        if fact.player == release.player:
            return after, NOTHING
        late = event.ts_us - round(number(release, "kick_us")) > self.parameters.dated_back_us
        if fact.team != release.team or late:
            return after, NOTHING
        assert fact.x_m is not None
        assert fact.y_m is not None
        took_s = (event.ts_us - state.dribble.ts_us) * 1e-6
        reach = Reach(fact.player, took_s, fact.x_m, fact.y_m)
        return after, (self._attempt(event.ts_us, state.dribble, release, reach),)

    def _released(self, state: PassState, event: Event, release: Fact) -> Step[PassState]:
        kick_us = round(number(release, "kick_us"))
        x_m, y_m = number(release, "kick_x_m"), number(release, "kick_y_m")
        play = contact(state.play, self._pitch, kick_us, release.player, x_m, y_m, self.restart)
        state = msgspec.structs.replace(state, play=play, dribble=None)
        if play.dead or state.frame is None or self._is_block(state, release, kick_us):
            return state, NOTHING
        if state.attacks:
            positive = state.attacks == release.team
            if shot_projection(release, positive, self._pitch, self.shot):
                return state, NOTHING
        frame = state.frame.payload
        assert isinstance(frame, Frame)
        own, others = first_to_reach(release, frame, self.flight)
        soonest_s = min((reach.after_s for reach in others.values()), default=math.inf)
        if own is not None and own.after_s <= soonest_s:
            return msgspec.structs.replace(state, dribble=event), NOTHING
        return state, (self._attempt(event.ts_us, event, release, others.get(release.team)),)

    def _is_block(self, state: PassState, release: Fact, kick_us: int) -> bool:
        for other in reversed(state.contacts):
            fact = other.payload
            assert isinstance(fact, Fact)
            if other.ts_us < kick_us:
                return fact.team != release.team and kick_us - other.ts_us <= self.parameters.block_us
        return False

    def _attempt(self, now_us: int, event: Event, release: Fact, reach: Reach | None) -> Event:
        kick_us = round(number(release, "kick_us"))
        detail: dict[str, Scalar] = {"kick_us": kick_us, "released_us": event.ts_us}
        if reach is not None:
            detail["receiver"] = reach.player
            detail["receiver_after_s"] = round(reach.after_s, 2)
            detail["end_x_m"], detail["end_y_m"] = round(reach.x_m, 2), round(reach.y_m, 2)
        fact = Fact(
            "",
            release.team,
            release.player,
            number(release, "kick_x_m"),
            number(release, "kick_y_m"),
            None,
            release.confidence,
            detail,
        )
        ts_us = max(kick_us, now_us - self.parameters.dated_back_us)
        return fact_event("pass.attempt", ts_us, event.source, fact, causes=(event.id,))


class OutcomeParameters(msgspec.Struct, frozen=True):
    """``within_us``: StreamTeam's maxTime. ``control_us``: an opponent who has the ball taken off him again sooner
    than this has deflected the pass, not won it (FIFA EFI's idea of control; the number is ours)."""

    within_us: int = 7_000_000


class OutcomeState(msgspec.Struct, frozen=True, gc=False):
    """The pass under way."""

    attempt: Event | None = None


class PassOutcome:
    """7.6 and 7.7: ``pass.complete``, ``pass.intercepted``, ``pass.out``: what came first after an attempt.

    Dated at the gain or the crossing, named by the kick; ``player`` is the passer, ``receiver`` who got it.
    """

    def __init__(self, parameters: OutcomeParameters | None = None) -> None:
        self.parameters = parameters or OutcomeParameters()
        self.spec = Spec(
            name="pass_outcome",
            number="7.6",
            level=7,
            inputs=("possession.gain", "out", "pass.attempt"),
            outputs=("pass.complete", "pass.intercepted", "pass.out"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="StreamTeam (7 s); kloppy PassResult; 000 5.1 '(unsuccessful) pass'; covers 7.6 and 7.7",
        )

    def initial(self) -> OutcomeState:
        """No pass under way."""
        return OutcomeState()

    def step(self, state: OutcomeState, event: Event) -> Step[OutcomeState]:
        """A new attempt takes the place of the old one; a gain or an out decides."""
        if event.kind == "pass.attempt":
            return OutcomeState(event), NOTHING
        if state.attempt is None:
            return state, NOTHING
        attempt, fact = state.attempt, event.payload
        made = attempt.payload
        assert isinstance(fact, Fact)
        assert isinstance(made, Fact)
        if event.ts_us - attempt.ts_us > self.parameters.within_us:
            return OutcomeState(), NOTHING
        if event.kind == "out":
            return OutcomeState(), (_outcome("pass.out", attempt, made, event, fact, fact.variant),)
        if event.ts_us <= attempt.ts_us:
            return state, NOTHING
        if fact.player == made.player:
            return OutcomeState(), NOTHING
        kind = "pass.complete" if fact.team == made.team else "pass.intercepted"
        return OutcomeState(), (_outcome(kind, attempt, made, event, fact, ""),)


def _outcome(kind: str, attempt: Event, made: Fact, event: Event, got: Fact, variant: str) -> Event:
    detail: dict[str, Scalar] = {"start_x_m": made.x_m, "start_y_m": made.y_m, "kick_us": attempt.ts_us}
    if kind != "pass.out":
        detail["receiver"] = got.player
    if None not in (made.x_m, made.y_m, got.x_m, got.y_m):
        detail["length_m"] = round(math.hypot(got.x_m - made.x_m, got.y_m - made.y_m), 2)  # type: ignore[operator]
    fact = Fact(variant, made.team, made.player, got.x_m, got.y_m, got.z_m, made.confidence, detail)
    return fact_event(kind, event.ts_us, attempt.source, fact, causes=(attempt.id, event.id))


class InterceptionParameters(msgspec.Struct, frozen=True):
    """``moving_m_s``: a pass that still moves (2.4). ``after_us``: sooner, it is a block or a duel (6.7's block).
    ``out_us``: an opponent's contact that the ball leaves the field after, without another one, won a throw or
    corner at best: ``to out``."""

    moving_m_s: float = 4.0
    after_us: int = 350_000
    out_us: int = 1_500_000


class InterceptionState(msgspec.Struct, frozen=True, gc=False):
    """The pass under way and the opponent's gain that ended it, while the ball may still run out."""

    attempt: Event | None = None
    gain: Event | None = None


class Interception:
    """7.8: ``interception`` x {won, to out}: an opponent gains a moving pass.

    ``won`` is published at the gain; if the ball then runs out without another contact, ``to out`` follows and annuls it.
    """

    def __init__(self, parameters: InterceptionParameters | None = None) -> None:
        self.parameters = parameters or InterceptionParameters()
        self.spec = Spec(
            name="interception",
            number="7.8",
            level=7,
            inputs=("possession.gain", "out", "pass.attempt"),
            outputs=("interception",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="kloppy InterceptionResult; numbers ours",
        )

    def initial(self) -> InterceptionState:
        """No pass under way."""
        return InterceptionState()

    def step(self, state: InterceptionState, event: Event) -> Step[InterceptionState]:
        """Attempt, then an opponent's gain, then perhaps the line."""
        if event.kind == "pass.attempt":
            return InterceptionState(event, None), NOTHING
        if event.kind == "out":
            return InterceptionState(), self._to_out(state, event)
        attempt, fact = state.attempt, event.payload
        if attempt is None or event.ts_us <= attempt.ts_us:
            return InterceptionState(), NOTHING
        made = attempt.payload
        assert isinstance(fact, Fact)
        assert isinstance(made, Fact)
        moving = number(fact, "speed_before_m_s") >= self.parameters.moving_m_s
        soon = event.ts_us - attempt.ts_us < self.parameters.after_us
        if fact.team == made.team or not moving or soon:
            return InterceptionState(), NOTHING
        won = self._fact("won", fact, made)
        found = fact_event("interception", event.ts_us, event.source, won, causes=(attempt.id, event.id))
        return InterceptionState(attempt, event), (found,)

    def _to_out(self, state: InterceptionState, event: Event) -> tuple[Event, ...]:
        if state.gain is None or state.attempt is None:
            return NOTHING
        if event.ts_us - state.gain.ts_us > self.parameters.out_us:
            return NOTHING
        fact, made = state.gain.payload, state.attempt.payload
        assert isinstance(fact, Fact)
        assert isinstance(made, Fact)
        anchor = f"{state.gain.source}/out"
        won_id = f"interception#{state.gain.source}"
        amended = self._fact("to out", fact, made)
        causes = (state.attempt.id, state.gain.id, event.id)
        return (fact_event("interception", event.ts_us, anchor, amended, causes=causes, annuls=won_id),)

    def _fact(self, variant: str, gain: Fact, made: Fact) -> Fact:
        return Fact(
            variant, gain.team, gain.player, gain.x_m, gain.y_m, gain.z_m, gain.confidence, {"passer": made.player}
        )
