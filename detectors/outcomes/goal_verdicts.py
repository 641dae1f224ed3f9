"""10.14: the verdict on a goal (IFAB Laws 8, 10).

Theory of operation
-------------------
The next restart shows what the referee has decided, however long a review takes: a kick-off confirms the goal; any
other restart means that it was disallowed (offside, foul). ``goal.disallowed`` annuls the goal that it names. A goal at
the end of a half has no kick-off of its own; the end of the period confirms it, or the begin of the next one (Laws 7
and 10).

That restart may not be seen: the ball is lost at the kick-off, and evidence shows that play goes on. If it has gone on
for as long as the fastest goals take, the restart after it belongs to another stop. The goal then stands, and is
tentative until a kick-off or the end of the period. But play that goes on sooner than any kick-off comes has not been
stopped: a goalkeeper had the ball.

Decisions of the officials (1.10) overrule that. ``official.goal`` is confirmed at once, ``official.no_goal`` disallows
at once. The newest decision stands, and withdraws earlier conclusions.
"""

from __future__ import annotations

import msgspec

from detectors.contacts.recent_contacts import opponents_of
from detectors.decisions import at_least, at_most
from detectors.emission import is_version, make_event, shown_us, withdrawal
from detectors.outcomes.goal_parameters import GoalParameters
from detectors.signals.official import changes_kind, decided_us
from football.match_sheet import MatchSheet
from football.payloads import EventPayload, payload_of, time_us
from football.pitch import ENDS
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event


class VerdictState(msgspec.Struct, frozen=True, gc=False):
    """State.

    Attributes:
        goal: the newest version of the goal.
        verdict: the verdict on it, None so far.
        resumed_us: play went on after the goal since then, by a restart that nobody saw; -1 if it did not.
        played: True if it went on for so long that a restart of its own follows.
        kick_off: the one after a verdict by an end of the period that is only supposed: it may begin the next period.
    """

    goal: Event | None = None
    verdict: Event | None = None
    resumed_us: int = -1
    played: bool = False
    kick_off: Event | None = None


class GoalConfirmation:
    """10.14: ``goal.confirmed`` or ``goal.disallowed``: the verdict on a goal.

    The first restart after the goal decides, or the officials, whose decision also withdraws an earlier verdict. If
    that restart was not seen, and play has gone on, only a kick-off decides. Team, player and variant are the goal's.
    ``detail``: ``restart`` (kind of the deciding event, a restart or a period's), ``goal_us`` (event time of the goal),
    ``goal`` (its id).
    """

    def __init__(self, sheet: MatchSheet, parameters: GoalParameters | None = None) -> None:
        self.parameters = parameters or GoalParameters()
        kinds = ("goal.confirmed", "goal.disallowed")
        self.spec = Spec(
            name="goal_confirmation",
            number="10.14",
            level=10,
            inputs=(
                "goal.scored",
                "goal.own",
                "play.dead",
                "play.live",
                "restart.kick_off",
                "restart.throw_in",
                "restart.corner",
                "restart.goal_kick",
                "restart.free_kick",
                "restart.penalty",
                "restart.dropped",
                "period.end",
                "period.start",
                "official.foul",
                "official.offside",
                "official.var",
                "official.no_goal",
                "official.penalty",
                "official.void",
                "official.correction",
            ),
            outputs=kinds,
            parameters={
                name: getattr(self.parameters, name)
                for name in ("confirm_us", "played_us", "overrule_us", "offence_us", "whistle_us")
            },
            source="IFAB Law 8",
            annuls=("goal.scored", "goal.own", *kinds),
            amends=kinds,
            known=dict.fromkeys(kinds, Known("at the first restart or decision after the goal")),
            team_variants=dict.fromkeys(kinds, (*ENDS, "")),
            untyped=kinds,
            details=dict.fromkeys(("goal.confirmed", "goal.disallowed"), ("restart", "goal_us", "goal")),
        )

    def initial(self) -> VerdictState:
        """No goal waits."""
        return VerdictState()

    def step(self, state: VerdictState, event: Event) -> Step[VerdictState]:
        """Remember the goal; the next restart decides, and officials at any time."""
        if event.kind.startswith("goal."):
            return self._goal(state, event)
        goal = state.goal
        if goal is None:
            return state, NOTHING
        if event.kind.startswith("official."):
            return self._officials(state, goal, event)
        if event.kind.startswith("play."):
            return self._with_play(state, goal, event), NOTHING
        if event.kind.startswith("period."):
            return self._period(state, goal, event)
        what, since_us, limit_us = "time since the goal", event.ts_us - goal.ts_us, self.parameters.confirm_us
        # An end of the period that is only supposed does not outweigh play that goes on with another restart.
        before = state.verdict
        supposed = before is not None and payload_of(before).detail["restart"] == "period.end"
        if before is not None and not supposed:
            return state, NOTHING
        if before is not None and event.kind == "restart.kick_off":
            return msgspec.structs.replace(state, kick_off=event), NOTHING
        if not at_most(what, since_us, limit_us, "goal.confirm_us"):
            return state, NOTHING
        restart = payload_of(event)
        if restart.detail.get("shoot_out"):
            return state, NOTHING  # 10.11 decides about kicks of a shoot-out
        if state.played and event.kind != "restart.kick_off":
            return state, NOTHING  # the goal's own restart was not seen
        confidence = restart.confidence
        if event.kind == "restart.kick_off":
            verdict = _verdict("goal.confirmed", goal, event, goal.source, confidence)
        else:
            verdict = _verdict("goal.disallowed", goal, event, goal.source, confidence, annuls=goal.id)
        withdrawn = (withdrawal(before, event.ts_us),) if before is not None else NOTHING
        return VerdictState(goal, verdict), (*withdrawn, verdict)

    def _with_play(self, state: VerdictState, goal: Event, event: Event) -> VerdictState:
        """The state with a begin or an end of play after the goal, if its restart was not seen."""
        payload = payload_of(event)
        if is_version(event) or state.verdict is not None or state.played:
            return state
        if event.kind == "play.live":
            kick_us, p = time_us(payload, "kick_us"), self.parameters
            what, since_us = "time from the goal until play goes on", kick_us - shown_us(goal)
            unseen = bool(payload.detail["fallback"])
            kicked_off = unseen and at_least(what, since_us, p.soonest_us, "goal.soonest_us", "goal.disallowed")
            return msgspec.structs.replace(state, resumed_us=kick_us if kicked_off else -1)
        if state.resumed_us < 0:
            return state
        played_us, limit_us = time_us(payload, "since_us") - state.resumed_us, self.parameters.played_us
        played = at_least("time played since the goal", played_us, limit_us, "goal.played_us")
        return msgspec.structs.replace(state, resumed_us=-1, played=played)

    def _period(self, state: VerdictState, goal: Event, event: Event) -> Step[VerdictState]:
        """Confirm a goal at the end of a period; withdraw that if the end is withdrawn, as play goes on.

        If play has gone on with a kick-off, that confirms the goal.
        """
        verdict = state.verdict
        if event.annuls:
            if verdict is None or event.id not in verdict.causes:
                return state, NOTHING
            withdrawn, kick_off = withdrawal(verdict, event.ts_us), state.kick_off
            if kick_off is None:
                return VerdictState(goal), (withdrawn,)
            shown = _verdict("goal.confirmed", goal, kick_off, goal.source, payload_of(kick_off).confidence)
            shown = msgspec.structs.replace(shown, ts_us=event.ts_us)
            return VerdictState(goal, shown), (withdrawn, shown)
        if verdict is not None or event.ts_us <= goal.ts_us:
            return state, NOTHING
        anchor = f"{goal.source}/{event.source}"
        verdict = _verdict("goal.confirmed", goal, event, anchor, payload_of(event).confidence)
        return VerdictState(goal, verdict), (verdict,)

    def _goal(self, state: VerdictState, event: Event) -> Step[VerdictState]:
        """Remember a goal; confirm it if officials have decided it."""
        if event.annuls:
            return state, NOTHING
        if not is_official(event):
            goal = payload_of(event)
            if not goal.detail.get("kick_off"):
                return VerdictState(event), NOTHING
            shown = _verdict("goal.confirmed", event, event, event.source, goal.confidence)
            return VerdictState(event, shown), (shown,)
        # It is the same goal under another kind if officials have made an own goal of it, or the reverse.
        verdict = state.verdict if state.goal is not None and shown_us(state.goal) == shown_us(event) else None
        if verdict is not None and verdict.kind == "goal.confirmed":
            return VerdictState(event, verdict), NOTHING
        anchor = f"{event.source}/{event.ts_us}"
        confirmed = _verdict("goal.confirmed", event, event, anchor, 1.0, annuls=verdict.id if verdict else "")
        return VerdictState(event, confirmed), (confirmed,)

    def _officials(self, state: VerdictState, goal: Event, event: Event) -> Step[VerdictState]:
        verdict, payload = state.verdict, payload_of(event)
        if event.kind == "official.correction" and not changes_kind(payload):
            return state, NOTHING
        if event.kind in ("official.void", "official.correction"):
            return (VerdictState() if payload.detail["event"] == goal.id else state), NOTHING
        if not self._is_against(goal, event, payload):
            return state, NOTHING
        what, since_us, limit_us = "time since the goal", event.ts_us - goal.ts_us, self.parameters.overrule_us
        if not at_most(what, since_us, limit_us, "goal.overrule_us"):
            return state, NOTHING
        if verdict is not None and verdict.kind == "goal.disallowed":
            return state, NOTHING
        no = _verdict("goal.disallowed", goal, event, f"{goal.source}/{event.ts_us}", 1.0, annuls=goal.id)
        if verdict is None:
            return VerdictState(goal, no), (no,)
        return VerdictState(goal, no), (withdrawal(verdict, event.ts_us), no)

    def _is_against(self, goal: Event, event: Event, decision: EventPayload) -> bool:
        """True if a decision means that a goal does not count.

        That is a decision against the goal itself, an offside or a foul of the scorers in the attack, or a penalty for
        the other team for which play is brought back to before the goal.
        """
        p, team, since_us = self.parameters, payload_of(goal).team, decided_us(event) - shown_us(goal)
        if event.kind in ("official.foul", "official.offside"):
            return decision.team == team and -p.offence_us <= since_us <= p.whistle_us
        if event.kind == "official.penalty" or decision.variant == "penalty":
            return decision.team == opponents_of(team) and -p.overrule_us <= since_us < 0
        return (event.kind == "official.no_goal" or decision.variant == "no goal") and decision.team in ("", team)


def is_official(goal: Event | None) -> bool:
    """True if officials have decided a goal."""
    payload = goal.payload if goal is not None else None
    return isinstance(payload, EventPayload) and bool(payload.detail.get("official"))


def _verdict(kind: str, goal: Event, by: Event, anchor: str, confidence: float, *, annuls: str = "") -> Event:
    payload = payload_of(goal)
    restart = "restart.kick_off" if by is goal and payload.detail.get("kick_off") else by.kind
    detail = {"restart": restart, "goal_us": shown_us(goal), "goal": goal.id}
    goal_payload = msgspec.structs.replace(payload, confidence=confidence, detail=detail)
    causes = (goal.id,) if by.id == goal.id else (goal.id, by.id)
    return make_event(kind, by.ts_us, anchor, goal_payload, causes=causes, annuls=annuls)
