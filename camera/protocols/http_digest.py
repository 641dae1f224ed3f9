"""HTTP Digest (RFC 7616, MD5 and SHA-256, ``qop=auth`` or none): the answer to a server's challenge, without I/O."""

from __future__ import annotations

import hashlib
import re

import msgspec

_FIELD = re.compile(r'(\w+)\s*=\s*(?:"([^"]*)"|([^",\s]+))')
_HASHES = {"": hashlib.md5, "md5": hashlib.md5, "sha-256": hashlib.sha256}


class Challenge(msgspec.Struct, frozen=True):
    """The challenge of a server, and how many requests have answered it."""

    realm: str
    nonce: str
    algorithm: str
    opaque: str
    has_qop: bool
    count: int = 0


def challenge_of(header: str) -> Challenge | None:
    """Return the challenge of a ``WWW-Authenticate`` header; None if it asks for another way, or an unknown hash.

    >>> challenge_of('Digest realm="head", nonce="7a", qop="auth,auth-int"').has_qop
    True
    """
    scheme, _, rest = header.strip().partition(" ")
    fields = {name.lower(): quoted or bare for name, quoted, bare in _FIELD.findall(rest)}
    algorithm = fields.get("algorithm", "")
    qop = fields.get("qop", "")
    ways = [way.strip() for way in qop.split(",")]
    if scheme.lower() != "digest" or algorithm.lower() not in _HASHES or (qop and "auth" not in ways):
        return None
    return Challenge(fields.get("realm", ""), fields.get("nonce", ""), algorithm, fields.get("opaque", ""), bool(qop))


def answered(
    challenge: Challenge, method: str, target: str, user: str, password: str, client_nonce: str
) -> tuple[Challenge, str]:
    """Return the challenge for the next request, and the ``Authorization`` header of this one.

    Args:
        challenge: of the server.
        method, target: of the request.
        user, password: of the login.
        client_nonce: a random text that is new for each request.
    """
    count = challenge.count + 1

    def digest(text: str) -> str:
        return _HASHES[challenge.algorithm.lower()](text.encode()).hexdigest()

    first, second = digest(f"{user}:{challenge.realm}:{password}"), digest(f"{method}:{target}")
    middle = f"{count:08x}:{client_nonce}:auth" if challenge.has_qop else ""
    response = digest(":".join(filter(None, (first, challenge.nonce, middle, second))))
    quoted = {"username": user, "realm": challenge.realm, "nonce": challenge.nonce, "uri": target, "response": response}
    if challenge.opaque:
        quoted["opaque"] = challenge.opaque
    if challenge.has_qop:
        quoted["cnonce"] = client_nonce
    parts = [f'{name}="{value}"' for name, value in quoted.items()]
    parts += [f"algorithm={challenge.algorithm}"] if challenge.algorithm else []
    parts += [f"qop=auth, nc={count:08x}"] if challenge.has_qop else []
    return msgspec.structs.replace(challenge, count=count), "Digest " + ", ".join(parts)
