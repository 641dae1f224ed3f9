"""Pressing intensity and formations (EFPI) by unravelsports; runs in its own environment, see bench.judges."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from kloppy.domain import AttackingDirection
from scipy.optimize import linear_sum_assignment
from unravel.soccer.models.formations.detection import Formations
from unravel.soccer.models.formations.efpi import EFPI
from unravel.soccer.models.utils import probability_to_intercept, time_to_intercept

folder = Path(sys.argv[1])
people, scenes = pd.read_parquet(folder / "people.parquet"), pd.read_parquet(folder / "scenes.parquet")
intensity = []
for scene, group in people.groupby("scene"):
    holder = scenes.iloc[scene].holder
    if not holder:
        intensity.append(None)
        continue
    pressed = group[group.player == holder]
    others = group[group.team != pressed.team.iloc[0]]
    # As its model does with speed_threshold: who is slower does not press.
    others = others[np.hypot(others.vx, others.vy) >= 2.0]
    places, speeds = (
        (f[["x", "y"]].to_numpy() for f in (others, pressed)),
        (f[["vx", "vy"]].to_numpy() for f in (others, pressed)),
    )
    times = time_to_intercept(*places, *speeds, reaction_time=0.7, max_object_speed=12.0)
    chances = probability_to_intercept(times, tti_sigma=0.45, tti_time_threshold=1.5)
    intensity.append(float(1.0 - np.prod(1.0 - chances)))

# Its detector takes a data set of kloppy; its own assignment to templates is asked directly, with the same places.
detector = object.__new__(EFPI)
detector._forms = Formations(pitch_length=105.0, pitch_width=68.0, formations=None)
detector.linear_sum_assignment = linear_sum_assignment
shapes = []
for _, group in pd.read_parquet(folder / "shapes.parquet").groupby("block"):
    places = group[["x", "y"]].to_numpy()
    shapes.append(str(detector._EFPI__assign_formation(places, AttackingDirection.LTR)[3]))
Path(sys.argv[2]).write_text(json.dumps({"pressing intensity": intensity, "formation": shapes}))
