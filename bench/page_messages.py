"""How long is a message to the live page, and what does it cost, as whole JSON, JSON differences or binary differences?

The scripted match of ``dashboard.demo``, 30 messages a second, with positions of 23 objects and a camera; no events,
which are JSON in each case. For each encoding: bytes of a message, microseconds in which the server makes it, and
microseconds in which Chromium has positions in metres of it, medians over the messages. Ratios are of the encoding that
the page has, JSON differences. ``positions as floats`` is what the page had before. Run it from the root::

    python -m bench.page_messages --json out.json
"""

from __future__ import annotations

import argparse
import base64
import json
import statistics
import struct
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import msgspec

from dashboard.demo import Choreography, ScriptedFeed, demo_sheet
from dashboard.frames import Frame, frame_of
from football.update_stream import View
from tests.dashboard.chromium import Browser

MESSAGES: Final = 900
#: Decoders of the page: each gives a list of [x, y] in metres. Differences are added to what stands.
DECODERS: Final = """
const cm = new Array(47).fill(0);
const metres = () => {
  const out = [];
  for (let i = 0; i < 44; i += 2) out.push([cm[i] / 100, cm[i + 1] / 100]);
  return out;
};
const decoders = {
  "positions as floats": (text) => JSON.parse(text).players.map(([, x, y]) => [x, y]),
  "whole JSON": (text) => { const m = JSON.parse(text); m.cm.forEach((v, i) => (cm[i] = v)); return metres(); },
  "JSON differences": (text) => { const m = JSON.parse(text); m.cm.forEach((v, i) => (cm[i] += v)); return metres(); },
  "binary differences": (buffer) => {
    const view = new DataView(buffer);
    const head = [view.getBigInt64(0, true), view.getBigInt64(8, true), view.getUint32(16, true), view.getUint8(20)];
    for (let i = 0; i < 47; i += 1) cm[i] += view.getInt16(21 + 2 * i, true);
    return head.length && metres();
  },
};
const [name, messages] = arguments;
const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
const sent = name.startsWith("binary") ? messages.map(bytes) : messages;
const took = [];
for (let round = 0; round < 5; round += 1) {
  const began = performance.now();
  for (const one of sent) decoders[name](one);
  took.push((performance.now() - began) * 1000 / sent.length);
}
return took.sort((a, b) => a - b)[2];
"""

Encoding = Callable[[ScriptedFeed, Frame], bytes]
_json = msgspec.json.Encoder().encode


def as_floats(feed: ScriptedFeed, frame: Frame) -> bytes:
    """Every message whole, by names, as it was for each page."""
    view = feed.latest_view()
    assert isinstance(view, View)
    assert view.ball is not None
    return _json(
        {
            **_clocks(frame),
            "ball": [round(value, 2) for value in (view.ball.x_m, view.ball.y_m, view.ball.z_m)],
            "players": [(one.object_id, round(one.x_m, 2), round(one.y_m, 2), False) for one in view.players],
            "cameras": feed.cameras(),
        }
    )


def as_whole(feed: ScriptedFeed, frame: Frame) -> bytes:
    """Whole centimetres in JSON."""
    return _json({**_clocks(frame), "ids": frame.ids, "cm": frame.cm, "cameras": frame.cameras})


def as_differences(feed: ScriptedFeed, frame: Frame) -> bytes:
    """Differences in JSON: what the page has."""
    return _json({**_clocks(frame), "cm": frame.moved, "cameras": frame.cameras})


def as_binary(feed: ScriptedFeed, frame: Frame) -> bytes:
    """Differences as 16 bits each; the camera as 32-bit floats."""
    assert frame.moved is not None
    aims = [aim for pose in frame.cameras for aim in (pose.achieved, pose.planned) if aim is not None]
    values = [
        value
        for aim in aims
        for value in (aim.pan_deg, aim.tilt_deg, aim.width_deg, *(c for corner in aim.footprint for c in corner))
    ]
    head = struct.pack("<qqIB", frame.now_us, frame.clock_us, frame.version, frame.ended)
    return head + struct.pack(f"<{len(frame.moved)}h", *frame.moved) + struct.pack(f"<{len(values)}f", *values)


def _clocks(frame: Frame) -> dict[str, Any]:
    return {"now_us": frame.now_us, "version": frame.version, "ended": frame.ended, "clock_us": frame.clock_us}


ENCODINGS: Final[dict[str, Encoding]] = {
    "positions as floats": as_floats,
    "whole JSON": as_whole,
    "JSON differences": as_differences,
    "binary differences": as_binary,
}


def made() -> dict[str, tuple[list[bytes], list[float]]]:
    """The messages of each encoding, and the microseconds that each took. The encodings take turns."""
    feed = ScriptedFeed(demo_sheet())
    choreography, frame = Choreography(feed), None
    found: dict[str, tuple[list[bytes], list[float]]] = {name: ([], []) for name in ENCODINGS}
    for number in range(MESSAGES + 1):
        choreography.play(number * 33_333)
        frame = frame_of(feed, number // 20, frame)
        if frame.moved is None:
            continue
        for name, encode in ENCODINGS.items():
            began_ns = time.perf_counter_ns()
            text = encode(feed, frame)
            found[name][1].append((time.perf_counter_ns() - began_ns) / 1e3)
            found[name][0].append(text)
    return found


def decoded_us(browser: Browser, name: str, messages: Sequence[bytes]) -> float:
    """Microseconds in which the page reads a message."""
    sent = [base64.b64encode(one).decode() if name.startswith("binary") else one.decode() for one in messages]
    return float(browser.run(DECODERS, name, sent))


def shared_us() -> float:
    """Microseconds in which a frame is taken, once for all pages."""
    feed = ScriptedFeed(demo_sheet())
    choreography = Choreography(feed)
    frames, took = [frame_of(feed, 0, None)], []
    for number in range(300):
        choreography.play(number * 33_333)
        began_ns = time.perf_counter_ns()
        frames.append(frame_of(feed, number // 20, frames[-1]))
        took.append((time.perf_counter_ns() - began_ns) / 1e3)
    assert all(one.number < other.number for one, other in pairwise(frames))
    return statistics.median(took)


def main() -> None:
    """Measure all encodings; print the figures, and write them with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    figures: dict[str, Any] = {"frame_us": round(shared_us(), 1)}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, Browser(Path(profile)) as browser:
        for name, (messages, took) in made().items():
            figures[name] = {
                "bytes": round(statistics.median(map(len, messages))),
                "server_us": round(statistics.median(took), 1),
                "page_us": round(decoded_us(browser, name, messages), 1),
            }
    base = figures["JSON differences"]
    for name in ENCODINGS:
        figures[name] |= {f"{key}_ratio": round(value / base[key], 2) for key, value in list(figures[name].items())}
    text = json.dumps(figures, indent=1)
    print(text)
    if chosen.json:
        chosen.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
