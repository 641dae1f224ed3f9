"""14.13: the value of actions (VAEP): what they change in the chances to score and to concede.

Theory of operation
-------------------
Two logistic regressions on the newest three actions (:mod:`detectors.statistics.action_features`) give the chances that
the team of the newest one scores, or concedes, within ten actions. The value of an action is what it adds to the first
chance and takes from the second (socceraction's formula). No coefficients of such a model are published. Those of
``action_value.toml`` were fitted to simulated matches by ``python -m bench.action_value --learn``, and each event says
so: they show how the measure works, and prove nothing about real players.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import msgspec

from detectors.decisions import at_most
from detectors.emission import make_event, shown_us
from detectors.reasons import reason
from detectors.statistics.action_features import NAMES, STATE, Action, features
from football.match_sheet import TEAMS, MatchSheet, Team
from football.payloads import EventPayload, Scalar, number, payload_of
from football.pitch import pitch_of
from football.untrusted import read_toml
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event

#: The coefficients that are shipped.
TABLE: Final = Path(__file__).with_name("action_value.toml")
#: Where they come from, as events say it.
MODEL = "fitted on simulated matches"
_PASSES = ("pass.complete", "pass.intercepted", "pass.out")


class ActionValueParameters(msgspec.Struct, frozen=True):
    """Limits of what belongs together.

    Attributes:
        within_us: an action this long after the one before goes on from its chances; else from none.
        goal_us: a goal of the team this long after a shot came from it.
    """

    within_us: Annotated[int, reason("socceraction's formula.")] = 10_000_000
    goal_us: Annotated[int, reason("As shot_outcome.within_us (7.3).")] = 3_000_000


class Chances(NamedTuple):
    """Chances of a team to score, and to concede, within ten actions."""

    scores: float
    concedes: float


class Shot(msgspec.Struct, frozen=True, gc=False):
    """The newest shot, so that a goal can amend its value.

    Attributes:
        event: its value as published.
        actions: the newest ones at it, itself last.
        before: chances before it, as its team sees them; None if it is the first action.
        goal: id of the goal that came from it; empty if none stands.
    """

    event: Event
    actions: tuple[Action, ...]
    before: Chances | None
    goal: str = ""


class ValueState(msgspec.Struct, frozen=True, gc=False):
    """State: the team that attacks +x; the newest actions of the period, oldest first; the newest shot."""

    attacks: Team = ""
    actions: tuple[Action, ...] = ()
    shot: Shot | None = None


class ActionValue:
    """14.13: ``value.vaep`` x team: what a pass, a carry or a shot changes in the chances to score and to concede.

    A pass has it when its outcome is known, a carry when the ball has left, a shot at once: as one that misses, and
    amended if it is a goal. ``player`` acts; the position is where the action ends. ``detail``: ``how`` (``pass``,
    ``dribble`` or ``shot``), ``success``, ``scores`` and ``concedes`` (chances of his team after it, within ten
    actions), ``offensive`` and ``defensive`` (what it adds to the first, and takes from the second), ``value`` (their
    sum), ``model`` (where the coefficients come from: simulated matches, so they prove nothing about real ones).
    """

    def __init__(self, sheet: MatchSheet, parameters: ActionValueParameters | None = None) -> None:
        self.parameters = parameters or ActionValueParameters()
        self.pitch = pitch_of(sheet)
        self.spec = Spec(
            name="action_value",
            number="14.13",
            level=14,
            inputs=(
                "direction", "period.start", *_PASSES, "carry.end", "shot.attempt", "goal.scored", "goal.disallowed",
            ),
            outputs=("value.vaep",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="Decroos et al. 2019 (VAEP; features and formula of socceraction 1.5.3, MIT); coefficients ours",
            team_variants={"value.vaep": ("",)},
            amends=("value.vaep",),
            known={
                "value.vaep": Known(
                    "with the outcome of the pass, the end of the carry, or the shot",
                    "when a shot becomes a goal, or its goal does not stand",
                    ("success", "scores", "concedes", "offensive", "defensive", "value"),
                )
            },
            details={
                "value.vaep": ("how", "success", "scores", "concedes", "offensive", "defensive", "value", "model")
            },
        )  # fmt: skip

    def initial(self) -> ValueState:
        """No action."""
        return ValueState()

    def step(self, state: ValueState, event: Event) -> Step[ValueState]:
        """Value an action, or a shot anew."""
        if event.kind == "direction":
            return ValueState(payload_of(event).team, state.actions, state.shot), NOTHING
        if event.kind == "period.start":
            return ValueState(state.attacks), NOTHING
        if event.kind.startswith("goal."):
            return self._goal(state, event)
        action = action_of(event)
        if action is None or not state.attacks:
            return state, NOTHING
        if state.actions and action.start_us < state.actions[-1].start_us:
            return state, NOTHING  # It became known too late for its place in the order.
        actions = (*state.actions[-STATE + 1 :], action)
        before = self._before(state, action)
        detail = {"how": action.type, **self._value(actions, before, state.attacks), "model": MODEL}
        payload = EventPayload("", action.team, action.player, *action.end, detail=detail)
        value = make_event("value.vaep", event.ts_us, f"{event.kind}:{event.source}", payload, causes=(event.id,))
        shot = Shot(value, actions, before) if action.type == "shot" else state.shot
        return ValueState(state.attacks, actions, shot), (value,)

    def _before(self, state: ValueState, action: Action) -> Chances | None:
        """The chances before an action, as its team sees them; None if it is the first."""
        if not state.actions:
            return None
        last = state.actions[-1]
        what, path = "time since the action before", "action_value.within_us"
        since_us = action.start_us - last.start_us
        if not at_most(what, since_us, self.parameters.within_us, path) or (last.type == "shot" and last.success):
            return Chances(0.0, 0.0)
        scores, concedes = chances(features(state.actions, state.attacks, self.pitch))
        return Chances(scores, concedes) if last.team == action.team else Chances(concedes, scores)

    def _value(self, actions: Sequence[Action], before: Chances | None, attacks: Team) -> dict[str, Scalar]:
        """The detail of what the newest of some actions changes; the first one of a period changes nothing."""
        after = chances(features(actions, attacks, self.pitch))
        scored, conceded = before if before is not None else after
        offensive, defensive = after.scores - scored, conceded - after.concedes
        return {
            "success": actions[-1].success,
            "scores": round(after.scores, 4),
            "concedes": round(after.concedes, 4),
            "offensive": round(offensive, 4),
            "defensive": round(defensive, 4),
            "value": round(offensive + defensive, 4),
        }

    def _goal(self, state: ValueState, event: Event) -> Step[ValueState]:
        """Value the newest shot anew, if it became a goal, or its goal does not stand."""
        shot, payload = state.shot, payload_of(event)
        if shot is None:
            return state, NOTHING
        if event.kind == "goal.disallowed":
            # A verdict that is withdrawn itself lets the goal stand again.
            name, stands = str(payload.detail["goal"]), event.annuls == event.id
        else:
            name, stands = event.annuls or event.id, not event.annuls
        struck = shot.actions[-1]
        if shot.goal:
            belongs = name == shot.goal
        else:
            since_us = event.ts_us - struck.start_us
            ours = stands and payload.team == struck.team and since_us >= 0 and not struck.success
            what, path = "time since the shot", "action_value.goal_us"
            belongs = ours and at_most(what, since_us, self.parameters.goal_us, path)
        if not belongs or stands == struck.success:
            return state, NOTHING
        again = msgspec.structs.replace(struck, success=stands)
        actions = (*shot.actions[:-1], again)
        valued = payload_of(shot.event)
        detail = {**valued.detail, **self._value(actions, shot.before, state.attacks)}
        amended = msgspec.structs.replace(
            shot.event,
            ts_us=event.ts_us,
            payload=msgspec.structs.replace(valued, detail=detail),
            causes=(shot.event.causes[0], event.id),
            dated_us=shown_us(shot.event),
        )
        now = tuple(again if one == struck else one for one in state.actions)
        return ValueState(state.attacks, now, Shot(amended, actions, shot.before, name)), (amended,)


def action_of(event: Event) -> Action | None:
    """The action that a pass with its outcome, the end of a carry or a shot is; None if its place is not known."""
    payload = payload_of(event)
    if event.annuls or payload.team not in TEAMS or payload.x_m is None or payload.y_m is None:
        return None
    end = payload.x_m, payload.y_m
    if event.kind == "shot.attempt":
        return Action("shot", False, payload.team, payload.player, event.ts_us, end, end)
    if event.kind == "carry.end":
        name, names = "dribble", ("from_x_m", "from_y_m")
        start_us = shown_us(event) - round(number(payload, "seconds_s") * 1e6)
    else:
        name, names = "pass", ("start_x_m", "start_y_m")
        start_us = round(number(payload, "kick_us"))
    x_m, y_m = (payload.detail.get(one) for one in names)
    if not isinstance(x_m, float) or not isinstance(y_m, float):
        return None
    success = event.kind in ("carry.end", "pass.complete")
    return Action(name, success, payload.team, payload.player, start_us, (x_m, y_m), end)


def chances(values: Sequence[float]) -> Chances:
    """Chances to score and to concede, by the values of the features."""
    scores, concedes = (_chance(model, values) for model in models())
    return Chances(scores, concedes)


@cache
def models() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The coefficients of both regressions: the constant, then one for each feature."""
    table = read_toml(TABLE)
    scores, concedes = (_coefficients(table[name]) for name in ("scores", "concedes"))
    return scores, concedes


def _coefficients(model: Mapping[str, float]) -> tuple[float, ...]:
    return float(model["constant"]), *(float(model[name]) for name in NAMES)


def _chance(model: tuple[float, ...], values: Sequence[float]) -> float:
    constant, *factors = model
    odds = constant + sum(factor * value for factor, value in zip(factors, values, strict=True))
    return 1.0 / (1.0 + math.exp(-min(max(odds, -30.0), 30.0)))
