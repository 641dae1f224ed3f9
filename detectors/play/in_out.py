"""6.4, 6.5, 6.6: the ball is in or out of play, the ball is out, a goal candidate (IFAB Laws 9, 10, 15-17).

The phase of play (5.10) decides by geometry. These detectors give its decisions the kinds that users see, and add the
player who touched the ball last.
"""

from __future__ import annotations

import msgspec

from detectors.ball.lines import OUT_LINES
from detectors.contacts.recent_contacts import CONTACT_KINDS, Contact, Contacts, last_before, opponents_of, remember
from detectors.emission import make_event
from detectors.play.phase import DEAD, LIVE, STOPPAGE_CAUSES
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, payload_of, time_us
from football.pitch import ENDS
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class PlayState(msgspec.Struct, frozen=True, gc=False):
    """State: the newest contacts, the team that attacks towards +x, and the team that put the ball out last."""

    contacts: Contacts = ()
    attacks_x: Team = ""
    out_by: Team = ""


class BallInPlay:
    """6.4: ``play.dead`` and ``play.live``: the ball is out of play, and in play again.

    ``variant`` is the cause of the stoppage: touch, goal line, goal, stop; of the first ``play.live`` it is start. Both
    are dated when they are known, some tenths of a second after they happened. ``detail`` is that of 5.10
    (:class:`~detectors.play.phase.PlayPhase`), such as ``since_us`` (when the stoppage began) and ``kick_us`` (when the
    restart was kicked), and ``out_by``, the team that put the ball out.
    """

    def __init__(self, sheet: MatchSheet) -> None:
        self.spec = Spec(
            name="ball_in_play",
            number="6.4",
            level=6,
            inputs=("phase.dead", "phase.live", *CONTACT_KINDS),
            outputs=("play.dead", "play.live"),
            source="IFAB Law 9",
            variants={"play.dead": STOPPAGE_CAUSES, "play.live": ("start", *STOPPAGE_CAUSES)},
            untyped=("play.dead", "play.live"),
            details={"play.dead": (*DEAD, "out_by"), "play.live": (*LIVE, "out_by")},
        )

    def initial(self) -> PlayState:
        """No contact."""
        return PlayState()

    def step(self, state: PlayState, event: Event) -> Step[PlayState]:
        """Publish a change of phase, with the team that put the ball out."""
        if event.kind in CONTACT_KINDS:
            return PlayState(remember(state.contacts, event), "", state.out_by), NOTHING
        payload = payload_of(event)
        if event.kind == "phase.dead":
            last = _last_touch(state.contacts, payload)
            by: Team = last.team if last and payload.variant != "stop" else ""
            dead = _renamed("play.dead", event, payload, payload.team, payload.player, {"out_by": by})
            return PlayState(state.contacts, "", by), (dead,)
        live = _renamed("play.live", event, payload, payload.team, payload.player, {"out_by": state.out_by})
        return PlayState(state.contacts), (live,)


class BallOut:
    """6.5: ``out``: the ball has left the pitch; ``variant`` is the line.

    ``team`` and ``player`` are those of the last touch; the position is that of the crossing. Dated when the crossing
    has settled. ``detail``: ``since_us`` (event time of the crossing), ``line`` (variant of ``ball.crossed``),
    ``sign`` (empty).
    """

    def __init__(self, sheet: MatchSheet) -> None:
        self.spec = Spec(
            name="ball_out",
            number="6.5",
            level=6,
            inputs=("phase.dead", *CONTACT_KINDS),
            outputs=("out",),
            source="IFAB Laws 15-17",
            team_variants={"out": tuple(dict.fromkeys(OUT_LINES.values()))},
            details={"out": DEAD},
        )

    def initial(self) -> Contacts:
        """No contact."""
        return ()

    def step(self, state: Contacts, event: Event) -> Step[Contacts]:
        """Look up the last touch before the crossing."""
        if event.kind in CONTACT_KINDS:
            return remember(state, event), NOTHING
        payload = payload_of(event)
        line = OUT_LINES.get(str(payload.detail["line"]))
        if line is None:
            return state, NOTHING
        last = _last_touch(state, payload)
        crossing = msgspec.structs.replace(payload, variant=line)
        team, player = (last.team, last.player) if last else ("", "")
        return state, (_renamed("out", event, crossing, team, player, {}, (last.id,) if last else ()),)


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

    def initial(self) -> PlayState:
        """Neither the attacking direction nor contacts are known."""
        return PlayState()

    def step(self, state: PlayState, event: Event) -> Step[PlayState]:
        """Publish a stoppage whose cause is a goal."""
        payload = payload_of(event)
        if event.kind in CONTACT_KINDS:
            return PlayState(remember(state.contacts, event), state.attacks_x), NOTHING
        if event.kind == "direction":
            return PlayState(state.contacts, payload.team), NOTHING
        if payload.variant != "goal":
            return state, NOTHING
        last = _last_touch(state.contacts, payload)
        end = str(payload.detail["line"])
        team = state.attacks_x if end == "right" else opponents_of(state.attacks_x)
        entry = msgspec.structs.replace(payload, variant=end)
        more: dict[str, Scalar] = {"last_team": last.team if last else ""}
        team = team or (last.team if last else "")
        goal = _renamed("goal.candidate", event, entry, team, last.player if last else "", more)
        return state, (goal,)


def _last_touch(contacts: Contacts, payload: EventPayload) -> Contact | None:
    return last_before(contacts, time_us(payload, "since_us"))


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
