"""Limits of goals (7.5 and 10.14)."""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.reasons import reason


class GoalParameters(msgspec.Struct, frozen=True):
    """Limits of goals.

    Attributes:
        shot_us: a defender's contact at most this long after an attacker's may deflect his shot.
        shot_wide_m: such a shot was on target if its line meets the goal line at most this far outside a post.
        confirm_us: a restart, other than the begin of a period, decides on a goal up to this long after it.
        same_us: officials date a goal at most this far from the crossing of the ball.
        overrule_us: officials decide on a goal at most this long after it.
        offence_us: an offside or foul of the scorers at most this long before a goal was in the attack that led to it.
        whistle_us: an offside or foul is dated at most this long after the goal that it disallows.
        directly_us: a ball goes in at most this long after a restart that it comes straight from, or its last contact.
        doubt: confidence of a goal straight from a restart from which none can be scored so.
        missed_share: on camera tracking, confidence of a goal of who was at the ball after a defender's last contact.
        past_goal_m: a ball that was tracked past the goal, or stopped short of it, by up to this may have been in it.
        ends_us: who has changed ends for a new period is known so long after its kick-off.
        again_us: a kick-off so soon after another one is taken again.
        fetched_us: a kick-off sooner than this after the ball was dead elsewhere follows no goal.
        from_goal_m: elsewhere is farther from the goal line than this.
        played_us: a kick-off after less play since another one is taken again.
        soonest_us: play that goes on sooner than this after a goal goes on without a kick-off.
        period_minutes: a kick-off so long after the first one of a period may begin the next one.
        range_m: the defender's contact is at most so far from the goal; from farther away he has played the ball back.
    """

    shot_us: Annotated[int, reason("As shot_outcome.within_us.")] = 3_000_000
    shot_wide_m: Annotated[float, reason("The line is drawn between two contacts, so it is coarse. Ours.")] = 0.5
    confirm_us: Annotated[int, reason("As overrule_us: the restart waits for the review.")] = 600_000_000
    same_us: Annotated[int, reason("Ours.")] = 60_000_000
    overrule_us: Annotated[int, reason("Ours: reviews have taken five minutes.")] = 600_000_000
    offence_us: Annotated[int, reason("Ours.")] = 10_000_000
    whistle_us: Annotated[int, reason("A whistle may follow when the ball is in the goal already. Ours.")] = 3_000_000
    directly_us: Annotated[int, reason("Ours: a ball that rolls the length of the pitch.")] = 10_000_000
    doubt: Annotated[float, reason("Ours: it stands only if another player's touch was not seen.")] = 0.2
    missed_share: Annotated[
        float,
        reason(
            "Ours: 3 of 100 goals are own goals (Premier League 2022/23: 3.5 %); ragged generated matches, seeds 201 "
            "to 205: a contact is missing or another's in a quarter of cases."
        ),
    ] = 0.85
    past_goal_m: Annotated[
        float,
        reason("Ours: keyed tracking is wrong by 0.4 m, twice as much in one case of a hundred, heights by more."),
    ] = 1.0
    ends_us: Annotated[
        int,
        reason(
            "Generated matches 660, 663, 666 and 670 to 677: directions are known by the line-up, 2 to 16 s before the "
            "kick-off, and in one match 15 s after it."
        ),
    ] = 20_000_000
    again_us: Annotated[int, reason("Ours: a goal is celebrated.")] = 60_000_000
    fetched_us: Annotated[int, reason("Ours: the ball goes to the goal, and back to the centre spot.")] = 5_000_000
    from_goal_m: Annotated[float, reason("Ours: a hard shot of a quarter of a second, and some metres.")] = 15.0
    played_us: Annotated[
        int,
        reason("Ours: as long as the fastest goals take. Simulated match 681: a ball that was put right for 0.1 s."),
    ] = 7_000_000
    soonest_us: Annotated[
        int, reason("Ours: in 17 whole generated matches no kick-off comes less than 32 s after its goal.")
    ] = 15_000_000
    period_minutes: Annotated[int, reason("Law 7: 45, less a minute by which the first kick-off may be late.")] = 44
    range_m: Annotated[float, reason("As shot.range_m.")] = 40.0
