"""Is football followed that another simulator plays: its goals, restarts, state of play and team in possession?

Question: Google Research Football has its own physics, its own players and its own referee, and stops and restarts play
from one frame to the next. Its matches are played here by its built-in players, and given to the detectors as a table
of positions, as a user would give them. What it says itself is the truth: score, mode of the game, who has the ball. It
calls nobody the owner of a ball in flight or of one that lies for a restart, so of passes only those are counted that
go from one owner to another.

    pip install gfootball   # builds its engine; not among this project's requirements (version 2.10.2, Apache 2.0)
    python -m bench.other_simulator [--seeds 11 12] [--seconds 1200] [--hz 25] [--observed] [--noise-m 0.05]
                                    [--json FILE]

``--observed`` gives only the frames that its environment gives to who plays: those in which play is not stopped, with
times that go on.
"""

from __future__ import annotations

import argparse
import importlib
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd

from bench.sorted_world import events_of, records_of
from football.update_stream import EventRecord
from replay.formats.tracking import read_tracking
from replay.scoring.figures import score
from replay.scoring.frames import teams_at
from replay.scoring.truth import Flags, Mark, Truth
from simulator.runs import runs_of

#: The pitch, metres of the engine's units along and across, and the height of a ball that lies on the ground.
PITCH_M, SCALE_M, BALL_M = (110.0, 72.0), (54.4, -83.6), 0.11
#: Modes of the game, as the engine numbers them; 0 is play, and a kick-off.
MODES = {0: "kick_off", 2: "goal_kick", 3: "free_kick", 4: "corner", 5: "throw_in", 6: "penalty"}
TEAMS = ("home", "away")
NAMES = [f"{team}_{number}" for team in TEAMS for number in range(1, 12)]
#: A match ends where the ball has lain in play for so long: its players may stand there for good.
STALL_S = 10
#: Where players stand for a kick-off, in the engine's units: along, across, and the name of the role. The forwards of
#: one team stand at the ball, those of the other one wait.
_OTHERS = (
    (-1.0, 0.0, "GK"), (-0.42, -0.2, "LB"), (-0.5, -0.06, "CB"), (-0.5, 0.06, "CB"), (-0.42, 0.2, "RB"),
    (-0.18, -0.1, "CM"), (-0.27, 0.0, "CM"), (-0.18, 0.1, "CM"), (-0.01, -0.21, "LM"),
)  # fmt: skip
FORMATIONS = (
    (*_OTHERS, (0.0, 0.02, "RM"), (0.0, -0.02, "CF")),
    (*_OTHERS, (-0.05, 0.0, "RM"), (-0.01, 0.21, "CF")),
)

_COUNTS = tuple(f"{name}_{which}" for name in ("restarts", "goals") for which in ("right", "invented", "missed"))


def played(seed: int, seconds: float, hz: int) -> pd.DataFrame:
    """Play a match; a row a frame: ball, players in metres, mode, whether play goes on, owner, score."""
    engine = importlib.import_module("gfootball_engine")
    steps, count = round(100 / hz), round(seconds * hz)
    game, setting = engine.GameEnv(), engine.ScenarioConfig.make()
    game.game_config.physics_steps_per_frame = steps
    setting.game_duration, setting.second_half, setting.real_time = count + 1_000, count // 2, False
    setting.deterministic, setting.game_engine_random_seed = False, seed
    setting.left_team_difficulty = setting.right_team_difficulty = 1.0
    for team, formation in zip((setting.left_team, setting.right_team), FORMATIONS, strict=True):
        for x, y, role in formation:
            team.append(engine.FormationEntry(x, y, getattr(engine.e_PlayerRole, f"e_PlayerRole_{role}"), False, True))
    game.start_game()
    game.state = engine.GameState.game_running
    game.reset(setting, False)
    rows: list[list[Any]] = []
    for _ in range(count):
        game.step()
        now = game.get_info()
        bodies = [spot.position[axis] for team in (now.left_team, now.right_team) for spot in team for axis in (0, 1)]
        ball = [now.ball_position[axis] for axis in range(3)]
        owner = (now.ball_owned_team, now.ball_owned_player)
        rows.append([int(now.game_mode), now.is_in_play, *owner, now.left_goals, now.right_goals, *ball, *bodies])
    columns = ["mode", "goes_on", "team", "owner", "home", "away", "ball_x", "ball_y", "ball_z"]
    frames = pd.DataFrame(rows, columns=[*columns, *(f"{name}_{axis}" for name in NAMES for axis in "xy")])
    for name in ("ball", *NAMES):
        frames[f"{name}_x"] *= SCALE_M[0]
        frames[f"{name}_y"] *= SCALE_M[1]
    frames["ball_z"] = (frames["ball_z"] - BALL_M).clip(lower=0.0)
    still = (frames["ball_x"].diff(STALL_S * hz) == 0.0) & (frames["ball_y"].diff(STALL_S * hz) == 0.0)
    return frames.iloc[: int(still.to_numpy().argmax())].copy() if still.any() else frames


def table(frames: pd.DataFrame, hz: int, noise_m: float) -> pd.DataFrame:
    """Return the frames as a tracking table with errors of ``noise_m``."""
    error, parts = np.random.default_rng(1), list[pd.DataFrame]()
    t_ms = np.arange(len(frames)) * (1000 // hz)
    for name in ("ball", *NAMES):
        x, y = (frames[f"{name}_{axis}"] + error.normal(0.0, noise_m, len(frames)) for axis in "xy")
        z = frames["ball_z"] if name == "ball" else np.nan
        team = name.partition("_")[0]
        parts.append(pd.DataFrame({"t_ms": t_ms, "object_id": name, "team": team, "x": x, "y": y, "z": z}))
    return pd.concat(parts).sort_values(["t_ms", "object_id"], kind="stable")


def truth_of(frames: pd.DataFrame, hz: int) -> tuple[Truth, list[tuple[int, int, str]]]:
    """Return what the engine says itself, and passes between two owners: first and last instant, and passer."""
    mode, live = frames["mode"].to_numpy(), _live(frames)
    at_us = np.arange(len(frames)) * (1_000_000 // hz)
    marks = [
        Mark(int(at_us[at]), "goal.scored", team=team)
        for team in TEAMS
        for at in np.flatnonzero(np.diff(frames[team].to_numpy())) + 1
    ]
    # Of a kick-off the observations have no frame before the kick. The first frame of all is one by itself.
    begins = frames["begins"].to_numpy() & live
    first = np.flatnonzero(begins & ~np.append(begins[1:], False))
    marks += [Mark(int(at_us[at]), "restart.kick_off", team=_at_ball(frames, at + 1)) for at in first.tolist()]
    for begin, end in runs_of(~live):
        if end < len(frames):
            kind = f"restart.{MODES[int(max(mode[begin:end]))]}"
            marks.append(Mark(int(at_us[end]), kind, team=_at_ball(frames, end)))
    kinds = frozenset(f"restart.{kind}" for kind in MODES.values()) | {"goal.scored"}
    flags = Flags(at_us, live, np.full(len(frames), "", object))
    # The engine dates a goal and a stop by the frame in which it has seen them.
    truth = Truth("other simulator", tuple(sorted(marks, key=lambda one: one.ts_us)), kinds, 1_500_000, flags=flags)
    return truth, _passes(frames, live, at_us)


def _live(frames: pd.DataFrame) -> Any:
    """Return whether the ball is in play, of each frame."""
    return frames["goes_on"].to_numpy(bool) & (frames["mode"].to_numpy() == 0)


def _at_ball(frames: pd.DataFrame, at: int) -> str:
    """Return the team of the player nearest to the ball."""
    row = frames.iloc[max(at - 1, 0)]
    away_m = [np.hypot(row[f"{name}_x"] - row["ball_x"], row[f"{name}_y"] - row["ball_y"]) for name in NAMES]
    return NAMES[int(np.argmin(away_m))].partition("_")[0]


def _passes(frames: pd.DataFrame, live: Any, at_us: Any) -> list[tuple[int, int, str]]:
    teams, owners = frames["team"].to_numpy(), frames["owner"].to_numpy()
    owned = [(int(at), int(teams[at]), int(owners[at])) for at in np.flatnonzero(live & (teams >= 0))]
    return [
        (int(at_us[before]), int(at_us[after]), f"{TEAMS[team]}_{owner + 1}")
        for (before, team, owner), (after, other, receiver) in pairwise(owned)
        if team == other and owner != receiver and live[before:after].all()
    ]


def figures(frames: pd.DataFrame, hz: int, found: list[EventRecord]) -> dict[str, float]:
    """Counts and shares of one match."""
    truth, passes = truth_of(frames, hz)
    scored, team = score(truth, found), frames["team"].to_numpy()
    row: dict[str, float] = dict.fromkeys(_COUNTS, 0)
    for kind, its in scored.kinds.items():
        name = "goals" if kind == "goal.scored" else "restarts"
        row[f"{name}_right"] += its.tp
        row[f"{name}_invented"] += its.fp
        row[f"{name}_missed"] += its.fn
    in_play = scored.frames["in_play"]
    owned = np.flatnonzero(_live(frames) & (team >= 0))
    ours = teams_at(owned * (1_000_000 // hz), found) == np.array(TEAMS, object)[team[owned]]
    made = [(record.ts_us, record.player) for record in found if record.kind == "pass.attempt"]
    passed = [any(begin - 500_000 <= at <= end and who == player for at, who in made) for begin, end, player in passes]
    row |= {"in_play": in_play.agreement, "longest_wrong_s": in_play.longest_wrong_s, "team": float(ours.mean())}
    return row | {"passes_found": sum(passed), "passes": len(passed)}


def main() -> None:
    """Plays, asks and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[11, 12])
    parser.add_argument("--seconds", type=float, default=1_200.0)
    parser.add_argument("--hz", type=int, default=25, choices=(10, 20, 25, 50))
    parser.add_argument("--observed", action="store_true")
    parser.add_argument("--noise-m", type=float, default=0.0)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    rows = []
    for seed in args.seeds:
        frames = played(seed, args.seconds, args.hz)
        goes_on = frames["goes_on"].to_numpy(bool)
        frames["begins"] = args.observed & goes_on & ~np.concatenate([[False], goes_on[:-1]])
        if args.observed:
            frames = frames[goes_on].reset_index(drop=True)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "match.parquet"
            table(frames, args.hz, args.noise_m).to_parquet(path, index=False)
            recording = read_tracking(str(path), pitch=PITCH_M)
        found = records_of(recording, events_of(recording))
        row = {"seed": seed, **figures(frames, args.hz, found)}
        rows.append(row)
        print("  ".join(f"{name} {round(value, 3)}" for name, value in row.items()), flush=True)
    for name in ("restarts", "goals"):
        right, invented, missed = (sum(row[count] for row in rows) for count in _COUNTS if count.startswith(name))
        f1 = 2 * right / max(2 * right + invented + missed, 1)
        print(f"{name}: F1 {f1:.3f} ({right} right, {invented} invented, {missed} missed)")
    if args.json:
        args.json.write_bytes(msgspec.json.format(msgspec.json.encode(rows), indent=2))


if __name__ == "__main__":
    main()
