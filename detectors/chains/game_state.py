"""13.5: the state of the game: who leads, and who has more players.

Theory of operation
-------------------
The score is the sum of the goals (7.5) that stand. When a goal is disallowed or withdrawn, the state that it made is
withdrawn, too; states after later goals are amended. The number of players follows from players sent off (9.12), whose
suspicion may be withdrawn as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from detectors.emission import make_event, next_seq, shown_us, withdrawal
from football.match_sheet import Team
from football.payloads import EventPayload, Scalar, payload_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event

SCORES = ("level", "lead1", "lead2+")
NUMBERS = ("level", "up", "down")
_GOALS = ("goal.scored", "goal.own")


class Cause(msgspec.Struct, frozen=True, gc=False):
    """A goal or a sending-off, in the order in which it became known.

    Attributes:
        event: its first version.
        void: True while it is withdrawn.
        shown: newest published versions, or withdrawals, of the states that it made.
    """

    event: Event
    void: bool = False
    shown: tuple[Event, ...] = ()


class GameState(msgspec.Struct, frozen=True, gc=False):
    """State: goals and sendings-off so far."""

    goals: tuple[Cause, ...] = ()
    men: tuple[Cause, ...] = ()


class StateOfPlay:
    """13.5: ``state.score`` x {level, lead1, lead2+} x team and ``state.men`` x {level, up, down} x team.

    ``state.score`` follows each goal: ``team`` leads by one goal, or by two or more; of ``level`` it is the team that
    has scored. ``state.men`` follows each sending-off, an event for each team. Both are named by their cause.
    ``detail``: ``home``, ``away`` (goals; of ``state.men`` players sent off), ``since_us`` (event time of the cause).
    """

    def __init__(self) -> None:
        kinds = ("state.score", "state.men")
        details = ("home", "away", "since_us")
        changes = ("variant", "team", "home", "away")
        when = "when an earlier one is withdrawn"
        self.spec = Spec(
            name="game_state",
            number="13.5",
            level=13,
            inputs=(*_GOALS, "goal.disallowed", "sendoff.suspected"),
            outputs=kinds,
            source="socceraction (issue 727); IFAB Laws 3, 10",
            amends=kinds,
            annuls=kinds,
            team_variants={"state.score": SCORES, "state.men": NUMBERS},
            details=dict.fromkeys(kinds, details),
            known={
                "state.score": Known("at the goal", when, changes),
                "state.men": Known("when a sending-off is known", when, changes),
            },
        )

    def initial(self) -> GameState:
        """No goal, eleven against eleven."""
        return GameState()

    def step(self, state: GameState, event: Event) -> Step[GameState]:
        """Follow goals and sendings-off, and what withdraws them."""
        if event.kind == "goal.disallowed":
            # A verdict that is withdrawn itself lets the goal stand again.
            goal, void = str(payload_of(event).detail["goal"]), event.annuls != event.id
            goals, out = _restated(_with(state.goals, goal, void=void), event, _score)
            return GameState(goals, state.men), out
        old = event.annuls or event.id
        changes = state.men if event.kind == "sendoff.suspected" else state.goals
        known = any(cause.event.id == old for cause in changes)
        causes = _with(changes, old, void=bool(event.annuls)) if known or event.annuls else (*changes, Cause(event))
        if event.kind == "sendoff.suspected":
            men, out = _restated(causes, event, _men)
            return GameState(state.goals, men), out
        goals, out = _restated(causes, event, _score)
        return GameState(goals, state.men), out


def _with(causes: tuple[Cause, ...], name: str, *, void: bool) -> tuple[Cause, ...]:
    """The causes with one withdrawn, or in force again."""
    return tuple(msgspec.structs.replace(c, void=void) if c.event.id == name else c for c in causes)


#: Payloads of the states that a cause makes, by anchor, from the sums of both teams with it.
States = Callable[[Event, int, int], dict[str, tuple[str, EventPayload]]]


def _restated(causes: tuple[Cause, ...], event: Event, judge: States) -> tuple[tuple[Cause, ...], Sequence[Event]]:
    """Publish, amend and withdraw states, so that they are those of the causes that stand."""
    home = away = 0
    out: list[Event] = []
    after: list[Cause] = []
    for cause in causes:
        team = payload_of(cause.event).team
        if not cause.void:
            home, away = home + (team == "home"), away + (team == "away")
        wanted = {} if cause.void else judge(cause.event, home, away)
        shown = {e.source: e for e in cause.shown}
        for anchor, (kind, payload) in wanted.items():
            old = shown.get(anchor)
            if old is None or old.annuls or old.payload != payload:
                dated_us = shown_us(cause.event if old is None else old)
                late_us = dated_us if dated_us < event.ts_us else None
                seq = 0 if old is None else next_seq(old, event.ts_us)
                causes_ = (cause.event.id,) if cause.event.id == event.id else (cause.event.id, event.id)
                shown[anchor] = make_event(
                    kind, event.ts_us, anchor, payload, causes=causes_, dated_us=late_us, seq=seq
                )
                out.append(shown[anchor])
        for anchor, old in shown.items():
            if anchor not in wanted and not old.annuls:
                shown[anchor] = withdrawal(old, event.ts_us)
                out.append(shown[anchor])
        after.append(msgspec.structs.replace(cause, shown=tuple(shown.values())))
    return tuple(after), out or NOTHING


def _score(goal: Event, home: int, away: int) -> dict[str, tuple[str, EventPayload]]:
    scored, lead = payload_of(goal), home - away
    leader: Team = "home" if lead > 0 else "away" if lead < 0 else scored.team
    variant = SCORES[min(abs(lead), 2)]
    payload = EventPayload(variant, leader, "", confidence=scored.confidence, detail=_detail(goal, home, away))
    return {goal.source: ("state.score", payload)}


def _men(sent_off: Event, home: int, away: int) -> dict[str, tuple[str, EventPayload]]:
    confidence, detail = payload_of(sent_off).confidence, _detail(sent_off, home, away)
    states: dict[str, tuple[str, EventPayload]] = {}
    for team in ("home", "away"):
        more = (home - away) * (1 if team == "home" else -1)
        variant = NUMBERS[0] if not more else NUMBERS[2] if more > 0 else NUMBERS[1]
        payload = EventPayload(variant, team, "", confidence=confidence, detail=detail)
        states[f"{sent_off.source}/{team}"] = "state.men", payload
    return states


def _detail(cause: Event, home: int, away: int) -> dict[str, Scalar]:
    since_us = payload_of(cause).detail.get("since_us")
    return {"home": home, "away": away, "since_us": since_us if isinstance(since_us, int) else cause.ts_us}
