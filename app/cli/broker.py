"""``touchline broker start | stop | status``: a Kafka broker on this machine, for trials and tests."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from app.base.java import find_java
from app.cli.output import print_json
from app.kafka.broker import (
    BrokerError,
    BrokerStatus,
    broker_status,
    default_home,
    listener_port,
    start_broker,
    stop_broker,
)
from app.kafka.security import SECURED, add_user, secured_listener

app = typer.Typer(add_completion=False, no_args_is_help=True)

Home = Annotated[
    Path | None, typer.Option(help="Folder of its settings, log and data. Default: broker in Touchline's cache folder.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the status as JSON.")]


@app.callback()
def broker() -> None:
    """A Kafka broker on this machine, for trials and tests; loopback only."""


@app.command()
def start(
    port: Annotated[
        int, typer.Option(help="Port for clients, on 127.0.0.1; 0 for a free one.", min=0, max=65535)
    ] = 9092,
    home: Home = None,
    secured: Annotated[
        bool,
        typer.Option("--secured", help="Open a second port with TLS, users and passwords, for trials of settings."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Starts the broker and returns when it answers. The first time it fetches Kafka (about 45 MB).

    Examples:
        touchline broker start
        touchline broker start --port 9093 --secured
    """
    home = home or default_home()
    listener, client = secured_listener(home) if secured else (None, None)
    if listener and broker_status(home).is_up and listener_port(home, SECURED) is None:
        raise BrokerError(f"the broker in {home} runs without a secured port: stop it first")
    listeners = [listener] if listener else []
    java = find_java(os.environ)
    status = start_broker(home, port, java, lambda text: print(text, file=sys.stderr), listeners)
    if listener:
        add_user(status.address, home)
    _show(status, as_json)
    if listener and not as_json:
        print(f"secured: kafka://127.0.0.1:{listener_port(home, SECURED)}/TOPIC?settings={client}")


@app.command()
def stop(home: Home = None) -> None:
    """Stops the broker; its data remain.

    Examples:
        touchline broker stop
    """
    print("stopped" if stop_broker(home or default_home()) else "was not running")


@app.command()
def status(home: Home = None, as_json: Json = False) -> None:
    """Shows whether the broker runs, and its address; exit code 1 if it does not run.

    Examples:
        touchline broker status --json
    """
    current = broker_status(home or default_home())
    _show(current, as_json)
    if not current.is_up:
        raise typer.Exit(1)


def _show(status: BrokerStatus, as_json: bool) -> None:
    if as_json:
        fields = {**asdict(status), "home": str(status.home), "is_up": status.is_up}
        print_json({**fields, "secured_port": listener_port(status.home, SECURED)})
    elif status.is_up:
        print(f"up at {status.address} (process {status.pid}); source and topics: kafka://{status.address}/TOPIC")
    elif status.pid is not None:
        print(f"process {status.pid} runs but {status.address} does not answer: see {status.home / 'app.log'}")
    else:
        print("not running")
