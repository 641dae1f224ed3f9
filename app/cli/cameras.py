"""``touchline cameras``: the file of the cameras, what may stand in it, and simulated heads."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.table import Table

from app.base.terminal import make_console
from app.cli.camera_setup import calibrate, measure
from app.cli.output import print_json
from camera.controller import CameraController
from camera.installation import Camera, load_installation
from camera.profile import load_profile, profile_names
from camera.protocols.registry import PROTOCOLS, protocol
from camera.roles import ROLES
from camera.rules import load_rules, rules_file
from camera.simulated.server import HeadServer, Quirks
from football.errors import UserError
from football.update_stream import UpdateRecord, View

app = typer.Typer(add_completion=False)
app.command()(calibrate)
app.command()(measure)

#: Time that ``check --connect`` gives a head to answer.
ANSWER_S = 5.0
_File = Annotated[Path, typer.Argument(help="TOML file of the cameras, as docs/cameras.md describes it.")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


class CameraCommandError(UserError):
    """An option is wrong, or a head does not answer; the message says which."""


@app.callback(invoke_without_command=True)
def cameras(context: typer.Context, as_json: _Json = False) -> None:
    """Cameras: profiles, protocols and roles that a file may name; checks a file, and runs simulated heads.

    Examples:
        touchline cameras
        touchline cameras check venue.toml
    """
    if context.invoked_subcommand is not None:
        return
    known = {"profiles": profile_names(), "protocols": list(PROTOCOLS), "roles": list(ROLES)}
    if as_json:
        print_json(known)
        return
    for name, values in known.items():
        print(f"{name}: {', '.join(values)}")


@app.command()
def check(
    file: _File = Path("cameras.toml"),
    connect: Annotated[bool, typer.Option("--connect", help="Also ask each head for its position.")] = False,
    as_json: _Json = False,
) -> None:
    """Checks a file of cameras and the rules next to it; a mistake is named with camera or rule, field and reason.

    Examples:
        touchline cameras check
        touchline cameras check venue.toml --connect
    """
    found = load_installation(file)
    rules = load_rules(rules_file(file), {one.setup.name: one.setup.presets for one in found})
    rows = [_row(camera, connect) for camera in found]
    if as_json:
        print_json(rows)
    else:
        table = Table(title=str(file), title_justify="left")
        for name in rows[0]:
            table.add_column(name)
        for row in rows:
            table.add_row(*[str(value) for value in row.values()])
        make_console().print(table)
        if rules:
            print(f"{rules_file(file)}: {len(rules)} rules")
    silent = [row["name"] for row in rows if row.get("head") == "silent"]
    if silent:
        raise CameraCommandError(f"no answer within {ANSWER_S:.0f} s: {', '.join(map(str, silent))}")


@app.command()
def simulate(
    profile: Annotated[str, typer.Option(help="Profile of the head: a name or a TOML file.")] = "brc-x400",
    protocol_name: Annotated[str, typer.Option("--protocol", help=f"One of {', '.join(PROTOCOLS)}.")] = "visca",
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port; default the protocol's own, 0 a free one.")
    ] = None,
    quirk: Annotated[
        list[str], typer.Option(help=f"NAME=VALUE, repeatable: {', '.join(Quirks.__struct_fields__)}.")
    ] = [],  # noqa: B006  typer makes a new list for each call
    as_json: _Json = False,
) -> None:
    """Runs a simulated head as a process of its own, and says so when it is ready. Ctrl-C ends it.

    Examples:
        touchline cameras simulate --profile brc-h700 --protocol visca --port 52381
        touchline cameras simulate --protocol visca-tcp --profile ptzoptics-g2 --quirk split_bytes=3
    """
    row = protocol(protocol_name)
    server = HeadServer(
        load_profile(profile),
        host=host,
        port=row.port if port is None else port,
        protocol=protocol_name,
        quirks=quirks_of(quirk),
    )
    with server:
        address, at = server.address
        if as_json:
            print_json({"ready": True, "protocol": protocol_name, "profile": profile, "host": address, "port": at})
        else:
            print(f"Simulated {profile} answers at {address}:{at} ({protocol_name}); Ctrl-C ends it", flush=True)
        threading.Event().wait()


def quirks_of(texts: list[str]) -> Quirks:
    """Return the quirks of options NAME=VALUE.

    Raises:
        CameraCommandError: a name or value that is none.
    """
    try:
        return msgspec.convert(dict(text.split("=", 1) for text in texts), Quirks, strict=False)
    except (ValueError, msgspec.ValidationError) as error:
        raise CameraCommandError(f"--quirk {' '.join(texts)}: {error}") from error


def _row(camera: Camera, connect: bool) -> dict[str, object]:
    setup = camera.setup
    row: dict[str, object] = {
        "name": setup.name,
        "head": camera.profile.name,
        "protocol": setup.protocol,
        "address": repr(camera.address) if camera.address else "simulated",
        "role": f"{setup.role} {setup.player}".strip(),
        "style": setup.style,
        "presets": ", ".join(setup.presets),
    }
    if connect and camera.address is not None:
        row["head"] = camera.profile.name if _answers(camera) else "silent"
    return row


class _NoFeed:
    """A feed without positions: the controller that reads it never moves its head."""

    def latest_view(self) -> View | None:
        return None

    def view_wall_us(self) -> int:
        return 0

    def frontier_us(self) -> int:
        return 0

    def events_since(self, cursor: int) -> tuple[int, list[UpdateRecord]]:
        return cursor, []


def _answers(camera: Camera) -> bool:
    assert camera.address is not None
    setup = camera.setup
    controller = CameraController(_NoFeed(), setup.mount, camera.profile, camera.address, setup.protocol).start()
    try:
        end_s = time.monotonic() + ANSWER_S
        while time.monotonic() < end_s:
            if controller.state().pose is not None:
                return True
            time.sleep(0.02)
        return False
    finally:
        controller.stop()
