"""Nudges of an operator correct a wrong mount slowly; other drives do not."""

from __future__ import annotations

import random
import time

import msgspec
import pytest

from camera.controller import CameraController
from camera.correction import BIAS_DEG_MAX, Correction
from camera.mount import Mount
from camera.operator import ManualDrive
from camera.profile import load_profile
from camera.protocols.registry import Address
from camera.simulated.server import HeadServer
from football.update_stream import BallView, View
from tests.camera.test_controller import CirclingBall
from tests.waiting import eventually

TRUTH = Mount()


@pytest.mark.parametrize(("pan_deg", "tilt_deg"), [(1.2, -0.6), (-2.0, 0.4), (0.0, 0.0)])
def test_noisy_nudges_at_any_place_bring_the_aim_to_the_truth(pan_deg: float, tilt_deg: float) -> None:
    wrong = msgspec.structs.replace(
        TRUTH, heading_deg=TRUTH.heading_deg - pan_deg, tilt_offset_deg=TRUTH.tilt_offset_deg + tilt_deg
    )
    rng, correction = random.Random(7), Correction()
    for _ in range(30):
        place = rng.uniform(-25, 25), rng.uniform(-25, 25), 0.0
        true_pan, true_tilt = TRUTH.aim(*place)
        aim_pan, aim_tilt = correction.applied(wrong).aim(*place)
        noise = rng.gauss(0, 0.2), rng.gauss(0, 0.2)
        correction = correction.nudged(true_pan - aim_pan + noise[0], true_tilt - aim_tilt + noise[1], 20.0, 0.0)
    for place in ((0.0, 0.0, 0.0), (30.0, 20.0, 0.0)):
        assert correction.applied(wrong).aim(*place) == pytest.approx(TRUTH.aim(*place), abs=0.4)


def test_drives_to_another_subject_or_in_fast_play_do_not_count_and_the_correction_is_bounded() -> None:
    none = Correction()
    assert none.nudged(6.0, 0.0, 20.0, 0.0) is none
    assert none.nudged(1.0, 0.0, 20.0, 9.0) is none
    correction = none
    for _ in range(200):
        correction = correction.nudged(2.0, -2.0, 20.0, 0.0)
    assert (correction.pan_deg, correction.tilt_deg) == (BIAS_DEG_MAX, -BIAS_DEG_MAX)


class StillBall(CirclingBall):
    """A ball that lies still, seen 25 times a second."""

    def latest_view(self) -> View | None:
        view = super().latest_view()
        return msgspec.structs.replace(view, ball=BallView(view.ts_us, 3.0, 2.0, 0.0, 0.0, 0.0, 0.0)) if view else None


def test_an_operator_at_a_running_camera_corrects_it() -> None:
    profile = load_profile()
    with HeadServer(profile) as head:
        controller = CameraController(StillBall(), TRUTH, profile, Address(*head.address)).start()
        try:
            aim = TRUTH.aim(3.0, 2.0)
            eventually(lambda: abs(head.pose().tilt_deg - aim[1]) < 2 and controller.state().mode == "hold")

            def driven() -> bool:
                controller.order(ManualDrive(0.05, 0.0, 0.0, time.monotonic_ns() // 1000))
                return head.pose().pan_deg > aim[0] + 1.5

            eventually(driven)
            controller.order(None)
            eventually(lambda: controller.figures()["bias_nudges"] == 1.0)
            assert float(controller.figures()["bias_pan_deg"]) > 0.1
        finally:
            controller.stop()
