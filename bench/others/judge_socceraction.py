"""Threat by socceraction's xT model on a given grid, and its SPADL schema; in its own environment, see bench.judges."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from socceraction.spadl import SPADLSchema
from socceraction.xthreat import ExpectedThreat

folder = Path(sys.argv[1])
actions = pd.read_parquet(folder / "spadl.parquet")
SPADLSchema.validate(actions)
grid = np.load(folder / "grid.npy")
model = ExpectedThreat(l=grid.shape[1], w=grid.shape[0])
model.xT = grid
rated = model.rate(actions, use_interpolation=False)
Path(sys.argv[2]).write_text(json.dumps({"threat": [None if np.isnan(v) else float(v) for v in rated]}))
