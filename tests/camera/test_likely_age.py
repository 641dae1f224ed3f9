"""The age at which an event is likely to stand is the inverse of its chance."""

from __future__ import annotations

import pytest

from camera.chances import Chances
from dashboard.demo import demo_event


@pytest.mark.parametrize("confidence", [0.3, 0.5, 0.85, 0.95, 1.0])
def test_the_likely_age_is_when_the_chance_is_reached(confidence: float):
    chances = Chances(settles_ms={"shot": 40.0}, other_ms=300.0)
    for kind in ("shot.attempt", "pass.complete"):
        event = demo_event(kind, 0, "ball:1", confidence=confidence)
        age_us = chances.likely_age_us(event, 0.9)
        assert chances.of(event, age_us) >= 0.9 - 1e-6
        assert age_us == 0 or chances.of(event, age_us - 100) < 0.9


def test_an_event_without_confidence_is_never_likely():
    event = demo_event("shot.attempt", 0, "ball:1", confidence=0.0)
    assert Chances().likely_age_us(event, 0.9) >= 3_600_000_000
