"""``touchline broker start | stop | status``: a Kafka broker on this machine, for trials and tests."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from app.kafka.broker import BrokerStatus

broker = typer.Typer(help="A Kafka broker on this machine, for trials and tests; loopback only.", no_args_is_help=True)

Home = Annotated[
    Path | None, typer.Option(help="Folder of its settings, log and data. Default: broker in Touchline's cache folder.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the status as JSON.")]


@broker.command()
def start(
    port: Annotated[
        int, typer.Option(help="Port for clients, on 127.0.0.1; 0 for a free one.", min=0, max=65535)
    ] = 9092,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Starts the broker and returns when it answers. The first time it fetches Kafka (about 45 MB)."""
    from app.kafka.broker import default_home, start_broker
    from app.spark.java import find_java

    status = start_broker(
        home or default_home(), port, find_java(os.environ), lambda text: print(text, file=sys.stderr)
    )
    _show(status, as_json)


@broker.command()
def stop(home: Home = None) -> None:
    """Stops the broker; its data stay."""
    from app.kafka.broker import default_home, stop_broker

    print("stopped" if stop_broker(home or default_home()) else "was not running")


@broker.command()
def status(home: Home = None, as_json: Json = False) -> None:
    """Says whether the broker runs and where; exit code 1 if it does not."""
    from app.kafka.broker import broker_status, default_home

    found = broker_status(home or default_home())
    _show(found, as_json)
    if not found.is_up:
        raise typer.Exit(1)


def _show(status: BrokerStatus, as_json: bool) -> None:
    if as_json:
        print(json.dumps({**asdict(status), "home": str(status.home), "is_up": status.is_up}))
    elif status.is_up:
        print(f"up at {status.address} (process {status.pid}); source and topics: kafka://{status.address}/TOPIC")
    elif status.pid is not None:
        print(f"process {status.pid} runs but {status.address} does not answer: see {status.home / 'broker.log'}")
    else:
        print("not running")
