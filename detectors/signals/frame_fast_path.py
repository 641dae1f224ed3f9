"""A tracking system's instants of which all is good and all are there, taken as one: many small states kept as one.

Theory of operation
-------------------
Nearly every instant of a tracking file is like the one before: the same transmitters, each with one good position. Then
nothing has to be kept of each transmitter by itself. Their filters lie behind each other in one piece of memory, which
the kernel takes at once; the newest samples are those of the last frame, all of one time. Such a state is a
:class:`PackedFrameState`. It holds what an :class:`Instant` (packet by packet) holds, in fewer and larger pieces, and
which of the
two a state is follows from what it holds: :func:`pack` and :func:`unpack` are each other's inverse. An instant that
is not like the one before is taken packet by packet.
"""

from __future__ import annotations

from itertools import pairwise
from operator import lt

import msgspec
import numpy as np

from detectors.signals.conditioning import Conditioning, Track
from detectors.signals.exchanges import Exchanges
from detectors.signals.frames import FrameFusion, FrameInProgress, frame_of_lineup
from detectors.signals.fusion import Balls
from detectors.signals.kernels.filter_kernel import FrameFilter
from detectors.signals.kernels.frame_kernels import nearest
from detectors.signals.playing import Lineup
from football.match_sheet import Team
from football.packets import PackedInstant, raw_kind
from football.payloads import (
    SIDES,
    BallState,
    BodyState,
    Frame,
    LastSample,
    NearestPlayers,
    Tick,
    frame_of,
)
from middleware.detector import Step
from middleware.events import Event

#: So many sets of transmitters are remembered that were an instant's.
_CASTS_MOST = 64
#: The fast path declines at this share of the least distance of an exchange.
_SURELY = 0.8


class Instant(msgspec.Struct, frozen=True, gc=False):
    """State: the filters by transmitter, the choice of ball, the frame in hand, who is taken for whom."""

    tracks: dict[str, Track] = {}
    balls: Balls = Balls()
    now: FrameInProgress = FrameInProgress()
    exchanges: Exchanges = ()


class PackedFrameState(msgspec.Struct, frozen=True, gc=False):
    """State after an instant at which each of some transmitters gave a good position.

    Attributes:
        names: the transmitters in canonical order: bodies, then the ball, if it is one of them.
        ends: where in ``memory`` the filter of each ends.
        sequences: numbers of their packets.
        memory: their filters, one behind the other.
        ball: the ball's state of this instant, None if it is not one of them.
        frame: the frame of this instant.
        tick: number of the last tick.
        balls: the choice of ball; its newest sample is an older one, or that of ``ball``, and not told then.
        absent: transmitters that gave nothing at this instant.
        lineup: who plays.
        exchanges: who is taken for whom.
    """

    names: tuple[str, ...]
    ends: tuple[int, ...]
    sequences: tuple[int, ...]
    memory: bytes
    ball: Event | None
    frame: Event
    tick: int
    balls: Balls
    absent: dict[str, Track]
    lineup: Lineup
    exchanges: Exchanges


class _Cast(msgspec.Struct, frozen=True):
    """The transmitters of an instant: their kernel; where in them players begin and end; of each player object,
    team (as of frames, too) and no limb; the ball."""

    together: FrameFilter
    begin: int
    end: int
    objects: tuple[str, ...]
    teams: tuple[Team, ...]
    limbs: tuple[str, ...]
    sides: bytes
    ball: str


class FrameFastPath:
    """Takes instants as one.

    Args:
        conditioning, frames: the rules.
        apart_m: two players who are so far from where they were to be are no rule.
    """

    def __init__(self, conditioning: Conditioning, frames: FrameFusion, apart_m: float) -> None:
        self._conditioning, self._frames, self._who_plays = conditioning, frames.parameters, frames.who_plays
        self._apart_m = apart_m
        #: Averages of several samples may be of different times.
        self._averages = any(its.sampling.block > 1 for its in conditioning.classes.values())
        self._casts: dict[tuple[str, ...], _Cast] = {}
        if not self._averages:
            self._load_kernel()

    def _load_kernel(self) -> None:
        """Take one instant, so that the kernel is loaded now and not while the first instants wait."""
        cast = self._cast(("home_1", "ball"))
        if (taken := cast.together.take(bytes(cast.together.ends[-1]), 0, bytes(48))) is not None:
            nearest(taken[1], 0, 1, cast.sides)

    def pack(self, state: Instant) -> Instant | PackedFrameState:
        """``state`` as one, if all that gave a position at its instant fit together."""
        return state if self._averages else pack(state)

    def step(
        self, state: PackedFrameState, instant: PackedInstant, exchanges: Exchanges = ()
    ) -> Step[PackedFrameState] | None:
        """Takes an instant that is like the one before; None of another.

        Args:
            state: before it.
            instant: each player with his own positions.
            exchanges: who is taken for whom.
        """
        names, sequences, ts_us = instant.names, instant.sequences, instant.ts_us
        if names != state.names or ts_us - state.frame.ts_us < max(self._frames.period_us, 1):
            return None
        if not all(map(lt, state.sequences, sequences)):
            return None
        cast = self._cast(names)
        taken = cast.together.take(state.memory, ts_us, instant.columns[: -8 * len(names)])
        if taken is None:
            return None
        memory, emitted = taken
        qualities = instant.table[3].tolist()
        begin, end = cast.begin, cast.end
        columns = emitted[:5, begin:end].tolist()
        players = tuple(map(BodyState, cast.objects, cast.teams, cast.limbs, *columns, qualities[begin:end]))
        lineup = self._who_plays.look(state.lineup, ts_us, players, cast.objects)
        ball: BallState | None = None
        heard: Event | None = None
        around: NearestPlayers | None = None
        out: list[Event] = []
        if cast.ball:
            if not lineup.resting:
                around = NearestPlayers(*nearest(emitted, begin, end, cast.sides))
            x, y, z, vx, vy, vz = emitted[:6, -1].tolist()
            run, gap_us = emitted[6:, -1].view(np.int64).tolist()
            ball = BallState(x, y, z, vx, vy, vz, gap_us, qualities[-1], run)
            heard = Event("ball.state", ts_us, cast.ball, sequences[-1] * 10, ball)
            out.append(heard)
        tick = ts_us // self._frames.tick_us
        if tick > state.tick:
            out.append(Event("clock.tick", ts_us, "clock", tick, _tick(state.frame, players[0], ts_us)))
        else:
            tick = state.tick
        if lineup.resting:
            shown = frame_of_lineup(ball, players, lineup)
        else:
            shown = Frame(ball, players, cast.objects, emitted[:2, begin:end].tobytes(), cast.sides, around)
        frame = Event("frame", ts_us, "frame", ts_us, shown)
        out.append(frame)
        ends, balls, absent = state.ends, state.balls, state.absent
        after = PackedFrameState(
            state.names, ends, sequences, memory, heard, frame, tick, balls, absent, lineup, exchanges
        )
        return after, out

    def _cast(self, names: tuple[str, ...]) -> _Cast:
        known = self._casts.get(names)
        if known is None:
            if len(self._casts) >= _CASTS_MOST:
                self._casts.clear()
            known = self._casts[names] = self._make_cast(names)
        return known

    def _make_cast(self, names: tuple[str, ...]) -> _Cast:
        kinds = [raw_kind(name) for name in names]
        begin = kinds.index("raw.player")
        end = begin + kinds.count("raw.player")
        players = names[begin:end]
        teams = tuple([self._conditioning.team(name) for name in players])
        runs = [self._conditioning.classes[kind].packets for kind in kinds]
        # The kernel takes the slope of uneven times from their ends, which is not exactly that of the line.
        together = FrameFilter(runs, _SURELY * self._apart_m)
        ball = names[-1] if kinds[-1] == "raw.ball" else ""
        sides = bytes([SIDES[team] for team in teams])
        return _Cast(together, begin, end, players, teams, ("",) * len(players), sides, ball)


def _tick(before: Event, first: BodyState, ts_us: int) -> Tick:
    """Update when each player was last measured, at the first sample of an instant: all others at the one before."""
    frame, before_us = frame_of(before), before.ts_us
    seen = [LastSample(first.object_id, ts_us, first.quality)]
    seen += [LastSample(body.object_id, before_us, body.quality) for body in frame.everybody()[1:]]
    if frame.ball is not None:
        seen.append(LastSample("ball", before_us, frame.ball.quality))
    return Tick(tuple(sorted(seen, key=lambda s: s.object_id)))


def pack(state: Instant) -> Instant | PackedFrameState:
    """``state`` as one, if it is that after an instant whose transmitters each gave one good position, to a frame."""
    now, balls = state.now, state.balls
    latest = now.latest
    ts_us = now.instant_us
    heard = latest.get("ball")
    fresh = ts_us == now.framed_us and 2 <= len(latest) == now.fresh
    if not fresh or any(e.ts_us != ts_us for e in latest.values()):
        return state
    here = {name: track for name, track in state.tracks.items() if track.last_us == ts_us}
    if any(track.refused or not track.memory for track in here.values()):
        return state
    bodies = sorted(name for name in here if raw_kind(name) in ("raw.player", "raw.referee"))
    players = [name for name in bodies if raw_kind(name) == "raw.player"]
    spoke = {name for name in here if name not in bodies}
    if spoke != ({heard.source} if heard else set()) or set(players) != latest.keys() - {"ball"} or not players:
        return state
    # Players stand together among all bodies, and each has told of nothing but his one position.
    first = bodies.index(players[0])
    if bodies[first : first + len(players)] != players:
        return state
    if any(latest[name].seq != here[name].sequence * 10 for name in players):
        return state
    if heard is not None:
        sample = Event("ball.sample", ts_us, heard.source, heard.seq, heard.payload)
        if balls.active != heard.source or balls.newest != sample or heard.seq != here[heard.source].sequence * 10:
            return state
        balls = Balls(balls.active, None, balls.spares)
    people = tuple([body for name in players if isinstance(body := latest[name].payload, BodyState)])
    ball = heard.payload if heard is not None and isinstance(heard.payload, BallState) else None
    names = (*bodies, *sorted(spoke))
    memories = [here[name].memory for name in names]
    ends = tuple([sum(map(len, memories[: i + 1])) for i in range(len(memories))])
    frame = Event("frame", ts_us, "frame", ts_us, frame_of_lineup(ball, people, now.lineup))
    sequences = tuple([here[name].sequence for name in names])
    absent = {name: track for name, track in state.tracks.items() if name not in here}
    memory = b"".join(memories)
    return PackedFrameState(
        names, ends, sequences, memory, heard, frame, now.tick, balls, absent, now.lineup, state.exchanges
    )


def unpack(packed: PackedFrameState) -> Instant:
    """The same transmitter by transmitter."""
    ts_us, frame, heard = packed.frame.ts_us, frame_of(packed.frame), packed.ball
    slices = [packed.memory[begin:end] for begin, end in pairwise((0, *packed.ends))]
    here = {
        name: Track(sequence, ts_us, memory)
        for name, sequence, memory in zip(packed.names, packed.sequences, slices, strict=True)
    }
    latest = {
        body.object_id: Event("player.state", ts_us, body.object_id, here[body.object_id].sequence * 10, body)
        for body in frame.everybody()
    }
    balls = packed.balls
    if heard is not None:
        latest["ball"] = heard
        newest = Event("ball.sample", ts_us, heard.source, heard.seq, heard.payload)
        balls = Balls(balls.active, newest, balls.spares)
    now = FrameInProgress(latest, ts_us, len(latest), ts_us, packed.tick, packed.lineup)
    return Instant({**packed.absent, **here}, balls, now, packed.exchanges)
