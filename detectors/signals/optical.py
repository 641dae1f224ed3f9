"""Level 1 for framed inputs: a tracking system's instant goes through conditioning and fusion in one step.

Theory of operation
-------------------
What radio brings in twenty-three packets, each late in its own way, a tracking file brings together and in
order. Then nothing needs sorting between the filter of a player and the frame he is put into, and the three
level-1 detectors can be folded one inside the other: their states side by side are this one's state, and what
they tell each other stays within the step. The rules are theirs alone. What is the rule, an instant of one good
position each of the same transmitters as before, is taken in one piece (:mod:`detectors.signals.frame_fast_path`).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from detectors.signals.conditioning import Conditioning, ConditioningParameters, Track
from detectors.signals.exchanges import (
    ExchangeParameters,
    Exchanges,
    exchange,
    put_packets_right,
    put_right,
    still_exchanged,
    stray_of,
)
from detectors.signals.frame_fast_path import FrameFastPath, Instant, PackedFrameState, unpack
from detectors.signals.frames import FrameFusion, FrameParameters
from detectors.signals.fusion import ActiveBall, BallParameters
from detectors.signals.playing import PlayingParameters
from football.match_sheet import MatchSheet
from football.packets import PackedInstant, Packet, raw_kind
from football.payloads import payload_as
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class OpticalAdapter:
    """1.7 for framed inputs: ``raw.frame`` to ``ball.state``, ``frame`` and ``clock.tick``.

    Two players whom the system takes for each other where they meet keep their own names.

    ``detail`` of ``sample.rejected``: ``transmitter``, ``sequence`` (of the packet), ``index`` (of the position in it).
    ``ball`` of the others: the object id of the ball.

    Args:
        sheet: its quality must be framed and without limbs.
        conditioning, balls, frames, playing: of the three detectors.
        exchange: when two players are taken for each other.
    """

    def __init__(
        self,
        sheet: MatchSheet,
        conditioning: ConditioningParameters | None = None,
        balls: BallParameters | None = None,
        frames: FrameParameters | None = None,
        playing: PlayingParameters | None = None,
        exchange: ExchangeParameters | None = None,
    ) -> None:
        assert sheet.quality.framed, "only a framed input comes as instants"
        assert not sheet.quality.limbs, "a framed input has centroids"
        self._conditioning = Conditioning(sheet, conditioning)
        self._active = ActiveBall(sheet, balls)
        self._frames = FrameFusion(sheet, frames, playing)
        self._exchange = exchange or ExchangeParameters()
        self._fast_path = FrameFastPath(self._conditioning, self._frames, self._exchange.apart_m)
        inner = (self._conditioning.spec, self._active.spec, self._frames.spec)
        hidden = {"player.state", "ball.sample", "referee.state"}
        self.spec = Spec(
            name="optical_adapter",
            number="1.7",
            level=1,
            inputs=("raw.frame",),
            outputs=tuple(kind for spec in inner for kind in spec.outputs if kind not in hidden),
            internal=tuple(kind for spec in inner for kind in spec.internal if kind not in hidden),
            takes_runs=True,
            horizon_us=self._frames.spec.horizon_us,
            parameters={
                **{f"{spec.name}.{name}": value for spec in inner for name, value in spec.parameters.items()},
                **{f"exchange.{name}": value for name, value in msgspec.structs.asdict(self._exchange).items()},
            },
            source="1.4, 1.6 and 1.8 folded into one step",
            needs="all objects of an instant together",
            variants={kind: emitted for spec in inner for kind, emitted in spec.variants.items() if kind not in hidden},
            covers=tuple(number for spec in inner for number in (spec.number, *spec.covers)),
            details={
                "sample.rejected": ("transmitter", "sequence", "index"),
                **dict.fromkeys(("ball.active_changed", "ball.spare_on_pitch"), ("ball",)),
            },
        )

    def initial(self) -> Instant:
        """Nothing seen."""
        return Instant()

    def step(self, state: Instant | PackedFrameState, event: Event) -> Step[Instant | PackedFrameState]:
        """Takes all packets of one instant."""
        instant = event.payload
        if isinstance(state, PackedFrameState):
            step = self._at_once(state, instant) if isinstance(instant, PackedInstant) else None
            if step is not None:
                return step
            state = unpack(state)
        packets = instant.packets if isinstance(instant, PackedInstant) else payload_as(event, tuple)
        after, out = self._packet_by_packet(state, packets)
        return self._fast_path.pack(after), out

    def _at_once(self, state: PackedFrameState, instant: PackedInstant) -> Step[PackedFrameState] | None:
        """Takes an instant as one; None if it is not like the one before."""
        if not state.exchanges:
            return self._fast_path.step(state, instant)
        exchanges = still_exchanged(state.exchanges, instant.ts_us, self._exchange)
        right = put_right(instant, exchanges)
        return self._fast_path.step(state, right, exchanges) if right is not None else None

    def _packet_by_packet(self, state: Instant, given: Sequence[Packet]) -> Step[Instant]:
        exchanges, packets = self._put_right(state, given)
        tracks = dict(state.tracks)
        balls = state.balls
        out: list[Event] = []
        samples: list[Event] = []
        for packet in packets:
            name = packet.transmitter
            raw = Event(raw_kind(name), packet.ts_us[0], name, packet.sequence, packet)
            tracks[name], conditioned = self._conditioning.step(tracks.get(name) or Track(), raw)
            for sample in conditioned:
                if sample.kind == "player.state":
                    samples.append(sample)
                elif sample.kind == "ball.sample":
                    balls, chosen = self._active.step(balls, sample)
                    out.extend(chosen)
                    samples.extend(event for event in chosen if event.kind == "ball.state")
                elif sample.kind != "referee.state":
                    out.append(sample)
        now, emitted = self._frames.step_run(state.now, samples)
        out.extend(emitted)
        return Instant(tracks, balls, now, exchanges), out or NOTHING

    def _put_right(self, state: Instant, given: Sequence[Packet]) -> tuple[Exchanges, Sequence[Packet]]:
        """Return who is exchanged from this instant on, and its packets, of each player his own."""
        if not given:
            return state.exchanges, given
        ts_us, p = given[0].ts_us[0], self._exchange
        exchanges = still_exchanged(state.exchanges, ts_us, p)
        packets = put_packets_right(given, exchanges)
        newest = state.now.latest
        looked_at = [stray_of(packet, newest.get(packet.transmitter), p) for packet in packets]
        strays = [stray for stray in looked_at if stray is not None]
        after = exchange(exchanges, strays, ts_us, p) if len(strays) > 1 else exchanges
        return after, packets if after == exchanges else put_packets_right(given, after)
