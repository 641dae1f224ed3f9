"""How long from a position to a command, with four heads of four protocols beside a live match?

Four simulated heads run as processes of their own: VISCA over IP with lost datagrams, raw VISCA with torn pieces,
ONVIF, AW. They restart now and then. A simulated match is played through Spark (or in process) and steers all four.
Printed: the latency from the source to the hub; for each head the time from a position's arrival at the source to the
first drive after it, how often the link was lost and found, how the run ended.

    python -m bench.four_heads [--seconds 120] [--engine spark] [--loss 0.02] [--reboot-every 40] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

HEADS = (
    ("main", "visca", "brc-x400", "main", "loss"),
    ("tight", "visca-tcp", "ptzoptics-g2", "tight", "split"),
    ("left", "onvif", "onvif-generic", "goal-left", ""),
    ("right", "aw", "aw-he40", "goal-right", ""),
)
FIGURES = (
    "latency_p50_ms", "latency_p95_ms", "framed_share", "commands_sent", "commands_timeout", "reconnects", "stopped",
    "failure",
)  # fmt: skip


def main() -> None:
    """Start the heads and the match, and print the figures of the cameras."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--engine", default="spark")
    parser.add_argument("--rate", default="")
    parser.add_argument("--loss", type=float, default=0.02)
    parser.add_argument("--reboot-every", type=float, default=40.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        tables = [_head(running, options, *row) for row in HEADS]
        file = Path(folder) / "cameras.toml"
        file.write_text("\n".join(tables))
        summary = _played(options, Path(folder) / "match", file)
    lanes = {stage: {q: row[q] for q in ("p50", "p95", "max")} for stage, row in summary["lane_latency_ms"].items()}
    print("from the source to the hub, ms:", lanes)
    figures = summary["cameras"]
    for name, found in figures.items():
        shown = {key: found.get(key, "-") for key in FIGURES}
        print(name, " ".join(f"{k}={v:.3g}" if isinstance(v, float) else f"{k}={v!r}" for k, v in shown.items()))
    if options.json:
        options.json.write_text(json.dumps({"source_to_hub_ms": lanes, "cameras": figures}, indent=1))


def _head(
    running: ExitStack, options: argparse.Namespace, name: str, protocol: str, profile: str, role: str, quirk: str
) -> str:
    """Start a head; return its table of the file of the cameras."""
    quirks = {"loss": [f"loss={options.loss}"], "split": ["split_bytes=3"]}.get(quirk, [])
    if options.reboot_every:
        quirks.append(f"reboot_every_s={options.reboot_every}")
    command = [sys.executable, "-m", "app.cli.main", "cameras", "simulate", "--protocol", protocol, "--port", "0"]
    command += ["--profile", profile, "--json", *[part for one in quirks for part in ("--quirk", one)]]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    running.callback(process.wait)
    running.callback(process.terminate)
    assert process.stdout is not None
    text = ""
    while "}" not in text:
        text += process.stdout.readline()
    port = json.loads(text)["port"]
    return (
        f'[[camera]]\nname = "{name}"\naddress = "127.0.0.1:{port}"\nprotocol = "{protocol}"\n'
        f'profile = "{profile}"\nrole = "{role}"\n'
    )


def _played(options: argparse.Namespace, store: Path, cameras: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "app.cli.main", "live", "--engine", options.engine, "--no-dashboard", "--json"]
    command += ["--duration", str(options.seconds), "--store", str(store), "--cameras", str(cameras)]
    command += ["--rate", options.rate] if options.rate else []
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        sys.exit(f"the match ended with {done.returncode}:\n{done.stdout[-2000:]}")
    return json.loads(done.stdout[done.stdout.index("{") :])


if __name__ == "__main__":
    main()
