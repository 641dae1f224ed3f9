"""Stretch index, hull, shares of the pitch and metabolic power by floodlight; see bench.judges."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from floodlight import XY, Pitch
from floodlight.models.geometry import CentroidModel, ConvexHullModel
from floodlight.models.kinetics import MetabolicPowerModel
from floodlight.models.space import DiscreteVoronoiModel

folder = Path(sys.argv[1])
people, scenes = pd.read_parquet(folder / "people.parquet"), pd.read_parquet(folder / "scenes.parquet")


def track(team: str, keepers: bool) -> XY:
    """Positions of a team, a row a scene."""
    mine = people[(people.team == team) & (keepers | ~people.keeper)]
    x, y = (mine.pivot(index="scene", columns="player", values=axis).reindex(range(len(scenes))) for axis in "xy")
    columns = np.empty((len(scenes), 2 * x.shape[1]))
    columns[:, ::2], columns[:, 1::2] = x.to_numpy(), y.to_numpy()
    return XY(xy=columns, framerate=5)


outfield = track("home", keepers=False)
centroid, hull = CentroidModel(), ConvexHullModel()
centroid.fit(outfield)
hull.fit(outfield)
control = DiscreteVoronoiModel(Pitch((-52.5, 52.5), (-34.0, 34.0), "m", "fixed"), mesh="square", xpoints=106)
control.fit(track("home", keepers=True), track("away", keepers=True))
power = MetabolicPowerModel()
run = np.load(folder / "run.npy")
power.fit(XY(xy=run, framerate=10))
joules = np.nansum(power.metabolic_power().property, axis=0) / 10.0
found = {
    "stretch index": centroid.stretch_index(outfield).property.ravel().tolist(),
    "area of the hull": hull.convex_hull_area().property.ravel().tolist(),
    "Voronoi share": (control.team_controls()[0].property.ravel() / 100.0).tolist(),
    "energy of ten players": joules.tolist(),
}
Path(sys.argv[2]).write_text(json.dumps(found))
