"""HTTP Digest: the examples of RFC 7616, and a head that asks for it."""

from __future__ import annotations

import pytest

from camera.controller import CameraController
from camera.mount import Mount
from camera.profile import load_profile
from camera.protocols.http_digest import answered, challenge_of
from camera.protocols.registry import Address
from camera.simulated.server import HeadServer, Quirks
from tests.camera.test_controller import CirclingBall
from tests.waiting import eventually


@pytest.mark.parametrize(
    ("algorithm", "response"),
    [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ],
)
def test_the_examples_of_rfc_7616(algorithm: str, response: str) -> None:
    challenge = challenge_of(
        f'Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm={algorithm}, '
        'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"'
    )
    assert challenge is not None
    nonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    after, header = answered(challenge, "GET", "/dir/index.html", "Mufasa", "Circle of Life", nonce)
    assert f'response="{response}"' in header
    assert "nc=00000001" in header
    assert "nc=00000002" in answered(after, "GET", "/", "Mufasa", "Circle of Life", nonce)[1]


@pytest.mark.parametrize("header", ["", "Basic realm=x", 'Digest algorithm="SHA-512"', 'Digest qop="auth-int"'])
def test_other_challenges_are_not_answered(header: str) -> None:
    assert challenge_of(header) is None


def test_a_panasonic_head_that_asks_for_digest_is_steered_by_the_right_user_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    profile = load_profile("aw-he40")
    quirks = Quirks(login="digest")
    with HeadServer(profile, protocol="aw", user="cam", password="secret", quirks=quirks) as head:
        host, port = head.address
        wrong = CameraController(CirclingBall(), Mount(), profile, Address(host, port, "cam", "guess"), "aw").start()
        eventually(lambda: wrong.figures()["resets"] > 1)
        with monkeypatch.context() as patch:
            patch.setattr("camera.controller.STOP_US", 200_000)  # nobody hears its stop
            wrong.stop()
        assert head.executed == 0
        right = CameraController(CirclingBall(), Mount(), profile, Address(host, port, "cam", "secret"), "aw").start()
        try:
            eventually(lambda: head.pose().tilt_deg < -3)
        finally:
            right.stop()
