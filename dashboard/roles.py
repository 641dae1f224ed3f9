"""Roles of the clients of a run, and what a token grants.

A token is presented as a secret and known here by its digest only. :class:`app.base.tokens.TokenStore` holds the
digests of the user's tokens; the token of a run's settings (``TOUCHLINE_TOKEN``) is an administrator's.
"""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Callable
from dataclasses import dataclass


class Role(enum.IntEnum):
    """Role of a client; each includes those before it.

    A viewer reads the page, its state, metrics and health. An operator also reports decisions of the officials. An
    administrator also lists and revokes tokens.
    """

    VIEWER = 1
    OPERATOR = 2
    ADMIN = 3


@dataclass(frozen=True)
class Grant:
    """A role, and the name of the token that grants it: the name stands in the log, the token never does."""

    name: str
    role: Role


#: Function that returns the grant of a token that is valid now, by its digest; None for any other.
Verifier = Callable[[str], Grant | None]


def digest_of(secret: str) -> str:
    """Return the digest by which a secret is stored and compared: SHA-256, in hexadecimal.

    Tokens are random and long, so a digest that is slow to compute would protect nothing.
    """
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
