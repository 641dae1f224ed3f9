"""6.4, 6.5, 6.6: play lives and dies, the ball is out, the ball may be a goal (IFAB Laws 9, 10, 15-17).

What the phase of play (5.10) knows from geometry gets its names here, and who put the ball there.
"""

from __future__ import annotations

import msgspec

from detectors.ball.lines import OUT_LINES
from detectors.contacts.recent_contacts import CONTACT_KINDS, Contact, Contacts, last_before, opponents_of, remember
from detectors.emission import make_event
from detectors.play.phase import DEATHS
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, published, time_us
from football.pitch import ENDS
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class PlayState(msgspec.Struct, frozen=True, gc=False):
    """The newest contacts, which team attacks towards +x, and who put the ball out last."""

    contacts: Contacts = ()
    attacks_x: Team = ""
    out_by: Team = ""


class BallInPlay:
    """6.4: ``play.dead`` (``variant`` why: touch, goal line, goal, stop) and ``play.live`` (``variant`` after what).

    ``play.dead`` is dated when it is known and says in ``detail.since_us`` when the ball died. ``play.live``
    names the taker and the place of the kick (``detail.kick_us``) and holds what the restarts of level 9 need.
    """

    def __init__(self, sheet: MatchSheet) -> None:
        self.spec = Spec(
            name="ball_in_play",
            number="6.4",
            level=6,
            inputs=("phase.dead", "phase.live", *CONTACT_KINDS),
            outputs=("play.dead", "play.live"),
            source="IFAB Law 9",
            variants={"play.dead": DEATHS, "play.live": ("start", *DEATHS)},
            untyped=("play.dead", "play.live"),
        )

    def initial(self) -> PlayState:
        """Nobody has touched the ball."""
        return PlayState()

    def step(self, state: PlayState, event: Event) -> Step[PlayState]:
        """Passes the phase on, with the team that put the ball out."""
        if event.kind in CONTACT_KINDS:
            return PlayState(remember(state.contacts, event), "", state.out_by), NOTHING
        payload = published(event)
        if event.kind == "phase.dead":
            last = _last_touch(state.contacts, payload)
            by: Team = last.team if last and payload.variant != "stop" else ""
            dead = _again("play.dead", event, payload, payload.team, payload.player, {"out_by": by})
            return PlayState(state.contacts, "", by), (dead,)
        live = _again("play.live", event, payload, payload.team, payload.player, {"out_by": state.out_by})
        return PlayState(state.contacts), (live,)


class BallOut:
    """6.5: ``out``: ``variant`` the line, ``team`` and ``player`` who touched the ball last, place of the crossing.

    Dated when the crossing has settled; ``detail.since_us`` is the crossing.
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
        )

    def initial(self) -> Contacts:
        """Nobody has touched the ball."""
        return ()

    def step(self, state: Contacts, event: Event) -> Step[Contacts]:
        """Looks up who touched the ball last before it crossed."""
        if event.kind in CONTACT_KINDS:
            return remember(state, event), NOTHING
        payload = published(event)
        line = OUT_LINES.get(str(payload.detail["line"]))
        if line is None:
            return state, NOTHING
        last = _last_touch(state, payload)
        named = msgspec.structs.replace(payload, variant=line)
        team, player = (last.team, last.player) if last else ("", "")
        return state, (_again("out", event, named, team, player, {}, (last.id,) if last else ()),)


class GoalCandidate:
    """6.6: ``goal.candidate``: the whole ball went into a goal while in play; ``team`` attacks that goal.

    While nobody knows the sides, the team is that of the last contact. ``variant`` is the end, ``player`` and
    ``detail.last_team`` who touched the ball last.
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
        )

    def initial(self) -> PlayState:
        """Neither sides nor contacts are known."""
        return PlayState()

    def step(self, state: PlayState, event: Event) -> Step[PlayState]:
        """Waits for a death in a goal."""
        payload = published(event)
        if event.kind in CONTACT_KINDS:
            return PlayState(remember(state.contacts, event), state.attacks_x), NOTHING
        if event.kind == "direction":
            return PlayState(state.contacts, payload.team), NOTHING
        if payload.variant != "goal":
            return state, NOTHING
        last = _last_touch(state.contacts, payload)
        end = str(payload.detail["line"])
        team = state.attacks_x if end == "right" else opponents_of(state.attacks_x)
        named = msgspec.structs.replace(payload, variant=end)
        more: dict[str, Scalar] = {"last_team": last.team if last else ""}
        team = team or (last.team if last else "")
        goal = _again("goal.candidate", event, named, team, last.player if last else "", more)
        return state, (goal,)


def _last_touch(contacts: Contacts, payload: EventPayload) -> Contact | None:
    since_us = time_us(payload, "since_us")
    return last_before(contacts, since_us)


def _again(
    kind: str,
    event: Event,
    payload: EventPayload,
    team: Team,
    player: str,
    more: dict[str, Scalar],
    causes: tuple[str, ...] = (),
) -> Event:
    """The same occurrence under its name of level 6, with who did it."""
    told = msgspec.structs.replace(payload, team=team, player=player, detail={**payload.detail, **more})
    return make_event(kind, event.ts_us, event.source, told, causes=(event.id, *causes))
