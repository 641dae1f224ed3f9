"""Pressure on the holder and shares of the pitch by databallpy; runs in its own environment, see bench.judges."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from databallpy.schemas.tracking_data import TrackingData

folder = Path(sys.argv[1])
people, scenes = pd.read_parquet(folder / "people.parquet"), pd.read_parquet(folder / "scenes.parquet")
pressure, share = [], []
for scene, group in people.groupby("scene"):
    info = scenes.iloc[scene]
    # Its teams attack to the right as home; the scene is turned where they do not.
    sign = 1.0 if info.attacks == "home" else -1.0
    row = {"ball_x": sign * info.x, "ball_y": sign * info.y}
    for one in group.itertuples():
        row[f"{one.player}_x"], row[f"{one.player}_y"] = sign * one.x, sign * one.y
    frame = TrackingData(pd.DataFrame([row]), provider="other", frame_rate=25)
    holder = frame.get_pressure_on_player(0, info.holder, [105.0, 68.0]) if info.holder else np.nan
    pressure.append(float(holder) / 100.0)
    nearest = frame.get_approximate_voronoi([105.0, 68.0])[1]
    share.append(float(np.mean(np.char.startswith(nearest, "home"))))
Path(sys.argv[2]).write_text(json.dumps({"pressure on the holder": pressure, "Voronoi share": share}))
