"""14.11: a player who runs less than in his first half hour, and one who does not."""

from __future__ import annotations

import numpy as np

from detectors.signals.smoothed_speed import PlayerSpeeds
from detectors.statistics.fatigue import Fatigue, FatigueParameters
from middleware.events import Event
from tests.detectors.scene import fold

#: A tenth of the times of a match.
SHORT = FatigueParameters(base_windows=6, window_us=30_000_000)


def paces(*stretches: tuple[float, float, float]) -> list[Event]:
    """Ten paces a second of two players: of each stretch its seconds, and their speeds in every tenth second."""
    out: list[Event] = []
    for seconds, one, other in stretches:
        for _ in range(round(seconds * 10)):
            at_us, runs = len(out) * 100_000, len(out) % 100 < 10
            m_s = np.array([one if runs else 2.0, other if runs else 2.0])
            payload = PlayerSpeeds(("home_6", "away_7"), bytes([0, 1]), np.zeros(4).tobytes(), at_us, m_s.tobytes())
            out.append(Event("pace.state", at_us, "pace", len(out), payload))
    return out


def flags(*stretches: tuple[float, float, float]) -> list[tuple[str, str, int]]:
    found = fold(Fatigue(SHORT), paces(*stretches))
    return sorted((e.payload.player, e.payload.variant, round(e.ts_us / 1e6)) for e in found)


def test_three_slow_windows_in_a_row_are_flagged_once():
    assert flags((180, 8.0, 8.0), (200, 6.0, 8.0)) == [
        ("home_6", "fast running", 270), ("home_6", "peak speed", 270),
    ]  # fmt: skip


def test_two_windows_a_better_one_and_the_first_half_hour_are_not():
    assert flags((180, 8.0, 8.0), (60, 6.0, 8.0), (30, 8.0, 8.0), (60, 6.0, 8.0)) == []
    assert flags((180, 8.0, 8.0), (200, 7.0, 6.6)) == []
    assert flags((60, 8.0, 8.0), (119, 1.0, 1.0)) == []
