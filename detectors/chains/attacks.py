"""12.9 to 12.12: build-up attacks, direct attacks, counter-attacks, and the time to win the ball back.

Theory of operation
-------------------
An attack is judged when its chain (11.5) comes to a shot, or to the first contact in the opponents' penalty area, by
its path over the contacts of its team (``detectors/chains/path.py``):

| kind | condition |
|---|---|
| ``attack.buildup`` | ``build_up_passes`` completed passes or more |
| ``attack.direct`` | began in the own half, at most ``direct_us`` ago, ``direct_share`` of its path upfield |
| ``counter.*`` | began with a gain outside the attacking third, at most ``counter_us`` ago, ``counter_m_s`` upfield |

A counter-attack is published while it runs. ``counter.start`` follows as soon as the team is ``start_m`` upfield of its
gain, fast enough; ``counter.active`` at the next contact, with a newer version at each further one; ``counter.end`` at
the first contact in the area. A counter-attack that gets there too slowly, or not at all, was none: what was published
of it is withdrawn.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.chains.path import INPUTS, ChainPath, followed
from detectors.decisions import above, at_least, at_most, below, is_over
from detectors.emission import make_event, shown_us, withdrawal
from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, payload_of
from football.pitch import pitch_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event


class AttackParameters(msgspec.Struct, frozen=True):
    """Limits of kinds of attack.

    Attributes:
        build_up_passes: least number of completed passes of a build-up attack.
        direct_us: greatest duration of a direct attack.
        direct_share: least share of the path of a direct attack that leads upfield.
        counter_us: greatest duration of a counter-attack.
        counter_m_s: least mean speed upfield of a counter-attack.
        start_m: a counter-attack is published when it is this far upfield of its gain.
        doubt: confidence of a counter-attack before it is in the penalty area.
    """

    build_up_passes: Annotated[int, reason("Opta (build-up attack).")] = 10
    direct_us: Annotated[int, reason("Opta (direct attack).")] = 15_000_000
    direct_share: Annotated[float, reason("Opta (direct attack).")] = 0.5
    counter_us: Annotated[int, reason("Hierarchy 12.11, ours.")] = 15_000_000
    counter_m_s: Annotated[float, reason("Hierarchy 12.11, ours.")] = 3.0
    start_m: Annotated[float, reason("Ours.")] = 20.0
    doubt: Annotated[float, reason("Ours.")] = 0.5


class AttackState(msgspec.Struct, frozen=True, gc=False):
    """State: the team that attacks +x; the path of the chain; True once the chain was published as such an attack."""

    attacks: Team = ""
    path: ChainPath | None = None
    published: bool = False


class _Judge:
    """Follows chains and publishes each at most once, when it comes to a shot or into the area."""

    spec: Spec

    def __init__(self, sheet: MatchSheet, parameters: AttackParameters | None = None) -> None:
        self.parameters = parameters or AttackParameters()
        self.pitch = pitch_of(sheet)

    def initial(self) -> AttackState:
        """No chain."""
        return AttackState()

    def step(self, state: AttackState, event: Event) -> Step[AttackState]:
        """Follow the chain; judge it at a shot or in the area."""
        if event.kind == "direction":
            return msgspec.structs.replace(state, attacks=payload_of(event).team), NOTHING
        if event.kind == "chain.end":
            if event.dated_us is not None:
                return state, NOTHING
            ended = AttackState(state.attacks)
            shot = payload_of(event).variant == "shot" and state.path is not None and not state.published
            return ended, self._judged(state.path, event) if shot and state.path is not None else NOTHING
        before, path = state.path, followed(state.path, event, self.pitch, state.attacks)
        if path is None or event.kind == "chain.start":
            return AttackState(state.attacks, path), NOTHING
        after = AttackState(state.attacks, path, state.published)
        if state.published or not path.in_area or path is before:
            return after, NOTHING
        out = self._judged(path, event)
        return msgspec.structs.replace(after, published=bool(out)), out

    def _judged(self, path: ChainPath, event: Event) -> tuple[Event, ...]:
        took_us = event.ts_us - path.start.ts_us
        if not self._is_one(path, took_us):
            return NOTHING
        start, here = payload_of(path.start), payload_of(event)
        detail: dict[str, Scalar] = {
            "start_us": path.start.ts_us,
            "seconds": round(took_us / 1e6, 3),
            "passes": path.passes,
            "forward_m": round(path.forward_m, 2),
            "length_m": round(path.length_m, 2),
            "shot": event.kind == "chain.end",
        }
        payload = EventPayload("", start.team, "", here.x_m, here.y_m, None, here.confidence, detail)
        causes = (path.start.id, event.id)
        return (make_event(self.spec.outputs[0], event.ts_us, path.start.source, payload, causes=causes),)

    def _is_one(self, path: ChainPath, took_us: int) -> bool:
        raise NotImplementedError


_ATTACK = ("start_us", "seconds", "passes", "forward_m", "length_m", "shot")


class BuildUpAttack(_Judge):
    """12.9: ``attack.buildup`` x team: a chain of many passes comes to a shot or into the penalty area.

    Dated then, named by the chain. ``detail``: ``start_us``, ``seconds``, ``passes`` (of the chain so far),
    ``forward_m`` and ``length_m`` (of its path), ``shot`` (true if it came to a shot before any contact in the area).
    """

    def __init__(self, sheet: MatchSheet, parameters: AttackParameters | None = None) -> None:
        super().__init__(sheet, parameters)
        self.spec = Spec(
            name="build_up_attack",
            number="12.9",
            level=12,
            inputs=INPUTS,
            outputs=("attack.buildup",),
            parameters={"build_up_passes": self.parameters.build_up_passes},
            source="Opta",
            team_variants={"attack.buildup": ("",)},
            details={"attack.buildup": _ATTACK},
        )

    def _is_one(self, path: ChainPath, took_us: int) -> bool:
        return at_least("passes of the chain", path.passes, self.parameters.build_up_passes, "attack.build_up_passes")


class DirectAttack(_Judge):
    """12.10: ``attack.direct`` x team: a chain from the own half comes to a shot or into the area, fast and straight.

    Dated then, named by the chain. ``detail``: ``start_us``, ``seconds``, ``passes`` (of the chain so far),
    ``forward_m`` and ``length_m`` (of its path), ``shot`` (true if it came to a shot before any contact in the area).
    """

    def __init__(self, sheet: MatchSheet, parameters: AttackParameters | None = None) -> None:
        super().__init__(sheet, parameters)
        self.spec = Spec(
            name="direct_attack",
            number="12.10",
            level=12,
            inputs=INPUTS,
            outputs=("attack.direct",),
            parameters={name: getattr(self.parameters, name) for name in ("direct_us", "direct_share")},
            source="Opta",
            team_variants={"attack.direct": ("",)},
            details={"attack.direct": _ATTACK},
        )

    def _is_one(self, path: ChainPath, took_us: int) -> bool:
        p = self.parameters
        what, least_m = "metres upfield on the path", p.direct_share * path.length_m
        return (
            below("the start from halfway, upfield", path.begin_x_m, 0.0, unit="m")
            and at_most("duration of the attack", took_us, p.direct_us, "attack.direct_us")
            and at_least(what, path.forward_m, least_m, "attack.direct_share", unit="m")
        )


class CounterState(msgspec.Struct, frozen=True, gc=False):
    """State: the team that attacks +x; the path of the chain; newest versions of its ``counter.start`` and
    ``counter.active``; True once the area decided."""

    attacks: Team = ""
    path: ChainPath | None = None
    start: Event | None = None
    active: Event | None = None
    decided: bool = False


class CounterAttack:
    """12.11: ``counter.start``, ``counter.active``, ``counter.end`` x team: a fast attack from a gain into the area.

    ``counter.start`` is shown at the gain, and published once the team is ``start_m`` upfield of it. ``counter.active``
    follows at the next contact, and is amended at each one on the way; ``counter.end`` follows at the first one in the
    area. If the attack does not get there in time, all is withdrawn. All are named by the chain. ``detail``:
    ``start_us`` (of the gain), ``seconds`` (since), ``gained_m`` (upfield), ``speed_m_s`` (mean, upfield), ``passes``.
    """

    def __init__(self, sheet: MatchSheet, parameters: AttackParameters | None = None) -> None:
        self.parameters = parameters or AttackParameters()
        self.pitch = pitch_of(sheet)
        kinds = ("counter.start", "counter.active", "counter.end")
        names = ("counter_us", "counter_m_s", "start_m", "doubt")
        changes = ("confidence", "seconds", "gained_m", "speed_m_s", "passes")
        self.spec = Spec(
            name="counter_attack",
            number="12.11",
            level=12,
            inputs=INPUTS,
            outputs=kinds,
            parameters={name: getattr(self.parameters, name) for name in names},
            source="FIFA EFI (transition); numbers ours",
            amends=("counter.start", "counter.active"),
            annuls=("counter.start", "counter.active"),
            team_variants=dict.fromkeys(kinds, ("",)),
            details=dict.fromkeys(kinds, ("start_us", "seconds", "gained_m", "speed_m_s", "passes")),
            known={
                "counter.start": Known("when the team is far enough upfield of its gain", "at its end", changes),
                "counter.active": Known(
                    "at the next contact", "at each further one", ("player", "x_m", "y_m", *changes)
                ),
            },
        )

    def initial(self) -> CounterState:
        """No chain."""
        return CounterState()

    def step(self, state: CounterState, event: Event) -> Step[CounterState]:
        """Follow the chain from its gain."""
        if event.kind == "direction":
            return msgspec.structs.replace(state, attacks=payload_of(event).team), NOTHING
        if event.kind == "chain.end":
            out = NOTHING if state.decided else _withdrawn(state, event)
            return (state, NOTHING) if event.dated_us is not None else (CounterState(state.attacks), out)
        before, path = state.path, followed(state.path, event, self.pitch, state.attacks)
        if event.kind == "chain.start":
            third_m = self.pitch.half_length_m / 3
            possible = path is not None and payload_of(event).detail["began"] == "gain" and path.begin_x_m < third_m
            return CounterState(state.attacks, path if possible else None), NOTHING
        after = msgspec.structs.replace(state, path=path)
        if path is None or path is before or state.decided or event.kind == "pass.complete":
            return after, NOTHING
        return self._contact(after, path, event)

    def _contact(self, state: CounterState, path: ChainPath, event: Event) -> Step[CounterState]:
        p, took_us = self.parameters, event.ts_us - path.start.ts_us
        speed_m_s = path.gained_m / max(took_us / 1e6, 0.1)
        in_time = at_most("time since the gain", took_us, p.counter_us, "attack.counter_us")
        fast = in_time and at_least("mean speed upfield", speed_m_s, p.counter_m_s, "attack.counter_m_s")
        if path.in_area:
            decided = msgspec.structs.replace(state, decided=True)
            if not fast:
                return decided, _withdrawn(state, event)
            end = self._event("counter.end", path, event, speed_m_s, 1.0)
            start = self._event("counter.start", path, event, speed_m_s, 1.0)
            return decided, (start, end)
        if not in_time:
            decided = msgspec.structs.replace(state, decided=True)
            return decided, _withdrawn(state, event)
        if state.start is not None:
            active = self._event("counter.active", path, event, speed_m_s, p.doubt)
            if state.active is not None:
                active = msgspec.structs.replace(active, dated_us=shown_us(state.active))
            return msgspec.structs.replace(state, active=active), (active,)
        if not fast or not above("metres upfield of the gain", path.gained_m, p.start_m, "attack.start_m"):
            return state, NOTHING
        start = self._event("counter.start", path, event, speed_m_s, p.doubt)
        return msgspec.structs.replace(state, start=start), (start,)

    def _event(self, kind: str, path: ChainPath, event: Event, speed_m_s: float, confidence: float) -> Event:
        begun, here = payload_of(path.start), payload_of(event)
        detail: dict[str, Scalar] = {
            "start_us": path.start.ts_us,
            "seconds": round((event.ts_us - path.start.ts_us) / 1e6, 3),
            "gained_m": round(path.gained_m, 2),
            "speed_m_s": round(speed_m_s, 2),
            "passes": path.passes,
        }
        began = kind == "counter.start"
        place = begun if began else here
        player = "" if began else here.player
        payload = EventPayload("", begun.team, player, place.x_m, place.y_m, None, confidence, detail)
        anchor, dated_us = path.start.source, path.start.ts_us if began else None
        return make_event(kind, event.ts_us, anchor, payload, causes=(path.start.id, event.id), dated_us=dated_us)


def _withdrawn(state: CounterState, event: Event) -> tuple[Event, ...]:
    """The withdrawal of what was published of a counter-attack that was none."""
    published = (one for one in (state.start, state.active) if one is not None)
    return tuple(withdrawal(one, event.ts_us) for one in published)


RECOVERIES = ("<5", "-10", ">10")


class RecoveryTimeParameters(msgspec.Struct, frozen=True):
    """Classes of the time to win the ball back.

    Attributes:
        quick_us: below it the class is ``<5``.
        slow_us: above it the class is ``>10``.
    """

    quick_us: Annotated[int, reason("Hierarchy 12.12; FIFA EFI.")] = 5_000_000
    slow_us: Annotated[int, reason("Hierarchy 12.12; FIFA EFI.")] = 10_000_000


class RecoveryState(msgspec.Struct, frozen=True, gc=False):
    """State: when each team last lost the ball in play, -1 if it has not since the last stoppage."""

    home_us: int = -1
    away_us: int = -1


class RecoveryTime:
    """12.12: ``recovery.time`` x {<5, -10, >10} x team: how long a team took to win the ball back, in seconds.

    From the end of its last chain to its next gain (11.5), if play did not stop in between. Dated at the gain;
    ``player`` and position are those of the gain. ``detail``: ``seconds``.
    """

    def __init__(self, parameters: RecoveryTimeParameters | None = None) -> None:
        self.parameters = parameters or RecoveryTimeParameters()
        self.spec = Spec(
            name="recovery_time",
            number="12.12",
            level=12,
            inputs=("chain.start", "chain.end", "play.dead"),
            outputs=("recovery.time",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="FIFA EFI",
            team_variants={"recovery.time": RECOVERIES},
            details={"recovery.time": ("seconds",)},
        )

    def initial(self) -> RecoveryState:
        """Nobody has lost the ball."""
        return RecoveryState()

    def step(self, state: RecoveryState, event: Event) -> Step[RecoveryState]:
        """Remember losses; time gains."""
        payload = payload_of(event)
        if event.kind == "play.dead":
            return RecoveryState(), NOTHING
        if event.kind == "chain.end":
            if event.dated_us is not None or payload.variant not in ("loss", "shot"):
                return state, NOTHING
            return _with(state, payload.team, event.ts_us), NOTHING
        lost_us = state.home_us if payload.team == "home" else state.away_us
        after = _with(state, payload.team, -1)
        if lost_us < 0 or payload.detail["began"] != "gain":
            return after, NOTHING
        took_us, p = event.ts_us - lost_us, self.parameters
        variant = "<5"
        if is_over("time since the loss", took_us, p.quick_us - 1, "recovery_time.quick_us"):
            variant = (
                ">10" if is_over("time since the loss", took_us, p.slow_us - 1, "recovery_time.slow_us") else "-10"
            )
        detail: dict[str, Scalar] = {"seconds": round(took_us / 1e6, 3)}
        regained = msgspec.structs.replace(payload, variant=variant, detail=detail)
        return after, (make_event("recovery.time", event.ts_us, event.source, regained, causes=(event.id,)),)


def _with(state: RecoveryState, team: Team, at_us: int) -> RecoveryState:
    return RecoveryState(at_us, state.away_us) if team == "home" else RecoveryState(state.home_us, at_us)
