"""Threat (xT), VAEP's features and formula, SPADL's schema by socceraction; see bench.judges."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from socceraction.spadl import SPADLSchema, add_names
from socceraction.vaep import features, formula
from socceraction.xthreat import ExpectedThreat

folder = Path(sys.argv[1])
actions = pd.read_parquet(folder / "spadl.parquet")
SPADLSchema.validate(actions)
grid = np.load(folder / "grid.npy")
model = ExpectedThreat(l=grid.shape[1], w=grid.shape[0])
model.xT = grid
rated = model.rate(actions, use_interpolation=False)

made = pd.read_parquet(folder / "actions.parquet")
kinds = {"pass": 0, "shot": 11, "dribble": 21}
played = made.drop(columns=["type", "success", "scores", "concedes"]).assign(
    game_id=1,
    period_id=1,
    player_id=1,
    original_event_id=made.action_id.astype(str),
    bodypart_id=0,
    type_id=made.type.map(kinds),
    result_id=made.success.astype(int),
)
SPADLSchema.validate(played)
named = add_names(played)
states = features.play_left_to_right(features.gamestates(named, 3), 1)
functions = (
    features.actiontype_onehot, features.result_onehot, features.actiontype_result_onehot, features.startlocation,
    features.endlocation, features.startpolar, features.endpolar, features.movement, features.team, features.time_delta,
    features.space_delta,
)  # fmt: skip
columns = pd.concat([function(states) for function in functions], axis=1)
names = json.loads((folder / "features.json").read_text(encoding="utf-8"))
values = formula.value(named, made.scores, made.concedes).vaep_value
found = {
    "threat": [None if np.isnan(v) else float(v) for v in rated],
    "features of actions": columns[names].astype(float).to_numpy().ravel().tolist(),
    "value of actions": values.astype(float).tolist(),
}
Path(sys.argv[2]).write_text(json.dumps(found))
