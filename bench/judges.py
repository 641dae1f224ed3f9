"""Do programs that others wrote say the same as our detectors, of the same positions?

A simulated match is filmed by cameras without gaps. Our functions and each judge's get the same scenes, kicks or
places. Of each measure the table has how many values both have, the share that differs by at most 1e-6, the
correlation, and the median of the difference. A formation agrees if its name does. Each judge has an environment of
its own, because their versions of numpy and pandas clash; ``--envs`` keeps these for later runs.

    python -m bench.judges --envs /tmp/judges --json judges.json
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bench.accuracy import as_cameras_see, needed
from bench.calibration import area_under_curve
from detectors.catalogue import build_detectors
from detectors.chains.formations import OUTFIELD, SHAPES, cost
from detectors.control.access import spaces
from detectors.control.pressure import IntensityParameters, PressureParameters, intensity_on, pressure_on
from detectors.control.scene import Scene, keepers_of
from detectors.control.shape import hull_area_m2
from detectors.signals.smoothed_speed import PlayerSpeeds
from detectors.statistics.action_features import LENGTH_M, NAMES, STATE, WIDTH_M, features
from detectors.statistics.action_value import action_of
from detectors.statistics.load import ENERGY, PhysicalLoad
from detectors.statistics.threat import GRID, threat
from football.match_sheet import MatchSheet
from football.packets import RAW_KINDS
from football.payloads import payload_of
from football.pitch import Pitch
from middleware.events import Event
from middleware.hierarchy import Hierarchy
from middleware.oracle import sorted_replay
from simulator.simulate import Simulation

PITCH = Pitch()
#: Packages of a program, and its script. socceraction's own dependencies need older ones. accessible-space leaves
#: offside out, with a warning, where pandas 3 gives it arrays that it cannot write into.
JUDGES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "databallpy": (("databallpy==0.8.1",), "judge_databallpy.py"),
    "floodlight": (("floodlight==1.2.0",), "judge_floodlight.py"),
    "unravelsports": (("unravelsports==1.2.1", "mplsoccer==1.8.1"), "judge_unravelsports.py"),
    "accessible-space": (("accessible-space==2.1.0", "pandas<3"), "judge_accessible_space.py"),
    "socceraction": (("socceraction==1.5.3", "multimethod<2", "pyarrow<20"), "judge_socceraction.py"),
}
#: Places of a formation are means over so many scenes.
BLOCK = 300
_ENDS = ("pass.complete", "pass.intercepted", "pass.out")
_ACTIONS = (*_ENDS, "carry.end", "shot.attempt")
Values = Sequence[Any]


class Agreement(NamedTuple):
    """How two series of values agree: number of pairs, share within 1e-6, correlation, median of the difference."""

    pairs: int
    same: float
    correlation: float
    median: float


def play(seed: int, minutes: float) -> tuple[list[Event], MatchSheet]:
    """Return all events of a simulated match as cameras see it, internal ones included."""
    raw, sheet = as_cameras_see(Simulation(seed=seed, duration_s=60.0 * minutes))
    wanted = {"scene", "pass.attempt", "pass.xc", *_ENDS, "carry.end", "shot.attempt", "value.vaep"}
    hierarchy = Hierarchy(RAW_KINDS, needed(build_detectors(sheet), wanted))
    return [event for event in sorted_replay(hierarchy, raw) if event.kind in wanted], sheet


def write_scenes(folder: Path, scenes: Sequence[Scene], keepers: frozenset[str]) -> dict[str, Values]:
    """Write scenes for the judges; return our values of them."""
    rows, places = [], []
    ours: dict[str, list[Any]] = {name: [] for name in (
        "pressure on the holder", "pressing intensity", "Voronoi share", "stretch index", "area of the hull",
        "accessible space", "dangerous accessible space",
    )}  # fmt: skip
    centres = [(np.arange(n) + 0.5) / n * size - size / 2 for n, size in ((106, 105.0), (68, 68.0))]
    grid = np.stack(np.meshgrid(*centres), axis=-1)
    for number, scene in enumerate(scenes):
        assert scene.ball is not None
        places.append((scene.ball.x_m, scene.ball.y_m, scene.holder, scene.attacks_x))
        everybody = (*scene.home, *scene.away)
        rows += [
            (number, b.team, b.object_id, b.x_m, b.y_m, b.vx_m_s, b.vy_m_s, b.object_id in keepers) for b in everybody
        ]
        holder = scene.body(scene.holder) if scene.holder else None
        opponents = scene.opponents(scene.holder_team)
        sign = scene.sign(scene.holder_team) if holder else 0.0
        ours["pressure on the holder"].append(
            pressure_on(holder, opponents, PITCH, sign, PressureParameters()) if holder else None
        )
        space = spaces(scene, scene.ball, scene.holder_team, PITCH) if holder else (None, None)
        ours["accessible space"].append(space[0])
        ours["dangerous accessible space"].append(space[1])
        ours["pressing intensity"].append(intensity_on(holder, opponents, IntensityParameters())[0] if holder else None)
        away_m = [np.hypot(grid[..., 0] - b.x_m, grid[..., 1] - b.y_m) for b in everybody]
        ours["Voronoi share"].append(float((np.argmin(away_m, axis=0) < len(scene.home)).mean()))
        field = [b for b in scene.home if b.object_id not in keepers]
        x_m, y_m = (sum(values) / len(field) for values in zip(*((b.x_m, b.y_m) for b in field), strict=True))
        ours["stretch index"].append(sum(math.hypot(b.x_m - x_m, b.y_m - y_m) for b in field) / len(field))
        ours["area of the hull"].append(hull_area_m2([(b.x_m, b.y_m) for b in field]))
    columns = ["scene", "team", "player", "x", "y", "vx", "vy", "keeper"]
    pd.DataFrame(rows, columns=columns).to_parquet(folder / "people.parquet")
    pd.DataFrame(places, columns=["x", "y", "holder", "attacks"]).to_parquet(folder / "scenes.parquet")
    return {**ours}


def write_shapes(folder: Path, scenes: Sequence[Scene], keepers: frozenset[str]) -> dict[str, Values]:
    """Write mean places of each team's outfield players, by block of scenes; return our formations."""
    rows, ours = [], list[str]()
    for first in range(0, len(scenes) - BLOCK + 1, BLOCK):
        for team in ("home", "away"):
            sums: dict[str, list[tuple[float, float]]] = {}
            for scene in scenes[first : first + BLOCK]:
                sign = scene.sign(team)  # type: ignore[arg-type]
                field = [b for b in scene.team(team) if b.object_id not in keepers]  # type: ignore[arg-type]
                middle = np.mean([(b.x_m, b.y_m) for b in field], axis=0)
                for b in field:
                    sums.setdefault(b.object_id, []).append(tuple(sign * (np.array([b.x_m, b.y_m]) - middle)))
            means = [np.mean(places, axis=0) for places in sums.values()]
            if len(means) == OUTFIELD:
                rows += [(len(ours), *mean) for mean in means]
                ours.append(min(SHAPES, key=lambda shape: cost(np.array(means), shape)).replace("-", ""))
    pd.DataFrame(rows, columns=["block", "x", "y"]).to_parquet(folder / "shapes.parquet")
    return {"formation": ours}


def write_passes(folder: Path, events: Sequence[Event], scenes: Sequence[Event]) -> dict[str, Values]:
    """Write kicks with everybody's place at the scene before them; return our chances, and what became of them."""
    ends = {e.source: e.kind == "pass.complete" for e in events if e.kind in _ENDS}
    attempts = {e.source: payload_of(e) for e in events if e.kind == "pass.attempt"}
    times = [scene.ts_us for scene in scenes]
    kicks, rows, chances, complete = [], [], [], []
    for event in events:
        made = payload_of(event) if event.kind == "pass.xc" else None
        if made is None or event.annuls or event.source not in ends or made.detail["over"]:
            continue
        at = int(np.searchsorted(times, event.ts_us, "right")) - 1
        kick = attempts[event.source].detail
        end = kick.get("end_x_m"), kick.get("end_y_m")
        if at < 0 or not all(isinstance(value, float) for value in end):
            continue
        speed = math.hypot(float(kick.get("vx_m_s", 0.0)), float(kick.get("vy_m_s", 0.0)))
        number = len(kicks)
        kicks.append((number, made.player, made.team, made.x_m, made.y_m, *end, speed or 15.0))
        bodies = (*scenes[at].payload.home, *scenes[at].payload.away)  # type: ignore[attr-defined]
        rows += [(number, b.object_id, b.team, b.x_m, b.y_m, b.vx_m_s, b.vy_m_s) for b in bodies]
        rows.append((number, "ball", "", made.x_m, made.y_m, 0.0, 0.0))
        chances.append(made.detail["xc"])
        complete.append(float(ends[event.source]))
    columns = ["pass", "player", "team", "x", "y"]
    pd.DataFrame(kicks, columns=[*columns, "to_x", "to_y", "v0"]).to_parquet(folder / "passes.parquet")
    pd.DataFrame(rows, columns=[*columns, "vx", "vy"]).to_parquet(folder / "pass_people.parquet")
    return {"completion of passes": chances, "complete": complete}


def write_actions(folder: Path, events: Sequence[Event], sheet: MatchSheet) -> dict[str, Values]:
    """Write actions of the match in SPADL, home to the right; return the features and values that we have of them."""
    known = {e.id: action for e in events if e.kind in _ACTIONS and (action := action_of(e)) is not None}
    valued = [payload_of(e) for e in events if e.kind == "value.vaep" and e.dated_us is None]
    actions = [known[e.causes[0]] for e in events if e.kind == "value.vaep" and e.dated_us is None]
    attacks = sheet.attacks_positive_x or "home"
    sign = 1.0 if attacks == "home" else -1.0
    rows = []
    for number, (action, made) in enumerate(zip(actions, valued, strict=True)):
        places = [
            value
            for x_m, y_m in (action.start, action.end)
            for value in (
                min(max(sign * x_m + LENGTH_M / 2, 0.0), LENGTH_M), min(max(sign * y_m + WIDTH_M / 2, 0.0), WIDTH_M)
            )
        ]  # fmt: skip
        row = [number, action.start_us / 1e6, 1 if action.team == "home" else 2, *places, action.type, action.success]
        rows.append((*row, made.detail["scores"], made.detail["concedes"]))
    columns = ["action_id", "time_seconds", "team_id", "start_x", "start_y", "end_x", "end_y", "type", "success"]
    pd.DataFrame(rows, columns=[*columns, "scores", "concedes"]).to_parquet(folder / "actions.parquet")
    (folder / "features.json").write_text(json.dumps(NAMES), encoding="utf-8")
    ours = [features(actions[max(n + 1 - STATE, 0) : n + 1], attacks, PITCH) for n in range(len(actions))]
    return {
        "features of actions": [value for values in ours for value in values],
        "value of actions": [made.detail["value"] for made in valued],
    }


def write_threat(folder: Path, seed: int) -> dict[str, Values]:
    """Write random passes in SPADL, and the grid as socceraction keeps it; return our differences of threat."""
    rng = np.random.default_rng(seed)
    places = rng.uniform((0, 0, 0, 0), (105.0, 68.0, 105.0, 68.0), (500, 4))
    frame = pd.DataFrame(places, columns=["start_x", "start_y", "end_x", "end_y"])
    whole = {"game_id": 1, "period_id": 1, "team_id": 1, "player_id": 1, "type_id": 0, "result_id": 1, "bodypart_id": 0}
    frame = frame.assign(**whole, original_event_id=None, action_id=range(500), time_seconds=np.arange(500.0))
    frame.to_parquet(folder / "spadl.parquet")
    # Rows from the top touch line down to the other one.
    np.save(folder / "grid.npy", np.array([*GRID, *reversed(GRID)]))
    ours = [
        threat(PITCH, to_x - 52.5, to_y - 34.0) - threat(PITCH, x - 52.5, y - 34.0)
        for x, y, to_x, to_y in places.tolist()
    ]
    return {"threat": ours}


def write_run(folder: Path, scenes: Sequence[Event]) -> dict[str, Values]:
    """Write two minutes of ten players at 10 Hz, smooth between scenes; return the energy that we count."""
    names = [b.object_id for b in scenes[0].payload.home][1:11]  # type: ignore[attr-defined]
    times = np.array([scene.ts_us for scene in scenes[:600]]) / 1e6
    places = np.array([[(b.x_m, b.y_m) for b in s.payload.home if b.object_id in names] for s in scenes[:600]])  # type: ignore[attr-defined]
    at_s = np.arange(times[0], times[-1], 0.1)
    from scipy.interpolate import CubicSpline

    ways = CubicSpline(times, places)(at_s)
    np.save(folder / "run.npy", ways.reshape(len(at_s), -1))
    speeds = np.hypot(*np.gradient(ways, 0.1, axis=0).transpose(2, 0, 1))
    load = PhysicalLoad()
    state, reports = load.initial(), list[Event]()
    sides = bytes([0] * len(names))
    for number, row in enumerate(speeds):
        paces = PlayerSpeeds(tuple(names), sides, np.zeros(2 * len(names)).tobytes(), number * 100_000, row.tobytes())
        state, out = load.step(state, Event("pace.state", number * 100_000, "pace", number, paces))
        reports += out
    return {"energy of ten players": np.frombuffer(state.sums).reshape(4, len(names))[ENERGY].tolist()}


def judge(name: str, folder: Path, envs: Path) -> dict[str, Values]:
    """Return a judge's values, from an environment of its own."""
    packages, script = JUDGES[name]
    home = envs / name
    python = home / "bin" / "python"
    uv = Path(sys.executable).with_name("uv")
    if not python.is_file():
        subprocess.run([uv, "venv", "-q", home, "--python", sys.executable], check=True)
        subprocess.run([uv, "pip", "install", "-q", "--python", python, *packages, "pandas", "pyarrow"], check=True)
    out = folder / f"{name}.json"
    done = subprocess.run(
        [python, Path(__file__).parent / "others" / script, folder, out], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr[-2000:]}")
    found: dict[str, Values] = json.loads(out.read_text(encoding="utf-8"))
    return found


def agreement(ours: Values, theirs: Values) -> Agreement:
    """Compare two series, value by value; text agrees or not."""
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if a is not None and b is not None and a == a and b == b]
    if pairs and isinstance(pairs[0][0], str):
        return Agreement(len(pairs), float(np.mean([a == b for a, b in pairs])), math.nan, math.nan)
    left, right = np.array(pairs, float).T
    close = np.abs(left - right)
    return Agreement(
        len(pairs), float(np.mean(close <= 1e-6)), float(np.corrcoef(left, right)[0, 1]), float(np.median(close))
    )


def main() -> None:
    """Print a table; write all figures with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=341)
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--envs", type=Path, help="folder for the judges' environments")
    parser.add_argument("--judges", nargs="+", choices=[*JUDGES], default=[*JUDGES])
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        events, sheet = play(chosen.seed, chosen.minutes)
        looks = [e for e in events if e.kind == "scene" and e.payload.live and e.payload.ball and e.payload.attacks_x]  # type: ignore[attr-defined]
        scenes: list[Scene] = [e.payload for e in looks]  # type: ignore[misc]
        keepers = keepers_of(sheet)
        ours: dict[str, Values] = {}
        writers: Sequence[Callable[[], dict[str, Values]]] = (
            lambda: write_scenes(folder, scenes, keepers), lambda: write_shapes(folder, scenes, keepers),
            lambda: write_passes(folder, events, looks), lambda: write_threat(folder, chosen.seed),
            lambda: write_run(folder, looks), lambda: write_actions(folder, events, sheet),
        )  # fmt: skip
        for write in writers:
            ours |= write()
        result: dict[str, Any] = {"seed": chosen.seed, "minutes": chosen.minutes, "judges": {}}
        print(
            "| judge | measure | values | share within 1e-6 | correlation | median difference |",
            "|---|---|---|---|---|---|",
            sep="\n",
        )
        for name in chosen.judges:
            theirs = judge(name, folder, chosen.envs or folder)
            for measure, values in theirs.items():
                one = agreement(ours[measure], values)
                result["judges"].setdefault(name, {})[measure] = one._asdict()
                numbers = "-" if math.isnan(one.correlation) else f"{one.correlation:.4f} | {one.median:.2g}"
                print(f"| {name} | {measure} | {one.pairs} | {one.same:.3f} | {numbers} |")
            if "completion of passes" in theirs:
                both = {"ours": ours["completion of passes"], "theirs": theirs["completion of passes"]}
                curves = {who: round(area_under_curve(values, ours["complete"]), 3) for who, values in both.items()}
                result["judges"][name]["area under the curve"] = curves
                print(f"| {name} | completion of passes, area under the curve: {curves} | | | | |")
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
