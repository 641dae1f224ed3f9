"""Secured listener of the local broker, as on real clusters: TLS with a private certificate, users and passwords.

For trials of security settings, and for tests. ``openssl`` makes an authority and the broker's certificate; the broker
takes them as PEM files. Everything lies in ``security/`` of the broker's home, readable by its owner only, and
``client.toml`` there is what a client needs (:mod:`app.kafka.address`).
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from app.kafka.broker import BrokerError, Listener

#: Name of the listener, and of its user.
SECURED, USER = "SECURED", "touchline"

_DAYS = "3650"
_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


def secured_listener(home: Path) -> tuple[Listener, Path]:
    """The listener SASL_SSL of a broker's home, and the settings file of its client; made on first use.

    Raises:
        BrokerError: there is no openssl, or it fails.
    """
    folder = home.resolve() / "security"
    client = folder / "client.toml"
    if not client.exists():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _make_certificates(folder)
        _write(folder / "password", secrets.token_urlsafe(24))
        _write(
            client,
            'security_protocol = "SASL_SSL"\nssl_cafile = "ca.pem"\nsasl_mechanism = "SCRAM-SHA-512"\n'
            f'sasl_plain_username = "{USER}"\nsasl_plain_password_file = "password"\n',
        )
    password = (folder / "password").read_text()
    settings = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / "broker.pem"),
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
        "plain.sasl.jaas.config": f'{_PLAIN} required user_{USER}="{password}";',
        "scram-sha-512.sasl.jaas.config": f"{_SCRAM} required;",
    }
    return Listener(SECURED, "SASL_SSL", settings), client


def add_user(broker: str, home: Path) -> None:
    """Give a running broker the password of the local user for SCRAM, through its plain listener.

    Raises:
        BrokerError: the broker refuses.
    """
    from kafka.admin import KafkaAdminClient, ScramMechanism, UserScramCredentialUpsertion

    password = (home / "security" / "password").read_text()
    client = KafkaAdminClient(bootstrap_servers=broker)
    try:
        wanted = UserScramCredentialUpsertion(USER, ScramMechanism.SCRAM_SHA_512, password, iterations=4096)
        if refusal := client.alter_user_scram_credentials([wanted])[USER]:
            raise BrokerError(f"the broker at {broker} does not take user {USER}: {refusal}")
    finally:
        client.close()


def _make_certificates(folder: Path) -> None:
    """An authority, and a certificate of it for this machine's loopback names, with its key in one file."""
    names = folder / "names"
    names.write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    key, request, certificate = folder / "broker.key", folder / "broker.csr", folder / "broker.crt"
    made_by = ["-CA", folder / "ca.pem", "-CAkey", folder / "ca.key", "-CAcreateserial"]
    _openssl(
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", _DAYS, "-subj", "/CN=Touchline trials",
        "-keyout", folder / "ca.key", "-out", folder / "ca.pem",
    )  # fmt: skip
    _openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", key, "-out", request)
    _openssl("x509", "-req", "-in", request, *made_by, "-days", _DAYS, "-extfile", names, "-out", certificate)
    _write(folder / "broker.pem", key.read_text() + certificate.read_text())
    for done in (names, key, request, certificate):
        done.unlink()


def _openssl(*arguments: str | Path | Sequence[str]) -> None:
    program = shutil.which("openssl")
    if program is None:
        raise BrokerError("openssl is not there: install it, or start the broker without --secured")
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False, umask=0o077)
    if done.returncode != 0:
        raise BrokerError(f"openssl {arguments[0]}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}")


def _write(path: Path, text: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as stream:
        stream.write(text)
