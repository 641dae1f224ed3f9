"""Evidence that contradicts the state of play, and when it suffices to correct the state (part of 5.10).

Theory of operation
-------------------
Tracking shows no whistle, so the state of play, live or dead, may be wrong. What happens on the pitch then contradicts
it. Each *sign* of that is so many times as likely if the state is wrong as if it is right: its *factor*. The odds that
the state is wrong are the odds before any sign, times the factors. When the chance reaches ``sure``, 5.10 corrects the
state. It dates the correction back to the first sign, at most by ``window_us``. The ordering units of the detectors
above then redo what they concluded since, as they do for a late packet.

Signs that a dead ball is in play again, without the kick from rest that 5.10 waits for:

* players touch it in the field in turn, one after the other, team mates or opponents;
* it covers ground between two of these contacts as a pass does;
* it was kicked or thrown from a rest too short for a sure restart, where the restart may be taken;
* the players run, or stand; and the ball moves in the field, second after second.

Signs that a ball in play has been dead since it came to rest: it is kicked from there as a restart is.

* the teams stand as for a kick-off or a penalty kick;
* it rests in a corner's arc, or a thrower holds it outside the touchline;
* it lay for a while, no opponent is near it (Law 13 asks for 9.15 m), and the players stand.

Everything is a pure function of frames and contacts.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import msgspec

from detectors.decisions import at_least
from detectors.play.dead_ball_kicks import Rest
from detectors.play.restart_kicks import RestartKickParameters, at_corner, is_thrown
from detectors.reasons import reason
from football.match_sheet import Team
from football.payloads import EventPayload, Frame, location_m, payload_of, time_us
from football.pitch import Pitch
from middleware.events import Event

_OURS = "Ours; ragged generated matches, seeds 11 to 14."


class EvidenceParameters(msgspec.Struct, frozen=True):
    """Factors of the signs that the state of play is wrong.

    Attributes:
        window_us: a correction is dated back by at most this.
        memory_us: older contacts do not count.
        sure: the chance from which the state is corrected.
        play_prior_share: odds that a dead ball is in play before any sign of it.
        goal_prior_share: the same after a goal, and after a stop by the officials.
        mate_factor: factor of a contact by a team mate of the player before.
        opponent_factor: factor of a contact by an opponent of the player before.
        flight_factor: factor of a pass from one of these contacts to the next.
        flight_m: least length of that pass.
        flight_m_s: least mean speed of that pass.
        restart_factor: factor of a kick from a short rest, where the restart after a crossed line may be taken.
        quick_us: least time of a short rest.
        run_factor: factor of players who run; of standing ones it is the inverse.
        run_m_s: least mean speed of running players.
        stand_m_s: greatest mean speed of standing players.
        second_factor: factor of each second in which the ball moves in the field.
        moved_us: no more than this time counts.
        stop_prior_share: odds that a ball in play that is kicked from a rest was dead.
        shape_factor: factor of teams that stand as for a kick-off or penalty kick, and of a thrower with the ball.
        corner_factor: factor of a ball that rests in a corner's arc.
        free_factor: factor of a resting ball without an opponent within ``free_m``.
        free_m: least distance of the nearest opponent from a free kick.
        lie_factor: factor of each second for which the ball has lain where it was put.
    """

    window_us: Annotated[int, reason("Ours: a pass and a reception, and two seconds to be sure.")] = 3_000_000
    memory_us: Annotated[int, reason("Ours; after a goal more evidence is needed than for another stoppage.")] = (
        10_000_000
    )
    sure: Annotated[float, reason(_OURS)] = 0.8
    play_prior_share: Annotated[float, reason(_OURS)] = 0.02
    goal_prior_share: Annotated[float, reason("Ours: the ball is run back to the centre for up to half a minute.")] = (
        1e-7
    )
    mate_factor: Annotated[float, reason(_OURS)] = 5.0
    opponent_factor: Annotated[float, reason(_OURS)] = 12.0
    flight_factor: Annotated[float, reason(_OURS)] = 2.0
    flight_m: Annotated[float, reason("Ours: a tap to the taker is shorter.")] = 5.0
    flight_m_s: Annotated[float, reason("Ours: a dead ball is rolled more slowly.")] = 5.0
    restart_factor: Annotated[float, reason(_OURS)] = 20.0
    quick_us: Annotated[int, reason("Ours: a ball that is caught and thrown is slow for as long.")] = 300_000
    run_factor: Annotated[float, reason(_OURS)] = 3.0
    run_m_s: Annotated[float, reason(_OURS)] = 1.8
    stand_m_s: Annotated[float, reason(_OURS)] = 1.2
    second_factor: Annotated[float, reason("Ours: six seconds of play among running players suffice.")] = 2.0
    moved_us: Annotated[int, reason("Ours: a dead ball may be carried for longer.")] = 8_000_000
    stop_prior_share: Annotated[float, reason(_OURS)] = 0.05
    shape_factor: Annotated[float, reason("Ours: alone it suffices.")] = 100.0
    corner_factor: Annotated[float, reason("Ours: players also keep a ball in play there, with opponents near.")] = 30.0
    free_factor: Annotated[float, reason(_OURS)] = 3.0
    free_m: Annotated[float, reason("Law 13 asks for 9.15 m; referees tolerate less.")] = 7.0
    lie_factor: Annotated[float, reason(_OURS)] = 2.0


class Played(msgspec.Struct, frozen=True, gc=False):
    """A contact of a player with a ball in the field that counts as dead."""

    at_us: int
    player: str
    team: Team
    x_m: float
    y_m: float
    id: str


class Case(msgspec.Struct, frozen=True, gc=False):
    """The case that a dead ball is in play again.

    Attributes:
        at_us: the newest frame.
        moved_us: how long the ball has moved in the field since it lay.
        contacts: the newest contacts with it, oldest first.
        restart: the ``phase.live`` of a kick from a short rest, which is emitted once the case is sure.
    """

    at_us: int
    moved_us: int = 0
    contacts: tuple[Played, ...] = ()
    restart: Event | None = None


class Finding(NamedTuple):
    """Chance that the state of play is wrong, and the signs of it in words."""

    chance: float
    signs: tuple[str, ...]


#: Contacts that a case remembers.
_REMEMBERED = 8


def with_contact(case: Case, made: Played) -> Case:
    """The case with one more contact, unless it is the same player's again."""
    if case.contacts and case.contacts[-1].player == made.player:
        return case
    return Case(case.at_us, case.moved_us, (*case.contacts[1 - _REMEMBERED :], made), case.restart)


def with_restart(case: Case, live: Event) -> Case:
    """The case with a kick from a short rest, which is its taker's contact."""
    payload = payload_of(live)
    x_m, y_m = location_m(payload)
    case = with_contact(case, Played(time_us(payload, "kick_us"), payload.player, payload.team, x_m, y_m, live.id))
    return Case(case.at_us, case.moved_us, case.contacts, live)


def recent(case: Case, now_us: int, p: EvidenceParameters, *, paused: bool) -> Case:
    """The case at a later frame.

    It loses contacts that no longer count, and a restart that is too old to be dated back to.
    """
    contacts, restart = case.contacts, case.restart
    moved_us = case.moved_us if paused else min(case.moved_us + max(0, now_us - case.at_us), p.moved_us)
    if contacts and contacts[0].at_us < now_us - p.memory_us:
        contacts = tuple(c for c in contacts if c.at_us >= now_us - p.memory_us)
    if restart is not None and restart.ts_us < now_us - p.window_us:
        restart = None
    return Case(now_us, moved_us, contacts, restart)


def pace_m_s(frame: Frame, pitch: Pitch) -> float:
    """Mean speed of the players on the pitch."""
    speeds = [math.hypot(b.vx_m_s, b.vy_m_s) for b in frame.players if b.team and pitch.inside(b.x_m, b.y_m)]
    return sum(speeds) / len(speeds) if speeds else 0.0


def chance_of_play(case: Case, p: EvidenceParameters, prior: float, pace: float) -> Finding:
    """The chance that a dead ball is in play again."""
    odds, signs = prior * p.second_factor ** (case.moved_us * 1e-6), list[str]()
    if case.restart is not None:
        odds *= p.restart_factor
        signs.append(f"played quickly by {payload_of(case.restart).player}")
    for before, made in zip(case.contacts, case.contacts[1:], strict=False):
        odds *= p.mate_factor if made.team == before.team else p.opponent_factor
        signs.append(f"{before.player} to {made.player}")
        length_m = math.hypot(made.x_m - before.x_m, made.y_m - before.y_m)
        if length_m >= max(p.flight_m, p.flight_m_s * (made.at_us - before.at_us) * 1e-6):
            odds *= p.flight_factor
    if pace >= p.run_m_s:
        odds *= p.run_factor
        signs.append("players run")
    elif pace <= p.stand_m_s:
        odds /= p.run_factor
    return Finding(odds / (1.0 + odds), tuple(signs))


def chance_of_restart(
    rest: Rest,
    p: EvidenceParameters,
    kick: RestartKickParameters,
    pitch: Pitch,
    frame: Frame,
    *,
    kept: bool,
) -> Finding:
    """The chance that a ball in play that is kicked from a rest was dead, and that this is the restart.

    ``kept``: the taker is in the penalty area that he defends, where goalkeepers hold a ball in play.
    """
    odds, signs = p.stop_prior_share, list[str]()
    taker = rest.taker
    for fits, factor, sign in (
        (rest.shape, p.shape_factor, "teams stand as for a kick-off"),
        (rest.penalty != "", p.shape_factor, "teams stand as for a penalty kick"),
        (at_corner(pitch, kick, rest.x_m, rest.y_m), p.corner_factor, "the ball rests in a corner's arc"),
        (
            taker is not None and is_thrown(pitch, kick, rest.y_m, taker.y_m),
            p.shape_factor,
            "a thrower stands outside",
        ),
    ):
        if fits:
            odds *= factor
            signs.append(sign)
    if kept:
        return Finding(odds / (1.0 + odds), tuple(signs))
    lay_s = (rest.last_us - rest.put_us) * 1e-6
    odds *= p.lie_factor**lay_s
    signs.append(f"the ball lay for {lay_s:.1f} s")
    if taker is not None and _nearest_opponent_m(taker.team, frame, rest) >= p.free_m:
        odds *= p.free_factor
        signs.append("no opponent is near")
    if pace_m_s(frame, pitch) <= p.stand_m_s:
        odds *= p.run_factor
        signs.append("players stand")
    return Finding(odds / (1.0 + odds), tuple(signs))


def is_sure(finding: Finding, p: EvidenceParameters, about: str) -> bool:
    """True if the evidence corrects the state of play."""
    return at_least(
        "chance that the state of play was wrong", finding.chance, p.sure, "phase.evidence.sure", about, unit="1"
    )


def corrected(event: Event, finding: Finding, causes: tuple[str, ...] = ()) -> Event:
    """A transition that evidence has brought about: with its chance as confidence, and its signs."""
    payload = payload_of(event)
    confidence = round(min(payload.confidence, finding.chance), 3)
    detail = {**payload.detail, "evidence": "; ".join(finding.signs)}
    changed: EventPayload = msgspec.structs.replace(payload, confidence=confidence, detail=detail)
    return msgspec.structs.replace(event, payload=changed, causes=(*event.causes, *causes))


def _nearest_opponent_m(team: Team, frame: Frame, rest: Rest) -> float:
    """Distance of the nearest opponent of a team from a resting ball."""
    away = (math.hypot(b.x_m - rest.x_m, b.y_m - rest.y_m) for b in frame.players if b.team and b.team != team)
    return min(away, default=math.inf)
