"""Everybody sets off: what players show of a restart whose ball nobody sees (part of 5.10).

Theory of operation
-------------------
While the ball is dead, players walk to their places, and wait there. When it comes into play, all of them run at once,
and so does who has taken the restart. Both are seen without the ball.

* The *pace* is the median speed of all players. A *set-off* is a rise of the pace from a calm: nearly all restarts have
  one, within three tenths of a second, and a stoppage has hardly another one.
* A *stand* is a player who stands, for a while, where the restart after this stoppage is taken: outside the touchline,
  near to where the ball went out; at a corner; at the centre spot, with the teams lined up. Who stands there has the
  ball, or waits for it.

A pure fold over frames.
"""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.play.dead_ball_kicks import Rest, nearest
from detectors.play.restart_kicks import RestartKickParameters, attackers_of, kick_off_shape, touch_distance_m
from detectors.reasons import reason
from football.match_sheet import Team
from football.payloads import BallState, BodyState, Frame
from football.pitch import End, Pitch

_COUNTED = "Counted at 257 restarts of generated matches, seeds 301 to 346, of which 255 have a set-off."


class SettingOffParameters(msgspec.Struct, frozen=True):
    """Limits of a set-off, and of a player who stands where a restart is taken.

    Attributes:
        every_us: the pace is sampled at most this often.
        window_us: the calm before a set-off is at most this long ago.
        calm_m_s: greatest pace of the calm.
        quiet_us: a calm is more than a moment if it lasts for this long.
        rise_m_s: least rise of the pace.
        level_m_s: the set-off begins when the pace was last so near to the calm's.
        players: the pace of fewer players says nothing.
        lag_us: players set off so long after the kick.
        apart_us: kick and set-off of a stop that was not seen are at most this far apart.
        touchline_m: half of all players are so near to a touchline, or beyond it, in a break only.
        counts_us: a set-off counts for this long.
        ended_us: if the pace has been a calm for this long when the stream ends, play had ended.
        runs_m_s: at this pace, within ``window_us``, play goes on.
        stopped_us: if the pace has been a calm for this long, a ball that has stalled or is not seen is dead.
        stood_us: who takes the restart has stood there for this long.
        runs_up_us: he leaves this place at most so long before.
        stand_m: who stands stays within this distance.
        near_out_m: a throw-in is taken at most this far along the line from where the ball went out.
        corner_m: the taker of a corner kick stands at most this far from the corner.
        centre_m: the taker of a kick-off stands at most this far from the centre spot.
        taker_left_m: who has kicked a ball whose position is repeated since is this far from it.
    """

    every_us: Annotated[int, reason("Ours: players do not change their speed faster.")] = 100_000
    window_us: Annotated[int, reason(_COUNTED)] = 1_600_000
    calm_m_s: Annotated[float, reason(_COUNTED)] = 1.0
    quiet_us: Annotated[int, reason("The same matches: in 9,000 s of live play no calm is so long.")] = 2_500_000
    rise_m_s: Annotated[float, reason(_COUNTED)] = 0.7
    level_m_s: Annotated[float, reason(_COUNTED)] = 0.25
    players: Annotated[int, reason("Ours: half of all.")] = 10
    lag_us: Annotated[int, reason(_COUNTED)] = 150_000
    apart_us: Annotated[int, reason("Twice the greatest error that was counted.")] = 600_000
    touchline_m: Annotated[
        float, reason("Simulated seed 660: the teams stood at the touchline in the break, and run 5 m in window_us.")
    ] = 8.0
    counts_us: Annotated[
        int, reason("Ours; ragged generated matches, seeds 432 to 448 and 471 to 478: of 4 and 6 s the better one.")
    ] = 6_000_000
    ended_us: Annotated[
        int,
        reason(
            "Generated matches of seeds 668 to 671: 1.1 % of 76,183 samples in play follow upon such a calm, "
            "0.9 % upon one of 2.5 s."
        ),
    ] = 1_500_000
    runs_m_s: Annotated[
        float,
        reason(
            "Generated matches of seeds 668 to 671: of 35,231 samples of the pace more than 3 s after a stop two are "
            "so fast, of 3,999 taken 1 to 3 s after it 49, of 76,183 in play 6,468."
        ),
    ] = 4.0
    stopped_us: Annotated[
        int,
        reason("Of the live play of the same matches no 2 s are so calm; real defenders may rest a ball for 3.9 s."),
    ] = 4_000_000
    stood_us: Annotated[int, reason("As phase.rest_us.")] = 1_000_000
    runs_up_us: Annotated[int, reason("Ours: a run-up, or the steps of a thrower.")] = 1_000_000
    stand_m: Annotated[float, reason("As phase.rest.place_m.")] = 1.0
    near_out_m: Annotated[
        float, reason("Ours: referees have throws taken where the ball went out, by some metres.")
    ] = 15.0
    corner_m: Annotated[float, reason("Ours: a run-up of three steps.")] = 4.0
    centre_m: Annotated[float, reason("Ours: a step beside the ball.")] = 2.0
    taker_left_m: Annotated[float, reason("Ours: a step more than the longest run-up.")] = 5.0


class Stand(msgspec.Struct, frozen=True, gc=False):
    """A player who stands where a restart is taken.

    Attributes:
        body: the player when he came.
        since_us: begin of the stand.
        last_us: the newest frame in which he stood there.
        shape: True if the teams are lined up for a kick-off.
    """

    body: BodyState
    since_us: int
    last_us: int
    shape: bool = False


class Watch(msgspec.Struct, frozen=True, gc=False):
    """The signs of play that players give.

    Attributes:
        out_x_m: where the ball went out, along the pitch.
        pace: times and paces of the newest samples, oldest first.
        off_us: begin of the set-off; -1 without one.
        quiet_us: end of the newest calm that was more than a moment; live play hardly has such a one.
        quiet_from_us: its begin.
        calm_us: the pace has been a calm since then; -1 if it is none.
        stand: who stands where the restart is taken.
        stood: the one before him, if he stood long enough.
        ball_x_m: the newest position of the ball.
        ball_y_m: the newest position of the ball.
        fresh_us: when it was first seen there; the tracking may repeat it, of a ball that lies or that is lost.
    """

    out_x_m: float = 0.0
    pace: tuple[tuple[int, float], ...] = ()
    off_us: int = -1
    quiet_us: int = -1
    quiet_from_us: int = -1
    calm_us: int = -1
    stand: Stand | None = None
    stood: Stand | None = None
    ball_x_m: float = math.inf
    ball_y_m: float = math.inf
    fresh_us: int = -1


NO_WATCH = Watch()


def watched(
    watch: Watch, p: SettingOffParameters, kick: RestartKickParameters, pitch: Pitch, now_us: int, frame: Frame,
    ball: BallState | None, cause: str, line: str, attacks_x: Team,
) -> Watch:  # fmt: skip
    """The watch after one more frame of a stoppage."""
    x_m, y_m, fresh_us = watch.ball_x_m, watch.ball_y_m, watch.fresh_us
    if ball is not None and (ball.x_m != x_m or ball.y_m != y_m):
        x_m, y_m, fresh_us = ball.x_m, ball.y_m, now_us
    watch = paced(watch, p, pitch, now_us, frame)
    stand, stood = watch.stand, watch.stood
    if not watch.pace or watch.pace[-1][0] == now_us:
        stand, stood = _stands(watch, p, kick, pitch, now_us, frame, cause, line, attacks_x)
    return msgspec.structs.replace(watch, stand=stand, stood=stood, ball_x_m=x_m, ball_y_m=y_m, fresh_us=fresh_us)


def paced(watch: Watch, p: SettingOffParameters, pitch: Pitch, now_us: int, frame: Frame) -> Watch:
    """The watch with one more sample of the pace, if it is time for one.

    Players who set off from a touchline come back from a break, and nobody has kicked the ball.
    """
    if (watch.pace and now_us - watch.pace[-1][0] < p.every_us) or len(frame.players) < p.players:
        return watch
    speeds = sorted(math.hypot(body.vx_m_s, body.vy_m_s) for body in frame.players)
    newest = (now_us, speeds[len(speeds) // 2])
    if newest[1] == 0.0:
        return watch  # After a gap in the frames no velocity is known.
    pace = (*(sample for sample in watch.pace if now_us - sample[0] <= p.window_us), newest)
    # One sample may err: a gap in the frames, or a repaired track.
    speed_m_s = min(pace[-1][1], pace[-2][1]) if len(pace) > 1 else 0.0
    least_m_s = min(sample[1] for sample in pace)
    off_us, calm_us = watch.off_us, watch.calm_us
    quiet_us, quiet_from_us = watch.quiet_us, watch.quiet_from_us
    if off_us >= 0 and now_us - off_us > p.counts_us:
        off_us = -1
    rises = off_us < 0 and least_m_s <= p.calm_m_s and speed_m_s - least_m_s >= p.rise_m_s
    if rises and 2 * sum(abs(b.y_m) > pitch.half_width_m - p.touchline_m for b in frame.players) <= len(frame.players):
        off_us = max(at_us for at_us, at_m_s in pace if at_m_s <= least_m_s + p.level_m_s)
    if len(pace) > 1 and speed_m_s > p.calm_m_s:
        if calm_us >= 0 and now_us - calm_us >= p.quiet_us:
            quiet_us, quiet_from_us = now_us, calm_us
        calm_us = -1
    elif calm_us < 0:
        calm_us = now_us
    return msgspec.structs.replace(
        watch, pace=pace, off_us=off_us, quiet_us=quiet_us, quiet_from_us=quiet_from_us, calm_us=calm_us
    )


def all_run(watch: Watch, p: SettingOffParameters, now_us: int) -> bool:
    """True if half of the players run, or did so just now, as they do in play only."""
    return any(m_s >= p.runs_m_s for at_us, m_s in watch.pace if now_us - at_us <= p.window_us)


def all_stand(watch: Watch, p: SettingOffParameters, now_us: int) -> bool:
    """True if the players have stood for longer than they do in play."""
    seen = bool(watch.pace) and now_us - watch.pace[-1][0] <= p.window_us
    return seen and watch.calm_us >= 0 and now_us - watch.calm_us >= p.quiet_us


def _stands(
    watch: Watch, p: SettingOffParameters, kick: RestartKickParameters, pitch: Pitch, now_us: int, frame: Frame,
    cause: str, line: str, attacks_x: Team,
) -> tuple[Stand | None, Stand | None]:  # fmt: skip
    """The player who stands where the restart is taken, and the one who stood there before."""
    stand, stood = watch.stand, watch.stood
    if stand is not None:
        was = stand.body
        body = next((body for body in frame.players if body.object_id == was.object_id), None)
        if body is None or math.hypot(body.x_m - was.x_m, body.y_m - was.y_m) <= p.stand_m:
            return msgspec.structs.replace(stand, last_us=now_us), stood
        if stand.shape and math.hypot(body.x_m, body.y_m) <= p.centre_m:
            return msgspec.structs.replace(stand, body=body, last_us=now_us), stood
        if stand.last_us - stand.since_us >= p.stood_us:
            stood = stand
    body, shape = _at_spot(watch, p, kick, pitch, frame, cause, line, attacks_x)
    return (None if body is None else Stand(body, now_us, now_us, shape)), stood


def _at_spot(
    watch: Watch, p: SettingOffParameters, kick: RestartKickParameters, pitch: Pitch, frame: Frame, cause: str,
    line: str, attacks_x: Team,
) -> tuple[BodyState | None, bool]:  # fmt: skip
    """The player at the place of the restart, and whether the teams are lined up for a kick-off.

    They may be after any cause, since a half may end with the ball out.
    """
    body, away_m = nearest(frame, 0.0, 0.0)
    if body is not None and away_m <= p.centre_m and kick_off_shape(kick, frame, 0.0, 0.0):
        return body, True
    if cause == "touch":
        outside = [
            (abs(body.x_m - watch.out_x_m), body)
            for body in frame.players
            if touch_distance_m(pitch, body.y_m, line) <= -kick.taker_outside_m
            and abs(body.x_m - watch.out_x_m) <= p.near_out_m
        ]
        return (min(outside, key=_distance)[1] if outside else None), False
    if cause == "goal line":
        end: End = "right" if line.startswith("right") else "left"
        attackers, x_m = attackers_of(attacks_x, end), pitch.half_length_m if end == "right" else -pitch.half_length_m
        for y_m in (-pitch.half_width_m, pitch.half_width_m):
            body, away_m = nearest(frame, x_m, y_m)
            if body is not None and away_m <= p.corner_m and body.team == attackers:
                return body, False
    return None, False


def _distance(found: tuple[float, BodyState]) -> float:
    return found[0]


def ready_at(watch: Watch, p: SettingOffParameters, pitch: Pitch, cause: str) -> Rest | None:
    """The rest of the ball at who stood where the restart is taken when everybody set off; None if nobody did."""
    for stand in (watch.stand, watch.stood):
        if stand is None or watch.off_us < 0:
            continue
        if stand.since_us <= watch.off_us - p.stood_us and stand.last_us >= watch.off_us - p.runs_up_us:
            x_m, y_m = stand.body.x_m, stand.body.y_m
            if stand.shape:
                x_m = y_m = 0.0
            elif cause == "goal line":
                x_m, y_m = math.copysign(pitch.half_length_m, x_m), math.copysign(pitch.half_width_m, y_m)
            return Rest(stand.since_us, stand.last_us, x_m, y_m, stand.body, 0.0, stand.shape)
    return None
