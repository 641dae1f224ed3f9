"""What does latency cost on screen, and what do a lead and a coarse speed table do to it?

Question: if positions reach the camera later, how much more often does the ball leave the picture? The ball of a real
match (20 minutes at 25 Hz) is handed to our planner after a fixed delay; no events, so that only the delay differs.
The camera stands on the halfway line, 40 m behind the touchline. Four rows for each delay:

    blind     the planner does not know the delay (it still looks its usual lead ahead)
    told      the planner is told the delay and looks that much further ahead
    head      as told, through the BRC-X400 with 24 speeds and 200 deg/s^2, one command in 40 ms, error fed back
    nearest   the same head, sent the speed nearest to the plan's

Pan only: error of the picture's middle against the ball, share of time outside a 15 and a 25 degree picture, RMS jerk
at 20 ms. Ratios are against the shortest delay of the same row.

    python -m bench.camera_latency [--minutes 20] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from camera.drive import Fit, best_step, nearest_step
from camera.head import Pose, new_head
from camera.metrics import exact_jerk, rms
from camera.motion import Motion
from camera.mount import Mount
from camera.planner import TICK_US, Planner
from camera.profile import Profile, load_profile
from football.update_stream import BallView, View

TRACK = Path(__file__).resolve().parents[2] / "shared/data/portugal_switzerland_2019/first_20_minutes.parquet"
DELAYS_MS = (60, 150, 300, 500, 800, 1276)
JUMP_M_S = 40.0


def load_ball(path: Path, minutes: float) -> list[BallView]:
    """Ball states at 25 Hz; speeds are causal differences over 80 ms, as a live filter would have them."""
    table = pq.read_table(path, filters=pc.field("object_id") == "ball")
    t_ms = table["t_ms"].to_numpy()
    position = np.column_stack([table[c].to_numpy().astype(float) for c in "xyz"])[t_ms <= minutes * 60_000]
    speed = np.zeros_like(position)
    speed[2:] = (position[2:] - position[:-2]) / 0.08
    speed[np.hypot(speed[:, 0], speed[:, 1]) > JUMP_M_S] = 0.0
    return [BallView(int(t) * 1000, *p, *v) for t, p, v in zip(t_ms, position.tolist(), speed.tolist(), strict=False)]


def true_pan(ball: list[BallView], mount: Mount, ticks_us: np.ndarray) -> np.ndarray:
    """Direction of the ball at each tick, straight lines between frames."""
    pan = [mount.aim(b.x_m, b.y_m, b.z_m)[0] for b in ball]
    return np.interp(ticks_us, [b.ts_us for b in ball], pan)


def planned(ball: list[BallView], mount: Mount, profile: Profile, delay_us: int, with_delay: bool) -> list[Motion]:
    """The planner's pan, tick by tick, when every frame comes ``delay_us`` late."""
    planner = Planner(mount, profile, Pose(0.0, -11.0, 25.0))
    planner.delay_us = delay_us if with_delay else 0
    plans: list[Motion] = []
    frame = 0
    for now_us in range(ball[0].ts_us, ball[-1].ts_us, TICK_US):
        while frame < len(ball) and ball[frame].ts_us + delay_us <= now_us:
            planner.take_view(View(ball[frame].ts_us, ball[frame], ()), ball[frame].ts_us + delay_us)
            frame += 1
        plans.append(planner.tick(now_us).pan)
    return plans


def driven(plans: list[Motion], profile: Profile, feedback: bool) -> np.ndarray:
    """Return the head's pan when the plan goes through the speed table; without feedback the nearest speed is sent."""
    axis, step, out = new_head(profile).pan, 0, []
    every = profile.link.command_interval_us // TICK_US
    for tick, plan in enumerate(plans):
        if tick % every == 0:
            if feedback:
                expected = best_step(profile.pan, plan, axis.position, step, Fit())
            else:
                expected = nearest_step(profile.pan, plan.velocity)
            if expected != step:
                step, axis = expected, axis.drive(profile.pan.speed_deg_s(expected))
        out.append(axis.position)
        axis = axis.advance(TICK_US / 1e6)
    return np.array(out)


def judged(pan: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Return the figures of one movement, without its first two seconds."""
    error = np.abs(pan - truth)[100:]
    return {
        "rms_deg": rms(error),
        "p95_deg": float(np.quantile(error, 0.95)),
        "out_of_15_deg": float((error > 7.5).mean()),
        "out_of_25_deg": float((error > 12.5).mean()),
        "jerk_rms_deg_s3": rms(exact_jerk(pan[100:])),
    }


def measure(ball: list[BallView]) -> list[dict[str, float | str]]:
    """All rows of the table."""
    mount, profile = Mount(), load_profile()
    truth = true_pan(ball, mount, np.arange(ball[0].ts_us, ball[-1].ts_us, TICK_US))
    rows: list[dict[str, float | str]] = []
    for delay_ms in DELAYS_MS:
        blind = planned(ball, mount, profile, delay_ms * 1000, with_delay=False)
        with_delay = planned(ball, mount, profile, delay_ms * 1000, with_delay=True)
        for name, pan in (
            ("blind", np.array([p.position for p in blind])),
            ("told", np.array([p.position for p in with_delay])),
            ("head", driven(with_delay, profile, feedback=True)),
            ("nearest", driven(with_delay, profile, feedback=False)),
        ):
            rows.append({"delay_ms": float(delay_ms), "row": name, **judged(pan, truth)})
    return rows


def main() -> int:
    """Prints the table; returns an exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    if not TRACK.is_file():
        print(f"skipped: no ball track at {TRACK}")
        return 0
    rows = measure(load_ball(TRACK, args.minutes))
    base = {row["row"]: row for row in rows if row["delay_ms"] == DELAYS_MS[0]}
    print("delay ms  row       RMS deg  ratio   p95 deg  out of 15  ratio   out of 25  jerk deg/s3")
    for row in rows:
        first = base[row["row"]]
        ratios = [float(row[k]) / max(float(first[k]), 1e-9) for k in ("rms_deg", "out_of_15_deg")]
        print(
            f"{row['delay_ms']:8.0f}  {row['row']:8}  {row['rms_deg']:7.2f}  {ratios[0]:5.2f}  "
            f"{row['p95_deg']:8.2f}  {row['out_of_15_deg']:9.2%}  {ratios[1]:5.1f}  "
            f"{row['out_of_25_deg']:10.2%}  {row['jerk_rms_deg_s3']:11.0f}"
        )
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
