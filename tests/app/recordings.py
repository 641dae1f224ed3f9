"""Small recorded matches for tests: simulated ones, seen by cameras and played in process."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from app.run.live import run_live
from app.settings.resolve import make_settings
from simulator.simulate import Simulation, simulate

FRAME_US = 40_000


def optical_table(path: Path, seed: int, seconds: float) -> Path:
    """A simulated match as a tracking file: ball and players 25 times a second, and its match sheet."""
    recording, _ = simulate(
        Simulation(seed=seed, duration_s=seconds, limbs=(), ball_hz=25, body_hz=25, noise_m=0.0, tags="playing")
    )
    columns: dict[str, list] = {name: [] for name in ("t_ms", "object_id", "team", "x", "y", "z")}
    for track in recording.tracks:
        frame = np.round(track.ts_us / FRAME_US).astype(int)
        _, first = np.unique(frame, return_index=True)
        team = track.transmitter.partition("_")[0]
        if team not in ("ball", "home", "away") or (team == "ball" and track.transmitter != "ball"):
            continue
        for i in first:
            row = (int(frame[i]) * 40, track.transmitter, team, track.x_m[i], track.y_m[i], track.z_m[i])
            for name, value in zip(columns, row, strict=True):
                columns[name].append(value)
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)
    return path


def record(source: Path, store: Path, seconds: float | None = None) -> Path:
    """Plays a file into a match store, without Spark."""
    given = {
        "source": str(source), "engine": "inprocess", "speed": "max", "alpha": "0", "retraction": "on-demand",
        "store": store, "dashboard": False, "camera": False, "duration_s": seconds,
    }  # fmt: skip
    run_live(make_settings(given), as_json=True)
    return store


def read_from_topic(store: Path) -> None:
    """Makes a store look as if its match had been read from a topic."""
    run = json.loads((store / "run.json").read_text())
    run["settings"]["source"] = "kafka://localhost:9092/positions"
    (store / "run.json").write_text(json.dumps(run))
