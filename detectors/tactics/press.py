"""12.3, 12.4: press triggers, and the press of several players together."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.contacts.recent_contacts import opponents_of
from detectors.control.scene import Scene, keepers_of
from detectors.decisions import above, at_least, at_most, below, note
from detectors.emission import make_event
from detectors.reasons import reason
from detectors.tactics.turnovers import INPUTS, closing_m_s
from football.match_sheet import MatchSheet, Team
from football.payloads import BodyState, EventPayload, Scalar, number, payload_as, payload_of
from football.pitch import pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class TeamPressParameters(msgspec.Struct, frozen=True):
    """Limits of a press of several players.

    Attributes:
        players: least number of players who close in.
        reach_m: a player farther from the ball does not press it.
        closing_m_s: least speed of a player towards the ball.
        hold_us: the press is published when it has lasted for this long.
        over_us: the press is over when fewer players have closed in for this long.
    """

    players: Annotated[int, reason("Hierarchy 12.4; unravelsports.")] = 3
    reach_m: Annotated[float, reason("Hierarchy 12.4, ours.")] = 20.0
    closing_m_s: Annotated[float, reason("Hierarchy 12.4, ours.")] = 2.0
    hold_us: Annotated[int, reason("Ours: four scenes in a row.")] = 600_000
    over_us: Annotated[int, reason("Ours: players slow down before they turn.")] = 1_000_000


class TeamPressState(msgspec.Struct, frozen=True, gc=False):
    """State: the team with the ball; since when enough players close in; when they last did; the published start; the
    greatest number of them."""

    team: Team = ""
    since_us: int = -1
    last_us: int = -1
    start: Event | None = None
    most: int = 0


class TeamPress:
    """12.4: ``press.team.start`` and ``press.team.end`` x team: three players or more close in on the ball together.

    ``team`` presses. The end is named by the start. The position is the ball's. ``detail`` of the start: ``since_us``
    (begin), ``players`` (their number), ``on`` (the team with the ball); of the end: ``since_us`` (when the press was
    over), ``seconds`` (duration), ``players`` (the greatest number), ``how`` (``won``: the team gained the ball;
    ``dead``: play stopped; ``over``).
    """

    def __init__(self, parameters: TeamPressParameters | None = None) -> None:
        self.parameters = parameters or TeamPressParameters()
        kinds = ("press.team.end", "press.team.start")
        self.spec = Spec(
            name="team_press",
            number="12.4",
            level=12,
            inputs=INPUTS,
            outputs=kinds,
            parameters=msgspec.structs.asdict(self.parameters),
            source="unravelsports; numbers ours",
            team_variants=dict.fromkeys(kinds, ("",)),
            details={
                "press.team.start": ("since_us", "players", "on"),
                "press.team.end": ("since_us", "seconds", "players", "how"),
            },
        )

    def initial(self) -> TeamPressState:
        """Nobody has the ball."""
        return TeamPressState()

    def step(self, state: TeamPressState, event: Event) -> Step[TeamPressState]:
        """Follow the ball's team, and count who closes in."""
        if event.kind == "scene":
            return self._look(state, event) if state.team else (state, NOTHING)
        if event.kind == "play.dead":
            return TeamPressState(), _ended(state, event, "dead", event.ts_us)
        payload = payload_of(event)
        if payload.team == state.team:
            return state, NOTHING
        return TeamPressState(payload.team), _ended(state, event, "won", event.ts_us)

    def _look(self, state: TeamPressState, event: Event) -> Step[TeamPressState]:
        scene, p = payload_as(event, Scene), self.parameters
        ball = scene.ball
        if ball is None or not scene.live:
            return state, NOTHING
        x_m, y_m, reach_m2, least, count = ball.x_m, ball.y_m, p.reach_m**2, p.closing_m_s, 0
        for body in scene.opponents(state.team):
            dx, dy = x_m - body.x_m, y_m - body.y_m
            d2 = dx * dx + dy * dy
            if d2 <= reach_m2:
                towards = body.vx_m_s * dx + body.vy_m_s * dy
                count += towards > 0.0 and towards * towards >= least * least * d2
        if count < p.players:
            if state.start is None:
                return (state if state.since_us < 0 else TeamPressState(state.team)), NOTHING
            if event.ts_us - state.last_us < p.over_us:
                return state, NOTHING
            note("time without the players", event.ts_us - state.last_us, "at least", p.over_us, "team_press.over_us")
            return TeamPressState(state.team), _ended(state, event, "over", state.last_us)
        since_us = event.ts_us if state.since_us < 0 else state.since_us
        after = TeamPressState(state.team, since_us, event.ts_us, state.start, max(state.most, count))
        what, path = "time that they close in", "team_press.hold_us"
        if state.start is not None or not at_least(what, event.ts_us - since_us, p.hold_us, path):
            return after, NOTHING
        note("players who close in", count, "at least", p.players, "team_press.players")
        presses = opponents_of(state.team)
        detail: dict[str, Scalar] = {"since_us": since_us, "players": count, "on": state.team}
        payload = EventPayload("", presses, "", x_m, y_m, detail=detail)
        start = make_event("press.team.start", event.ts_us, f"{presses}:{since_us}", payload)
        return msgspec.structs.replace(after, start=start), (start,)


def _ended(state: TeamPressState, event: Event, how: str, over_us: int) -> tuple[Event, ...]:
    """The end of a press that was published."""
    start = state.start
    if start is None:
        return NOTHING
    seconds = round(max(0, over_us - state.since_us) / 1e6, 3)
    detail: dict[str, Scalar] = {"since_us": over_us, "seconds": seconds, "players": state.most, "how": how}
    began, here = payload_of(start), event.payload
    place = here if isinstance(here, EventPayload) else began
    payload = EventPayload("", began.team, "", place.x_m, place.y_m, detail=detail)
    return (make_event("press.team.end", event.ts_us, start.source, payload, causes=(start.id,)),)


TRIGGERS = ("back pass", "bad touch", "wide trap", "slow pass", "GK pass")


class TriggerParameters(msgspec.Struct, frozen=True):
    """Cues of a press, and the answer to them.

    Attributes:
        back_m: a pass is a back pass if it leads at least this far back.
        touch_m: after a bad touch the ball is at least this far from the player.
        touch_us: a bad touch shows within this time.
        wide_m: a pass to a place nearer to a touch line is a cue.
        slow_m_s: a slower pass is a cue.
        slow_from_m: shorter passes are not slow ones.
        within_us: the nearest opponent answers within this time.
        answer_us: his acceleration is measured over at least this time.
        accelerates_m_s2: least acceleration of the nearest opponent towards the ball.
    """

    back_m: Annotated[float, reason("Ours.")] = 5.0
    touch_m: Annotated[float, reason("Ours: out of his stride; 5.8 takes 2.25 m for a kick.")] = 2.0
    touch_us: Annotated[int, reason("Ours.")] = 600_000
    wide_m: Annotated[float, reason("Ours.")] = 6.0
    slow_m_s: Annotated[float, reason("Ours: half of Spearman's mean speed of a ball.")] = 7.5
    slow_from_m: Annotated[float, reason("Ours.")] = 10.0
    within_us: Annotated[int, reason("Hierarchy 12.3, ours.")] = 1_000_000
    answer_us: Annotated[int, reason("Ours: three scenes, against noise.")] = 600_000
    accelerates_m_s2: Annotated[float, reason("Hierarchy 12.3, ours.")] = 2.0


class TriggerState(msgspec.Struct, frozen=True, gc=False):
    """State of the detector.

    Attributes:
        gain: the newest gain, until its touch is judged.
        cue: the newest pass that arrived or bad touch, until it is answered.
        variant: what kind of cue it is; empty until the next scene shows it.
        by: the opponent who is nearest to the ball at the cue.
        begin_us: time of that scene.
        begin_m_s: his speed towards the ball then.
    """

    gain: Event | None = None
    cue: Event | None = None
    variant: str = ""
    by: str = ""
    begin_us: int = 0
    begin_m_s: float = 0.0


class PressTrigger:
    """12.3: ``trigger`` x {back pass, bad touch, wide trap, slow pass, GK pass} x team: a cue that an opponent answers.

    A cue is a pass that arrives or a touch that runs away. The opponent nearest to the ball answers it if he then
    accelerates towards the ball. ``team`` and ``player`` answer; position and time are those of the answer; the id
    derives from the cue. Of several cues of a pass the first of this order counts: GK pass, back pass, wide trap, slow
    pass. ``detail``: ``cue_us`` (event time of the cue), ``on`` (who has the ball), ``accelerates_m_s2``.
    """

    def __init__(self, sheet: MatchSheet, parameters: TriggerParameters | None = None) -> None:
        self.parameters = parameters or TriggerParameters()
        self.pitch = pitch_of(sheet)
        self._keepers = keepers_of(sheet)
        self.spec = Spec(
            name="press_trigger",
            number="12.3",
            level=12,
            inputs=(*INPUTS, "pass.attempt", "shot.attempt", "pass.complete"),
            outputs=("trigger",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="ours (cues as coaches name them; kloppy 567, 573)",
            team_variants={"trigger": TRIGGERS},
            details={"trigger": ("cue_us", "on", "accelerates_m_s2")},
        )

    def initial(self) -> TriggerState:
        """No cue."""
        return TriggerState()

    def step(self, state: TriggerState, event: Event) -> Step[TriggerState]:
        """Remember cues; look at the nearest opponent until he answers or the time is over."""
        if event.kind == "scene":
            return self._look(state, event) if state.gain is not None or state.cue is not None else (state, NOTHING)
        if event.kind == "play.dead":
            return TriggerState(), NOTHING
        if event.kind == "pass.complete":
            return TriggerState(state.gain, event), NOTHING
        if event.kind == "possession.gain":
            mine = payload_of(event)
            kept = state.cue is not None and payload_of(state.cue).team == mine.team
            fresh = event if mine.variant != "restart" else None
            return (msgspec.structs.replace(state, gain=fresh) if kept else TriggerState(fresh)), NOTHING
        return msgspec.structs.replace(state, gain=None), NOTHING

    def _look(self, state: TriggerState, event: Event) -> Step[TriggerState]:
        scene, p = payload_as(event, Scene), self.parameters
        if scene.ball is None or not scene.live:
            return state, NOTHING
        state = self._touch(state, scene, event)
        cue = state.cue
        if cue is None:
            return state, NOTHING
        if not state.variant:
            variant = self._cue(cue, scene)
            holds = payload_of(cue).team
            opponent = _nearest(scene, opponents_of(holds)) if variant else None
            if opponent is None:
                return TriggerState(state.gain), NOTHING
            speed = closing_m_s(opponent, scene.ball)
            return TriggerState(state.gain, cue, variant, opponent.object_id, event.ts_us, speed), NOTHING
        took_us = event.ts_us - state.begin_us
        body = scene.body(state.by)
        if body is None or took_us > p.within_us:
            return TriggerState(state.gain), NOTHING
        gained = 1e6 * (closing_m_s(body, scene.ball) - state.begin_m_s) / max(took_us, 1)
        what, path = "acceleration of the nearest opponent", "press_trigger"
        if took_us < p.answer_us or not at_least(what, gained, p.accelerates_m_s2, f"{path}.accelerates_m_s2"):
            return state, NOTHING
        note("time since the cue", took_us, "at most", p.within_us, f"{path}.within_us")
        self._cue(cue, scene)  # for its margins
        played = payload_of(cue)
        on = played.detail["receiver"] if cue.kind == "pass.complete" else played.player
        detail: dict[str, Scalar] = {"cue_us": cue.ts_us, "on": on, "accelerates_m_s2": round(gained, 2)}
        payload = EventPayload(
            state.variant, body.team, body.object_id, body.x_m, body.y_m, None, played.confidence, detail
        )
        found = make_event("trigger", event.ts_us, cue.source, payload, causes=(cue.id,))
        return TriggerState(state.gain), (found,)

    def _touch(self, state: TriggerState, scene: Scene, event: Event) -> TriggerState:
        """Judge the touch of the newest gain."""
        gain, p = state.gain, self.parameters
        if gain is None or scene.ball is None:
            return state
        gained = payload_of(gain)
        body = scene.body(gained.player)
        if body is None or event.ts_us - gain.ts_us > p.touch_us:
            return msgspec.structs.replace(state, gain=None)
        away_m = math.hypot(body.x_m - scene.ball.x_m, body.y_m - scene.ball.y_m)
        pass_cue = state.cue is not None and bool(state.variant)
        if pass_cue or not at_least("the ball from the player", away_m, p.touch_m, "press_trigger.touch_m"):
            return state
        return TriggerState(None, gain)

    def _cue(self, cue: Event, scene: Scene) -> str:
        """The kind of a cue; empty if it is none."""
        if cue.kind == "possession.gain":
            return "bad touch"
        p, played = self.parameters, payload_of(cue)
        sign = scene.sign(played.team)
        start_x, length_m = played.detail["start_x_m"], played.detail.get("length_m")
        if not sign or not isinstance(start_x, float) or not isinstance(length_m, float) or played.x_m is None:
            return ""
        if played.detail["receiver"] in self._keepers:
            return "GK pass"
        path = "press_trigger"
        if at_least("metres back", sign * (start_x - played.x_m), p.back_m, f"{path}.back_m", "back pass"):
            return "back pass"
        edge_m = self.pitch.half_width_m - abs(played.y_m or 0.0)
        if at_most("distance from the touch line", edge_m, p.wide_m, f"{path}.wide_m", "wide trap"):
            return "wide trap"
        speed = 1e6 * length_m / max(cue.ts_us - number(played, "kick_us"), 1.0)
        slow = above("length of the pass", length_m, p.slow_from_m, f"{path}.slow_from_m", "slow pass") and below(
            "mean speed of the pass", speed, p.slow_m_s, f"{path}.slow_m_s", "slow pass"
        )
        return "slow pass" if slow else ""


def _nearest(scene: Scene, team: Team) -> BodyState | None:
    """The player of a team who is nearest to the ball."""
    ball = scene.ball
    if ball is None:
        return None
    return min(
        scene.team(team), key=lambda b: (math.hypot(b.x_m - ball.x_m, b.y_m - ball.y_m), b.object_id), default=None
    )
