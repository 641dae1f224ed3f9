"""What is left of a match's events when it comes over a vendor's wire?

A simulated match is played as each profile's vendor would send it, decoded by the gateway with the arrivals of the
original, and run through the engine. Counted are the events of the original that come out with the same kind, team and
player within 40 ms (each once), and those that come out and are in no original. The original is what radio tags send
(ball 50 Hz, limbs 10 Hz), and for profiles of frames what cameras see (25 Hz, profile ``optical``). The source's clock
is set; the rest is the form's own loss, which is printed with it.

    python -m bench.vendor_wires [--seconds 20] [--profiles NAME ...] [--json FILE]
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from app.gateway.feed import Feed
from app.gateway.gateway import sheet_of
from app.gateway.identities import TagTable
from app.gateway.profile import Profile, read_profile, shipped_profiles
from app.gateway.vendor import VendorEncoder, losses_of
from app.run.live import run_live
from app.settings.resolve import make_settings
from app.sources.captures import prepare_capture
from app.sources.production import write_simulation
from football.packets import Block
from replay.capture import Capture, CaptureWriter
from replay.event_list import consolidated_events
from simulator.radio.channels import CHANNELS
from simulator.settings import rates_named
from simulator.simulate import MeasuredMatch, Simulation

ZERO_US, NEAR_US = 1_700_000_000_000_000, 40_000


def through(profile: Profile, capture: Capture, folder: Path) -> Capture:
    """The capture that a gateway makes of a capture in a vendor's form."""
    blocks = list(capture.blocks(capture.begin_us, capture.end_us))
    tagging = VendorEncoder(profile, capture.sheet, ZERO_US)
    tagging.encode(blocks)
    folder.mkdir()
    (folder / "tags.csv").write_text(tagging.tag_table())
    encoder = VendorEncoder(profile, capture.sheet, ZERO_US)
    encoder.tags.update(tagging.tags)
    sheet = sheet_of(capture.sheet, [profile])
    feed = Feed("vendor", profile, sheet, ZERO_US, TagTable(folder / "tags.csv"))
    with CaptureWriter(folder / "capture", sheet, fingerprint="f", live_zero_us=ZERO_US) as writer:
        for block in blocks:
            for message, topic in encoder.encode([block]):
                feed.receive(message, topic, block.arrival_us)
            for number, packets in enumerate(feed.take()):
                writer.append(Block(max(writer.last_us + 1, block.arrival_us + number), packets))
    return Capture.open(folder / "capture")


def events_of(source: Path, store: Path) -> pa.Table:
    """Events that stand."""
    given = {"source": str(source), "engine": "inprocess", "speed": "max", "alpha": "0", "retraction": "on-demand",
             "store": store, "dashboard": False, "camera": False}  # fmt: skip
    with contextlib.redirect_stdout(io.StringIO()):
        run_live(make_settings(given), as_json=True)
    return consolidated_events(store)


def kept(original: pa.Table, found: pa.Table) -> tuple[int, int]:
    """Events of the original that were found, and events that were found and are in no original."""
    waiting: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for row in found.to_pylist():
        waiting[row["kind"], row["team"], row["player"]].append(row["ts_us"])
    same = 0
    for row in original.to_pylist():
        times = waiting[row["kind"], row["team"], row["player"]]
        near = min(times, key=lambda ts_us: abs(ts_us - row["ts_us"]), default=None)
        if near is not None and abs(near - row["ts_us"]) <= NEAR_US:
            times.remove(near)
            same += 1
    return same, sum(map(len, waiting.values()))


def main() -> None:
    """Print a line for each profile."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--profiles", nargs="*")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    positions = [name for name in shipped_profiles() if read_profile(name).gives == "positions"]
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        settings = Simulation(seed=11, duration_s=given.seconds, **rates_named("50/10"))
        write_simulation(MeasuredMatch(settings), folder / "radio", CHANNELS["rtls"], 11)
        film = [sys.executable, "-m", "app.cli.main", "simulate", "--tracking", "optical", "--seed", "11"]
        length = ["--minutes", str(given.seconds / 60), "--out", str(folder / "film")]
        subprocess.run([*film, *length], check=True, stdout=subprocess.DEVNULL)
        prepare_capture(str(folder / "film" / "tracking.parquet"), "none", 11, folder / "optical")
        originals = {
            kind: (Capture.open(folder / kind), events_of(folder / kind, folder / f"{kind}-store"))
            for kind in ("radio", "optical")
        }
        for name in given.profiles or positions:
            profile = read_profile(name)
            profile = msgspec.structs.replace(profile, time=msgspec.structs.replace(profile.time, clock="utc"))
            capture, original = originals["optical" if profile.quality.framed else "radio"]
            found = events_of(through(profile, capture, folder / name).path, folder / f"{name}-store")
            same, others = kept(original, found)
            rows.append({
                "profile": name, "events": original.num_rows, "same": same, "others": others,
                "loses": losses_of(profile),
            })  # fmt: skip
            print(json.dumps(rows[-1]), flush=True)
    if given.json:
        given.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
