"""6.4, 6.5, 6.6: the ball is in or out of play, the ball is out, a goal candidate (IFAB Laws 9, 10, 15-17).

The phase of play (5.10) decides by geometry. These detectors give its decisions the kinds that users see, and add the
player who touched the ball last.
"""

from __future__ import annotations

import msgspec

from detectors.ball.lines import OUT_LINES
from detectors.contacts.recent_contacts import CONTACT_KINDS, Contacts, last_before, opponents_of, remember
from detectors.emission import make_event
from detectors.play.last_touch import (
    TOUCH_KINDS,
    LastTouch,
    LastTouchParameters,
    Touches,
    followed,
    last_touch,
    reconsidered,
)
from detectors.play.phase_state import DEAD, LIVE, STOPPAGE_CAUSES
from detectors.play.restart_kicks import RestartKickParameters
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, payload_of, time_us
from football.pitch import ENDS, pitch_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event

#: Decisions that the opponents' free kick may follow from: of an offside it is indirect (Law 11.4), of fouls of some.
_INDIRECT = ("official.foul", "official.offside")


class PlayState(msgspec.Struct, frozen=True, gc=False):
    """State: contacts and who was at the ball; the last touch of a ball that is out; who has an indirect free kick.

    ``dead`` is the newest ``play.dead``, while the ball is dead.
    """

    touches: Touches = Touches()
    last: LastTouch | None = None
    indirect: Team = ""
    dead: Event | None = None


class BallInPlay:
    """6.4: ``play.dead`` and ``play.live``: the ball is out of play, and in play again.

    ``variant`` is the cause of the stoppage: touch, goal line, goal, stop; of the first ``play.live`` it is start. Both
    are dated when they are known, some tenths of a second after they happened. ``detail`` is that of 5.10
    (:class:`~detectors.play.phase.PlayPhase`), such as ``since_us`` (when the stoppage began) and ``kick_us`` (when the
    restart was kicked), and ``out_by``, the team that put the ball out: as far as it is known then, so that of
    ``play.live`` is what the restart shows (6.5). ``indirect`` of ``play.live`` is True if the officials gave the
    taker's team an indirect free kick (Law 13, 2025/26), for an offside or as a foul of that variant; its ``spread_m``
    says how good places are. If a free kick shows that play had been stopped before the ball ran out, a newer version
    of ``play.dead`` says so: ``variant`` is ``stop``, ``sign`` is ``free kick``.
    """

    def __init__(
        self,
        sheet: MatchSheet,
        parameters: LastTouchParameters | None = None,
        kick: RestartKickParameters | None = None,
    ) -> None:
        self.parameters = parameters or LastTouchParameters()
        self.kick = kick or RestartKickParameters()
        self.pitch = pitch_of(sheet)
        self.spec = Spec(
            name="ball_in_play",
            number="6.4",
            level=6,
            inputs=("phase.dead", "phase.live", "phase.stop", *TOUCH_KINDS, *_INDIRECT),
            outputs=("play.dead", "play.live"),
            amends=("play.dead",),
            known={
                "play.dead": Known(
                    "when the stoppage is known",
                    "when a free kick shows that play had been stopped before the ball ran out",
                    ("variant", "x_m", "y_m", "z_m", "confidence", "sign", "since_us", "out_by"),
                )
            },
            parameters=msgspec.structs.asdict(self.parameters),
            source="IFAB Laws 9 and 13 (2025/26)",
            variants={"play.dead": STOPPAGE_CAUSES, "play.live": ("start", *STOPPAGE_CAUSES)},
            untyped=("play.dead", "play.live"),
            details={"play.dead": (*DEAD, "out_by"), "play.live": (*LIVE, "out_by", "indirect")},
        )

    def initial(self) -> PlayState:
        """No contact."""
        return PlayState()

    def step(self, state: PlayState, event: Event) -> Step[PlayState]:
        """Publish a change of phase, with the team that put the ball out."""
        if event.kind in TOUCH_KINDS:
            return msgspec.structs.replace(state, touches=followed(state.touches, event, self.parameters)), NOTHING
        payload = payload_of(event)
        if event.kind in _INDIRECT:
            given = event.kind == "official.offside" or payload.variant == "indirect"
            return msgspec.structs.replace(state, indirect=opponents_of(payload.team) if given else ""), NOTHING
        if event.kind == "phase.dead":
            last = _last_touch(state.touches, payload, self.parameters) if payload.variant != "stop" else None
            by: Team = last.contact.team if last is not None else ""
            dead = _renamed("play.dead", event, payload, payload.team, payload.player, {"out_by": by})
            return PlayState(state.touches, last, state.indirect, dead), (dead,)
        if event.kind == "phase.stop":
            if state.dead is None:
                return state, NOTHING
            was, known = state.dead, msgspec.structs.replace(payload, detail={**payload.detail, "out_by": ""})
            causes = (*was.causes, event.id)
            newer = msgspec.structs.replace(was, ts_us=event.ts_us, payload=known, causes=causes, dated_us=was.ts_us)
            return state, (newer,)
        by = ""
        if state.last is not None:
            other = reconsidered(state.last, payload, self.pitch, self.kick, self.parameters)
            by = other.team if other is not None else state.last.contact.team
        indirect = payload.variant == "stop" and payload.team != "" and payload.team == state.indirect
        more: dict[str, Scalar] = {"out_by": by, "indirect": indirect}
        live = _renamed("play.live", event, payload, payload.team, payload.player, more)
        return PlayState(state.touches), (live,)


class OutState(msgspec.Struct, frozen=True, gc=False):
    """State: contacts and who was at the ball; the newest ``out`` and its last touch."""

    touches: Touches = Touches()
    out: Event | None = None
    last: LastTouch | None = None


class BallOut:
    """6.5: ``out``: the ball has left the pitch; ``variant`` is the line.

    ``team`` and ``player`` are those of the last touch; the position is that of the crossing. Dated when the crossing
    has settled. If the team of the last touch has the restart as well, the other team touched the ball last
    (``last_touch``): a newer version names it, and its player if one was near, with the chance as ``confidence``.
    ``detail``:
    ``since_us`` (event time of the crossing), ``line`` (variant of ``ball.crossed``), ``sign`` (empty); of such a
    version ``evidence`` (in words).
    """

    def __init__(
        self,
        sheet: MatchSheet,
        parameters: LastTouchParameters | None = None,
        kick: RestartKickParameters | None = None,
    ) -> None:
        self.parameters = parameters or LastTouchParameters()
        self.kick = kick or RestartKickParameters()
        self.pitch = pitch_of(sheet)
        self.spec = Spec(
            name="ball_out",
            number="6.5",
            level=6,
            inputs=("phase.dead", "phase.live", *TOUCH_KINDS),
            outputs=("out",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="IFAB Laws 15-17",
            team_variants={"out": tuple(dict.fromkeys(OUT_LINES.values()))},
            amends=("out",),
            known={
                "out": Known(
                    "when the crossing has settled",
                    "when the restart shows that the other team touched the ball last",
                    ("team", "player", "confidence", "evidence"),
                )
            },
            details={"out": (*DEAD, "evidence")},
        )

    def initial(self) -> OutState:
        """No contact."""
        return OutState()

    def step(self, state: OutState, event: Event) -> Step[OutState]:
        """Look up the last touch before the crossing; the restart may show another one."""
        if event.kind in TOUCH_KINDS:
            return OutState(followed(state.touches, event, self.parameters), state.out, state.last), NOTHING
        payload = payload_of(event)
        if event.kind == "phase.live":
            return OutState(state.touches), self._reconsider(state, event, payload)
        line = OUT_LINES.get(str(payload.detail["line"]))
        if line is None:
            return OutState(state.touches), NOTHING
        last = _last_touch(state.touches, payload, self.parameters)
        crossing = msgspec.structs.replace(payload, variant=line)
        touch = last.contact if last is not None else None
        team, player = (touch.team, touch.player) if touch is not None else ("", "")
        causes = (touch.id,) if touch is not None else ()
        out = _renamed("out", event, crossing, team, player, {}, causes)
        return OutState(state.touches, out, last), (out,)

    def _reconsider(self, state: OutState, event: Event, live: EventPayload) -> tuple[Event, ...]:
        """The newer version of ``out``, if the restart shows that the other team touched the ball last."""
        if state.out is None or state.last is None:
            return NOTHING
        other = reconsidered(state.last, live, self.pitch, self.kick, self.parameters)
        if other is None:
            return NOTHING
        was = payload_of(state.out)
        payload = msgspec.structs.replace(
            was,
            team=other.team,
            player=other.player,
            confidence=min(was.confidence, other.chance),
            detail={**was.detail, "evidence": other.signs},
        )
        causes = (*state.out.causes, event.id)
        return (make_event("out", event.ts_us, state.out.source, payload, causes=causes, dated_us=state.out.ts_us),)


class GoalState(msgspec.Struct, frozen=True, gc=False):
    """State: the newest contacts, and the team that attacks towards +x."""

    contacts: Contacts = ()
    attacks_x: Team = ""


class GoalCandidate:
    """6.6: ``goal.candidate``: the whole ball went into a goal while in play; ``team`` attacks that goal.

    While the attacking direction is unknown, the team is that of the last touch. ``variant`` is the end; ``player`` is
    that of the last touch. ``detail``: ``last_team`` (team of the last touch), ``since_us`` (event time of the
    crossing), ``line`` (the end), ``sign`` (empty).
    """

    def __init__(self, sheet: MatchSheet) -> None:
        self.spec = Spec(
            name="goal_candidate",
            number="6.6",
            level=6,
            inputs=("direction", "phase.dead", *CONTACT_KINDS),
            outputs=("goal.candidate",),
            source="IFAB Law 10",
            team_variants={"goal.candidate": ENDS},
            untyped=("goal.candidate",),
            details={"goal.candidate": (*DEAD, "last_team")},
        )

    def initial(self) -> GoalState:
        """Neither the attacking direction nor contacts are known."""
        return GoalState()

    def step(self, state: GoalState, event: Event) -> Step[GoalState]:
        """Publish a stoppage whose cause is a goal."""
        payload = payload_of(event)
        if event.kind in CONTACT_KINDS:
            return GoalState(remember(state.contacts, event), state.attacks_x), NOTHING
        if event.kind == "direction":
            return GoalState(state.contacts, payload.team), NOTHING
        if payload.variant != "goal":
            return state, NOTHING
        last = last_before(state.contacts, time_us(payload, "since_us"))
        end = str(payload.detail["line"])
        team = state.attacks_x if end == "right" else opponents_of(state.attacks_x)
        entry = msgspec.structs.replace(payload, variant=end)
        more: dict[str, Scalar] = {"last_team": last.team if last else ""}
        team = team or (last.team if last else "")
        goal = _renamed("goal.candidate", event, entry, team, last.player if last else "", more)
        return state, (goal,)


def _last_touch(touches: Touches, payload: EventPayload, p: LastTouchParameters) -> LastTouch | None:
    return last_touch(touches, time_us(payload, "since_us"), p)


def _renamed(
    kind: str,
    event: Event,
    payload: EventPayload,
    team: Team,
    player: str,
    more: dict[str, Scalar],
    causes: tuple[str, ...] = (),
) -> Event:
    """The same event under its kind of level 6, with the player who caused it."""
    payload = msgspec.structs.replace(payload, team=team, player=player, detail={**payload.detail, **more})
    return make_event(kind, event.ts_us, event.source, payload, causes=(event.id, *causes))
