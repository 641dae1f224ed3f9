"""Goals that nobody sees: a kick-off that nothing else explains shows them (part of 7.5).

Theory of operation
-------------------
Within a period only a goal has a kick-off (Law 8), so the opponents of its taker have scored while the ball was dead,
or right before. If there was hardly any play since the kick-off before, that one is taken again. The kick-off may also
begin a new period. Teams change ends for one, which is known within seconds, and a period has its length. So the goal
waits: it is published if ``direction`` has not changed by then.

Where the source knows the periods (``MatchSheet.periods``), even the first kick-off that is seen may show a goal:
pictures of television leave out the one that begins a period.

A pure fold, without events of its own.
"""

from __future__ import annotations

import msgspec

from detectors.contacts.recent_contacts import opponents_of
from detectors.decisions import at_least, at_most
from detectors.emission import make_event
from detectors.outcomes.goal_parameters import GoalParameters
from football.match_sheet import Period, Team
from football.payloads import EventPayload
from middleware.events import Event


class KickOffs(msgspec.Struct, frozen=True, gc=False):
    """Kick-offs of a period.

    Attributes:
        begun_us: the first one; -1 without one.
        last_us: the newest one.
        dead_us: the ball has been dead since then, or was so last; -1 if never since the newest kick-off.
        played_us: how long the ball was in play since the newest one.
        goal: the goal that the newest one shows, if teams have not changed ends.
        x_m: where the ball was, along the pitch, when it was dead last; None if that is not known.
    """

    begun_us: int = -1
    last_us: int = -1
    dead_us: int = -1
    played_us: int = 0
    goal: Event | None = None
    x_m: float | None = None


def with_stop(before: KickOffs, live: Event | None, since_us: int, x_m: float | None) -> KickOffs:
    """The kick-offs after the ball, in play since ``live``, is dead since ``since_us``, at ``x_m`` along the pitch."""
    played_us = max(since_us - live.ts_us, 0) if live is not None and before.dead_us < live.ts_us else 0
    return msgspec.structs.replace(before, dead_us=since_us, played_us=before.played_us + played_us, x_m=x_m)


def with_kick_off(
    before: KickOffs,
    p: GoalParameters,
    event: Event,
    live: EventPayload,
    attacks_x: Team,
    *,
    half_length_m: float,
    explained: bool,
    period: Period | None,
) -> KickOffs:
    """The kick-offs after one more.

    Args:
        before: those before.
        p: limits.
        event: the begin of play.
        live: its payload.
        attacks_x: the team that attacks towards +x.
        half_length_m: of the pitch.
        explained: True if a goal is known that the kick-off follows.
        period: the current one, if the source knows it.
    """
    if period is not None and before.begun_us < period.from_us:
        before = KickOffs(period.from_us, period.from_us, before.dead_us, before.played_us)
    begun_us = before.begun_us if before.begun_us >= 0 else event.ts_us
    after, about = KickOffs(begun_us, event.ts_us), "goal.scored"
    if explained or before.begun_us < 0 or before.dead_us < 0 or not (live.team and attacks_x):
        return after
    again_us, ran_us, dead_us = (event.ts_us - at_us for at_us in (before.last_us, begun_us, before.dead_us))
    if (
        not live.detail["kick_off_shape"]
        or not at_least("time since the kick-off before", again_us, p.again_us, "goal.again_us", about)
        or not at_least("time in play since then", before.played_us, p.played_us, "goal.played_us", about)
        or (
            period is None
            and not at_most("minutes of the period", ran_us / 60e6, p.period_minutes, "goal.period_minutes", about)
        )
        or not at_most("time that the ball was dead", dead_us, p.confirm_us, "goal.confirm_us", about)
    ):
        return after
    team = opponents_of(live.team)
    towards_m = 0.0 if before.x_m is None else before.x_m if team == attacks_x else -before.x_m
    there = before.x_m is None or towards_m >= half_length_m - p.from_goal_m
    if not there and not at_least("time that the ball was dead", dead_us, p.fetched_us, "goal.fetched_us", about):
        return after
    detail = {"since_us": before.dead_us, "kick_off": True}
    payload = EventPayload("right" if team == attacks_x else "left", team, confidence=live.confidence, detail=detail)
    anchor, dated_us = f"kick-off/{event.source}", before.dead_us
    goal = make_event("goal.scored", event.ts_us, anchor, payload, causes=(event.id,), dated_us=dated_us)
    return msgspec.structs.replace(after, goal=goal)


def turned_round(before: KickOffs, p: GoalParameters, now_us: int) -> KickOffs:
    """The kick-offs of the new period, after teams have changed ends: the newest one, or the next one, began it."""
    if before.last_us < 0 or now_us - before.last_us >= p.ends_us:
        return KickOffs(dead_us=before.dead_us)
    return msgspec.structs.replace(before, begun_us=before.last_us, goal=None)


def shown_goal(kick_offs: KickOffs, p: GoalParameters, now_us: int) -> Event | None:
    """The goal that the newest kick-off shows, once it has waited long enough; else None."""
    goal = kick_offs.goal
    if goal is None or not at_least(
        "time since the kick-off", now_us - goal.ts_us, p.ends_us, "goal.ends_us", "goal.scored"
    ):
        return None
    return msgspec.structs.replace(goal, ts_us=now_us)
