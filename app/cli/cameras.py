"""``touchline cameras``: the file of the cameras, what may stand in it, and simulated heads."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from app.base.terminal import make_console
from app.cli.camera_setup import calibrate, measure
from app.cli.joystick import joystick
from app.cli.output import print_json
from app.run.signals import stopped_by_signals
from camera.head_connection import ask
from camera.installation import Camera, load_installation
from camera.profile import load_profile, profile_names
from camera.protocols.registry import PROTOCOLS, protocol
from camera.roles import ROLES
from camera.rules import load_rules, rules_file
from camera.simulated.server import HeadServer, Quirks
from football.errors import UserError

app = typer.Typer(add_completion=False)
app.command()(calibrate)
app.command()(measure)
app.command()(joystick)

#: Time that ``check --connect`` gives a head to answer, and what it says of one that does.
ANSWER_S, ANSWERS = 5.0, "it answers"
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

    With --connect each head is asked for its position, and neither moved nor stopped. VISCA over IP cannot ask without
    resetting the numbers of the session, which may interrupt another controller, or a run, for a moment.

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
        for row in rows:
            print(row["name"])
            for field, value in list(row.items())[1:]:
                print(f"  {field:8}  {value}")
        if rules:
            print(f"{rules_file(file)}: {len(rules)} rules")
    problems = [f"camera {row['name']}: {row['answer']}" for row in rows if row.get("answer", ANSWERS) != ANSWERS]
    if problems:
        raise CameraCommandError("; ".join(problems))


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
    user_env: Annotated[
        str, typer.Option(help="Environment variable with the user that it asks for (onvif, aw).", metavar="NAME")
    ] = "",
    password_env: Annotated[str, typer.Option(help="The same of the password.", metavar="NAME")] = "",
    as_json: _Json = False,
) -> None:
    """Runs a simulated head as a process of its own, and says so when it is ready. Ctrl-C ends it.

    Examples:
        touchline cameras simulate --profile brc-h700 --protocol visca --port 52381
        touchline cameras simulate --protocol visca-tcp --profile ptzoptics-g2 --quirk split_bytes=3
    """
    row = protocol(protocol_name)
    user, password = _login(protocol_name, user_env, password_env)
    server = HeadServer(
        load_profile(profile),
        host=host,
        port=row.port if port is None else port,
        protocol=protocol_name,
        quirks=quirks_of(quirk),
        user=user,
        password=password,
    )
    stop, console = threading.Event(), make_console(stderr=True)
    with server, stopped_by_signals(stop, console, f"Stopping the simulated {profile}"):
        address, at = server.address
        if as_json:
            print_json({"ready": True, "protocol": protocol_name, "profile": profile, "host": address, "port": at})
        else:
            print(f"Simulated {profile} answers at {address}:{at} ({protocol_name}); Ctrl-C ends it", flush=True)
        stop.wait()


def _login(protocol_name: str, user_env: str, password_env: str) -> tuple[str, str]:
    """Return the user and the password in two environment variables; both are empty without names."""
    if not user_env and not password_env:
        return "", ""
    if protocol_name not in ("onvif", "aw"):
        raise CameraCommandError(f"--user-env: the protocol {protocol_name} has no login")
    for option, name in (("--user-env", user_env), ("--password-env", password_env)):
        if not os.environ.get(name):
            raise CameraCommandError(f"{option} {name}: there is no such variable, or it is empty")
    return os.environ[user_env], os.environ[password_env]


def quirks_of(texts: list[str]) -> Quirks:
    """Return the quirks of options NAME=VALUE.

    Raises:
        CameraCommandError: a name or value that is none.
    """
    try:
        return msgspec.convert(dict(text.split("=", 1) for text in texts), Quirks, strict=False)
    except (ValueError, msgspec.ValidationError) as error:
        raise CameraCommandError(f"--quirk {' '.join(texts)}: {error}") from error


def _row(camera: Camera, connect: bool) -> dict[str, str]:
    setup, bounds = camera.setup, camera.bounds()
    row = {
        "name": setup.name,
        "head": camera.profile.name,
        "protocol": setup.protocol,
        "address": repr(camera.address) if camera.address else "simulated",
        "role": f"{setup.role} {setup.player}".strip(),
        "style": setup.style,
        "limits": "pan {:.1f} to {:.1f}, tilt {:.1f} to {:.1f}".format(*bounds.pan_deg, *bounds.tilt_deg),
        "presets": ", ".join(setup.presets),
    }
    if connect and camera.address is not None:
        row["answer"] = ask(camera.profile, camera.address, setup.protocol, ANSWER_S) or ANSWERS
    return row
