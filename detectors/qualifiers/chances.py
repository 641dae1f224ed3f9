"""8.10, 8.12: the value of a shot (xG), key passes and assists.

Theory of operation
-------------------
The value of a shot is databallpy's: three logistic regressions on distance and visible angle, of shots by foot, by
head, and of direct free kicks; and a fixed value of penalties. They do not consider other players. Players in the
triangle of ball and posts multiply the odds. These factors are ours, chosen without data. They are 1 for the usual
shot: one opponent and the goalkeeper in the triangle, no opponent near the shooter.

A shot is valued at once. A free kick or penalty is known only when play is known to be live again, and then amends the
value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, NamedTuple

import msgspec

from detectors.decisions import at_most, is_over, is_recording, note
from detectors.emission import make_event, shown_us
from detectors.play.restart_kicks import RestartKickParameters, at_penalty_mark
from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import BodyState, EventPayload, Scalar, frame_of, location_m, number, payload_of
from football.pitch import GOAL_HALF_WIDTH_M, Pitch, pitch_of
from middleware.detector import NOTHING, Known, Spec, Step
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
#: Factors of the odds: per opponent in the triangle beyond the usual one, under pressure, without the goalkeeper. Ours.
DEFENDER_FACTOR, USUAL_DEFENDERS = 0.8, 1
PRESSED_FACTOR = 0.8
NO_KEEPER_FACTOR = 4.0


class ShotValueParameters(msgspec.Struct, frozen=True):
    """Limits of the value of a shot.

    Attributes:
        pressed_m: an opponent within this distance presses the shooter.
        part_us: the part of the body of a contact this near in time is that of the shot.
        restart_us: a shot this near in time to a restart is that restart.
    """

    pressed_m: Annotated[float, reason("Ours: a leg's reach.")] = 1.5
    part_us: Annotated[int, reason("Ours.")] = 100_000
    restart_us: Annotated[int, reason("As strike.restart_us (6.1).")] = 1_500_000


class ShotValueState(msgspec.Struct, frozen=True, gc=False):
    """State: the team that attacks +x, the newest frame, the newest part of the body, the newest valued shot."""

    attacks: Team = ""
    frame: Event | None = None
    part: Event | None = None
    shot: Event | None = None


class ShotValue:
    """8.10: ``shot.xg`` x {<.05, -.15, -.35, >.35}: the chance that a shot becomes a goal.

    Named by the kick, shown at it. ``detail``: ``xg`` (0 to 1), ``distance_m`` and ``angle_deg`` (to the goal, and of
    its visible width), ``defenders`` and ``keeper`` (number, and true, in the triangle of ball and posts),
    ``pressure_m`` (distance of the nearest opponent), ``model`` (foot, head, free kick or penalty).
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
            known={
                "shot.xg": Known(
                    "at the kick",
                    "when play is known to be live again, after a free kick or penalty",
                    ("variant", "xg", "model"),
                )
            },
            details={"shot.xg": ("defenders", "keeper", "pressure_m", "xg", "distance_m", "angle_deg", "model")},
        )

    def initial(self) -> ShotValueState:
        """Nothing known."""
        return ShotValueState()

    def step(self, state: ShotValueState, event: Event) -> Step[ShotValueState]:
        """Value a shot; amend the value if it was a restart."""
        if event.kind == "frame":
            return ShotValueState(state.attacks, event, state.part, state.shot), NOTHING
        payload = payload_of(event)
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
        contact = payload_of(part)
        return contact.variant == "head" and contact.player == shot.player

    def _restarted(self, state: ShotValueState, event: Event, live: EventPayload) -> Step[ShotValueState]:
        """The newest shot again, if it was the kick of the restart."""
        shot = state.shot
        if shot is None or event.ts_us <= shot.ts_us:
            return state, NOTHING
        attempt = payload_of(shot)
        same = abs(number(live, "kick_us") - shot.ts_us) <= self.parameters.restart_us and live.player == attempt.player
        if not same or live.variant != "stop":
            return ShotValueState(state.attacks, state.frame, state.part), NOTHING
        at_mark = at_penalty_mark(self._pitch, self.kick, *location_m(attempt))
        amended = self._valued(state, shot, attempt, "penalty" if at_mark else "free kick", event.ts_us)
        return ShotValueState(state.attacks, state.frame, state.part), (amended,)

    def _valued(self, state: ShotValueState, shot: Event, attempt: EventPayload, model: str, now_us: int) -> Event:
        """The value of a shot; an amendment keeps the positions of the players at the kick."""
        x_m, y_m = location_m(attempt)
        distance_m, angle_deg = shot_view(self._pitch, x_m, y_m, positive=attempt.team == state.attacks)
        people = self._people(state, attempt) if now_us == shot.ts_us else dict(attempt.detail)
        xg = chance(model, distance_m, angle_deg, people, self.parameters.pressed_m)
        if is_recording():
            _note_bounds(xg)
        variant = XGS[sum(xg >= bound for bound in XG_BOUNDS)]
        detail: dict[str, Scalar] = {
            **people,
            "xg": round(xg, 3),
            "distance_m": round(distance_m, 2),
            "angle_deg": round(angle_deg, 1),
            "model": model,
        }
        valued = msgspec.structs.replace(attempt, variant=variant, z_m=None, detail=detail)
        causes = (f"shot.attempt#{shot.source}",)
        dated_us = None if now_us == shot.ts_us else shot.ts_us
        return make_event("shot.xg", now_us, shot.source, valued, causes=causes, dated_us=dated_us)

    def _people(self, state: ShotValueState, attempt: EventPayload) -> dict[str, Scalar]:
        """Players in the triangle of ball and posts, and the distance of the nearest opponent."""
        if state.frame is None:
            return {}
        frame, (x_m, y_m) = frame_of(state.frame), location_m(attempt)
        sign = 1.0 if attempt.team == state.attacks else -1.0
        opponents = [b for b in frame.players if b.team and b.team != attempt.team]
        keeper = self._keeper(opponents, sign)
        inside = [b for b in opponents if _in_triangle(self._pitch, sign, x_m, y_m, b)]
        near_m = min((math.hypot(b.x_m - x_m, b.y_m - y_m) for b in opponents if b is not keeper), default=None)
        return {
            "defenders": sum(b is not keeper for b in inside),
            "keeper": any(b is keeper for b in inside),
            "pressure_m": None if near_m is None else round(near_m, 2),
        }

    def _keeper(self, opponents: list[BodyState], sign: float) -> BodyState | None:
        """The goalkeeper by the sheet; without goalkeepers there, the rearmost opponent."""
        named = [b for b in opponents if b.object_id in self._keepers]
        return max(named or opponents, key=lambda b: sign * b.x_m, default=None)


def shot_view(pitch: Pitch, x_m: float, y_m: float, *, positive: bool) -> tuple[float, float]:
    """Distance from the middle of the goal in metres, and the visible angle of the goal in degrees.

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
        odds *= DEFENDER_FACTOR ** (int(defenders or 0) - USUAL_DEFENDERS)
        what, path = "the nearest opponent from the shooter", "shot_value.pressed_m"
        if isinstance(pressure_m, float) and not is_over(what, pressure_m, pressed_m, path):
            odds *= PRESSED_FACTOR
        odds *= 1.0 if people["keeper"] else NO_KEEPER_FACTOR
    return odds / (1.0 + odds)


def _note_bounds(xg: float) -> None:
    """Note the bounds between which a value lies."""
    for bound in XG_BOUNDS:
        note("chance of a goal", xg, "at least" if xg >= bound else "at most", bound)


def _in_triangle(pitch: Pitch, sign: float, x_m: float, y_m: float, body: BodyState) -> bool:
    """True if a player is between the ball and the goal mouth."""
    depth_m = pitch.half_length_m - sign * x_m
    ahead_m = sign * (body.x_m - x_m)
    if not 0.0 < ahead_m <= depth_m:
        return False
    share = ahead_m / depth_m
    low_m, high_m = (y_m + (post_m - y_m) * share for post_m in (-GOAL_HALF_WIDTH_M, GOAL_HALF_WIDTH_M))
    return low_m <= body.y_m <= high_m


class KeyPassParameters(msgspec.Struct, frozen=True):
    """Limits of a key pass.

    Attributes:
        within_us: a key pass or assist arrived at most this long before the shot or goal.
    """

    within_us: Annotated[int, reason("Hierarchy 8.12.")] = 10_000_000


class KeyPassState(msgspec.Struct, frozen=True, gc=False):
    """State of the detector.

    Attributes:
        passes: newest completed passes, oldest first.
        shot: newest shot, as long as its pass may still become known.
        goal: id of the newest goal.
        before: passes before that goal.
        published: its published assists.
    """

    passes: tuple[Event, ...] = ()
    shot: Event | None = None
    goal: str = ""
    before: tuple[Event, ...] = ()
    published: tuple[Event, ...] = ()


class KeyPass:
    """8.12: ``keypass``, ``assist``, ``second_assist``: the last pass before a shot or goal, and the one before.

    ``player`` is the passer, the position that of his kick. A key pass is named by its shot, an assist by the goal.
    Who scores after a one-two has not prepared his own goal. Assists are amended with the scorer, and withdrawn with
    the goal. ``detail``: ``to`` (the player who shot or scored), ``kick_us`` (event time of the pass).
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
            known=dict.fromkeys(
                ("assist", "second_assist"),
                Known(
                    "with the goal",
                    "when officials name another scorer",
                    ("player", "x_m", "y_m", "confidence", "to", "kick_us"),
                ),
            ),
            details=dict.fromkeys(("keypass", "assist", "second_assist"), ("to", "kick_us")),
        )

    def initial(self) -> KeyPassState:
        """No pass has arrived."""
        return KeyPassState()

    def step(self, state: KeyPassState, event: Event) -> Step[KeyPassState]:
        """Remember passes; credit the pass before a shot or goal."""
        if event.kind == "pass.complete":
            shot = state.shot
            after = msgspec.structs.replace(state, passes=(*state.passes[-2:], event), shot=None)
            # A first-time shot: the contact that ends the pass is the shot, and precedes the end of the pass.
            first_time = shot is not None and shot.ts_us == event.ts_us and self._laid_on(event, shot)
            return after, (_credit("keypass", event, shot),) if first_time and shot is not None else NOTHING
        if event.kind == "goal.scored":
            return self._scored(state, event)
        last = state.passes[-1] if state.passes else None
        if last is None or not self._laid_on(last, event):
            return msgspec.structs.replace(state, shot=event), NOTHING
        return msgspec.structs.replace(state, shot=None), (_credit("keypass", last, event),)

    def _scored(self, state: KeyPassState, event: Event) -> Step[KeyPassState]:
        """Credit a goal, or a newer version of it: with another scorer, or withdrawn."""
        again = event.id == state.goal
        passes = state.before if again else state.passes
        goal_us = shown_us(event)
        goal = msgspec.structs.replace(event, ts_us=goal_us, dated_us=None)
        earned = {} if event.annuls else {e.kind: e for e in self._assists(passes, goal)}
        out: list[Event] = []
        for old in state.published if again else ():
            if old.kind not in earned:
                dated_us = shown_us(old)
                out.append(msgspec.structs.replace(old, ts_us=event.ts_us, annuls=old.id, dated_us=dated_us))
        for new in earned.values():
            late = event.ts_us > new.ts_us
            out.append(msgspec.structs.replace(new, ts_us=event.ts_us, dated_us=new.ts_us if late else None))
        standing = tuple(e for e in out if not e.annuls)
        return KeyPassState(state.passes, state.shot, event.id, passes, standing), out or NOTHING

    def _assists(self, passes: tuple[Event, ...], goal: Event) -> Iterator[Event]:
        """The credit for a goal."""
        last, before = (passes[-1] if passes else None), (passes[-2] if len(passes) > 1 else None)
        if last is None or not self._laid_on(last, goal):
            return
        yield _credit("assist", last, goal)
        if before is None or payload_of(before).player == payload_of(goal).player:
            return
        if self._prepared(before, last):
            yield _credit("second_assist", before, goal)

    def _laid_on(self, passed: Event, shot: Event) -> bool:
        """True if a pass arrived at the player who shot or scored, not too long before."""
        if _receiver(passed) != payload_of(shot).player:
            return False
        what, since_us, limit_us = "time since the pass arrived", shot.ts_us - passed.ts_us, self.parameters.within_us
        return at_most(what, since_us, limit_us, "key_pass.within_us")

    def _prepared(self, before: Event, last: Event) -> bool:
        """True if a pass arrived at the passer of the last one, not too long before he passed it on."""
        one, two = payload_of(before), payload_of(last)
        if one.team != two.team or _receiver(before) != two.player:
            return False
        what, held_us = "time until he passed it on", number(two, "kick_us") - before.ts_us
        limit_us = self.parameters.within_us
        return at_most(what, held_us, limit_us, "key_pass.within_us", about="second_assist")


def _receiver(passed: Event) -> Scalar:
    return payload_of(passed).detail["receiver"]


def _credit(kind: str, passed: Event, shot: Event) -> Event:
    attempt = payload_of(passed)
    known = attempt.detail["start_x_m"] is not None and attempt.detail["start_y_m"] is not None
    x_m, y_m = (number(attempt, "start_x_m"), number(attempt, "start_y_m")) if known else (None, None)
    detail: dict[str, Scalar] = {"to": payload_of(shot).player, "kick_us": attempt.detail["kick_us"]}
    valued = EventPayload("", attempt.team, attempt.player, x_m, y_m, None, attempt.confidence, detail)
    ts_us = max(passed.ts_us, shot.ts_us)
    return make_event(kind, ts_us, shot.source, valued, causes=(passed.id, shot.id))
