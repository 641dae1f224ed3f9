"""Measures the quality of an input from its blocks, as they arrive, within bounded memory.

Theory of operation
-------------------
The meter sees each block before its validation, since positions that the validation refuses show best what is wrong
with a source; the refused records follow by :meth:`InputMeter.refuse`. Of a ball it looks at fifty positions a second
at most, of a player at twelve, of a limb at ten: at radio rates that is a twentieth of all packets, and the others cost
a comparison. So an identity that jumps to a player farther off is seen always, a single stray position sometimes.
Once a second of event time it takes stock: who is there, where, and which team stands further to the left.

Instants in columns are collected, and taken many at a time where they are alike: in order, of the same transmitters,
all of which are numbers. The figures are those of their packets one by one, which is how all others are taken.

The figures are of the input as it arrived. They are no input of the detectors, whose output may not depend on the
order of arrival; what detectors know of the quality is in the match sheet (:class:`football.match_sheet.Quality`).
A meter is pickled with the state of its pipeline.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import isfinite

import numpy as np
from msgspec.structs import replace

from football.input_quality import InputQuality
from football.match_sheet import MatchSheet, Quality, team_of
from football.packets import (
    ALIVE_FLAG,
    Block,
    InstantBlock,
    PackedInstant,
    Packet,
    RejectedRecord,
    raw_kind,
    words_of_flag,
)
from football.untrusted import SOURCES_MAX
from replay.quality.samples import HeightSample, SpotSample
from replay.quality.sides import SidesLog
from replay.quality.tracks import STEP_MAX_US, ClassFigures, Floats, TransmitterTrack, take_together

#: Silence of all transmitters that counts as a gap; a longer one ends a period. Periods that are listed.
GAP_US, PERIOD_GAP_US, PERIODS_MAX = 1_000_000, 120_000_000, 20

#: A packet that arrives longer after later ones is counted: by default a run repairs no older ones.
BEHIND_US = 3_000_000

#: How far outside the lines a player still counts as on the pitch, metres.
MARGIN_M = 2.0

#: How far outside the lines a ball is surely dead, metres; and how old its newest position may be then.
FAR_OUTSIDE_M, BALL_HERE_US = 2.0, 500_000

#: A second in which so many players do not move by a millimetre is frozen; all of them at once never stand so still.
FROZEN_PLAYERS = 10

#: Instants that are taken together at most: usually those between two sums of the quality.
TOGETHER = 250

#: Interval at which the quality is summed up, in arrival time, and reasons of refused records that a summary lists.
SUMMARY_US, REASONS = 5_000_000, 5

#: After all times.
END_US = 2**62

_CLASSES = {"raw.ball": "ball", "raw.player": "player", "raw.limb": "limb"}


class InputMeter:
    """Measures the blocks of one match.

    Args:
        sheet: its pitch, players and rates; never changed.
    """

    def __init__(self, sheet: MatchSheet) -> None:
        quality = sheet.quality
        self._sheet = sheet
        self._slot_us = _slot_us(quality)
        self._x_max_m, self._y_max_m = sheet.length_m / 2 + MARGIN_M, sheet.width_m / 2 + MARGIN_M
        self._classes = {name: ClassFigures() for name in _CLASSES.values()}
        self._tracks: dict[str, TransmitterTrack | None] = {}
        self._main: dict[str, str] = {}
        self._ball_slot = self._body_due_us = self._second = -(2**62)
        self._ball_slots = self._body_slots = 0
        self._heights = self._ball_looks = 0
        self._height_max_m = 0.0
        self._height_sample = HeightSample()
        self._unusable = self._disordered = self._outside = self._unknown = 0
        self._unknown_objects: set[str] = set()
        self._begin_us: int | None = None
        self._newest_us = 0
        self._gaps = self._gap_us = self._packets = self._behind = self._behind_us = 0
        self._periods: list[tuple[int, int]] = []
        self._spots = SpotSample()
        self._sides = SidesLog()
        self._on_pitch = {"home": Counter[int](), "away": Counter[int]()}
        self._seen = {"home": Counter[int](), "away": Counter[int]()}
        self._frozen = 0
        #: What the alive flag said last; how often it has changed, its packets, and those of them that say alive; the
        #: same two while the ball is far outside, and that ball's transmitter.
        self._alive: bool | None = None
        self._flag_changes = self._flag_packets = self._flag_alive = 0
        self._flag_outside = self._flag_outside_alive = 0
        self._ball = ""
        #: The newest summary, and the arrival time from which the next one is due.
        self._summary, self._due_us = InputQuality(), -(2**62)
        #: Instants that are not taken yet, of the same transmitters, later and later, with their arrival times.
        self._pending: list[tuple[PackedInstant, int]] = []
        self._clear_second()

    def __getstate__(self) -> dict[str, object]:
        """Return what a snapshot stores. Instants that were collected are taken, since they are far larger."""
        self._take_pending()
        return vars(self)

    def add_block(self, block: Block | InstantBlock, arrival_us: int) -> None:
        """Take the packets of a block, valid or not."""
        if not isinstance(block, InstantBlock):
            self.add(block.packets, arrival_us)
            return
        instant, pending = block.instant, self._pending
        if pending:
            newest = pending[-1][0]
            if instant.names != newest.names or not 0 < instant.ts_us - newest.ts_us <= STEP_MAX_US:
                self._take_pending()
                pending = self._pending
        pending.append((instant, arrival_us))
        if len(pending) >= TOGETHER:
            self._take_pending()

    def add(self, packets: Sequence[Packet], arrival_us: int) -> None:
        """Take packets, valid or not, and look at the first position of those that are due."""
        if self._pending:
            self._take_pending()
        tracks = self._tracks
        self._packets += len(packets)
        for packet in packets:
            ts_us = packet.ts_us
            track = tracks.get(packet.transmitter)
            if track is None:
                if packet.transmitter not in tracks:
                    self._add_transmitter(packet.transmitter)
                    track = tracks.get(packet.transmitter)
                if track is None:
                    if packet.transmitter == ALIVE_FLAG:
                        self._look_at_flag(packet)
                    continue
            if not ts_us:
                continue
            track.positions += len(ts_us)
            first_us = ts_us[0]
            if first_us >= self._body_due_us and not track.is_ball and first_us <= arrival_us:
                self._body_due_us = (first_us // self._slot_us + 1) * self._slot_us
                self._body_slots += 1
            if not track.due_us <= first_us <= arrival_us:
                if first_us > track.newest_us:
                    track.newest_us = first_us
                if (behind_us := self._newest_us - first_us) > self._behind_us or behind_us > BEHIND_US:
                    self._behind_us = max(self._behind_us, behind_us)
                    self._behind += behind_us > BEHIND_US
                continue
            x, y, z = packet.x_m, packet.y_m, packet.z_m
            if not (x and y and z):
                continue
            x_m, y_m = x[0], y[0]
            if not isfinite(x_m + y_m):
                continue
            track.newest_us = first_us
            track.take(first_us, x_m, y_m)
            if track.is_ball:
                self._look_at_ball((first_us // self._slot_us,), z[:1])
            if first_us > self._newest_us or self._begin_us is None:
                self._advance(first_us)
            if first_us >= track.stock_us and track.team:
                self._look_at_player(track, first_us // 1_000_000, x_m, y_m)

    def refuse(self, rejected: Iterable[RejectedRecord]) -> None:
        """Take the records of a block that its validation, or the reader of a file, has refused."""
        if self._pending:
            self._take_pending()
        for record in rejected:
            reason = record.reason
            if "not a number" in reason:
                self._unusable += 1
            elif "does not increase" in reason:
                track = self._tracks.get(record.transmitter)
                if track is not None and track.newest_us == record.ts_us:
                    track.repeats += 1
                else:
                    self._disordered += 1
            elif "before its event time" in reason:
                self._disordered += 1
            elif "outside the tracking volume" in reason:
                self._outside += 1
            elif "not on the match sheet" in reason:
                self._unknown += 1
                if len(self._unknown_objects) < SOURCES_MAX:
                    self._unknown_objects.add(record.transmitter.partition("/")[0])

    def summary(self, now_us: int, packets: int, lost: int, refused: Counter[str]) -> InputQuality:
        """Return the quality of the input, measured anew every few seconds.

        A match that is restored from a snapshot goes on with the summary it had.

        Args:
            now_us: arrival time; ``END_US`` measures in any case.
            packets: number of valid packets.
            lost: number of those that were not taken in.
            refused: number of refused records by reason.
        """
        if now_us >= self._due_us:
            self._due_us = now_us + SUMMARY_US
            reasons = dict(refused.most_common(REASONS))
            self._summary = replace(
                self.quality(), packets=packets, lost=lost, refused=refused.total(), refused_reasons=reasons
            )
        return self._summary

    def quality(self) -> InputQuality:
        """The figures so far."""
        self._take_pending()
        ball, bodies = self._classes["ball"], self._classes["limb"]
        if not bodies.steps:
            bodies = self._classes["player"]
        tracks = [track for track in self._tracks.values() if track is not None]
        doubled = max(tracks, key=lambda track: track.repeats / max(1, track.positions), default=None)
        (x_low, x_high), (y_low, y_high) = self._spots.box()
        begin_us = self._begin_us or 0
        periods = [*self._periods, (begin_us if not self._periods else self._period_begin_us, self._newest_us)]
        return InputQuality(
            span_s=_rounded((self._newest_us - begin_us) / 1e6),
            positions=sum(track.positions for track in tracks),
            unusable=self._unusable,
            ball_hz=_rate_hz(tracks, ("ball",), self._active_s()),
            body_hz=_rate_hz(tracks, ("player", "limb"), self._active_s()),
            ball_share=min(1.0, _share(self._ball_slots, self._body_slots)),
            ball_outliers=_share(ball.outliers, ball.steps),
            body_outliers=_share(bodies.outliers, bodies.steps),
            identity_jumps=self._classes["player"].jumps,
            scene_cuts=self._classes["player"].cuts,
            ball_still=_share(ball.still, ball.steps),
            frozen_s=float(self._frozen),
            ball_noise_m=_rounded(ball.noise_m()),
            body_noise_m=_rounded(bodies.noise_m()),
            ball_straight=_share(ball.straight, ball.moving),
            ball_height_share=_share(self._heights, self._ball_looks),
            ball_height_max_m=_rounded(self._height_max_m),
            ball_height_high_m=_rounded(self._height_sample.high_m()),
            gaps=self._gaps,
            gap_s=_rounded(self._gap_us / 1e6),
            same_time=_share(doubled.repeats, doubled.positions) if doubled else 0.0,
            same_time_object=doubled.object_id if doubled and doubled.repeats else "",
            disordered=self._disordered,
            behind_s=_rounded(self._behind_us / 1e6),
            behind_share=_share(self._behind, self._packets),
            outside=self._outside,
            unknown=self._unknown,
            flag_changes=self._flag_changes,
            flag_alive=_share(self._flag_alive, self._flag_packets),
            flag_outside=self._flag_outside,
            flag_outside_alive=_share(self._flag_outside_alive, self._flag_outside),
            unknown_objects=len(self._unknown_objects),
            home_players=_median(self._on_pitch["home"]),
            away_players=_median(self._on_pitch["away"]),
            home_objects=_median(self._seen["home"]),
            away_objects=_median(self._seen["away"]),
            x_low_m=_rounded(x_low),
            x_high_m=_rounded(x_high),
            y_low_m=_rounded(y_low),
            y_high_m=_rounded(y_high),
            attacks_positive_x=self._sides.first,
            side_changes=tuple(self._sides.changes_s),
            periods=tuple((_rounded(begin / 1e6), _rounded(end / 1e6)) for begin, end in periods),
        )

    def _take_pending(self) -> None:
        """Take the instants that were collected, together if they are alike."""
        pending, self._pending = self._pending, []
        if pending and not self._take_alike(pending):
            for instant, arrival_us in pending:
                self.add(instant.packets, arrival_us)

    def _take_alike(self, pending: Sequence[tuple[PackedInstant, int]]) -> bool:
        """Take instants in columns; False, and nothing is taken, if they must be taken packet by packet."""
        names, times_us = pending[0][0].names, [instant.ts_us for instant, _ in pending]
        if ALIVE_FLAG in names:
            return False
        is_future = any(instant.ts_us > arrival_us for instant, arrival_us in pending)
        if is_future or len(set(names)) < len(names) or (self._begin_us is not None and times_us[0] <= self._newest_us):
            return False
        tables = np.frombuffer(b"".join([instant.columns for instant, _ in pending])).reshape(len(pending), 4, -1)
        if not np.isfinite(tables[:, :2]).all():
            return False
        for name in names:
            if name not in self._tracks:
                self._add_transmitter(name)
        tracks = [(at, track) for at, name in enumerate(names) if (track := self._tracks.get(name)) is not None]
        balls = [(at, track) for at, track in tracks if track.is_ball]
        players = [(at, track) for at, track in tracks if track.name == "player"]
        groups = [group for group in (balls, players) if group]
        is_behind = any(track.newest_us >= times_us[0] for _, track in tracks)
        if is_behind or len(players) + len(balls) < len(tracks):
            return False
        if any(len({max(track.due_us, times_us[0]) for _, track in group}) > 1 for group in groups):
            return False
        looks = [_looks(times_us, group[0][1]) for group in groups]
        if any(times_us[after] - times_us[before] > STEP_MAX_US for some in looks for before, after in pairwise(some)):
            return False
        self._packets += len(pending) * len(names)
        for _, track in tracks:
            track.positions += len(pending)
            track.newest_us = times_us[-1]
        if players:
            self._count_body_slots(times_us)
        if looked := set().union(*looks):
            self._advance(times_us[min(looked)])
            self._newest_us = times_us[max(looked)]
        for group, chosen in zip(groups, looks, strict=True):
            if chosen:
                spots, group_us = tables[chosen][:, :3, [at for at, _ in group]], [times_us[at] for at in chosen]
                take_together([track for _, track in group], group_us, spots[:, 0], spots[:, 1])
                if group is players:
                    self._take_stock([track for _, track in players], group_us, spots[:, :2])
                else:
                    self._look_at_ball([ts_us // self._slot_us for ts_us in group_us], spots[:, 2].ravel().tolist())
        return True

    def _count_body_slots(self, times_us: Sequence[int]) -> None:
        """Count the slots in which players are there, of times in order."""
        slots = {ts_us // self._slot_us for ts_us in times_us if ts_us >= self._body_due_us}
        if slots:
            self._body_slots += len(slots)
            self._body_due_us = (max(slots) + 1) * self._slot_us

    def _take_stock(self, players: Sequence[TransmitterTrack], times_us: Sequence[int], spots: Floats) -> None:
        """Take stock of the players at the first of some times (k,) in each second; ``spots`` (k, 2, n)."""
        teams = [(at, track) for at, track in enumerate(players) if track.team]
        due_us = min([track.stock_us for _, track in teams], default=END_US)
        for ts_us, spot in zip(times_us, spots, strict=True):
            if ts_us < due_us:
                continue
            x_m, y_m = spot.tolist()
            for at, track in teams:
                if ts_us >= track.stock_us:
                    self._look_at_player(track, ts_us // 1_000_000, x_m[at], y_m[at])
            due_us = min([track.stock_us for _, track in teams])

    def _add_transmitter(self, name: str) -> None:
        """Begin a track; none for referees, and beyond the number of sources that a match may have."""
        if len(self._tracks) >= SOURCES_MAX:
            return
        kind = _CLASSES.get(raw_kind(name)) if name else None
        if kind is None:
            self._tracks[name] = None
            return
        object_id = name.partition("/")[0]
        # Of several limbs the first that is heard stands for its player.
        is_main = self._main.setdefault(object_id, name) == name
        team = team_of(object_id, self._sheet) if is_main and kind != "ball" else ""
        self._tracks[name] = TransmitterTrack(kind, object_id, team, self._classes[kind])
        if kind == "ball":
            self._ball = self._ball or name

    def _look_at_flag(self, packet: Packet) -> None:
        """Count what the alive flag says, most of all while the ball is far outside: then it cannot be in play."""
        track = self._tracks.get(self._ball)
        last = track.last if track is not None else None
        for ts_us, alive in zip(packet.ts_us, words_of_flag(packet), strict=True):
            self._flag_packets, self._flag_alive = self._flag_packets + 1, self._flag_alive + alive
            if last is not None and abs(ts_us - last[0]) <= BALL_HERE_US and self._is_far_outside(last[1], last[2]):
                self._flag_outside, self._flag_outside_alive = self._flag_outside + 1, self._flag_outside_alive + alive
            if self._alive is not None and alive != self._alive:
                self._flag_changes += 1
            self._alive = alive

    def _is_far_outside(self, x_m: float, y_m: float) -> bool:
        half_length_m, half_width_m = self._sheet.length_m / 2, self._sheet.width_m / 2
        return max(abs(x_m) - half_length_m, abs(y_m) - half_width_m) >= FAR_OUTSIDE_M

    def _look_at_ball(self, slots: Sequence[int], heights_m: Sequence[float]) -> None:
        """Take heights of balls, and the slots of their times."""
        for slot in slots:
            if slot > self._ball_slot:
                self._ball_slot, self._ball_slots = slot, self._ball_slots + 1
        self._ball_looks += len(heights_m)
        for z_m in heights_m:
            if isfinite(z_m):
                self._height_sample.add(z_m)
        if raised_m := [z_m for z_m in heights_m if z_m]:
            self._heights += len(raised_m)
            self._height_max_m = max(self._height_max_m, *raised_m)

    def _look_at_player(self, track: TransmitterTrack, second: int, x_m: float, y_m: float) -> None:
        """Take stock of a player, once a second."""
        if second > self._second:
            self._close_second()
            self._second = second
        moved, track.spot, track.stock_us = track.spot != (x_m, y_m), (x_m, y_m), (second + 1) * 1_000_000
        self._spots.add(x_m, y_m)
        count = self._now[track.team]
        count[0] += 1
        count[1] += abs(x_m) <= self._x_max_m and abs(y_m) <= self._y_max_m
        count[2] += x_m
        self._moved += moved

    def _close_second(self) -> None:
        home, away = self._now["home"], self._now["away"]
        if home[0] or away[0]:
            for team, count in self._now.items():
                self._seen[team][int(count[0])] += 1
                self._on_pitch[team][int(count[1])] += 1
            self._frozen += home[0] + away[0] >= FROZEN_PLAYERS and not self._moved
            if home[0] and away[0]:
                self._sides.add(self._second, home[2] / home[0] - away[2] / away[0])
        self._clear_second()

    def _clear_second(self) -> None:
        #: By team: objects seen, players on the pitch, sum of their x.
        self._now = {"home": [0.0, 0.0, 0.0], "away": [0.0, 0.0, 0.0]}
        self._moved = 0

    def _advance(self, ts_us: int) -> None:
        """Move the newest event time; notes gaps and periods."""
        if self._begin_us is None:
            self._begin_us = self._newest_us = self._period_begin_us = ts_us
        if (silent_us := ts_us - self._newest_us) >= GAP_US:
            self._gaps += 1
            self._gap_us += silent_us
            if silent_us >= PERIOD_GAP_US and len(self._periods) < PERIODS_MAX:
                self._periods.append((self._period_begin_us, self._newest_us))
                self._period_begin_us = ts_us
        self._newest_us = ts_us

    def _active_s(self) -> float:
        return (self._newest_us - (self._begin_us or 0) - self._gap_us) / 1e6


def _slot_us(quality: Quality) -> int:
    """Length of the slots in which presence is counted: all transmitters that are there speak in each.

    Radio sends up to ten positions in a packet, of which the first is looked at.
    """
    if quality.kind == "rtls":
        return max(200_000, round(1e7 / quality.ball_hz), round(1e7 / quality.body_hz))
    return max(40_000, round(1e6 / quality.ball_hz), round(1e6 / quality.body_hz))


def _looks(times_us: Sequence[int], track: TransmitterTrack) -> list[int]:
    """Return the indices of the times at which a track is looked at."""
    found, due_us = [], track.due_us
    for index, ts_us in enumerate(times_us):
        if ts_us >= due_us:
            found.append(index)
            due_us = ts_us + track.period_us
    return found


def _rate_hz(tracks: Sequence[TransmitterTrack], names: tuple[str, ...], active_s: float) -> float:
    """Rate of the transmitter that speaks most, in the time without gaps."""
    most = max((track.positions - track.repeats for track in tracks if track.name in names), default=0)
    return round((most - 1) / active_s, 2) if most > 1 and active_s > 0 else 0.0


def _median(counts: Counter[int]) -> int:
    """The median of counted numbers, 0 of none."""
    total, seen = sum(counts.values()), 0
    for number in sorted(counts):
        seen += counts[number]
        if 2 * seen >= total:
            return number
    return 0


def _share(part: float, whole: float) -> float:
    return round(part / whole, 5) if whole else 0.0


def _rounded(value: float) -> float:
    return round(float(value), 4)
