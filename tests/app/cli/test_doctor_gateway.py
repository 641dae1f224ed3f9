"""``touchline doctor --gateway``: what it finds in the figures and the capture of a gateway."""

from __future__ import annotations

from pathlib import Path

import msgspec

from app.base.pace import wall_us
from app.cli.doctor_gateway import examine_gateway
from app.gateway.clock import ClockFigures
from app.gateway.feed import FeedFigures
from app.gateway.gateway import GatewayFigures, ReceivingFigures
from app.gateway.run import FIGURES
from app.gateway.transports.interface import LinkFigures
from football.match_sheet import MatchSheet
from football.packets import Block, Packet
from replay.capture import CaptureWriter

CLOCK = ClockFigures(5_000_000, 12.5, 300.0, 40, 0, 0, 0)
FEED = FeedFigures(100, 9_000, 1_000, 0, 3, 0, {}, {}, 20_000, 60_000, 0.0, CLOCK, {"home_1": 1_000})
FIGURE = GatewayFigures(0, 60_000_000, 90, {"radio": ReceivingFigures(LinkFigures(1, 1), FEED, 1_000)}, [], [], [])


def verdicts(folder: Path, figures: GatewayFigures, age_us: int = 0) -> dict[str, tuple[str, str]]:
    folder.mkdir(exist_ok=True)
    shown = msgspec.structs.replace(figures, zero_us=wall_us() - figures.now_us - age_us)
    (folder / FIGURES).write_bytes(msgspec.json.encode(shown))
    return {found.what: (found.verdict, found.found) for found in examine_gateway(folder)}


def with_feed(**changes: object) -> GatewayFigures:
    one = msgspec.structs.replace(FIGURE.feeds["radio"], feed=msgspec.structs.replace(FEED, **changes))
    return msgspec.structs.replace(FIGURE, feeds={"radio": one})


def test_a_good_feed_has_no_bad_finding_and_a_walked_pitch_is_covered(tmp_path: Path):
    places = [(x, y) for x in range(-52, 53, 4) for y in range(-33, 34, 4)]
    with CaptureWriter(tmp_path / "c", MatchSheet(), fingerprint="f", live_zero_us=0) as writer:
        for number, (x, y) in enumerate(places, 1):
            packet = Packet("home_1", number, (number * 10_000,), (float(x),), (float(y),), (0.0,))
            writer.append(Block(number * 10_000, (packet,)))
    found = verdicts(tmp_path / "c", FIGURE)
    assert {verdict for verdict, _ in found.values()} == {"ok"}
    assert found["coverage"][1].startswith("18 of 18 zones")


def test_each_fault_is_named(tmp_path: Path):
    away = ReceivingFigures(LinkFigures(trouble="Connection refused"), FEED, None)
    assert verdicts(tmp_path, msgspec.structs.replace(FIGURE, feeds={"radio": away}))["radio: connection"] == (
        "bad", "Connection refused",
    )  # fmt: skip
    assert verdicts(tmp_path, FIGURE, 60_000_000)["gateway"][0] == "bad"
    assert verdicts(tmp_path, with_feed(positions=0))["radio: positions"][0] == "bad"
    assert verdicts(tmp_path, with_feed(latency_p95_us=900_000))["radio: latency"][0] == "note"
    assert verdicts(tmp_path, with_feed(refused={"unknown tag": 5_000}))["radio: refused"] == (
        "bad", "5000, most often: unknown tag",
    )  # fmt: skip
    lies = msgspec.structs.replace(FIGURE, disagreements=["radio: home_4 is frozen"])
    assert verdicts(tmp_path, lies)["radio: agreement"] == ("bad", "home_4 is frozen")
    fast = msgspec.structs.replace(CLOCK, drift_ppm=60_000.0)
    assert verdicts(tmp_path, with_feed(clock=fast))["radio: clock"][0] == "bad"
    assert verdicts(tmp_path, with_feed(jitter_us=4_000.0))["radio: clock"][0] == "note"
    assert verdicts(tmp_path, with_feed(disordered=400))["radio: order and loss"][0] == "note"
    nobody = msgspec.structs.replace(FIGURE, players_without_tag=["home_4"], tags_without_player=["77"])
    found = verdicts(tmp_path, nobody)
    assert found["players without a tag"][1] == "home_4"
    assert found["tags that nobody wears"][1] == "77"


def test_a_folder_without_figures_is_bad(tmp_path: Path):
    (finding,) = examine_gateway(tmp_path)
    assert finding.verdict == "bad"
