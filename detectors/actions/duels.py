"""6.8: duels: two opponents contest the ball in play, and one of them wins it.

Theory of operation
-------------------
A *spell* is a player's time with the ball: from his first contact to another player's. Three things decide a duel:

* An opponent plays the ball of the player who has it. Both are at the ball, which is slow before and after: a fast
  ball was passed, and is intercepted, blocked or headed. The spell has lasted a moment, since who is only hit by the
  ball, or has only poked it, has not had it. If the other team plays the ball again at once, nobody has lost it.
  Without limbs the contact may be anybody's, so the duel has a chance, by what was seen at the contact and after it.
* The player with the ball gets past an opponent who was ahead on his way and near the ball, and leaves him behind.
  Who is passed at a distance was avoided. The way is where the player with the ball has moved, because a dribbler's
  heading turns. Contacts only say who has the ball.
* Two opponents have run for a ball that neither has, and both are at it when one of them plays it. One of them may
  have lost it before. Whoever runs for a ball brakes at it. They come to it together: if one was there before the
  other, he has won it alone, though his first contact may be too soft to be found. A ball that left its last player
  fast was passed to somebody, and is not loose.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import msgspec

from detectors.actions.duel_parameters import DuelParameters
from detectors.contacts.recent_contacts import opponents_of
from detectors.decisions import at_least, at_most, below, note
from detectors.emission import make_event
from football.match_sheet import Team
from football.payloads import BallState, BodyState, EventPayload, Frame, Scalar, frame_of, number, payload_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event

#: Who had the ball is taken to be so far from it if he or it is not seen; and at most so far.
UNSEEN_M, FAR_M = 1.3, 4.0


class Spell(msgspec.Struct, frozen=True, gc=False):
    """A player's time with the ball: since when, and the time, source and speed after of his last contact.

    ``has`` is False of who has only poked it, or was hit by it: nobody can take it from him.
    """

    player: str
    team: Team
    since_us: int
    last_us: int
    source: str
    speed_m_s: float
    has: bool = True


class Sample(msgspec.Struct, frozen=True, gc=False):
    """Where the player with the ball is, and the opponents near him: each with his place and distance from the ball."""

    at_us: int
    x_m: float
    y_m: float
    near: tuple[tuple[str, float, float, float], ...]


class Runner(msgspec.Struct, frozen=True, gc=False):
    """A player who runs towards the ball: the newest time of it, and how fast."""

    player: str
    at_us: int
    speed_m_s: float


class Claim(msgspec.Struct, frozen=True, gc=False):
    """A duel that is still to be confirmed: the contact or frame, who had the ball, the rival, who won it.

    Attributes:
        event: the contact, or the frame at which an opponent was passed.
        winner: the opponent at his contact, else who had the ball.
        speed_m_s: of who had the ball.
        ahead_m: of the opponent, along the way of who had the ball.
    """

    event: Event
    spell: Spell
    rival: str
    winner: str
    speed_m_s: float
    ahead_m: float


class DuelState(msgspec.Struct, frozen=True, gc=False):
    """State of the detector.

    Attributes:
        dead: True if play is dead.
        spell: who has the ball.
        frame: the newest sample.
        way: the newest samples of who has the ball.
        claim: a duel to be confirmed.
        duel_us: time of the newest duel.
        runners: who lately ran towards a ball that nobody has.
        arrived: players near the ball, and how far from it, when the first one came to it; empty while nobody is there.
    """

    dead: bool = False
    spell: Spell | None = None
    frame: Event | None = None
    way: tuple[Sample, ...] = ()
    claim: Claim | None = None
    duel_us: int = -(2**62)
    runners: tuple[Runner, ...] = ()
    arrived: tuple[tuple[str, float], ...] = ()


class Evidence(NamedTuple):
    """Signs of a tackle on centroids.

    Attributes:
        since_s: time since the last contact of who had the ball.
        once: 1 if he has touched it only once.
        reach_m: distance of the opponent from the ball at his contact.
        off_m: distance of who had the ball from it, when the duel is known.
    """

    since_s: float
    once: float
    reach_m: float
    off_m: float


def evidence_of(claim: Claim, frame: Frame) -> Evidence:
    """The evidence of a duel that an opponent's contact claims; ``frame`` is the newest sample."""
    spell = claim.spell
    carrier = next((body for body in frame.players if body.object_id == spell.player), None)
    off_m = UNSEEN_M if carrier is None or frame.ball is None else min(_away_m(carrier, frame.ball), FAR_M)
    since_s = (claim.event.ts_us - spell.last_us) / 1e6
    return Evidence(
        since_s, float(spell.since_us == spell.last_us), number(payload_of(claim.event), "distance_m"), off_m
    )


def chance_of(evidence: Evidence, p: DuelParameters) -> float:
    """The chance that an opponent's contact was a tackle."""
    fallen = p.late_factor * evidence.since_s + p.once_factor * evidence.once + p.off_factor * evidence.off_m
    odds = p.odds_factor * math.exp(p.reach_factor * evidence.reach_m - fallen)
    return odds / (1.0 + odds)


class Duel:
    """6.8: ``duel.start`` and ``duel.end`` x {ground, loose}: two opponents contest the ball, and one of them wins it.

    ``ground``: an opponent plays the ball of the player who has it, or is passed by him. ``player`` of the start had
    the ball. ``loose``: two opponents run for a ball that neither has; ``player`` of the start is who plays it.
    ``player`` of the end won the ball. Both are dated at the contact that decides, or when the opponent is passed. To
    be near an opponent with the ball is no duel; a try that misses the ball shows only if he is passed; a foul is an
    event of its own. ``detail``: ``other`` (the opponent), ``carrier`` (who had the ball, empty if loose),
    ``speed_m_s`` (of the carrier), ``ahead_m`` (how far the opponent is ahead on the carrier's way).
    """

    def __init__(self, parameters: DuelParameters | None = None, *, limbs: bool = True) -> None:
        self.parameters, self._limbs = parameters or DuelParameters(), limbs
        kinds = ("duel.end", "duel.start")
        self.spec = Spec(
            name="duel",
            number="6.8",
            level=6,
            inputs=("frame", "hit", "touch", "deflection", "phase.dead", "phase.live"),
            outputs=kinds,
            parameters=msgspec.structs.asdict(self.parameters),
            source="StatsBomb (duel, 50/50, dribble); Opta (tackle, take-on)",
            variants=dict.fromkeys(kinds, ("ground", "loose")),
            amends=kinds,
            known=dict.fromkeys(kinds, Known("when the ball has been kept for a moment, or a mate plays it")),
            details=dict.fromkeys(kinds, ("other", "carrier", "speed_m_s", "ahead_m")),
        )

    def initial(self) -> DuelState:
        """No touch; play counts as live, as in 5.10."""
        return DuelState()

    def step(self, state: DuelState, event: Event) -> Step[DuelState]:
        """Sample the players at the ball; a contact may decide a duel."""
        if event.kind == "frame":
            due_us = -(2**62) if state.frame is None else state.frame.ts_us + self.parameters.every_us
            return (state, NOTHING) if state.dead or event.ts_us < due_us else self._look(state, event)
        if event.kind == "phase.dead":
            taken = state.claim is not None and state.claim.winner == state.claim.rival
            return DuelState(True, duel_us=state.duel_us), self._confirmed(state, event) if taken else NOTHING
        made, spell = payload_of(event), state.spell
        if event.kind == "deflection":
            if event.annuls or spell is None or (spell.player, spell.last_us) != (made.player, event.ts_us):
                return state, NOTHING
            return msgspec.structs.replace(state, spell=msgspec.structs.replace(spell, has=False)), NOTHING
        if event.kind == "phase.live":
            spell = Spell(made.player, made.team, event.ts_us, event.ts_us, event.source, math.inf)
            return DuelState(False, spell if made.player else None, duel_us=state.duel_us), NOTHING
        return (state, NOTHING) if state.dead else self._contact(state, event, made)

    # -- contacts -------------------------------------------------------------------------------------------------

    def _contact(self, state: DuelState, event: Event, made: EventPayload) -> Step[DuelState]:
        out: tuple[Event, ...] = ()
        before, claim = state.spell, state.claim
        if claim is not None:
            if made.team == _team_of(claim):
                out = () if claim.winner == claim.spell.player else self._confirmed(state, event)
            elif claim.winner == claim.rival and event.ts_us - claim.event.ts_us > self.parameters.kept_us:
                out = self._confirmed(state, event)
            if not (claim.winner == claim.spell.player == made.player):
                claim = None
        duel_us = event.ts_us if out else state.duel_us
        speed_m_s = number(made, "speed_after_m_s")
        if before is not None and before.player == made.player:
            since_us = before.since_us if before.has else event.ts_us
            spell = Spell(made.player, made.team, since_us, event.ts_us, event.source, speed_m_s)
            return DuelState(False, spell, state.frame, state.way, claim, duel_us, state.runners, state.arrived), out
        spell = Spell(made.player, made.team, event.ts_us, event.ts_us, event.source, speed_m_s)
        if before is not None and before.team != made.team and state.frame is not None:
            claim = self._challenge(before, event, made, frame_of(state.frame))
            if claim is not None:
                duel_us, spell = event.ts_us, msgspec.structs.replace(spell, has=False)
        if claim is None and not out:
            out = self._loose(state, event, made)
            duel_us = event.ts_us if out else duel_us
        return DuelState(False, spell, state.frame, (), claim, duel_us, state.runners, state.arrived), out

    def _challenge(self, spell: Spell, event: Event, made: EventPayload, frame: Frame) -> Claim | None:
        """The claim of an opponent who plays the ball of the player who has it; None if he does not."""
        p = self.parameters
        bodies = {body.object_id: body for body in frame.players}
        carrier, rival, ball = bodies.get(spell.player), bodies.get(made.player), frame.ball
        if carrier is None or rival is None or ball is None or (made.z_m or 0.0) > p.low_m:
            return None
        before_m_s, after_m_s = number(made, "speed_before_m_s"), number(made, "speed_after_m_s")
        lasted = spell.has and event.ts_us - spell.since_us >= p.spell_us and event.ts_us - spell.last_us <= p.since_us
        slow = max(spell.speed_m_s, before_m_s) <= p.slow_m_s and after_m_s <= p.hard_m_s
        if not (lasted and slow) or _away_m(carrier, ball) > p.reach_m:
            return None
        once = self._limbs and spell.since_us == spell.last_us
        if once and (event.ts_us - spell.since_us < p.once_us or after_m_s < p.poked_m_s):
            return None
        way = _heading(carrier)
        ahead_m = (rival.x_m - carrier.x_m) * way[0] + (rival.y_m - carrier.y_m) * way[1]
        return Claim(event, spell, made.player, made.player, _speed(carrier), ahead_m)

    def _loose(self, state: DuelState, event: Event, made: EventPayload) -> tuple[Event, ...]:
        """The duel of two who run for a ball that neither has."""
        p, frame = self.parameters, state.frame
        ball = None if frame is None else frame_of(frame).ball
        if frame is None or ball is None or event.ts_us - state.duel_us < p.again_us or (made.z_m or 0.0) > p.low_m:
            return NOTHING
        if state.spell is not None:
            free_us = event.ts_us - state.spell.last_us
            # A faster ball was passed to somebody.
            passed = not at_most("speed of the ball since", state.spell.speed_m_s, p.slow_m_s, "duel.slow_m_s")
            if passed or not at_least("time since the last contact", free_us, p.free_us, "duel.free_us"):
                return NOTHING
        bodies = frame_of(frame).players
        own = next((body for body in bodies if body.object_id == made.player), None)
        rivals = [body for body in bodies if body.team == opponents_of(made.team)]
        rival = min(rivals, key=lambda body: _away_m(body, ball), default=None)
        if own is None or rival is None:
            return NOTHING
        ran_m_s = {runner.player: runner.speed_m_s for runner in state.runners}
        slower_m_s = min(ran_m_s.get(made.player, 0.0), ran_m_s.get(rival.object_id, 0.0))
        checks = (
            below("speed of the ball before", number(made, "speed_before_m_s"), p.slow_m_s, "duel.slow_m_s"),
            at_most("the opponent from the ball", _away_m(rival, ball), p.loose_m, "duel.loose_m"),
            at_least("the slower one's run to the ball", slower_m_s, p.run_m_s, "duel.run_m_s"),
        )
        if not all(checks) or not self._is_contested(state, rival.object_id):
            return NOTHING
        return _duel(event, event, "loose", (made.player, rival.object_id), made.player, made, {"carrier": ""})

    # -- samples --------------------------------------------------------------------------------------------------

    def _look(self, state: DuelState, event: Event) -> Step[DuelState]:
        frame, p, claim = frame_of(event), self.parameters, state.claim
        out: tuple[Event, ...] = ()
        duel_us = state.duel_us
        if claim is not None:
            beaten = claim.winner == claim.spell.player
            if event.ts_us - claim.event.ts_us >= (p.held_us if beaten else p.kept_us):
                out = self._confirmed(state, event) if not beaten or self._left(claim, frame) else ()
                claim = None
        way = state.way
        if claim is None and state.spell is not None and frame.ball is not None:
            way, claim = self._past(state.spell, way, event, frame, frame.ball)
        if out:
            duel_us = event.ts_us
        runners, arrived = self._running(state, event, frame), self._arrived(state.arrived, frame)
        return DuelState(False, state.spell, event, way, claim, duel_us, runners, arrived), out

    def _running(self, state: DuelState, event: Event, frame: Frame) -> tuple[Runner, ...]:
        """The players who ran towards the ball within ``run_us``."""
        p, ball = self.parameters, frame.ball
        lately = {one.player: one for one in state.runners if event.ts_us - one.at_us <= p.run_us}
        if ball is None:
            return tuple(lately.values())
        for body in frame.players:
            dx, dy = ball.x_m - body.x_m, ball.y_m - body.y_m
            away_m = max(math.sqrt(dx * dx + dy * dy), 1e-9)
            speed_m_s = (body.vx_m_s * dx + body.vy_m_s * dy) / away_m
            if speed_m_s >= p.run_m_s and away_m <= p.from_m:
                lately[body.object_id] = Runner(body.object_id, event.ts_us, round(speed_m_s, 2))
        return tuple(lately.values())

    def _arrived(self, before: tuple[tuple[str, float], ...], frame: Frame) -> tuple[tuple[str, float], ...]:
        """The players near the ball as the first one comes to it; none while nobody is there."""
        p, ball = self.parameters, frame.ball
        if ball is None:
            return ()
        near = tuple((body.object_id, round(_away_m(body, ball), 2)) for body in frame.players)
        if all(away_m > p.loose_m for _, away_m in near):
            return ()
        return before or tuple((name, away_m) for name, away_m in near if away_m <= p.second_m)

    def _is_contested(self, state: DuelState, rival: str) -> bool:
        """True if the opponent was near as the first player came to the ball."""
        if not state.arrived:
            return True
        away_m = next((away_m for name, away_m in state.arrived if name == rival), math.inf)
        return at_most("the opponent from the ball", away_m, self.parameters.second_m, "duel.second_m")

    def _past(
        self, spell: Spell, way: tuple[Sample, ...], event: Event, frame: Frame, ball: BallState
    ) -> tuple[tuple[Sample, ...], Claim | None]:
        """Follow who has the ball; the claim if he has got past an opponent.

        The way is his movement since a sample, not his heading, which turns as he dribbles.
        """
        p = self.parameters
        carrier = next((body for body in frame.players if body.object_id == spell.player), None)
        if carrier is None or spell.speed_m_s > p.hard_m_s or _away_m(carrier, ball) > p.reach_m or ball.z_m > p.low_m:
            return (), None
        near = tuple(
            (body.object_id, round(body.x_m, 2), round(body.y_m, 2), round(_away_m(body, ball), 2))
            for body in frame.players
            if body.team == opponents_of(spell.team)
            and math.hypot(body.x_m - carrier.x_m, body.y_m - carrier.y_m) <= p.front_m
        )
        way = tuple(one for one in way if event.ts_us - one.at_us <= p.passed_us)
        for rival, x_m, y_m, ball_m in near if _speed(carrier) >= p.moving_m_s else ():
            if math.hypot(carrier.x_m - x_m, carrier.y_m - y_m) > p.faced_m:
                continue
            least_m = min([ball_m, *(gap_m for one in way for name, _, _, gap_m in one.near if name == rival)])
            if least_m > p.ball_m:
                continue
            for one in way:
                dx, dy = carrier.x_m - one.x_m, carrier.y_m - one.y_m
                ran_m = math.hypot(dx, dy)
                place = next(((x, y) for name, x, y, _ in one.near if name == rival), None)
                if place is None or ran_m < p.ran_m:
                    continue
                ahead_m = ((place[0] - one.x_m) * dx + (place[1] - one.y_m) * dy) / ran_m
                behind_m = ((carrier.x_m - x_m) * dx + (carrier.y_m - y_m) * dy) / ran_m
                if ahead_m >= p.ahead_m and behind_m >= p.behind_m:
                    return (), Claim(event, spell, rival, spell.player, _speed(carrier), -behind_m)
        return (*way, Sample(event.ts_us, round(carrier.x_m, 2), round(carrier.y_m, 2), near)), None

    def _left(self, claim: Claim, frame: Frame) -> bool:
        """True if the opponent who was passed is left."""
        bodies = {body.object_id: body for body in frame.players}
        carrier, rival = bodies.get(claim.spell.player), bodies.get(claim.rival)
        if carrier is None or rival is None:
            return False
        gap_m = math.hypot(carrier.x_m - rival.x_m, carrier.y_m - rival.y_m)
        return at_least("the opponent who was passed", gap_m, self.parameters.left_m, "duel.left_m")

    def _confirmed(self, state: DuelState, event: Event) -> tuple[Event, ...]:
        """Start and end of the duel that was claimed, known at ``event``."""
        claim = state.claim
        assert claim is not None
        frame = event if event.kind == "frame" else state.frame
        if frame is not None and not self.is_sure(claim, frame_of(frame)):
            return NOTHING
        made = payload_of(claim.event) if claim.event.kind != "frame" else _at_ball(frame_of(claim.event))
        detail: dict[str, Scalar] = {
            "carrier": claim.spell.player,
            "speed_m_s": round(claim.speed_m_s, 2),
            "ahead_m": round(claim.ahead_m, 2),
        }
        made = msgspec.structs.replace(made, team=_team_of(claim))
        self._note(claim)
        pair = (claim.spell.player, claim.rival)
        cause = claim.event if claim.event.kind != "frame" else None
        return _duel(event, cause, "ground", pair, claim.winner, made, detail, claim)

    def is_sure(self, claim: Claim, frame: Frame) -> bool:
        """True if a duel is likely enough, ``frame`` being the newest sample; limbs show whose foot it was."""
        if self._limbs or claim.event.kind == "frame":
            return True
        p = self.parameters
        return at_least("chance of a tackle", chance_of(evidence_of(claim, frame), p), p.sure, "duel.sure")

    def _note(self, claim: Claim) -> None:
        """Note what was compared when the duel was claimed."""
        p = self.parameters
        if claim.event.kind == "frame":
            note("the opponent behind", -claim.ahead_m, "at least", p.behind_m, "duel.behind_m")
            note("speed of who has the ball", claim.speed_m_s, "at least", p.moving_m_s, "duel.moving_m_s")
            return
        made, spell, at_us = payload_of(claim.event), claim.spell, claim.event.ts_us
        note("time with the ball", at_us - spell.since_us, "at least", p.spell_us, "duel.spell_us")
        note("time since the last contact", at_us - spell.last_us, "at most", p.since_us, "duel.since_us")
        note("speed of the ball before", number(made, "speed_before_m_s"), "at most", p.slow_m_s, "duel.slow_m_s")
        note("speed of the ball after", number(made, "speed_after_m_s"), "at most", p.hard_m_s, "duel.hard_m_s")


def _team_of(claim: Claim) -> Team:
    """The team of who won the duel."""
    return claim.spell.team if claim.winner == claim.spell.player else opponents_of(claim.spell.team)


def _away_m(body: BodyState, ball: BallState) -> float:
    return math.sqrt((body.x_m - ball.x_m) ** 2 + (body.y_m - ball.y_m) ** 2)


def _speed(body: BodyState) -> float:
    return math.sqrt(body.vx_m_s**2 + body.vy_m_s**2)


def _heading(body: BodyState) -> tuple[float, float]:
    speed_m_s = max(_speed(body), 1e-9)
    return body.vx_m_s / speed_m_s, body.vy_m_s / speed_m_s


def _at_ball(frame: Frame) -> EventPayload:
    ball = frame.ball
    assert ball is not None
    return EventPayload("", "", "", ball.x_m, ball.y_m, ball.z_m)


def _duel(
    known: Event,
    cause: Event | None,
    variant: str,
    pair: tuple[str, str],
    winner: str,
    made: EventPayload,
    detail: dict[str, Scalar],
    claim: Claim | None = None,
) -> tuple[Event, Event]:
    """Start and end of a duel; the start is the first one's of the pair. ``made`` has the winner's team."""
    first, second = pair
    loser = second if winner == first else first
    own = made.team if first == winner else opponents_of(made.team)

    def payload(team: Team, player: str, other: str) -> EventPayload:
        return msgspec.structs.replace(
            made, variant=variant, team=team, player=player, detail={"other": other, **detail}
        )

    source = cause.source if cause is not None else f"{claim.spell.source}/past" if claim is not None else known.source
    anchor, causes = f"{source}/{first}-{second}", (cause.id,) if cause is not None else ()
    dated_us = claim.event.ts_us if claim is not None else known.ts_us
    start = make_event("duel.start", known.ts_us, anchor, payload(own, first, second), causes=causes, dated_us=dated_us)
    end = make_event(
        "duel.end", known.ts_us, anchor, payload(made.team, winner, loser), causes=(start.id, *causes),
        dated_us=dated_us,
    )  # fmt: skip
    return start, end
