"""Expected completion of passes by accessible-space; runs in its own environment, see bench.judges."""

import json
import sys
from pathlib import Path

import accessible_space
import pandas as pd

folder = Path(sys.argv[1])
passes, people = pd.read_parquet(folder / "passes.parquet"), pd.read_parquet(folder / "pass_people.parquet")
# Its code indexes texts as numpy does, which pandas' own type of them does not.
for table in (passes, people):
    table["player"], table["team"] = table.player.astype(object), table.team.astype(object)
found = accessible_space.get_expected_pass_completion(
    passes, people, event_frame_col="pass", event_player_col="player", event_team_col="team", event_end_x_col="to_x",
    event_end_y_col="to_y", event_v0_col="v0", tracking_frame_col="pass", tracking_player_col="player",
    tracking_team_col="team", respect_offside=False,
)  # fmt: skip
Path(sys.argv[2]).write_text(json.dumps({"completion of passes": [float(v) for v in found.xc]}))
