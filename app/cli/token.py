"""``touchline token create | list | revoke``: tokens of the clients of a run."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.table import Table

from app.base.terminal import make_console
from app.base.tokens import DAYS_MAX, TokenError, TokenStore
from app.cli.output import print_json
from dashboard.roles import Role

app = typer.Typer(add_completion=False, no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="Name of the token: whom or what it is for. It stands in the log.")]
_ROLES = ", ".join(role.name.lower() for role in Role)


@app.callback()
def token() -> None:
    """Tokens for the page and the routes of a run, with a role and an end; a running match follows each change."""


@app.command()
def create(
    name: Name,
    role: Annotated[
        str,
        typer.Option(
            help="viewer (reads), operator (also reports decisions of the officials and steers cameras) or admin "
            "(also lists and revokes tokens)."
        ),
    ] = "viewer",
    days: Annotated[float, typer.Option(help=f"Days until it ends, at most {DAYS_MAX}.")] = 30.0,
) -> None:
    """Creates a token and prints it. It is shown this once: only its digest is stored.

    Examples:
        touchline token create scoreboard
        touchline token create referee --role operator --days 1
    """
    if role.upper() not in Role.__members__:
        raise TokenError(f"--role {role}: must be one of {_ROLES}")
    secret = TokenStore().create(name, Role[role.upper()], days)
    print(f"{name}: {role}, ends in {days:g} days. The token is not shown again:", file=sys.stderr)
    print(secret)


@app.command("list")
def list_tokens(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Lists all tokens with role, state and end; never the tokens themselves.

    Examples:
        touchline token list
    """
    now_s = time.time()
    rows = [
        {"name": one.name, "role": one.role, "state": one.state(now_s), "created": _date(one.created_s),
         "ends": _date(one.revoked_s or one.ends_s)}
        for one in TokenStore().tokens()
    ]  # fmt: skip
    if as_json:
        print_json(rows)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("name", "role", "state", "created", "ends"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*row.values())
    make_console().print(table)


@app.command()
def revoke(name: Name) -> None:
    """Ends a token now, and with it the sessions that it opened.

    Examples:
        touchline token revoke scoreboard
    """
    TokenStore().revoke(name)
    print(f"{name}: revoked")


def _date(wall_s: float) -> str:
    return f"{datetime.fromtimestamp(wall_s, UTC):%Y-%m-%dT%H:%M:%SZ}"
