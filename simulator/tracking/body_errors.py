"""Errors of tracked players: noise, lag, jumps, loss, identity swaps, and what a broadcast shows of them."""

from __future__ import annotations

import numpy as np

from football.packet_table import Floats
from simulator.runs import runs_of
from simulator.tracking.chance import Chance, covered, each, spans, wander
from simulator.tracking.profile import Bodies, Swaps, View
from simulator.tracking.true_frames import TrueFrames

#: Width of the picture at the far and at the near touchline, as a share of that over the middle of the pitch.
_FAR, _NEAR = 1.3, 0.7
#: A guess gets no worse after so long.
_GUESS_S = 10.0
#: Pairs who are close are looked for so often.
_LOOK_HZ = 5


def spoil_bodies(true: TrueFrames, bodies: Bodies, rate_hz: int, chance: Chance) -> Floats:
    """Return (n, players, 2) positions as they are tracked, NaN where a player is not."""
    at = true.bodies[:, :, :2].astype(float)
    lag_s = chance.value(bodies.lag_s, "bodies.lag_s")
    at -= lag_s * true.bodies[:, :, 2:]
    at += chance.value(bodies.jitter_m, "bodies.jitter_m") * chance.stream("bodies.jitter").standard_normal(at.shape)
    error_m = chance.value(bodies.error_m, "bodies.error_m")
    error_s = chance.value(bodies.error_s, "bodies.error_s")
    at += wander(at.shape, error_m, error_s, rate_hz, chance.stream("bodies.error"))
    for column in range(at.shape[1]):
        there = np.isfinite(at[:, column, 0])
        for span in spans(bodies.jumps, there, rate_hz, chance, f"bodies.jumps of {column}"):
            assert bodies.jumps is not None
            rng = chance.stream(f"bodies.jumps of {column} at {span.start}")
            angle, metres = rng.uniform(0.0, 2.0 * np.pi), each(bodies.jumps.metres, rng)
            at[span, column] += metres * np.array([np.cos(angle), np.sin(angle)])
        at[covered(spans(bodies.lost, there, rate_hz, chance, f"bodies.lost of {column}"), len(at)), column] = np.nan
    if bodies.swaps is not None:
        _swap(at, bodies.swaps, rate_hz, chance)
    return at


def _swap(at: Floats, swaps: Swaps, rate_hz: int, chance: Chance) -> None:
    """Exchange the positions of pairs who come close, for a while each."""
    rng = chance.stream("bodies.swaps")
    within_m = chance.value(swaps.within_m, "bodies.swaps.within_m")
    per_min = chance.value(swaps.per_min, "bodies.swaps.per_min")
    every = max(1, rate_hz // _LOOK_HZ)
    looked = at[::every]
    meetings: list[tuple[int, int, int]] = []
    for one in range(at.shape[1]):
        for other in range(one + 1, at.shape[1]):
            near = np.hypot(*(looked[:, one] - looked[:, other]).T) < within_m
            begins = np.flatnonzero(near[1:] & ~near[:-1]) + 1
            meetings += [(frame * every, one, other) for frame in begins.tolist()]
    count = min(int(rng.poisson(per_min * len(at) / rate_hz / 60.0)), len(meetings))
    for number in sorted(rng.choice(len(meetings), count, replace=False).tolist() if count else []):
        begin, one, other = meetings[number]
        span = slice(begin, begin + max(1, round(each(swaps.seconds, rng) * rate_hz)))
        at[span, [one, other]] = at[span, [other, one]]


class BroadcastView:
    """The picture of one broadcast camera, frame by frame.

    Args:
        true: the match.
        view: of the profile.
        rate_hz: frames a second.
        chance: of the match.

    Attributes:
        cut: (n,) frames with a close-up or a replay: nothing is tracked.
    """

    def __init__(self, true: TrueFrames, view: View, rate_hz: int, chance: Chance) -> None:
        self._view, self._rate_hz, self._chance = view, rate_hz, chance
        self._half_m = chance.value(view.width_m, "view.width_m") / 2.0
        self._depth_m = true.sheet.width_m / 2.0
        self._middle_m = _panned(true, chance.value(view.lag_s, "view.lag_s"), rate_hz, self._half_m)
        cuts = spans(view.cut, true.in_play, rate_hz, chance, "view.cut")
        cuts += spans(view.cut_dead, ~true.in_play, rate_hz, chance, "view.cut_dead")
        self.cut = covered(cuts, len(true))

    def shows(self, position: Floats) -> np.ndarray:
        """Return (n, k) whether each of k positions (n, k, 2) is in the picture; the camera stands at negative y."""
        across = np.clip(position[:, :, 1] / self._depth_m, -1.1, 1.1)
        width = np.where(across > 0, 1.0 + (_FAR - 1.0) * across, 1.0 + (1.0 - _NEAR) * across)
        seen = np.abs(position[:, :, 0] - self._middle_m[:, None]) <= self._half_m * width
        return np.asarray(seen & ~self.cut[:, None], bool)

    def apply(self, ball: Floats, at: Floats) -> None:
        """Take out of ball and players what is not in the picture; guess players, if the profile does."""
        ball[~self.shows(ball[:, None, :2])[:, 0]] = np.nan
        there = np.isfinite(at[:, :, 0])
        unseen = there & ~self.shows(at)
        if self._view.unseen == "guessed":
            self._guess(at, unseen)
        else:
            at[unseen] = np.nan

    def _guess(self, at: Floats, unseen: np.ndarray) -> None:
        """Let players out of view follow the mean of the players in view, from where they were seen last."""
        guess_m = self._chance.value(self._view.guess_m, "view.guess_m")
        rng = self._chance.stream("view.guess")
        moved = np.zeros((len(at), 2))
        moved[1:] = np.nan_to_num(np.nanmean(np.diff(np.where(unseen[:, :, None], np.nan, at), axis=0), axis=1))
        moved = np.cumsum(moved, axis=0)
        for column in range(at.shape[1]):
            for begin, end in runs_of(unseen[:, column]):
                if begin == 0 or not np.isfinite(at[begin - 1, column, 0]):
                    at[begin:end, column] = np.nan
                    continue
                since_s = np.minimum(np.arange(1, end - begin + 1) / self._rate_hz, _GUESS_S)[:, None]
                drift = guess_m * since_s * rng.standard_normal(2)
                at[begin:end, column] = at[begin - 1, column] + (moved[begin:end] - moved[begin - 1]) + drift


def _panned(true: TrueFrames, lag_s: float, rate_hz: int, half_m: float) -> Floats:
    """Return where along the pitch the camera looks: it trails the ball, and stays over the pitch."""
    reach_m = max(true.sheet.length_m / 2.0 - 0.6 * half_m, 0.0)
    share = 1.0 - np.exp(-1.0 / max(lag_s * rate_hz, 1e-6))
    target = np.clip(true.ball[:, 0], -reach_m, reach_m)
    looked = np.empty(len(target))
    middle = float(target[0])
    for frame, x in enumerate(target.tolist()):
        middle += share * (x - middle)
        looked[frame] = middle
    return looked
