"""7.5 and 10.14: a goal, published at once; confirmed by the kick-off, or disallowed (IFAB Laws 8, 10).

Theory of operation
-------------------
Whether a ball in the goal counts, only the referee knows. The goal is told at once and stays tentative for its
readers; the next restart says what he decided: a kick-off confirms it, any other restart within the same two
minutes means that it was disallowed (offside, foul). ``goal.disallowed`` annuls the goal that it names.

Officials who speak (1.10) have the last word. ``official.goal`` is about the team's goal of that minute: of it comes a
newer version, with the scorer that they name; without one, theirs is the goal. So it is confirmed at once.
``official.no_goal`` disallows at once. Whichever comes last stands, and takes back what was concluded before.
"""

from __future__ import annotations

import msgspec

from detectors.contacts.recent_contacts import Contact, Contacts, opponents_of, remember
from detectors.emission import make_event
from detectors.signals.official import decided_us
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, published, time_us
from football.pitch import ENDS, GOAL_HALF_WIDTH_M, End, end_sign, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class GoalParameters(msgspec.Struct, frozen=True):
    """Thresholds of goals.

    Attributes:
        shot_us: a defender's contact within this time of an attacker's may be a deflection of his shot.
        shot_wide_m: the shot was on target if its line meets the goal line at most this far beside a post;
            the line is drawn between two contacts, so it is crude.
        confirm_us: the restart after a goal comes within this time.
        same_us: officials who speak of a goal date it at most so far from the ball's crossing (ours).
        overrule_us: and decide on it at most so long after it (ours: reviews have taken five minutes).
        offence_us: an offside or foul of the scorers that is dated so shortly before the goal, or as much later as a
            whistle is late, was in the attack that led to it (ours).
    """

    shot_us: int = 3_000_000
    shot_wide_m: float = 0.5
    confirm_us: int = 120_000_000
    same_us: int = 60_000_000
    overrule_us: int = 600_000_000
    offence_us: int = 10_000_000


#: A whistle for an offence in the attack may come when the ball is in the goal already.
_WHISTLE_US = 3_000_000


class GoalState(msgspec.Struct, frozen=True, gc=False):
    """The newest contacts, the newest version of the last goal, and who attacks towards +x."""

    contacts: Contacts = ()
    goal: Event | None = None
    attacks_x: Team = ""


class Goal:
    """7.5: ``goal.scored`` and ``goal.own``. ``team`` is who gets the goal, ``player`` who scored it.

    The scorer is the last attacker who hit the ball. It is an own goal if a defender hit it last and no attacker
    had shot at the goal just before; ``player`` is then that defender. ``variant`` is the end, empty if nobody knows.
    ``detail.official`` if officials have spoken for it.
    """

    def __init__(self, sheet: MatchSheet, parameters: GoalParameters | None = None) -> None:
        self.parameters = parameters or GoalParameters()
        self.pitch = pitch_of(sheet)
        self.spec = Spec(
            name="goal",
            number="7.5",
            level=7,
            inputs=("direction", "hit", "touch", "goal.candidate", "official.goal", "official.var"),
            outputs=("goal.scored", "goal.own"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="IFAB Law 10; StreamTeam",
            annuls=("goal.scored", "goal.own"),
            amends=("goal.scored", "goal.own"),
            team_variants=dict.fromkeys(("goal.scored", "goal.own"), (*ENDS, "")),
            untyped=("goal.scored", "goal.own"),
        )

    def initial(self) -> GoalState:
        """Nobody has touched the ball."""
        return GoalState()

    def step(self, state: GoalState, event: Event) -> Step[GoalState]:
        """Finds the scorer among the newest contacts, or takes the officials' word."""
        payload = published(event)
        if event.kind == "direction":
            return msgspec.structs.replace(state, attacks_x=payload.team), NOTHING
        if event.kind in ("hit", "touch"):
            return msgspec.structs.replace(state, contacts=remember(state.contacts, event)), NOTHING
        if event.kind.startswith("official."):
            return self._officials(state, event, payload)
        if self._same(state.goal, event.ts_us, payload.team) and _is_official(state.goal):
            return state, NOTHING
        goal = self._seen(state, event, payload)
        return msgspec.structs.replace(state, goal=goal), (goal,)

    def _seen(self, state: GoalState, event: Event, payload: EventPayload) -> Event:
        """The goal of a ball that was seen in it."""
        contacts = tuple(c for c in state.contacts if c.ts_us <= event.ts_us)
        last = contacts[-1] if contacts else None
        attacker = next((c for c in reversed(contacts) if c.team == payload.team), None)
        own = last is not None and last.team == opponents_of(payload.team) and not self._shot(attacker, last, payload)
        scorer = last if own else attacker
        told = msgspec.structs.replace(
            payload, player=scorer.player if scorer else "", detail={"since_us": payload.detail["since_us"]}
        )
        causes = (event.id, scorer.id) if scorer else (event.id,)
        kind = "goal.own" if own else "goal.scored"
        return make_event(kind, event.ts_us, event.source, told, causes=causes)

    def _same(self, goal: Event | None, at_us: int, team: Team) -> bool:
        """Whether a goal is the one that a team got about that time."""
        if goal is None:
            return False
        payload = published(goal)
        since_us = time_us(payload, "since_us")
        return team in ("", payload.team) and abs(at_us - since_us) <= self.parameters.same_us

    def _officials(self, state: GoalState, event: Event, payload: EventPayload) -> Step[GoalState]:
        """A newer version of our goal, or the officials' own."""
        if event.kind == "official.var" and payload.variant != "goal":
            return state, NOTHING
        at_us, goal = decided_us(event), state.goal
        if goal is None or not self._same(goal, at_us, payload.team):
            if event.kind == "official.var":
                return state, NOTHING
            end = "" if not state.attacks_x else "right" if payload.team == state.attacks_x else "left"
            ours = EventPayload(end, payload.team, payload.player, detail={"since_us": at_us})
            goal = _by_officials(f"goal.{payload.variant or 'scored'}", event, ours, payload, at_us)
            return msgspec.structs.replace(state, goal=goal), (goal,)
        ours = goal.payload  # type: ignore[assignment]
        dated_us = goal.ts_us if goal.dated_us is None else goal.dated_us
        kind = goal.kind if event.kind == "official.var" else f"goal.{payload.variant or 'scored'}"
        if kind == goal.kind:
            told = _with_word(ours, payload)
            newer = msgspec.structs.replace(
                goal, ts_us=event.ts_us, payload=told, causes=(*goal.causes, event.id), dated_us=dated_us
            )
            return msgspec.structs.replace(state, goal=newer), (newer,) if event.ts_us > goal.ts_us else NOTHING
        void = msgspec.structs.replace(goal, ts_us=event.ts_us, seq=1, annuls=goal.id, dated_us=dated_us)
        other = _by_officials(kind, event, ours, payload, dated_us)
        return msgspec.structs.replace(state, goal=other), (void, other)

    def _shot(self, attacker: Contact | None, defender: Contact, goal: EventPayload) -> bool:
        """Whether the defender stood in the way of an attacker's shot on target."""
        if attacker is None or defender.ts_us - attacker.ts_us > self.parameters.shot_us:
            return False
        if attacker.x_m is None or attacker.y_m is None or defender.x_m is None or defender.y_m is None:
            return True
        end: End = "right" if goal.variant == "right" else "left"
        towards_m = (defender.x_m - attacker.x_m) * end_sign(end)
        if towards_m <= 0.0:
            return False
        slope = (defender.y_m - attacker.y_m) / towards_m
        at_line_y_m = attacker.y_m + slope * self.pitch.depth_m(attacker.x_m, end)
        return abs(at_line_y_m) <= GOAL_HALF_WIDTH_M + self.parameters.shot_wide_m


def _is_official(goal: Event | None) -> bool:
    payload = goal.payload if goal is not None else None
    return isinstance(payload, EventPayload) and bool(payload.detail.get("official"))


def _with_word(ours: EventPayload, said: EventPayload) -> EventPayload:
    """Our goal with the officials' scorer, and without a doubt."""
    detail = {**ours.detail, "official": True}
    return msgspec.structs.replace(ours, player=said.player or ours.player, confidence=1.0, detail=detail)


def _by_officials(kind: str, event: Event, ours: EventPayload, said: EventPayload, at_us: int) -> Event:
    """A goal that has its name from the officials' word."""
    dated_us = at_us if at_us < event.ts_us else None
    return make_event(kind, event.ts_us, event.source, _with_word(ours, said), causes=(event.id,), dated_us=dated_us)


class Verdict(msgspec.Struct, frozen=True, gc=False):
    """The newest version of the goal, and what was concluded of it, None so far."""

    goal: Event | None = None
    said: Event | None = None


class GoalConfirmation:
    """10.14: ``goal.confirmed`` or ``goal.disallowed``; team is the goal's, ``detail.restart`` what decided.

    That is the first restart after the goal, or officials; their word also takes back what was concluded before.
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
                "restart.kick_off",
                "restart.throw_in",
                "restart.corner",
                "restart.goal_kick",
                "restart.free_kick",
                "restart.penalty",
                "official.foul",
                "official.offside",
                "official.var",
                "official.no_goal",
                "official.penalty",
                "official.void",
            ),
            outputs=kinds,
            parameters={name: getattr(self.parameters, name) for name in ("confirm_us", "overrule_us", "offence_us")},
            source="IFAB Law 8",
            annuls=("goal.scored", "goal.own", *kinds),
            amends=kinds,
            team_variants=dict.fromkeys(kinds, (*ENDS, "")),
            untyped=kinds,
        )

    def initial(self) -> Verdict:
        """No goal waits."""
        return Verdict()

    def step(self, state: Verdict, event: Event) -> Step[Verdict]:
        """Remembers the goal; the next restart decides, and officials at any time."""
        if event.kind.startswith("goal."):
            return self._goal(state, event)
        goal = state.goal
        if goal is None:
            return state, NOTHING
        if event.kind.startswith("official."):
            return self._officials(state, goal, event)
        if state.said is not None or event.ts_us - goal.ts_us > self.parameters.confirm_us:
            return state, NOTHING
        restart = published(event)
        if event.kind == "restart.kick_off":
            said = _verdict("goal.confirmed", goal, event, goal.source, restart.confidence)
        else:
            said = _verdict("goal.disallowed", goal, event, goal.source, restart.confidence, annuls=goal.id)
        return Verdict(goal, said), (said,)

    def _goal(self, state: Verdict, event: Event) -> Step[Verdict]:
        """A goal, a newer version of it with the officials' word, or its end as one of this kind."""
        if event.annuls:
            return state, NOTHING
        if not _is_official(event):
            return Verdict(event), NOTHING
        # It is the same goal under another name if officials have made an own goal of it, or none.
        said = state.said if state.goal is not None and _when_us(state.goal) == _when_us(event) else None
        if said is not None and said.kind == "goal.confirmed":
            return Verdict(event, said), NOTHING
        anchor = f"{event.source}/{event.ts_us}"
        confirmed = _verdict("goal.confirmed", event, event, anchor, 1.0, annuls=said.id if said else "")
        return Verdict(event, confirmed), (confirmed,)

    def _officials(self, state: Verdict, goal: Event, event: Event) -> Step[Verdict]:
        said, payload = state.said, published(event)
        if event.kind == "official.void":
            return (Verdict() if payload.detail["event"] == goal.id else state), NOTHING
        of = published(goal)
        if not self._is_against(goal, of, event, payload) or event.ts_us - goal.ts_us > self.parameters.overrule_us:
            return state, NOTHING
        if said is not None and said.kind == "goal.disallowed":
            return state, NOTHING
        no = _verdict("goal.disallowed", goal, event, f"{goal.source}/{event.ts_us}", 1.0, annuls=goal.id)
        if said is None:
            return Verdict(goal, no), (no,)
        void = msgspec.structs.replace(said, ts_us=event.ts_us, seq=1, annuls=said.id, dated_us=said.ts_us)
        return Verdict(goal, no), (void, no)

    def _is_against(self, goal: Event, of: EventPayload, event: Event, said: EventPayload) -> bool:
        """Whether a decision means that a goal does not count.

        It may say so; an offside or a foul of the scorers in the attack says it; and where play is brought back for a
        penalty, what the other team made of it meanwhile never was.
        """
        since_us = decided_us(event) - _when_us(goal)
        if event.kind in ("official.foul", "official.offside"):
            return said.team == of.team and -self.parameters.offence_us <= since_us <= _WHISTLE_US
        if event.kind == "official.penalty" or said.variant == "penalty":
            return said.team == opponents_of(of.team) and -self.parameters.overrule_us <= since_us < 0
        return (event.kind == "official.no_goal" or said.variant == "no goal") and said.team in ("", of.team)


def _when_us(goal: Event) -> int:
    """The time under which a goal is shown, whatever its version."""
    return goal.ts_us if goal.dated_us is None else goal.dated_us


def _verdict(kind: str, goal: Event, by: Event, anchor: str, confidence: float, *, annuls: str = "") -> Event:
    payload = published(goal)
    detail = {"restart": by.kind, "goal_us": _when_us(goal), "goal": goal.id}
    told = msgspec.structs.replace(payload, confidence=confidence, detail=detail)
    causes = (goal.id,) if by.id == goal.id else (goal.id, by.id)
    return make_event(kind, by.ts_us, anchor, told, causes=causes, annuls=annuls)
