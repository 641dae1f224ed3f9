"""7.5 and 10.14: a goal, published at once; confirmed by the kick-off, or disallowed (IFAB Laws 8, 10).

Theory of operation
-------------------
Whether a ball in the goal counts, only the referee knows. The goal is told at once and stays tentative for its
readers; the next restart says what he decided: a kick-off confirms it, any other restart within the same two
minutes means that it was disallowed (offside, foul). ``goal.disallowed`` annuls the goal that it names.
"""

from __future__ import annotations

import msgspec

from detectors.contacts.recent import Contact, Contacts, opponents_of, remember
from detectors.facts import Fact, fact_event
from detectors.inputs import MatchSheet
from detectors.pitch import ENDS, GOAL_HALF_WIDTH_M, End, end_sign, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class GoalParameters(msgspec.Struct, frozen=True):
    """Thresholds of goals.

    Attributes:
        shot_us: a defender's contact within this time of an attacker's may be a deflection of his shot.
        shot_wide_m: the shot was on target if its line meets the goal line at most this far beside a post;
            the line is drawn between two contacts, so it is crude.
        confirm_us: the restart after a goal comes within this time.
    """

    shot_us: int = 3_000_000
    shot_wide_m: float = 0.5
    confirm_us: int = 120_000_000


class Goal:
    """7.5: ``goal.scored`` and ``goal.own``. ``team`` is who gets the goal, ``player`` who scored it.

    The scorer is the last attacker who hit the ball. It is an own goal if a defender hit it last and no attacker
    had shot at the goal just before; ``player`` is then that defender.
    """

    def __init__(self, sheet: MatchSheet, parameters: GoalParameters | None = None) -> None:
        self.parameters = parameters or GoalParameters()
        self.pitch = pitch_of(sheet)
        self.spec = Spec(
            name="goal",
            number="7.5",
            level=7,
            inputs=("hit", "touch", "goal.candidate"),
            outputs=("goal.scored", "goal.own"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="IFAB Law 10; StreamTeam",
            team_variants=dict.fromkeys(("goal.scored", "goal.own"), ENDS),
            untyped=("goal.scored", "goal.own"),
        )

    def initial(self) -> Contacts:
        """Nobody has touched the ball."""
        return ()

    def step(self, state: Contacts, event: Event) -> Step[Contacts]:
        """Finds the scorer among the newest contacts."""
        if event.kind != "goal.candidate":
            return remember(state, event), NOTHING
        fact = event.payload
        assert isinstance(fact, Fact)
        contacts = tuple(c for c in state if c.ts_us <= event.ts_us)
        last = contacts[-1] if contacts else None
        attacker = next((c for c in reversed(contacts) if c.team == fact.team), None)
        own = last is not None and last.team == opponents_of(fact.team) and not self._shot(attacker, last, fact)
        scorer = last if own else attacker
        told = msgspec.structs.replace(
            fact, player=scorer.player if scorer else "", detail={"since_us": fact.detail["since_us"]}
        )
        causes = (event.id, scorer.id) if scorer else (event.id,)
        kind = "goal.own" if own else "goal.scored"
        return state, (fact_event(kind, event.ts_us, event.source, told, causes=causes),)

    def _shot(self, attacker: Contact | None, defender: Contact, goal: Fact) -> bool:
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


class GoalConfirmation:
    """10.14: ``goal.confirmed`` or ``goal.disallowed`` by the first restart after a goal; team is the goal's."""

    def __init__(self, sheet: MatchSheet, parameters: GoalParameters | None = None) -> None:
        self.parameters = parameters or GoalParameters()
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
            ),
            outputs=("goal.confirmed", "goal.disallowed"),
            parameters={"confirm_us": self.parameters.confirm_us},
            source="IFAB Law 8",
            annuls=("goal.scored", "goal.own"),
            team_variants=dict.fromkeys(("goal.confirmed", "goal.disallowed"), ENDS),
            untyped=("goal.confirmed", "goal.disallowed"),
        )

    def initial(self) -> Event | None:
        """The goal that waits for its restart."""
        return None

    def step(self, state: Event | None, event: Event) -> Step[Event | None]:
        """Remembers the goal; the next restart decides."""
        if event.kind.startswith("goal."):
            return event, NOTHING
        if state is None or event.ts_us - state.ts_us > self.parameters.confirm_us:
            return None, NOTHING
        restart, goal = event.payload, state.payload
        assert isinstance(restart, Fact)
        assert isinstance(goal, Fact)
        detail = {"restart": event.kind, "goal_us": state.ts_us, "goal": state.id}
        told = msgspec.structs.replace(goal, confidence=restart.confidence, detail=detail)
        causes = (state.id, event.id)
        if event.kind == "restart.kick_off":
            return None, (fact_event("goal.confirmed", event.ts_us, state.source, told, causes=causes),)
        void = fact_event("goal.disallowed", event.ts_us, state.source, told, causes=causes, annuls=state.id)
        return None, (void,)
