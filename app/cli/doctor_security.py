"""Checks of ``touchline doctor --security``: what other users of the machine, and other machines, could reach."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from app.base.java import JavaNotFoundError, cache_folder, find_java
from app.base.private import OTHERS, OTHERS_WRITE, NotPrivateError, check_content, fault_of
from app.base.program import PROGRAM
from app.base.tokens import FILE, configuration_folder
from app.cli.doctor_ports import examine_ports
from app.cli.finding import Finding
from app.kafka.broker import broker_status, default_home
from app.pipeline.seal import KEY_VARIABLE, StateError, key_file, key_id
from app.settings.model import LiveSettings
from dashboard.access import is_loopback
from replay.match_store import is_store

#: Variables that name folders from which a run starts programs or imports modules.
_CODE_VARIABLES = ("JAVA_HOME", "SPARK_HOME", "SPARK_CONF_DIR", "PYTHONPATH")


def examine_security(settings: LiveSettings, environ: Mapping[str, str], folder: Path) -> Iterator[Finding]:
    """Runs all checks.

    Args:
        settings: of the run.
        environ: variables.
        folder: working folder.
    """
    yield _umask()
    yield _cache(environ)
    yield _temporary()
    yield _state_key(environ)
    yield _tokens(environ)
    yield from _code(environ)
    stores = settings.store or folder / "matches"
    yield from _store(stores)
    yield from _access(settings)
    yield from examine_ports(_stores(stores))


def _umask() -> Finding:
    mask = os.umask(0o077)
    os.umask(mask)
    if mask & OTHERS_WRITE == OTHERS_WRITE:
        return Finding("umask", "ok", f"{mask:03o}; a run uses 077")
    return Finding("umask", "note", f"{mask:03o}: others can change files that you export", "umask 022 in your profile")


def _cache(environ: Mapping[str, str]) -> Finding:
    what, folder = "cache folder", cache_folder(environ)
    if not folder.exists():
        return Finding(what, "ok", f"{folder}: the first run creates it with mode 0700")
    if fault := fault_of(folder.resolve()):
        return Finding(what, "bad", f"{folder}: {fault}", f"rm -r {folder}; a run creates it again")
    for top, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(top, name)
            status = path.lstat()
            mode = 0 if stat.S_ISLNK(status.st_mode) else status.st_mode
            if mode & OTHERS_WRITE or status.st_uid != os.geteuid():
                return Finding(what, "bad", f"{path}: others could have changed it", f"rm -r {folder}")
    return Finding(what, "ok", f"{folder}, mode {_mode(folder)}")


def _temporary() -> Finding:
    what, folder = "temporary folder", Path(tempfile.gettempdir())
    status = folder.stat()
    if status.st_mode & OTHERS_WRITE and not status.st_mode & stat.S_ISVTX:
        return Finding(
            what, "bad", f"{folder}: others can rename files of yours", f"chmod +t {folder}, or set TMPDIR to another"
        )
    return Finding(what, "ok", f"{folder}, mode {_mode(folder)}; a run creates a folder with mode 0700 in it")


def _state_key(environ: Mapping[str, str]) -> Finding:
    what, file = "state key", key_file(environ)
    if not environ.get(KEY_VARIABLE) and not file.exists():
        return Finding(what, "ok", f"{file}: the first run creates it")
    try:
        identifier = key_id()
    except StateError as error:
        return Finding(what, "bad", str(error), f"set {KEY_VARIABLE}, or remove the file")
    return Finding(what, "ok", f"{KEY_VARIABLE if environ.get(KEY_VARIABLE) else file}, key {identifier}")


def _tokens(environ: Mapping[str, str]) -> Finding:
    what, file = "tokens", configuration_folder(environ) / FILE
    if not file.exists():
        return Finding(what, "ok", f"{file}: none yet")
    if file.stat().st_mode & OTHERS or (fault := fault_of(file.resolve())):
        reason = "other users can read it" if file.stat().st_mode & OTHERS else fault
        return Finding(what, "bad", f"{file}: {reason}", f"rm {file}, and create the tokens again")
    return Finding(what, "ok", f"{file}, mode {_mode(file)}")


def _code(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Folders of the programs and modules that a run starts."""
    folders = {"program": PROGRAM, "Python": Path(sys.executable).parent}
    try:
        folders["Java"] = find_java(environ).home
    except JavaNotFoundError:
        if java := shutil.which("java", path=environ.get("PATH", "")):
            folders["Java"] = Path(java).parent
    for name in _CODE_VARIABLES:
        for number, entry in enumerate(environ.get(name, "").split(os.pathsep)):
            if entry:
                folders[f"{name} {number}" if number else name] = Path(entry)
    faults = [
        Finding(f"code: {name}", "bad", f"{path}: {fault}", "remove the permission, or the variable")
        for name, path in folders.items()
        if path.exists() and (fault := fault_of(path.resolve(), or_root=True))
    ]
    yield from faults
    if not faults:
        yield Finding("code", "ok", f"only you and root can change {', '.join(folders)}")


def _store(folder: Path) -> Iterator[Finding]:
    what = "store"
    if not folder.exists():
        yield Finding(what, "ok", f"{folder}: a run creates stores with mode 0700")
        return
    stores = _stores(folder)
    findings = [finding for store in stores if (finding := _one_store(store)) is not None]
    yield from findings
    if not findings:
        yield Finding(what, "ok", f"{len(stores)} in {folder}, for you only" if stores else f"{folder}: none yet")


def _stores(folder: Path) -> list[Path]:
    """The store, or the stores in a folder of them."""
    if is_store(folder):
        return [folder]
    return sorted(path for path in folder.iterdir() if is_store(path)) if folder.is_dir() else []


def _one_store(store: Path) -> Finding | None:
    try:
        check_content(store)
    except NotPrivateError as error:
        return Finding("store", "bad", str(error), "a run refuses it; play the match again from its source")
    mode = store.stat().st_mode
    if mode & OTHERS_WRITE:
        return Finding("store", "bad", f"{store}: other users can write to it", f"chmod go-w {store}")
    if mode & OTHERS:
        return Finding("store", "note", f"{store}: other users can read it", f"chmod 700 {store}, unless they should")
    return None


def _access(settings: LiveSettings) -> Iterator[Finding]:
    what, token = "page and metrics", bool(settings.token.get_secret_value())
    if is_loopback(settings.host) and not token:
        yield Finding(what, "note", "every user of this machine can see them", "set a token, if others use the machine")
    elif is_loopback(settings.host):
        yield Finding(what, "ok", "on loopback, with a token")
    else:
        yield Finding(
            what, "note", f"on {settings.host}, with a token, without TLS", "put a TLS proxy in front of them"
        )
    status = broker_status(default_home())
    if status.is_up:
        yield Finding(
            "broker", "note", f"{status.address} has no login: every user of this machine can write to its topics",
            "touchline broker stop, when the trial is over",
        )  # fmt: skip


def _mode(path: Path) -> str:
    return f"{stat.S_IMODE(path.stat().st_mode):04o}"
