"""``touchline bundle``: one archive that sets up Touchline on a machine without a network."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from app.base.java import find_java
from app.base.program import COMMIT_FILE, PROGRAM, commit
from app.kafka.broker_jars import JARS_FOLDER, broker_jars
from football.errors import UserError

app = typer.Typer(add_completion=False)

_READ_ME = """Touchline {version}, commit {commit}, for Python {python} on {platform}. It needs no network:

    ./touchline doctor
    ./touchline live
"""


class BundleError(UserError):
    """The archive cannot be made; the message has the reason."""


@app.command()
def bundle(out: Annotated[Path, typer.Option("--out", help="Archive to write, a .tar file.")]) -> None:
    """Makes one archive that sets up Touchline on a machine of the same kind without a network.

    It has the source of the present commit, the locked packages (a Java runtime is one of them), Kafka's jars for
    `touchline broker`, and the fonts of the page. There: tar xf FILE, and ./touchline in the folder that this makes.

    Examples:
        touchline bundle --out touchline.tar
    """
    _check_checkout()
    with tempfile.TemporaryDirectory(dir=out.resolve().parent, prefix=".bundle-") as temporary:
        folder = Path(temporary) / f"touchline-{version('touchline')}"
        folder.mkdir()
        _add_source(folder)
        _report("fetching the locked packages")
        _add_packages(folder / "wheels")
        jars = broker_jars(find_java(os.environ), _report)
        shutil.copytree(jars, folder / JARS_FOLDER / jars.name)
        _describe(folder)
        draft = Path(temporary) / "archive"
        _pack(folder, draft)
        draft.replace(out)
    with out.open("rb") as archive:
        digest = hashlib.file_digest(archive, "sha256").hexdigest()
    print(f"{digest}  {out}")


def _check_checkout() -> None:
    """Raises an error unless the program is exactly what a commit says."""
    name = commit()
    if not (PROGRAM / ".git").exists() or not name:
        raise BundleError("a bundle is made from a checkout with its history: clone the repository")
    if name.endswith("+"):
        raise BundleError(f"{PROGRAM}: files differ from the commit {name[:-1]}; commit them first")


def _add_source(folder: Path) -> None:
    """Unpacks the files of the present commit."""
    archive = folder.with_suffix(".source")
    _run(["git", "archive", "--format=tar", f"--output={archive}", "HEAD"], "the source cannot be read")
    with tarfile.open(archive) as source:
        source.extractall(folder, filter="data")
    archive.unlink()


def _add_packages(wheels: Path) -> None:
    """Fetches what the lock files name for this platform; a package without a wheel comes as its source."""
    locks = [PROGRAM / "requirements" / f"{name}.txt" for name in ("setup", "runtime")]
    command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
               "--no-build-isolation", "--require-hashes", "--dest", str(wheels)]  # fmt: skip
    for lock in locks:
        command += ["-r", str(lock)]
    _run(command, "the locked packages cannot be fetched")


def _describe(folder: Path) -> None:
    kind = {
        "version": version("touchline"), "commit": commit(), "platform": sysconfig.get_platform(),
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
    }  # fmt: skip
    (folder / "bundle.json").write_text(json.dumps(kind, indent=2) + "\n", encoding="utf-8")
    (folder / "BUNDLE.txt").write_text(_READ_ME.format(**kind), encoding="utf-8")
    (folder / COMMIT_FILE).write_text(kind["commit"], encoding="utf-8")


def _pack(folder: Path, out: Path) -> None:
    """Writes the archive; it is not compressed, because the packages are."""

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        return member

    with tarfile.open(out, "w") as archive:
        archive.add(folder, folder.name, filter=plain)


def _run(command: list[str], fault: str) -> None:
    done = subprocess.run(command, cwd=PROGRAM, stdout=sys.stderr, check=False)
    if done.returncode != 0:
        raise BundleError(f"{fault} (reason above)")


def _report(text: str) -> None:
    print(text, file=sys.stderr)
