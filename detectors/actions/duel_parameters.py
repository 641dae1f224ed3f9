"""Limits and weights of duels (6.8)."""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.reasons import reason

_TRIED = "chosen on simulated seeds 201 to 204 by radio: "
_TRIED_AGAIN = "chosen on simulated seeds 201 to 205 with and without take-ons, true contacts: "

_TRIED_ON = (
    "ours; 15 take-ons won on the match day `duels`, simulated seeds 201 to 208 and 221 to 224 `ragged`, 201 to 208 "
    "`optical`: "
)

_FITTED = "by `bench.tackle_weights`, simulated seeds 301 to 324 filmed by three profiles: "


class DuelParameters(msgspec.Struct, frozen=True):
    """Limits of a duel.

    Attributes:
        reach_m: greatest distance of who has the ball from it, when an opponent plays it.
        slow_m_s: greatest speed of the ball after the last contact of who has or lost it, and before the opponent's.
        hard_m_s: greatest speed after the opponent's contact.
        spell_us: least time since the first contact of who has the ball.
        since_us: greatest time since his last contact.
        once_us: with limbs, who has touched the ball only once is tackled at the earliest so long after it,
        poked_m_s: and only if the ball leaves the opponent at least so fast; else he lost a ball that he never had.
        kept_us: there is no duel if the other team plays the ball again within this time.
        low_m: greatest height of the ball.
        loose_m: two who run for a loose ball are within this distance of it.
        run_m_s: least speed towards the ball of who runs for it.
        run_us: both have run so fast within this time; at the ball they brake.
        from_m: greatest distance of who begins to run for it.
        free_us: a ball is loose if nobody has played it for this time.
        second_m: greatest distance of the second one from the ball when the first one comes to it.
        again_us: time after a duel in which no other for a loose ball begins.
        front_m: an opponent so near to the player with the ball may be taken on.
        ball_m: he comes this near to the ball.
        moving_m_s: least speed of who takes an opponent on.
        ran_m: least way of the player with the ball past him.
        ahead_m: an opponent was in the way who was this far ahead on it.
        behind_m: he is passed once he is this far behind.
        faced_m: then he is at most this far away; farther ones were avoided.
        passed_us: greatest time since he was ahead.
        held_us: the ball is kept for this time after that.
        left_m: by then the opponent is at least this far away.
        every_us: time between two samples.
        sure: without limbs, least chance of a tackle.
        odds_factor: odds of a tackle at once by somebody at the ball, whose opponent is at it, too, afterwards.
        late_factor: the odds fall by e to the power of this for each second since the last contact of who had the ball;
        once_factor: by this if he has touched it only once;
        reach_factor: rise by this for each metre of the opponent from the ball at his contact;
        off_factor: fall by this for each metre of who had the ball from it, when the duel is known.
    """

    reach_m: Annotated[float, reason(_TRIED + "2.0 m at most in 12 tackles; 3.0 is StreamTeam's maxDuelDist.")] = 2.1
    slow_m_s: Annotated[float, reason(_TRIED_AGAIN + "6.6 m/s at most in 26 tackles.")] = 7.0
    hard_m_s: Annotated[float, reason(_TRIED + "7.4 m/s at most after 12 tackles; passes that look like one 13.")] = 9.0
    spell_us: Annotated[int, reason(_TRIED + "0.4 s at least before 12 tackles; after a deflection 0.2 s.")] = 350_000
    since_us: Annotated[int, reason(_TRIED + "1.7 s at most before 12 tackles.")] = 2_000_000
    once_us: Annotated[
        int, reason("Opta: clearly in possession; decision 036: 0.7 s or more, or 0.1 to 0.2 s, which are no tackles.")
    ] = 700_000
    poked_m_s: Annotated[
        float,
        reason(
            "By radio, simulated seed 648: of 9 opponents who played the ball of who had touched it once one tackled "
            "him, and the ball left with 4.5 m/s; those who took a ball that lay there trapped it (1.1 to 2.8 m/s)."
        ),
    ] = 3.5
    kept_us: Annotated[int, reason("Ours: the other team has not lost a ball that it plays sooner.")] = 400_000
    low_m: Annotated[float, reason("A higher ball is an aerial duel (6.9).")] = 0.75
    loose_m: Annotated[float, reason("Ours: within a leg's reach; the bodies touch.")] = 0.7
    run_m_s: Annotated[float, reason("Ours: he runs, and does not walk.")] = 3.0
    run_us: Annotated[int, reason("Ours: so long he brakes; players stop at the ball with 1 to 2 m/s.")] = 1_000_000
    from_m: Annotated[float, reason("Ours: what one runs in two seconds.")] = 10.0
    free_us: Annotated[int, reason("Ours: so long nobody has had it.")] = 1_000_000
    second_m: Annotated[
        float,
        reason("Ours; simulated seeds 301 to 306 by radio: 0.91 m at most in seven duels; four of 15 inventions more."),
    ] = 0.95
    again_us: Annotated[int, reason("A scramble is one duel.")] = 3_000_000
    front_m: Annotated[float, reason("Ours: a step and a stretched leg's reach.")] = 2.5
    ball_m: Annotated[float, reason("Ours: within a leg's reach.")] = 1.0
    moving_m_s: Annotated[float, reason("Ours: he runs.")] = 2.5
    ran_m: Annotated[float, reason("Ours: a step; the way of a shorter one is noise.")] = 0.8
    ahead_m: Annotated[float, reason("Ours: not from beside or behind.")] = 0.1
    behind_m: Annotated[float, reason("Ours.")] = 0.3
    faced_m: Annotated[float, reason(_TRIED_ON + "1.0 m at most; of 24 that are none half are farther.")] = 1.1
    passed_us: Annotated[int, reason("Hierarchy 7.12 has 2 s; a run past somebody takes less.")] = 1_000_000
    held_us: Annotated[int, reason("Ours.")] = 400_000
    left_m: Annotated[float, reason(_TRIED_AGAIN + "2 m at least where he was beaten.")] = 1.5
    every_us: Annotated[int, reason("Ours.")] = 100_000
    sure: Annotated[float, reason(_FITTED + "so about as many are claimed as there are.")] = 0.03
    odds_factor: Annotated[float, reason(_FITTED + "a log odds of -0.68.")] = 0.51
    late_factor: Annotated[float, reason(_FITTED + "a ball that was lost a while ago is not tackled.")] = 0.93
    once_factor: Annotated[float, reason(_FITTED + "one contact may be of another player.")] = 1.94
    reach_factor: Annotated[
        float, reason(_FITTED + "a foot that is stretched for the ball, not a ball that is taken.")
    ] = 3.23
    off_factor: Annotated[float, reason(_FITTED + "a poke leaves the ball near, another's pass does not.")] = 1.05
