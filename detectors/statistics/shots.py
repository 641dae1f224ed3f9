"""14.5 and 14.6: statistics of shots and their value, and of set plays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from detectors.contacts.recent_contacts import opponents_of
from detectors.decisions import at_most
from detectors.reasons import reason
from detectors.statistics.tallies import Tally, count, plus, statistic
from football.match_sheet import TEAMS, Team
from football.payloads import Scalar, number, payload_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

_GOALS = ("goal.scored", "goal.own")
#: Name of the counter by the outcome of a shot.
OUTCOMES = {"shot.saved": "saved", "shot.blocked": "blocked", "shot.off": "off", "shot.post": "post"}


class ShotSums(msgspec.Struct, frozen=True, gc=False):
    """State.

    Attributes:
        sums: counters by team and name.
        goals: by the id of each goal that stands, its team.
        values: by the id of each valued shot, its team and value.
    """

    sums: Tally = {}
    goals: Mapping[str, Team] = {}
    values: Mapping[str, tuple[Team, float]] = {}


class ShotStatistics:
    """14.5: ``stat.shot`` and ``stat.xg`` x team: shots with their outcomes, and the sum of their values.

    They follow each shot, outcome, goal or new value; a goal that is disallowed or withdrawn counts no more. ``detail``
    of ``stat.shot``: ``shots``, ``on_target`` (saved or a goal, no own goal), ``saved``, ``blocked``, ``off``,
    ``post``, ``goals`` (own goals of the opponents included). ``detail`` of ``stat.xg``: ``xg`` (sum), ``shots``
    (valued), ``goals``: the rows of both teams in order of time are the race.
    """

    def __init__(self) -> None:
        self.spec = Spec(
            name="shot_statistics",
            number="14.5",
            level=14,
            inputs=("shot.attempt", "shot.xg", *OUTCOMES, *_GOALS, "goal.disallowed"),
            outputs=("stat.shot", "stat.xg"),
            source="StreamTeam (shot statistics); xG of 8.10",
            team_variants={"stat.shot": ("",), "stat.xg": ("",)},
            details={
                "stat.shot": ("shots", "on_target", *OUTCOMES.values(), "goals"),
                "stat.xg": ("xg", "shots", "goals"),
            },
        )

    def initial(self) -> ShotSums:
        """No shot."""
        return ShotSums()

    def step(self, state: ShotSums, event: Event) -> Step[ShotSums]:
        """Count a shot or what became of it."""
        payload = payload_of(event)
        if event.kind == "shot.xg":
            values = {name: value for name, value in state.values.items() if name != event.id}
            if not event.annuls:
                values[event.id] = payload.team, number(payload, "xg")
            after = msgspec.structs.replace(state, values=values)
            return after, (_value(after, payload.team, event),)
        if event.kind in (*_GOALS, "goal.disallowed"):
            return self._goal(state, event)
        # A newer version counts no second time; of ``shot.off`` there is only one, though it may be dated back.
        if event.annuls or (event.dated_us is not None and event.kind != "shot.off"):
            return state, NOTHING
        team, name = payload.team, OUTCOMES.get(event.kind, "shots")
        if event.kind == "shot.saved":  # it is the goalkeeper's event
            team = opponents_of(team)
        if team not in TEAMS:
            return state, NOTHING
        after = msgspec.structs.replace(state, sums=plus(state.sums, f"{team}/{name}"))
        return after, (_shots(after, team, event),)

    def _goal(self, state: ShotSums, event: Event) -> Step[ShotSums]:
        payload = payload_of(event)
        goals = dict(state.goals)
        if event.kind == "goal.disallowed":
            name = str(payload.detail["goal"])
            if event.annuls == event.id:
                goals[name] = payload.team
            else:
                goals.pop(name, None)
        elif event.annuls:
            goals.pop(event.annuls, None)
        else:
            goals[event.id] = payload.team
        if goals == state.goals or payload.team not in TEAMS:
            return state, NOTHING
        after = msgspec.structs.replace(state, goals=goals)
        return after, (_shots(after, payload.team, event), _value(after, payload.team, event))


def _goals(state: ShotSums, team: Team) -> int:
    return sum(scorers == team for scorers in state.goals.values())


def _shots(state: ShotSums, team: Team, event: Event) -> Event:
    detail: dict[str, Scalar] = {name: count(state.sums, f"{team}/{name}") for name in ("shots", *OUTCOMES.values())}
    shot_in = sum(team == by for name, by in state.goals.items() if name.startswith("goal.scored#"))
    detail |= {"on_target": count(state.sums, f"{team}/saved") + shot_in, "goals": _goals(state, team)}
    return statistic("stat.shot", event, team, detail)


def _value(state: ShotSums, team: Team, event: Event) -> Event:
    values = [value for shooters, value in state.values.values() if shooters == team]
    detail: dict[str, Scalar] = {"xg": round(sum(values), 3), "shots": len(values), "goals": _goals(state, team)}
    return statistic("stat.xg", event, team, detail)


class SetPlayParameters(msgspec.Struct, frozen=True):
    """Limits of what belongs to a set play.

    Attributes:
        within_us: a shot or goal of the team this long after the restart comes from it.
    """

    within_us: Annotated[int, reason("Hierarchy 14.6.")] = 10_000_000


#: Variant by restart.
SET_PLAYS = {
    "restart.kick_off": "kick-off",
    "restart.throw_in": "throw-in",
    "restart.corner": "corner",
    "restart.goal_kick": "goal kick",
    "restart.free_kick": "free kick",
    "restart.penalty": "penalty",
}


class SetPlaySums(msgspec.Struct, frozen=True, gc=False):
    """State: counters by team and name, and the newest restart."""

    sums: Tally = {}
    restart: Event | None = None


class SetPlayStatistics:
    """14.6: ``stat.setplay`` x {kick-off, throw-in, corner, goal kick, free kick, penalty} x team.

    It follows each set play, and each shot and goal of its team within ten seconds. ``detail``: ``taken``, ``shots``,
    ``goals``.
    """

    def __init__(self, parameters: SetPlayParameters | None = None) -> None:
        self.parameters = parameters or SetPlayParameters()
        self.spec = Spec(
            name="set_play_statistics",
            number="14.6",
            level=14,
            inputs=(*SET_PLAYS, "shot.attempt", "goal.scored"),
            outputs=("stat.setplay",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="StreamTeam (set-play statistics); outcomes ours",
            team_variants={"stat.setplay": tuple(SET_PLAYS.values())},
            details={"stat.setplay": ("taken", "shots", "goals")},
        )

    def initial(self) -> SetPlaySums:
        """No set play."""
        return SetPlaySums()

    def step(self, state: SetPlaySums, event: Event) -> Step[SetPlaySums]:
        """Count a set play or what comes of it."""
        payload, restart = payload_of(event), state.restart
        if event.kind in SET_PLAYS:
            if payload.team not in TEAMS:
                return state, NOTHING
            return self._counted(SetPlaySums(state.sums, event), event, event, "taken")
        if restart is None or payload_of(restart).team != payload.team or event.annuls or event.dated_us is not None:
            return state, NOTHING
        what, since_us = "time since the restart", event.ts_us - restart.ts_us
        if not at_most(what, since_us, self.parameters.within_us, "set_play.within_us"):
            return state, NOTHING
        return self._counted(state, restart, event, "shots" if event.kind == "shot.attempt" else "goals")

    def _counted(self, state: SetPlaySums, restart: Event, event: Event, name: str) -> Step[SetPlaySums]:
        team, variant = payload_of(restart).team, SET_PLAYS[restart.kind]
        key = f"{team}/{variant}"
        sums = plus(state.sums, f"{key}/{name}")
        detail: dict[str, Scalar] = {what: count(sums, f"{key}/{what}") for what in ("taken", "shots", "goals")}
        return SetPlaySums(sums, state.restart), (statistic("stat.setplay", event, team, detail, variant),)
