"""Expected completion of passes and accessible space by accessible-space; in its own environment, see bench.judges."""

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

everybody, scenes = pd.read_parquet(folder / "people.parquet"), pd.read_parquet(folder / "scenes.parquet")
held = scenes[scenes.holder != ""]
teams = everybody.drop_duplicates("player").set_index("player").team
ball = pd.DataFrame({"scene": held.index, "team": "", "player": "ball", "x": held.x, "y": held.y, "vx": 0.0, "vy": 0.0})
table = pd.concat([everybody[everybody.scene.isin(held.index)], ball], ignore_index=True)
table["holder"] = table.scene.map(held.holder).astype(object)
table["owner"] = table.holder.map(teams).astype(object)
table["direction"] = (table.owner == table.scene.map(held.attacks)).map({True: 1.0, False: -1.0})
# Its first ray goes towards +x and has half a share: each team is turned so that it attacks there.
for name in ("x", "y", "vx", "vy"):
    table[name] *= table.direction
table["direction"] = 1.0
for name in ("player", "team"):
    table[name] = table[name].astype(object)
space = accessible_space.get_dangerous_accessible_space(
    table, frame_col="scene", player_col="player", team_col="team", ball_player_id="ball", period_col=None,
    attacking_direction_col="direction", team_in_possession_col="owner", player_in_possession_col="holder",
    infer_attacking_direction=False, use_float32=False, use_progress_bar=False, chunk_size=20,
)  # fmt: skip
spaces = pd.DataFrame({"scene": table.scene, "reached": space.acc_space, "dangerous": space.das})
by_scene = spaces.groupby("scene").first()


def column(name):
    """Values of a column by scene; None without a holder."""
    return [None if pd.isna(v) else float(v) for v in by_scene[name].reindex(range(len(scenes)))]


Path(sys.argv[2]).write_text(
    json.dumps(
        {
            "completion of passes": [float(v) for v in found.xc],
            "accessible space": column("reached"),
            "dangerous accessible space": column("dangerous"),
        }
    )
)
