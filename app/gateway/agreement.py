"""Agreement of the feeds of a match: where they differ in time, which one is mirrored, frozen or elsewhere.

Theory of operation
-------------------
Two feeds that have the same transmitters see the same motion. At the right lag the difference of both tracks hardly
changes, whatever the constant error of each system is. So the lag between two feeds is the one with the least
variance of that difference over all common transmitters, refined by a parabola; and a feed of which one axis fits
better with the sign reversed is mirrored. The standard error of the lag follows from the variance that is left and
from the speed of the motion. Nothing is concluded while nobody moves. A feed's
lag is the mean of its last comparisons, weighted by their errors.

The feed with the lowest priority is the reference, of equals the first. Another feed that cannot be aligned with it,
or is mirrored, is left out of the choice of feeds (:mod:`app.gateway.choice`). The gateway turns the clock of a feed by
its lag.

For each transmitter by itself a feed is left out that stands still while another one moves, or that is far from
the others. Of two feeds that are far from each other the one is left out that moves as nobody can; else both are
reported, and the priority decides.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from football.packets import Packet

#: Distance of the positions that are kept of a transmitter, and their number: twelve seconds.
STEP_US, _KEPT = 20_000, 600

#: Greatest lag that is looked for, and the steps of the search.
LAG_MAX_US, _LAG_STEP_US = 1_000_000, 40_000

#: Length of the stretch that is compared, and shortest one.
_STRETCH_US, _SHORTEST_US = 8_000_000, 4_000_000

#: Transmitters that are compared, and the least motion (standard deviation of a place, all together) that shows a lag.
_COMPARED_MAX, _MOTION_MIN_M = 16, 1.0

#: Least known places of a track. A track that fits worse than the median by this factor says nothing about the lag.
_KNOWN_MIN, _UNUSUAL = 10, 4.0

#: Comparisons of which the lag of a feed is the mean, and standard error up to which it counts.
_COMPARISONS, LAG_ERROR_MAX_US = 30, 5_000.0

#: Difference of the tracks that is left when two feeds see the same motion. Above it they cannot be aligned.
RESIDUAL_MAX_M = 1.0

#: Looks in a row that must agree before a feed is left out, and before it is let in again.
LOOKS = 3

#: A track that moves less than the first within ``_FROZEN_US`` while another one moves more than the second is frozen.
_STILL_M, _MOVES_M, _FROZEN_US = 0.005, 1.0, 1_000_000

#: Distance between two feeds of one transmitter beyond their common one that is no error of measurement.
APART_M = 3.0

#: Lag at which fast players are not yet that far apart.
_APART_US = 200_000

#: Speed that no player reaches, over half a second.
_SPEED_MAX_M_S, _SPEED_US = 13.0, 500_000

#: Difference of all transmitters that is reported.
_SHIFT_M = 1.0

_Floats = npt.NDArray[np.float64]


class Comparison(msgspec.Struct, frozen=True):
    """Standing of a feed against the reference.

    Attributes:
        reference: label of the other feed.
        lag_us: how much later its event times are, less by what its clock was turned already.
        lag_error_us: standard error of that.
        mirrored_x, mirrored_y: whether an axis fits with the sign reversed only.
        residual_m: difference of the tracks that is left, root of the mean square.
        transmitters: in common.
    """

    reference: str
    lag_us: int
    lag_error_us: float
    mirrored_x: bool
    mirrored_y: bool
    residual_m: float
    transmitters: int


class _Track:
    """Newest places of a transmitter from one feed, ``STEP_US`` apart or more."""

    __slots__ = ("times_us", "x_m", "y_m")

    def __init__(self) -> None:
        self.times_us: deque[int] = deque(maxlen=_KEPT)
        self.x_m: deque[float] = deque(maxlen=_KEPT)
        self.y_m: deque[float] = deque(maxlen=_KEPT)

    def add(self, ts_us: int, x_m: float, y_m: float) -> None:
        if not self.times_us or ts_us >= self.times_us[-1] + STEP_US:
            self.times_us.append(ts_us)
            self.x_m.append(x_m)
            self.y_m.append(y_m)

    def at(self, times_us: _Floats) -> _Floats:
        """Places at times, (n, 2); NaN outside the track and in gaps of half a second."""
        own_us = np.array(self.times_us, np.float64)
        places = np.column_stack([np.interp(times_us, own_us, values) for values in (self.x_m, self.y_m)])
        after = np.clip(np.searchsorted(own_us, times_us), 1, max(1, len(own_us) - 1))
        gap = own_us[after] - own_us[after - 1] > _SPEED_US if len(own_us) > 1 else np.ones(len(times_us), bool)
        places[gap | (times_us < own_us[0]) | (times_us > own_us[-1])] = np.nan
        return places


def compare(reference: Mapping[str, _Track], other: Mapping[str, _Track], name: str = "") -> Comparison | None:
    """Compare two feeds over the newest seconds.

    Args:
        reference, other: tracks by transmitter.
        name: label of the reference.

    Returns:
        How the other one stands to the reference; None if they have too little in common, or nobody moves.
    """
    common = sorted(set(reference) & set(other))
    if not common:
        return None
    end_us = min(max(feed[one].times_us[-1] for one in common) for feed in (reference, other)) - LAG_MAX_US
    begin_us = max(min(feed[one].times_us[0] for one in common) for feed in (reference, other)) + LAG_MAX_US
    begin_us = max(begin_us, end_us - _STRETCH_US)
    if end_us - begin_us < _SHORTEST_US:
        return None
    times_us = np.arange(begin_us - LAG_MAX_US, end_us + LAG_MAX_US, STEP_US, dtype=np.float64)
    first, stop = LAG_MAX_US // STEP_US, len(times_us) - LAG_MAX_US // STEP_US
    known = {one: reference[one].at(times_us[first:stop]) for one in common}
    motions = {one: float(_spreads(known[one][None]).sum()) for one in common}
    moving = sorted((one for one in common if motions[one] >= 0), key=lambda one: -motions[one])[:_COMPARED_MAX]
    if not moving:
        return None
    ours, theirs = (
        np.stack(tracks) for tracks in zip(*((known[o], other[o].at(times_us)) for o in moving), strict=True)
    )
    if np.mean([motions[one] for one in moving]) < _MOTION_MIN_M**2:
        return None
    shifts = np.arange(-first, first + 1, _LAG_STEP_US // STEP_US)
    each = np.empty((len(shifts), len(moving), 2, 2))  # by lag, transmitter, axis and sign
    for number, shift in enumerate(shifts.tolist()):
        shifted = theirs[:, first + shift : stop + shift]
        each[number, :, :, 0], each[number, :, :, 1] = _spreads(ours - shifted), _spreads(ours + shifted)
    each = np.nan_to_num(each, nan=np.inf)
    signs = [(x, y) for x in (0, 1) for y in (0, 1)]
    curves = {sign: each[:, :, 0, sign[0]] + each[:, :, 1, sign[1]] for sign in signs}  # by lag and transmitter
    best = min(signs, key=lambda sign: float(np.median(curves[sign], axis=1).min()))
    least = curves[best].min(axis=0)
    usual = np.isfinite(least) & (least <= _UNUSUAL * max(float(np.median(least)), 0.1))
    if not usual.any():
        return None
    together = curves[best][:, usual].mean(axis=1)  # one liar must not hide that the others agree
    lowest = int(np.argmin(together))
    lag_us, bend = float(shifts[lowest] * STEP_US), 0.0
    if 0 < lowest < len(shifts) - 1 and np.isfinite(together[lowest - 1 : lowest + 2]).all():
        before, here, after = together[lowest - 1 : lowest + 2]
        bend = (before - 2 * here + after) / _LAG_STEP_US**2  # twice the mean square of the speed
        if bend > 0:
            lag_us += 0.5 * _LAG_STEP_US * (before - after) / (before - 2 * here + after)
    samples = int(np.isfinite(ours[usual, :, 0]).sum())
    # Neighbouring differences hang together: a tenth of them counts.
    error_us = float(np.sqrt(together[lowest] / (0.5 * bend) / (samples / 10))) if bend > 0 and samples else np.inf
    return Comparison(
        name, round(lag_us), error_us, best[0] == 1, best[1] == 1, float(np.sqrt(together[lowest])), len(common)
    )


def _spreads(tracks: _Floats) -> _Floats:
    """Variance of each track (n, times, 2) around its mean, (n, 2); NaN for one with fewer than ten known places."""
    known = np.isfinite(tracks[..., :1])
    count = known.sum(axis=1)
    means = np.where(known, tracks, 0.0).sum(axis=1) / np.maximum(count, 1)
    squares = (np.where(known, tracks - means[:, None], 0.0) ** 2).sum(axis=1)
    return np.asarray(np.where(count >= _KNOWN_MIN, squares / np.maximum(count, 1), np.nan))


class Agreement:
    """Watches the feeds of a match; see the module.

    Args:
        priorities: of the feeds, by label, in the order in which they were named.

    Attributes:
        comparisons: newest comparison of each feed with the reference.
        findings: what is wrong now, a line each.
    """

    def __init__(self, priorities: Mapping[str, int]) -> None:
        self._order = sorted(priorities, key=lambda label: priorities[label])  # stable: of equals the first
        self._tracks: dict[str, dict[str, _Track]] = {label: {} for label in priorities}
        self._suspect: dict[tuple[str, str], int] = {}
        self._left_out: dict[tuple[str, str], str] = {}
        self._compared_us = dict.fromkeys(priorities, -(2**62))
        self._lags: dict[str, deque[tuple[float, float]]] = {}
        #: Feeds that see the same motion at the same time: only their places can contradict each other.
        self._aligned = {self._order[0]}
        self.comparisons: dict[str, Comparison] = {}
        self.findings: list[str] = []

    def observe(self, feed: str, packets: Sequence[Packet]) -> None:
        """Take in packets of a feed."""
        tracks = self._tracks[feed]
        for packet in packets:
            track = tracks.get(packet.transmitter)
            if track is None:
                track = tracks[packet.transmitter] = _Track()
            track.add(packet.ts_us[-1], packet.x_m[-1], packet.y_m[-1])

    def leaves_out(self, feed: str, transmitter: str) -> bool:
        """True if a feed is not to give a transmitter."""
        return bool(self._left_out) and ((feed, "") in self._left_out or (feed, transmitter) in self._left_out)

    def between(self, feed: str, other: str, transmitter: str) -> tuple[float, float] | None:
        """Return the place in another feed less that in a feed, at the newest time of both; None if it is not known."""
        tracks = self._tracks[feed].get(transmitter), self._tracks[other].get(transmitter)
        found = None if tracks[0] is None or tracks[1] is None else _difference(tracks[0], tracks[1])
        return None if found is None or np.hypot(*found) > APART_M else (float(found[0]), float(found[1]))

    def lag_us(self, feed: str) -> int | None:
        """Return how much later a feed's event times are than the reference's; None while that is not known."""
        lags, errors = np.array(self._lags.get(feed) or [(0.0, np.inf)]).T
        weights = 1.0 / errors**2
        if weights.sum() < 1.0 / LAG_ERROR_MAX_US**2:
            return None
        return round(float((lags * weights).sum() / weights.sum()))

    def compare(self, turned_us: Mapping[str, float]) -> None:
        """Compare each feed with the reference as a whole; takes tens of milliseconds.

        Args:
            turned_us: by how much the clock of each feed was turned back because of its lag.
        """
        for label in self._order[1:]:
            reference = next(name for name in self._order if not self.leaves_out(name, ""))
            if reference == label:
                continue
            both = self._tracks[reference], self._tracks[label]
            newest_us = min(max((one.times_us[-1] for one in tracks.values()), default=-(2**62)) for tracks in both)
            if newest_us <= self._compared_us[label]:
                continue  # one of them is silent
            self._compared_us[label] = newest_us
            found = compare(*both, reference)
            if found is None:
                continue
            self.comparisons[label] = found
            axes = [axis for axis, is_mirrored in (("x", found.mirrored_x), ("y", found.mirrored_y)) if is_mirrored]
            if found.residual_m > RESIDUAL_MAX_M:
                reason = f"cannot be aligned with {reference}: their tracks differ by {found.residual_m:.1f} m"
            elif axes:
                reason = f"is mirrored in {' and '.join(axes)} against {reference}: correct the profile's [space]"
            else:
                reason = ""
                lag_us = found.lag_us + turned_us.get(label, 0.0)
                lags = self._lags.setdefault(label, deque(maxlen=_COMPARISONS))
                lags.append((lag_us, max(found.lag_error_us, 100.0)))
            self._judge(label, "", reason)
            is_aligned = not reason and abs(found.lag_us) < _APART_US
            (self._aligned.add if is_aligned else self._aligned.discard)(label)

    def look(self) -> None:
        """Compare the feeds of each transmitter; once a second."""
        names = {name for tracks in self._tracks.values() for name in tracks}
        shifts = self._shifts()
        for name in sorted(names):
            feeds = [label for label in self._order if name in self._tracks[label] and not self.leaves_out(label, "")]
            self._look_at(name, feeds, shifts)
        self.findings = [
            f"{feed}: {f'{name} ' if name else ''}{reason}" for (feed, name), reason in sorted(self._left_out.items())
        ]
        for label, shift in shifts.items():
            if label in self._aligned and label in self.comparisons and np.hypot(*shift) > _SHIFT_M:
                self.findings.append(
                    f"{label}: everybody is {shift[0]:+.1f}, {shift[1]:+.1f} m from where "
                    f"{self.comparisons[label].reference} has them: correct the profile's origin"
                )

    def _shifts(self) -> dict[str, _Floats]:
        """Median difference of each feed from the reference."""
        reference = self._tracks[self._order[0]]
        shifts = {}
        for label in self._order:
            common = [(reference[name], track) for name, track in self._tracks[label].items() if name in reference]
            found = [_difference(*pair) for pair in common]
            known = np.array([one for one in found if one is not None])
            shifts[label] = np.median(known, axis=0) if len(known) >= 4 else np.zeros(2)
        return shifts

    def _look_at(self, name: str, feeds: Sequence[str], shifts: Mapping[str, _Floats]) -> None:
        tracks = {label: self._tracks[label][name] for label in feeds}
        ways = {label: _way_m(track) for label, track in tracks.items()}
        reasons = dict.fromkeys(feeds, "")
        for label in feeds:
            if ways[label] < _STILL_M and any(ways[one] > _MOVES_M for one in feeds):
                reasons[label] = "is frozen"
        moving = [label for label in feeds if not reasons[label] and label in self._aligned]
        far = dict.fromkeys(moving, 0)
        for number, first in enumerate(moving):
            for second in moving[number + 1 :]:
                between = _difference(tracks[first], tracks[second])
                if between is not None and np.hypot(*(between - shifts[second] + shifts[first])) > APART_M:
                    far[first] += 1
                    far[second] += 1
        for label in moving:
            if not far[label]:
                continue
            if 2 * far[label] > len(moving) - 1 and any(2 * far[one] <= len(moving) - 1 for one in moving):
                reasons[label] = "is elsewhere than in the other feeds"
            elif name != "ball" and _speed_m_s(tracks[label]) > _SPEED_MAX_M_S:
                reasons[label] = "moves as nobody can"
        for label in feeds:
            self._judge(label, name, reasons[label])

    def _judge(self, feed: str, name: str, reason: str) -> None:
        """Leave a feed out, or let it in again, once ``LOOKS`` looks in a row agree."""
        key = feed, name
        if bool(reason) == (key in self._left_out):
            self._suspect.pop(key, None)
            return
        self._suspect[key] = self._suspect.get(key, 0) + 1
        if self._suspect[key] >= LOOKS:
            del self._suspect[key]
            if reason:
                self._left_out[key] = reason
            else:
                del self._left_out[key]


def _difference(first: _Track, second: _Track) -> _Floats | None:
    """Second place less the first, at the newest time that both know; None without one."""
    at_us = min(first.times_us[-1], second.times_us[-1])
    places = [track.at(np.array([at_us], np.float64))[0] for track in (first, second)]
    return places[1] - places[0] if np.isfinite(places).all() else None


def _way_m(track: _Track) -> float:
    """Greatest distance from the newest place within ``_FROZEN_US``; 0 if the track is not that long."""
    since_us = track.times_us[-1] - _FROZEN_US
    if track.times_us[0] > since_us:
        return _STILL_M
    farthest_m = 0.0
    for at_us, x_m, y_m in zip(reversed(track.times_us), reversed(track.x_m), reversed(track.y_m), strict=True):
        if at_us < since_us:
            break
        farthest_m = max(farthest_m, abs(x_m - track.x_m[-1]), abs(y_m - track.y_m[-1]))
    return farthest_m


def _speed_m_s(track: _Track) -> float:
    """Greatest speed over half a second within the kept time."""
    times_us = np.array(track.times_us, np.float64)
    if times_us[-1] - times_us[0] < _SPEED_US:
        return 0.0
    starts_us = np.arange(times_us[0], times_us[-1] - _SPEED_US, _SPEED_US / 5)
    if not len(starts_us):
        return 0.0
    ways = track.at(starts_us + _SPEED_US) - track.at(starts_us)
    speeds = np.hypot(ways[:, 0], ways[:, 1]) / (_SPEED_US / 1e6)
    return float(np.nanmax(speeds, initial=0.0))
