"""Parameters of the judgement of kicks that passes (6.7) and shots (6.1) share."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.reasons import reason


class StrikeParameters(msgspec.Struct, frozen=True):
    """Which kicks may be passes or shots at all.

    Attributes:
        dated_back_us: a pass or shot is dated at its kick, at most this long before the ball has left the kicker.
        passed_on_us: a dribbled ball that a mate plays this soon after the kick was passed to him.
        stale_us: a ball that leaves its kicker so long after his contact, slower than ``came_m_s``, was played again.
        restart_us: a release this near in time to a kick from rest is that kick.
        blocked_us: an opponent who touches the ball this soon after a kick has blocked it.
        blocked_m_s: least speed of a kick that is blocked within ``blocked_us``.
        soon_us: with limb tags, so soon after a kick the opponent's contact blurs the measured speed of the kick.
        soon_m_s: least speed of a kick that is blocked within ``soon_us``.
        came_m_s: least speed of a ball that rebounds from a player.
        struck_factor: a ball whose speed grows by at most this factor rebounded; a faster one was kicked.
        onward_m_s: without limb tags, least speed of a ball that was played on rather than rebounded, to where a mate
            is first.
        onward_rad: least turn of such a ball.
        flick_rad: with limb tags, a team mate's ball that turns by less and gets no faster only glanced off the player.
        head_m: a higher ball is headed, and does not rebound.
        poke_us: a ball that leaves slowly this soon after an opponent's contact was poked away from the opponent.
        poke_m_s: greatest speed of a ball that is poked away.
        block_us: without limb tags, a contact this soon after an opponent's is a block, not a kick.
        block_head_us: but a header is one, so long after it.
        block_kick_us: and a kick of a ball of up to ``came_m_s``, so long after it, that leaves with ``kicked_m_s`` or
            more, to where a mate is first.
        kicked_m_s: see ``block_kick_us``.
        dribbled_s: a ball that another player would reach as soon as its kicker is dribbled only up to this time.
    """

    dated_back_us: Annotated[int, reason("Ours: a shot from 25 m passes the goal within 1.4 s.")] = 1_500_000
    passed_on_us: Annotated[int, reason("In 1.2 s a ball covers 2.25 m at walking pace.")] = 1_200_000
    stale_us: Annotated[
        int,
        reason(
            "Fifteen whole generated matches (690 to 711): of 18 such attempts one was right, of 7 faster ones two, "
            "and of 8 that left up to 0.3 s sooner two."
        ),
    ] = 1_800_000
    restart_us: Annotated[int, reason("As phase.rest.travel_us (5.10).")] = 1_500_000
    blocked_us: Annotated[int, reason("Ours.")] = 200_000
    blocked_m_s: Annotated[float, reason("Ours: dribblers touch the ball on at up to 5 m/s.")] = 7.0
    soon_us: Annotated[
        int, reason("No opponent reaches a dribbler's ball so soon, and no second player kicks it so soon.")
    ] = 60_000
    soon_m_s: Annotated[
        float, reason("Contacts of two opponents so close in time blur the measured speeds of both.")
    ] = 5.0
    came_m_s: Annotated[float, reason("Ours: players kick slower balls, which do not rebound.")] = 5.0
    struck_factor: Annotated[
        float,
        reason(
            "Generated matches, seeds 11 to 30: all of 43 rebounds leave with at most 1.05 times their speed, all "
            "of 13 first-time kicks with 1.3 times or more, the soonest 71 ms after the contact before."
        ),
    ] = 1.15
    onward_m_s: Annotated[
        float,
        reason(
            "Rebounds of `ragged`, `optical_keyed`, `optical` and `optical_swaps`, seeds 401 to 420: of 24 so fast, so "
            "much turned, and first at a mate 18 are passes; of slower ones 3 of 60."
        ),
    ] = 7.0
    onward_rad: Annotated[float, reason("As of 5.7: a ball that is turned by less is only deflected.")] = math.pi / 3
    flick_rad: Annotated[float, reason("Generated matches, seeds 11 to 30: 3 balls glanced off, none a pass.")] = (
        math.pi / 6
    )
    head_m: Annotated[float, reason("The height of headers of 5.3; a header leaves with any speed.")] = 1.5
    poke_us: Annotated[int, reason("Generated matches, seeds 11 to 30, with poke_m_s.")] = 1_100_000
    poke_m_s: Annotated[
        float,
        reason(
            "Generated matches, seeds 11 to 30: after 11 tackles the ball leaves at up to 6.6 m/s, after the slowest "
            "pass so soon at 8.9."
        ),
    ] = 7.0
    block_us: Annotated[
        int, reason("Human reaction, 0.2 s, and a leg's movement; the ball's speed between them is not known.")
    ] = 350_000
    block_head_us: Annotated[
        int,
        reason(
            "Ours: reaction time. `ragged`, `optical_keyed`, `optical`, seeds 401 to 420 and 301 to 313, and whole "
            "matches 506 to 511: of 30 headers from then on 22 are passes."
        ),
    ] = 200_000
    block_kick_us: Annotated[
        int, reason("As block_head_us: of 17 such kicks 13 are passes; an opponent's touch left the ball slow.")
    ] = 150_000
    kicked_m_s: Annotated[float, reason("As block_kick_us.")] = 8.0
    dribbled_s: Annotated[
        float,
        reason("`ragged`, seeds 301 to 326: of 8 that two would reach as soon, and later, 6 are passes."),
    ] = 1.7
