"""8.10, 8.12: what a shot was worth, and who laid it on.

Theory of operation
-------------------
The value of a shot (xG) is databallpy's: three logistic regressions on distance and visible angle, of shots by foot, by
head, and of direct free kicks; and a fixed value of penalties. They know nothing of people. What stands in the way
multiplies the odds; these factors are ours, no data chose them, and they are 1 for the usual shot: one opponent and
the goalkeeper in the triangle of ball and posts, nobody upon the shooter.

A shot is valued at once. That it was a free kick or a penalty is known when play is known to be live again, and then
amends the value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from detectors.emission import make_event
from detectors.play.restart_kicks import RestartKickParameters, at_penalty_mark
from football.match_sheet import MatchSheet, Team
from football.payloads import BodyState, EventPayload, Scalar, frame_of, location_m, number, published
from football.pitch import GOAL_HALF_WIDTH_M, Pitch, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

XGS = ("<.05", "-.15", "-.35", ">.35")
XG_BOUNDS = (0.05, 0.15, 0.35)


class Regression(NamedTuple):
    """Log-odds of a goal: a constant, and per metre of distance and degree of visible angle."""

    constant: float
    per_m: float
    per_deg: float


#: databallpy's models, brought from standardised features to metres and degrees.
FOOT = Regression(-1.3881, -0.08402, 0.02326)
HEAD = Regression(-1.4281, -0.15232, 0.01195)
FREE_KICK = Regression(1.2321, -0.17408, 0.02305)
PENALTY_XG = 0.79
#: Ours: factors of the odds per opponent in the triangle beyond the usual one, under pressure, without the goalkeeper.
DEFENDER_FACTOR, USUAL_DEFENDERS = 0.8, 1
PRESSED_FACTOR = 0.8
NO_KEEPER_FACTOR = 4.0


class ShotValueParameters(msgspec.Struct, frozen=True):
    """``pressed_m``: an opponent so near presses the shooter (ours: a leg's reach). ``part_us``: the contact that
    tells foot from head is so near in time to the kick. ``restart_us``: as of 6.1."""

    pressed_m: float = 1.5
    part_us: int = 100_000
    restart_us: int = 1_500_000


class ShotValueState(msgspec.Struct, frozen=True, gc=False):
    """Who attacks +x, the newest frame, the newest contact's part of the body, the newest valued shot."""

    attacks: Team = ""
    frame: Event | None = None
    part: Event | None = None
    shot: Event | None = None


class ShotValue:
    """8.10: ``shot.xg`` x {<.05, -.15, -.35, >.35}: the chance that a shot becomes a goal; ``detail.xg``.

    ``detail`` further has ``distance_m``, ``angle_deg``, ``defenders`` and ``keeper`` (in the triangle of ball and
    posts), ``pressure_m`` (the nearest opponent) and ``model``.
    """

    def __init__(
        self,
        sheet: MatchSheet,
        parameters: ShotValueParameters | None = None,
        kick: RestartKickParameters | None = None,
    ) -> None:
        self.parameters = parameters or ShotValueParameters()
        self.kick = kick or RestartKickParameters()
        self._pitch = pitch_of(sheet)
        self._keepers = frozenset(p.object_id for p in sheet.players if p.goalkeeper)
        self.spec = Spec(
            name="shot_value",
            number="8.10",
            level=8,
            inputs=("frame", "direction", "bodypart", "shot.attempt", "play.live"),
            outputs=("shot.xg",),
            parameters={**msgspec.structs.asdict(self.parameters), **msgspec.structs.asdict(self.kick)},
            source="databallpy (xG); StatsBomb 360 (people in the way); factors ours",
            team_variants={"shot.xg": XGS},
            amends=("shot.xg",),
        )

    def initial(self) -> ShotValueState:
        """Nothing known."""
        return ShotValueState()

    def step(self, state: ShotValueState, event: Event) -> Step[ShotValueState]:
        """Values a shot; corrects it when a restart turns out to have been it."""
        if event.kind == "frame":
            return ShotValueState(state.attacks, event, state.part, state.shot), NOTHING
        payload = published(event)
        if event.kind == "direction":
            return ShotValueState(payload.team, state.frame, state.part, state.shot), NOTHING
        if event.kind == "bodypart":
            return ShotValueState(state.attacks, state.frame, event, state.shot), NOTHING
        if event.kind == "play.live":
            return self._restarted(state, event, payload)
        if not state.attacks or state.frame is None:
            return state, NOTHING
        model = "head" if self._headed(state.part, event, payload) else "foot"
        valued = self._valued(state, event, payload, model, event.ts_us)
        return ShotValueState(state.attacks, state.frame, state.part, valued), (valued,)

    def _headed(self, part: Event | None, event: Event, shot: EventPayload) -> bool:
        if part is None or abs(event.ts_us - part.ts_us) > self.parameters.part_us:
            return False
        contact = published(part)
        return contact.variant == "head" and contact.player == shot.player

    def _restarted(self, state: ShotValueState, event: Event, live: EventPayload) -> Step[ShotValueState]:
        """The newest shot again, if the kick that brought the ball to life was it."""
        shot = state.shot
        if shot is None or event.ts_us <= shot.ts_us:
            return state, NOTHING
        made = published(shot)
        same = abs(number(live, "kick_us") - shot.ts_us) <= self.parameters.restart_us and live.player == made.player
        if not same or live.variant != "stop":
            return ShotValueState(state.attacks, state.frame, state.part), NOTHING
        at_mark = at_penalty_mark(self._pitch, self.kick, *location_m(made))
        amended = self._valued(state, shot, made, "penalty" if at_mark else "free kick", event.ts_us)
        return ShotValueState(state.attacks, state.frame, state.part), (amended,)

    def _valued(self, state: ShotValueState, shot: Event, made: EventPayload, model: str, now_us: int) -> Event:
        """The value of a shot; a later word keeps who stood where at the kick."""
        assert made.x_m is not None
        assert made.y_m is not None
        distance_m, angle_deg = shot_view(self._pitch, made.x_m, made.y_m, positive=made.team == state.attacks)
        people = self._people(state, made) if now_us == shot.ts_us else dict(made.detail)
        xg = chance(model, distance_m, angle_deg, people, self.parameters.pressed_m)
        variant = XGS[sum(xg >= bound for bound in XG_BOUNDS)]
        detail: dict[str, Scalar] = {
            **people,
            "xg": round(xg, 3),
            "distance_m": round(distance_m, 2),
            "angle_deg": round(angle_deg, 1),
            "model": model,
        }
        told = EventPayload(variant, made.team, made.player, made.x_m, made.y_m, None, made.confidence, detail)
        causes = (f"shot.attempt#{shot.source}",)
        dated_us = None if now_us == shot.ts_us else shot.ts_us
        return make_event("shot.xg", now_us, shot.source, told, causes=causes, dated_us=dated_us)

    def _people(self, state: ShotValueState, made: EventPayload) -> dict[str, Scalar]:
        """Who stands in the way, and how near the nearest opponent is."""
        assert state.frame is not None
        frame = frame_of(state.frame)
        assert made.x_m is not None
        assert made.y_m is not None
        sign = 1.0 if made.team == state.attacks else -1.0
        opponents = [b for b in frame.players if b.team and b.team != made.team]
        keeper = self._keeper(opponents, sign)
        inside = [b for b in opponents if _in_triangle(self._pitch, sign, made.x_m, made.y_m, b)]
        near_m = min(
            (math.hypot(b.x_m - made.x_m, b.y_m - made.y_m) for b in opponents if b is not keeper), default=None
        )
        return {
            "defenders": sum(b is not keeper for b in inside),
            "keeper": any(b is keeper for b in inside),
            "pressure_m": None if near_m is None else round(near_m, 2),
        }

    def _keeper(self, opponents: list[BodyState], sign: float) -> BodyState | None:
        """By the sheet; without one, the rearmost."""
        named = [b for b in opponents if b.object_id in self._keepers]
        return max(named or opponents, key=lambda b: sign * b.x_m, default=None)


def shot_view(pitch: Pitch, x_m: float, y_m: float, *, positive: bool) -> tuple[float, float]:
    """Distance to the middle of the goal, m, and the angle under which it is seen, degrees.

    >>> [round(value, 1) for value in shot_view(Pitch(), 41.5, 0.0, positive=True)]
    [11.0, 36.8]
    """
    depth_m = max(pitch.half_length_m - (x_m if positive else -x_m), 0.0)
    angle = math.atan2(y_m + GOAL_HALF_WIDTH_M, depth_m) - math.atan2(y_m - GOAL_HALF_WIDTH_M, depth_m)
    return math.hypot(depth_m, y_m), math.degrees(angle)


def chance(model: str, distance_m: float, angle_deg: float, people: dict[str, Scalar], pressed_m: float) -> float:
    """The chance of a goal by one of the models ``foot``, ``head``, ``free kick``, ``penalty``.

    >>> usual = {"defenders": 1, "keeper": True, "pressure_m": 5.0}
    >>> round(chance("foot", 11.0, 36.8, usual, 1.5), 2)
    0.19
    """
    if model == "penalty":
        return PENALTY_XG
    r = {"foot": FOOT, "head": HEAD, "free kick": FREE_KICK}[model]
    odds = math.exp(r.constant + r.per_m * distance_m + r.per_deg * angle_deg)
    if model != "free kick":
        defenders, pressure_m = people["defenders"], people["pressure_m"]
        assert isinstance(defenders, int)
        odds *= DEFENDER_FACTOR ** (defenders - USUAL_DEFENDERS)
        odds *= PRESSED_FACTOR if isinstance(pressure_m, float) and pressure_m <= pressed_m else 1.0
        odds *= 1.0 if people["keeper"] else NO_KEEPER_FACTOR
    return odds / (1.0 + odds)


def _in_triangle(pitch: Pitch, sign: float, x_m: float, y_m: float, body: BodyState) -> bool:
    """Whether somebody stands between the ball and the goal mouth."""
    depth_m = pitch.half_length_m - sign * x_m
    ahead_m = sign * (body.x_m - x_m)
    if not 0.0 < ahead_m <= depth_m:
        return False
    share = ahead_m / depth_m
    low_m, high_m = (y_m + (post_m - y_m) * share for post_m in (-GOAL_HALF_WIDTH_M, GOAL_HALF_WIDTH_M))
    return low_m <= body.y_m <= high_m


class KeyPassParameters(msgspec.Struct, frozen=True):
    """``within_us``: hierarchy 8.12: a pass that arrived longer ago has not laid on the shot or goal."""

    within_us: int = 10_000_000


class KeyPassState(msgspec.Struct, frozen=True, gc=False):
    """The newest passes that arrived, oldest first; the newest shot, as long as its pass may be told after it.

    Of the newest goal: its id, the passes before it, and what was told of them.
    """

    passes: tuple[Event, ...] = ()
    shot: Event | None = None
    goal: str = ""
    before: tuple[Event, ...] = ()
    told: tuple[Event, ...] = ()


class KeyPass:
    """8.12: ``keypass``, ``assist``, ``second_assist``: the last pass before a shot or goal, and the one before.

    ``player`` is the passer. A key pass is named by its shot, the others by the goal; they change with its scorer, and
    go with it.
    """

    def __init__(self, parameters: KeyPassParameters | None = None) -> None:
        self.parameters = parameters or KeyPassParameters()
        self.spec = Spec(
            name="key_pass",
            number="8.12",
            level=8,
            inputs=("shot.attempt", "goal.scored", "pass.complete"),
            outputs=("keypass", "assist", "second_assist"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="Opta",
            team_variants=dict.fromkeys(("keypass", "assist", "second_assist"), ("",)),
            annuls=("assist", "second_assist"),
            amends=("assist", "second_assist"),
        )

    def initial(self) -> KeyPassState:
        """No pass has arrived."""
        return KeyPassState()

    def step(self, state: KeyPassState, event: Event) -> Step[KeyPassState]:
        """Remembers passes; a shot or goal looks for its own."""
        if event.kind == "pass.complete":
            shot = state.shot
            after = msgspec.structs.replace(state, passes=(*state.passes[-2:], event), shot=None)
            # A ball that is shot at the first touch: the contact that ends the pass is the shot, and comes first.
            first_time = shot is not None and shot.ts_us == event.ts_us and self._laid_on(event, shot)
            return after, (_credit("keypass", event, shot),) if first_time and shot is not None else NOTHING
        if event.kind == "goal.scored":
            return self._scored(state, event)
        last = state.passes[-1] if state.passes else None
        if last is None or not self._laid_on(last, event):
            return msgspec.structs.replace(state, shot=event), NOTHING
        return msgspec.structs.replace(state, shot=None), (_credit("keypass", last, event),)

    def _scored(self, state: KeyPassState, event: Event) -> Step[KeyPassState]:
        """A goal, or a newer version of it: with another scorer, or its end."""
        again = event.id == state.goal
        passes = state.before if again else state.passes
        goal_us = event.ts_us if event.dated_us is None else event.dated_us
        goal = msgspec.structs.replace(event, ts_us=goal_us, dated_us=None)
        earned = {} if event.annuls else {e.kind: e for e in self._assists(passes, goal)}
        out: list[Event] = []
        for old in state.told if again else ():
            if old.kind not in earned:
                dated_us = old.ts_us if old.dated_us is None else old.dated_us
                out.append(msgspec.structs.replace(old, ts_us=event.ts_us, annuls=old.id, dated_us=dated_us))
        for new in earned.values():
            late = event.ts_us > new.ts_us
            out.append(msgspec.structs.replace(new, ts_us=event.ts_us, dated_us=new.ts_us if late else None))
        told = tuple(e for e in out if not e.annuls)
        return KeyPassState(state.passes, state.shot, event.id, passes, told), out or NOTHING

    def _assists(self, passes: tuple[Event, ...], goal: Event) -> Iterator[Event]:
        """The credit for a goal."""
        last, before = (passes[-1] if passes else None), (passes[-2] if len(passes) > 1 else None)
        if last is None or not self._laid_on(last, goal):
            return
        yield _credit("assist", last, goal)
        if before is not None and self._prepared(before, last):
            yield _credit("second_assist", before, goal)

    def _laid_on(self, passed: Event, shot: Event) -> bool:
        """Whether a pass came to who shot or scored, not too long ago."""
        return _receiver(passed) == published(shot).player and shot.ts_us - passed.ts_us <= self.parameters.within_us

    def _prepared(self, before: Event, last: Event) -> bool:
        """Whether a pass came to the passer of the last one, not too long before he passed it on."""
        one, two = published(before), published(last)
        ago_us = number(two, "kick_us") - before.ts_us
        return one.team == two.team and _receiver(before) == two.player and ago_us <= self.parameters.within_us


def _receiver(passed: Event) -> Scalar:
    return published(passed).detail["receiver"]


def _credit(kind: str, passed: Event, shot: Event) -> Event:
    made = published(passed)
    x_m, y_m = made.detail["start_x_m"], made.detail["start_y_m"]
    detail: dict[str, Scalar] = {"to": published(shot).player, "kick_us": made.detail["kick_us"]}
    assert x_m is None or isinstance(x_m, float)
    assert y_m is None or isinstance(y_m, float)
    told = EventPayload("", made.team, made.player, x_m, y_m, None, made.confidence, detail)
    ts_us = max(passed.ts_us, shot.ts_us)
    return make_event(kind, ts_us, shot.source, told, causes=(passed.id, shot.id))
