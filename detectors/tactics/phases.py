"""13.1, 13.2: phases of the team with the ball, and of the other one.

Theory of operation
-------------------
While a team has the ball, it is in one of these phases; the first that holds counts:

| ``phase.in`` | condition |
|---|---|
| ``set piece`` | its chain (11.5) began with a corner kick, free kick or penalty, at most ``set_piece_us`` ago |
| ``counter`` | the chain is a counter-attack (12.11), which came into the area |
| ``transition`` | its chain began with a gain, at most ``transition_us`` ago |
| ``long ball`` | it played a long pass (8.2), at most ``long_us`` ago |
| ``final third`` | the ball is in the opponents' third |
| ``build-up opposed`` | the ball is in its own third, an opponent within ``opposed_m`` of it |
| ``build-up unopposed`` | the ball is in its own third |
| ``progression`` | else |

and the other team in one of these:

| ``phase.out`` | condition |
|---|---|
| ``counter-press`` | it presses after its loss (11.6), at most ``transition_us`` ago |
| ``transition`` | it lost the ball at most ``transition_us`` ago |
| ``recovery`` | ``beaten`` outfield players or more are ahead of the ball, in its own half |
| ``high press``, ``mid press``, ``low press`` | it presses together (12.4) |
| ``high block``, ``mid block``, ``low block`` | else |

High, mid and low are bands of the mean height of its rearmost four outfield players. Both are looked at in every scene
(9.13); a phase is published when it has lasted for ``hold_us``, dated at its begin. Play that is dead has no phase.

Whether an attack is a counter is certain only when it comes into the area. The phases of its chain so far are withdrawn
then, and replaced by one, dated at its gain.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.contacts.recent_contacts import opponents_of
from detectors.control.scene import Scene, keepers_of, outfield
from detectors.decisions import at_least
from detectors.emission import make_event, withdrawal
from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import BallState, EventPayload, Scalar, payload_as, payload_of
from football.pitch import pitch_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event

IN = (
    "set piece", "counter", "transition", "long ball", "final third", "build-up opposed", "build-up unopposed",
    "progression",
)  # fmt: skip
HEIGHTS = ("low", "mid", "high")
OUT = (
    "counter-press", "transition", "recovery", *(f"{height} {how}" for how in ("press", "block") for height in HEIGHTS)
)  # fmt: skip
_SET_PIECES = ("corner", "free_kick", "penalty")
#: Players of a last line.
_LINE = 4


class PhaseOfPlayParameters(msgspec.Struct, frozen=True):
    """Limits of phases.

    Attributes:
        hold_us: a phase is published when it has lasted for this long.
        set_piece_us: duration of a set piece.
        transition_us: duration of a transition.
        long_us: duration of a long ball.
        opposed_m: an opponent so near to the ball opposes a build-up.
        beaten: least number of players ahead of the ball in a recovery.
        low_m: a last line nearer to its goal line is low.
        high_m: a last line farther from it is high.
    """

    hold_us: Annotated[int, reason("Hierarchy 13.1: hysteresis of 2 s.")] = 2_000_000
    set_piece_us: Annotated[int, reason("As of 14.6.")] = 10_000_000
    transition_us: Annotated[int, reason("StatsBomb: five seconds after the loss.")] = 5_000_000
    long_us: Annotated[int, reason("Ours: flight and first contact.")] = 3_000_000
    opposed_m: Annotated[float, reason("Ours.")] = 8.0
    beaten: Annotated[int, reason("Ours: more than the front line.")] = 5
    low_m: Annotated[float, reason("Hierarchy 10.6.")] = 25.0
    high_m: Annotated[float, reason("Hierarchy 10.6.")] = 40.0


class Held(msgspec.Struct, frozen=True, gc=False):
    """A phase of a team: the published one, the one now, and since when that is."""

    shown: str = ""
    now: str = ""
    since_us: int = 0


class PhasesState(msgspec.Struct, frozen=True, gc=False):
    """State of the detector.

    Attributes:
        chain: the ``chain.start`` of the chain under way.
        counter: True once it is a counter-attack for certain.
        published: what was published of the team with the ball in this chain, without what was withdrawn.
        long_us: time of its newest long pass.
        pressed_us: time of the newest counter-press.
        pressing: True while the other team presses together.
        inside: phase of the team with the ball; its team is the chain's.
        outside: phase of the other team.
    """

    chain: Event | None = None
    counter: bool = False
    long_us: int = -(2**62)
    pressed_us: int = -(2**62)
    pressing: bool = False
    inside: Held = Held()
    outside: Held = Held()
    published: tuple[Event, ...] = ()


class Phases:
    """13.1, 13.2: ``phase.in`` of the team with the ball and ``phase.out`` of the other one, as FIFA names them.

    Published when a phase has lasted for two seconds, shown from its begin. Dead play ends both without an event.
    A counter-attack that comes into the area replaces what was published of its chain. ``detail``: ``since_us``
    (begin), ``before`` (the published phase before it of this chain of possession, if any).
    """

    def __init__(self, sheet: MatchSheet, parameters: PhaseOfPlayParameters | None = None) -> None:
        self.parameters = parameters or PhaseOfPlayParameters()
        self.pitch = pitch_of(sheet)
        self._keepers = keepers_of(sheet)
        kinds = ("phase.in", "phase.out")
        self.spec = Spec(
            name="phases",
            number="13.1",
            level=13,
            inputs=(
                "scene", "play.dead", "chain.start", "pass.len", "counter.start", "counterpress.start",
                "press.team.start", "press.team.end",
            ),
            outputs=kinds,
            parameters=msgspec.structs.asdict(self.parameters),
            source="FIFA EFI (names); conditions ours",
            amends=kinds,
            annuls=("phase.in",),
            team_variants={"phase.in": IN, "phase.out": OUT},
            covers=("13.2",),
            details=dict.fromkeys(kinds, ("since_us", "before")),
            known=dict.fromkeys(kinds, Known("when it has lasted for two seconds")),
        )  # fmt: skip

    def initial(self) -> PhasesState:
        """Nobody has the ball."""
        return PhasesState()

    def step(self, state: PhasesState, event: Event) -> Step[PhasesState]:
        """Remember what happened; look at each scene."""
        kind = event.kind
        if kind == "scene":
            return (state, NOTHING) if state.chain is None else self._look(state, event, state.chain)
        if kind == "play.dead":
            return PhasesState(), NOTHING
        if kind == "chain.start":
            return PhasesState(event), NOTHING
        if state.chain is None:
            return state, NOTHING
        payload, team = payload_of(event), payload_of(state.chain).team
        if kind == "counter.start":
            certain = payload.team == team and not event.annuls and payload.confidence >= 1.0
            return self._countered(state, state.chain, event) if certain else (state, NOTHING)
        if kind == "counterpress.start":
            return (state if payload.team == team else msgspec.structs.replace(state, pressed_us=event.ts_us)), NOTHING
        if kind == "pass.len":
            is_long = payload.team == team and payload.variant == "long" and not event.annuls
            return (msgspec.structs.replace(state, long_us=event.ts_us) if is_long else state), NOTHING
        if payload.team == team:
            return state, NOTHING
        return msgspec.structs.replace(state, pressing=kind == "press.team.start"), NOTHING

    def _look(self, state: PhasesState, event: Event, chain: Event) -> Step[PhasesState]:
        scene, team = payload_as(event, Scene), payload_of(chain).team
        if scene.ball is None or not scene.live or not scene.sign(team):
            return state, NOTHING
        inside, first = self._held(state.inside, "phase.in", self._inside(state, scene, scene.ball, event), team, event)
        phase, other = self._outside(state, scene, scene.ball, event), opponents_of(team)
        outside, second = self._held(state.outside, "phase.out", phase, other, event)
        if inside == state.inside and outside == state.outside:
            return state, NOTHING
        published = (*state.published, *first)
        return msgspec.structs.replace(state, inside=inside, outside=outside, published=published), (*first, *second)

    def _countered(self, state: PhasesState, chain: Event, event: Event) -> Step[PhasesState]:
        """The whole chain so far was a counter-attack."""
        void = (withdrawal(one, event.ts_us) for one in state.published)
        team = payload_of(chain).team
        payload = EventPayload("counter", team, detail={"since_us": chain.ts_us, "before": ""})
        shown = make_event("phase.in", event.ts_us, f"{team}:{chain.ts_us}:counter", payload, dated_us=chain.ts_us)
        held = Held("counter", "counter", chain.ts_us)
        return msgspec.structs.replace(state, counter=True, inside=held, published=(shown,)), (*void, shown)

    def _inside(self, state: PhasesState, scene: Scene, ball: BallState, event: Event) -> str:
        """Phase of the team with the ball."""
        chain, p = state.chain, self.parameters
        if chain is None:
            return ""
        begun = payload_of(chain)
        since_us, began = event.ts_us - chain.ts_us, begun.detail["began"]
        if began in _SET_PIECES and since_us <= p.set_piece_us:
            return "set piece"
        if state.counter:
            return "counter"
        if began == "gain" and since_us <= p.transition_us:
            return "transition"
        if event.ts_us - state.long_us <= p.long_us:
            return "long ball"
        forward_m, third_m = scene.sign(begun.team) * ball.x_m, self.pitch.half_length_m / 3
        if forward_m > third_m:
            return "final third"
        if forward_m >= -third_m:
            return "progression"
        near2 = p.opposed_m**2
        opposed = any((b.x_m - ball.x_m) ** 2 + (b.y_m - ball.y_m) ** 2 <= near2 for b in scene.opponents(begun.team))
        return "build-up opposed" if opposed else "build-up unopposed"

    def _outside(self, state: PhasesState, scene: Scene, ball: BallState, event: Event) -> str:
        """Phase of the team without the ball."""
        chain, p = state.chain, self.parameters
        if chain is None:
            return ""
        begun, since_us = payload_of(chain), event.ts_us - chain.ts_us
        if event.ts_us - state.pressed_us <= p.transition_us:
            return "counter-press"
        if begun.detail["began"] == "gain" and since_us <= p.transition_us:
            return "transition"
        team = opponents_of(begun.team)
        sign = scene.sign(team)
        players = outfield(scene.team(team), sign, self._keepers)[1]
        ball_m = sign * ball.x_m
        if ball_m < 0.0 and sum(sign * b.x_m > ball_m for b in players) >= p.beaten:
            return "recovery"
        line = players[:_LINE]
        if not line:
            return ""
        height_m = sign * sum(b.x_m for b in line) / len(line) + self.pitch.half_length_m
        band = HEIGHTS[(height_m >= p.low_m) + (height_m >= p.high_m)]
        return f"{band} {'press' if state.pressing else 'block'}"

    def _held(self, held: Held, kind: str, phase: str, team: Team, event: Event) -> tuple[Held, tuple[Event, ...]]:
        """Follow a phase; publish it once it has lasted."""
        since_us = held.since_us if phase == held.now else event.ts_us
        after = Held(held.shown, phase, since_us)
        what, lasted_us, hold_us = "time that it held", event.ts_us - since_us, self.parameters.hold_us
        if phase in ("", held.shown) or not at_least(what, lasted_us, hold_us, "phases.hold_us", kind):
            return after, NOTHING
        detail: dict[str, Scalar] = {"since_us": since_us, "before": held.shown}
        payload = EventPayload(phase, team, detail=detail)
        dated_us = since_us if since_us < event.ts_us else None
        shown = make_event(kind, event.ts_us, f"{team}:{since_us}", payload, dated_us=dated_us)
        return Held(phase, phase, since_us), (shown,)
