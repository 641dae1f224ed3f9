"""Report of a channel's effect on a stream: delays by priority and disorder, compared with paper 004's measurements."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from football.match_sheet import MatchSheet
from football.packet_table import Ints
from football.packets import raw_kind
from football.recording import Recording, Track, track_order
from simulator.radio.channels import Transmission, transmit
from simulator.radio.transmission import Channel

#: Upper edges of the histogram's classes in milliseconds; the last class is open.
EDGES_MS = (1, 2, 5, 10, 20, 30, 50, 70, 100, 145, 200, 500, 1000)

#: Paper 004, section IV-A and Fig. 6, in words to print beside our numbers.
PAPER_004 = (
    "paper 004, IV-A: single ball positions up to 5 ms, others above 5 ms and up to 100 ms;",
    "packets of ten: others up to 145 ms; over 95 % of events out of order",
)


def arrived_positions(transmission: Transmission) -> tuple[Ints, Ints, npt.NDArray[np.bool_]]:
    """(event time, arrival time, is it the ball) of every delivered position, in arrival order."""
    tracks = transmission.recording.tracks
    if not tracks:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.bool_)
    times = np.concatenate([t.ts_us for t in tracks])
    begins = np.cumsum([0] + [len(t) for t in tracks])[:-1]
    balls = np.array([raw_kind(t.transmitter) == "raw.ball" for t in tracks])
    sizes = transmission.stop - transmission.start
    offsets = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    rows = np.repeat(begins[transmission.track] + transmission.start, sizes) + offsets
    return times[rows], np.repeat(transmission.arrival_us, sizes), np.repeat(balls[transmission.track], sizes)


def out_of_order_share(event_us: Ints) -> float:
    """Share of events, given in arrival order, that come after one of a greater event time (004, II-A).

    >>> out_of_order_share(np.array([1, 3, 2, 3]))
    0.25
    """
    return float(np.mean(event_us < np.maximum.accumulate(event_us))) if len(event_us) else 0.0


def delay_report(recording: Recording, channel: Channel, seed: int) -> str:
    """Return a histogram of delays (arrival less event time) by priority, single and packaged, with paper 004's."""
    packaged = transmit(recording, channel, seed)
    single = transmit(recording, channel.single(), seed)
    columns: list[tuple[str, Ints]] = []
    for name, transmission in (("single", single), ("packet", packaged)):
        event_us, arrival_us, is_ball = arrived_positions(transmission)
        columns += [(f"ball {name}", (arrival_us - event_us)[is_ball])]
        columns += [(f"others {name}", (arrival_us - event_us)[~is_ball])]
    event_us, _, is_ball = arrived_positions(packaged)
    alone_us, _, _ = arrived_positions(single)
    lines = [
        f"channel {channel.name}, seed {seed}: {recording.positions} positions in {packaged.sent} packets,"
        f" {len(packaged.lost)} lost, {packaged.duplicates} doubled",
        f"out of order: {100 * out_of_order_share(alone_us):.1f} % of single positions,"
        f" {100 * out_of_order_share(event_us):.1f} % of those in packets"
        f" ({100 * float(np.mean(is_ball)) if len(is_ball) else 0:.1f} % are balls')",
        *PAPER_004,
        "",
        "delay, ms     " + "".join(f"{name:>15}" for name, _ in columns),
    ]
    edges = np.array([*EDGES_MS, np.inf]) * 1e3
    shares = [_shares(delays, edges) for _, delays in columns]
    for row, edge in enumerate((*EDGES_MS, None)):
        label = f"over {EDGES_MS[-1]:>5}" if edge is None else f"up to {edge:>4}"
        lines.append(f"{label:<14}" + "".join(f"{100 * share[row]:>13.2f} %" for share in shares))
    greatest = "".join(f"{delays.max() / 1e3 if len(delays) else 0:>12.1f} ms" for _, delays in columns)
    shortest = "".join(f"{delays.min() / 1e3 if len(delays) else 0:>12.1f} ms" for _, delays in columns)
    return "\n".join([*lines, f"{'least':<14}{shortest}", f"{'greatest':<14}{greatest}"])


def channel_report(
    channel: Channel,
    seed: int,
    *,
    balls: int = 4,
    ball_hz: float = 2_000,
    limbs: int = 140,
    limb_hz: float = 200,
    seconds: float = 20.0,
) -> str:
    """Return the :func:`delay_report` of a channel for so many transmitters at given rates."""
    phases = np.random.default_rng([seed, balls + limbs]).random(balls + limbs)
    names = [f"home_{n}/left_foot" for n in range(limbs)] + ["ball", *(f"ball_{n}" for n in range(2, balls + 1))]
    tracks: list[Track] = []
    for name, phase in zip(names, phases.tolist(), strict=True):
        rate_hz = ball_hz if name.startswith("ball") else limb_hz
        ts_us = np.rint((np.arange(int(seconds * rate_hz)) + phase) * (1e6 / rate_hz)).astype(np.int64)
        tracks.append(Track(name, ts_us, *np.zeros((3, len(ts_us)))))
    tracks.sort(key=lambda track: track_order(track.transmitter))
    return delay_report(Recording(MatchSheet(), tuple(tracks)), channel, seed)


def _shares(delays_us: Ints, edges_us: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Share of delays in each class (lower edge exclusive, upper edge inclusive)."""
    positions = np.searchsorted(edges_us, delays_us, side="left")
    return np.bincount(positions, minlength=len(edges_us)) / max(len(delays_us), 1)
