"""A capture to warm up on before the first packet of a match: the players of a sheet stand, the ball rolls."""

from __future__ import annotations

from pathlib import Path

from football.match_sheet import MatchSheet
from football.packet_table import from_blocks
from football.packets import Block, Packet
from replay.capture import Capture, CaptureWriter

SECONDS = 3.0

_PACKET = 10
_ROLL_M_S = 4.0


def write_warm_up_capture(out: Path, sheet: MatchSheet) -> Capture:
    """Write three seconds at the rates and with the transmitters of the sheet."""
    quality = sheet.quality
    starting = [player for player in sheet.players if player.starts]
    size = 1 if quality.framed or quality.kind == "optical" else _PACKET
    packets: list[tuple[int, Packet]] = []
    for number, player in enumerate(starting):
        x_m, y_m = 3.0 * (number % 11) - 15.0, 10.0 if player.team == "home" else -10.0
        for limb in quality.limbs or ("",):
            name = f"{player.object_id}/{limb}" if limb else player.object_id
            packets += _packets(name, quality.body_hz, size, x_m, y_m, 0.0)
    packets += _packets("ball", quality.ball_hz, size, 0.0, 0.0, _ROLL_M_S)
    arrivals: dict[int, list[Packet]] = {}
    for arrival_us, packet in packets:
        arrivals.setdefault(arrival_us, []).append(packet)
    blocks = [Block(arrival_us, tuple(packets)) for arrival_us, packets in sorted(arrivals.items())]
    with CaptureWriter(out, sheet, fingerprint="rehearsal", channel="none", seed=0, slot_us=0) as writer:
        writer.write(from_blocks(blocks))
    return Capture.open(out)


def _packets(
    name: str, rate_hz: float, size: int, x_m: float, y_m: float, speed_m_s: float
) -> list[tuple[int, Packet]]:
    packets = []
    for sequence in range(int(SECONDS * rate_hz) // size):
        at_s = [(sequence * size + i) / rate_hz for i in range(size)]
        ts_us = tuple(round(t * 1e6) for t in at_s)
        positions = tuple(x_m + speed_m_s * t for t in at_s), (y_m,) * size, (0.11,) * size
        packets.append((ts_us[-1], Packet(name, sequence, ts_us, *positions)))
    return packets
