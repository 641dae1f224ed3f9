"""11.5: possession chains: what a team does with the ball, from a gain or a restart to the end.

Theory of operation
-------------------
A chain begins when a team gains the ball (6.2) or takes a restart (9.1 to 9.7). The first of these ends it:

| what comes first | variant of ``chain.end`` |
|---|---|
| a shot of the team | ``shot`` |
| a goal of the team, also by that shot | ``goal`` |
| an opponent gains the ball | ``loss`` |
| the ball is out, or an offence of offside stops play | ``out`` |
| a stop without a crossing | ``foul``: tracking does not show who fouled, nor whether it was an injury |

A shot is known at once, its goal later: ``chain.end`` is then amended. A restart is dated at its kick, the gain that it
is belongs to the same chain. A free kick that is a shot begins a chain and ends it at one instant.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.decisions import at_most
from detectors.emission import is_version, make_event
from detectors.reasons import reason
from football.match_sheet import Team
from football.payloads import EventPayload, Scalar, payload_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event

RESTARTS = (
    "restart.kick_off",
    "restart.throw_in",
    "restart.corner",
    "restart.goal_kick",
    "restart.free_kick",
    "restart.penalty",
    "restart.dropped",
)
ENDS = ("shot", "goal", "loss", "out", "foul")
_GOALS = ("goal.scored", "goal.own")


class ChainParameters(msgspec.Struct, frozen=True):
    """Limits of possession chains.

    Attributes:
        goal_us: a goal of the team at most this long after its shot is the goal of the chain.
        doubt: confidence of a chain that a stop without a crossing has ended.
    """

    goal_us: Annotated[int, reason("Ours: flight and rebound; longer, another chain has begun.")] = 6_000_000
    doubt: Annotated[float, reason("Ours: most stops without a crossing are fouls.")] = 0.7


class ChainState(msgspec.Struct, frozen=True, gc=False):
    """State of the detector.

    Attributes:
        start: ``chain.start`` of the chain under way.
        passes: completed passes of the chain.
        kicked: team of the restart that brought the ball into play; empty once it is dead.
        shot: the newest shot.
        ended: the newest end by a shot, which may yet become a goal.
        offside_us: time of the newest offence of offside.
    """

    start: Event | None = None
    passes: int = 0
    kicked: Team = ""
    shot: Event | None = None
    ended: Event | None = None
    offside_us: int = -(2**62)


class PossessionChain:
    """11.5: ``chain.start`` and ``chain.end`` x {shot, goal, loss, out, foul} x team: a team's possession.

    ``player`` and position of the start are those of the gain or of the restart; the id derives from it. ``detail`` of
    ``chain.start``: ``began`` (``gain``, or the restart: ``corner`` ...). The position of the end is that of what ended
    the chain. ``detail`` of ``chain.end``: ``began``, ``passes`` (completed), ``seconds`` (duration), ``since_us``
    (event time of the end: a stop is known later), ``start_us``, ``start_x_m``, ``start_y_m`` (of the start).
    """

    def __init__(self, parameters: ChainParameters | None = None) -> None:
        self.parameters = parameters or ChainParameters()
        self.spec = Spec(
            name="possession_chain",
            number="11.5",
            level=11,
            inputs=(
                "possession.gain", "pass.complete", "shot.attempt", "out", "play.dead", "period.end",
                "offside.offence", *_GOALS, *RESTARTS,
            ),
            outputs=("chain.end", "chain.start"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="kloppy (sequences); StreamTeam; names ours",
            amends=("chain.end",),
            team_variants={"chain.start": ("",), "chain.end": ENDS},
            details={
                "chain.start": ("began",),
                "chain.end": ("began", "passes", "seconds", "since_us", "start_us", "start_x_m", "start_y_m"),
            },
            known={
                "chain.start": Known("at the gain; of a restart when play is known to be live again"),
                "chain.end": Known("when its end is known", "when its shot has become a goal", ("variant",)),
            },
        )  # fmt: skip

    def initial(self) -> ChainState:
        """No chain."""
        return ChainState()

    def step(self, state: ChainState, event: Event) -> Step[ChainState]:
        """Begin a chain at a gain or restart, count its passes, end it."""
        payload = payload_of(event)
        if event.kind in RESTARTS:
            return self._restart(state, event, payload)
        if event.kind == "possession.gain":
            if payload.variant == "restart" and state.kicked == payload.team:
                return state, NOTHING
            return self._gain(state, event, payload)
        if event.kind == "offside.offence":
            return msgspec.structs.replace(state, offside_us=event.ts_us), NOTHING
        if event.kind in _GOALS:
            return self._goal(state, event, payload)
        if event.kind == "out" and is_version(event):
            return state, NOTHING
        if event.kind in ("out", "play.dead", "period.end"):
            after, out = self._dead(state, event, payload)
            return msgspec.structs.replace(after, kicked=""), out
        start = state.start
        if event.kind == "shot.attempt":
            seen = msgspec.structs.replace(state, shot=event)
            own = start is not None and payload_of(start).team == payload.team
            return self._end(seen, event, "shot") if own else (seen, NOTHING)
        if start is None or payload_of(start).team != payload.team:
            return state, NOTHING
        return msgspec.structs.replace(state, passes=state.passes + 1), NOTHING

    def _restart(self, state: ChainState, event: Event, payload: EventPayload) -> Step[ChainState]:
        """Begin a chain at a restart; a shot at that instant is it, too, and ends it."""
        after, out = self._gain(msgspec.structs.replace(state, kicked=payload.team), event, payload)
        shot = state.shot
        if shot is None or shot.ts_us != event.ts_us or payload_of(shot).team != payload.team:
            return after, out
        after, ended = self._end(after, shot, "shot")
        return after, (*out, *ended)

    def _gain(self, state: ChainState, event: Event, payload: EventPayload) -> Step[ChainState]:
        if state.start is not None and payload_of(state.start).team == payload.team:
            return state, NOTHING
        state, ended = self._end(state, event, "loss") if state.start is not None else (state, NOTHING)
        began = event.kind.removeprefix("restart.") if event.kind in RESTARTS else "gain"
        started = msgspec.structs.replace(payload, variant="", detail={"began": began})
        start = make_event("chain.start", event.ts_us, event.source, started, causes=(event.id,))
        return msgspec.structs.replace(state, start=start, passes=0), (*ended, start)

    def _goal(self, state: ChainState, event: Event, payload: EventPayload) -> Step[ChainState]:
        """End the chain that scored, or amend it if its shot had ended it."""
        if event.annuls or event.dated_us is not None:
            return state, NOTHING
        ended = state.ended
        if ended is not None and payload_of(ended).team == payload.team:
            what, since_us, path = "time from the shot to the goal", event.ts_us - ended.ts_us, "chain.goal_us"
            if since_us > 0 and at_most(what, since_us, self.parameters.goal_us, path):
                scored = msgspec.structs.replace(payload_of(ended), variant="goal")
                causes = (*ended.causes, event.id)
                newer = msgspec.structs.replace(
                    ended, ts_us=event.ts_us, payload=scored, causes=causes, dated_us=ended.ts_us
                )
                return msgspec.structs.replace(state, ended=None), (newer,)
        if state.start is None:
            return state, NOTHING
        own = payload_of(state.start).team == payload.team
        return self._end(state, event, "goal" if own else "out")

    def _dead(self, state: ChainState, event: Event, payload: EventPayload) -> Step[ChainState]:
        """End a chain because play is dead."""
        if state.start is None or event.annuls or payload.variant == "goal":
            return state, NOTHING  # the goal (7.5) follows
        stopped = event.kind == "play.dead" and payload.variant == "stop"
        fouled = stopped and state.offside_us <= state.start.ts_us
        return self._end(state, event, "foul" if fouled else "out")

    def _end(self, state: ChainState, event: Event, variant: str) -> Step[ChainState]:
        """End the chain at an event."""
        start = state.start
        if start is None:
            return state, NOTHING
        begun, ending = payload_of(start), payload_of(event)
        since_us = ending.detail.get("since_us")
        ended_us = max(start.ts_us, since_us if isinstance(since_us, int) else event.ts_us)
        detail: dict[str, Scalar] = {
            "began": begun.detail["began"],
            "passes": state.passes,
            "seconds": round((ended_us - start.ts_us) / 1e6, 3),
            "since_us": ended_us,
            "start_us": start.ts_us,
            "start_x_m": begun.x_m,
            "start_y_m": begun.y_m,
        }
        confidence = self.parameters.doubt if variant == "foul" else ending.confidence
        ended = EventPayload(variant, begun.team, "", ending.x_m, ending.y_m, ending.z_m, confidence, detail)
        ts_us = max(event.ts_us, start.ts_us)
        end = make_event("chain.end", ts_us, start.source, ended, causes=(start.id, event.id))
        after = msgspec.structs.replace(state, start=None, passes=0, ended=end if variant == "shot" else state.ended)
        return after, (end,)
