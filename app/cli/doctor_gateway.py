"""The feeds of a gateway: connection, latency, rate, loss, disorder, clock, tags, and coverage of the pitch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from app.base.pace import wall_us
from app.cli.finding import Finding
from app.gateway.clock import DRIFT_MAX_PPM, ClockFigures
from app.gateway.feed import FeedFigures
from app.gateway.gateway import SILENT_US, GatewayFigures, ReceivingFigures
from app.gateway.run import FIGURES
from football.errors import CaptureError
from football.packets import raw_kind
from football.untrusted import UntrustedError, read_json
from replay.capture import Capture

#: Latency from which cameras are late, and share of disordered, lost or refused records that is worth a look.
_LATE_US, _SHARE = 500_000, 0.02

#: Spread of the clock's bins from which event times are poorly known.
_RESIDUAL_US = 10_000

#: Arrival time whose positions show the coverage, and the zones of the pitch along and across it.
_COVERED_US, _ZONES = 600_000_000, (6, 3)


def examine_gateway(folder: Path) -> Iterator[Finding]:
    """Examine a gateway by the figures in its folder."""
    try:
        figures = read_json(folder / FIGURES, GatewayFigures)
    except (OSError, UntrustedError):
        yield Finding("gateway", "bad", f"{folder} has no {FIGURES}", "start touchline gateway --to with this folder")
        return
    age_us = wall_us() - figures.zero_us - figures.now_us
    if age_us > SILENT_US:
        yield Finding("gateway", "bad", f"its figures are {age_us / 1e6:.0f} s old: it does not run", "start it again")
    else:
        yield Finding("gateway", "ok", f"runs for {figures.now_us / 1e6:.0f} s, {figures.blocks} blocks")
    for label, one in figures.feeds.items():
        yield _link(label, one)
        yield _rate(label, one.feed, figures.now_us)
        yield _latency(label, one.feed)
        yield from _records(label, one)
        yield _clock(label, one.feed.clock, one.feed.jitter_us)
    for finding in figures.disagreements:
        feed, _, text = finding.partition(": ")
        yield Finding(f"{feed}: agreement", "bad", text, "a feed that lies is left out: mend its profile or its system")
    if names := figures.players_without_tag:
        yield Finding("players without a tag", "note", ", ".join(names), "give them a tag in the table of --tags")
    if tags := figures.tags_without_player:
        yield Finding("tags that nobody wears", "note", ", ".join(tags), "add them to the table, or ignore them")
    yield from _coverage(folder)


def _link(label: str, one: ReceivingFigures) -> Finding:
    link = one.link
    if not link.connected:
        return Finding(f"{label}: connection", "bad", link.trouble or "none", "check address, network and settings")
    if one.silent_us is None or one.silent_us > SILENT_US:
        return Finding(f"{label}: connection", "bad", "connected, and silent", "check topic, subscription, the vendor")
    again = f", {link.failures} breaks" if link.failures else ""
    return Finding(f"{label}: connection", "note" if link.failures else "ok", f"{link.connects} connections{again}")


def _rate(label: str, feed: FeedFigures, now_us: int) -> Finding:
    per_s = feed.positions / max(now_us / 1e6, 1.0)
    if not feed.positions:
        return Finding(f"{label}: positions", "bad", "none", "touchline gateway check shows why, on a sample")
    return Finding(f"{label}: positions", "ok", f"{per_s:.0f} a second of {len(feed.transmitters)} transmitters")


def _latency(label: str, feed: FeedFigures) -> Finding:
    found = f"median {feed.latency_p50_us / 1e3:.0f} ms, p95 {feed.latency_p95_us / 1e3:.0f} ms"
    late = feed.latency_p95_us > _LATE_US
    remedy = "packets wait in the vendor's system or the network: smaller packets, a wire" if late else ""
    return Finding(f"{label}: latency", "note" if late else "ok", found, remedy)


def _records(label: str, one: ReceivingFigures) -> Iterator[Finding]:
    feed = one.feed
    refused, total = sum(feed.refused.values()), max(feed.positions, 1)
    if refused:
        reason = max(feed.refused, key=feed.refused.__getitem__)
        verdict = "bad" if refused > total else "note" if refused > _SHARE * total else "ok"
        yield Finding(
            f"{label}: refused", verdict, f"{refused}, most often: {reason}", "mend the profile or the tables"
        )
    counts = {"disordered": feed.disordered, "copies": feed.copies, "lost messages": feed.lost_messages}
    if dropped := one.link.dropped:
        yield Finding(f"{label}: kernel", "bad", f"{dropped} datagrams dropped", "raise net.core.rmem_max")
    verdict = "note" if max(counts.values()) > _SHARE * total else "ok"
    yield Finding(f"{label}: order and loss", verdict, ", ".join(f"{count} {name}" for name, count in counts.items()))


def _clock(label: str, clock: ClockFigures, jitter_us: float) -> Finding:
    what = f"{label}: clock"
    if jitter_us:
        return Finding(what, "note", f"none: times of arrival, known to {jitter_us / 1e3:.1f} ms")
    line = f"offset {clock.offset_us / 1e6:+.3f} s, drift {clock.drift_ppm:+.2f} ppm"
    found = f"{line}, spread {clock.residual_us / 1e3:.2f} ms, {clock.steps} steps, {clock.wraps} wraps"
    if abs(clock.drift_ppm) > DRIFT_MAX_PPM:
        return Finding(what, "bad", found, "no clock drifts like that: is the unit of time right?")
    if clock.steps or clock.residual_us > _RESIDUAL_US:
        return Finding(what, "note", found, "let the vendor's server take its time from NTP or PTP")
    return Finding(what, "ok", found)


def _coverage(folder: Path) -> Iterator[Finding]:
    """Zones of the pitch without any position of a player in the newest segments."""
    try:
        capture = Capture.open(folder)
        half = np.array([capture.sheet.length_m, capture.sheet.width_m]) / 2
        seen = np.zeros(_ZONES, bool)
        edge_us = max((number + 1 for number in capture.segment_numbers()), default=0) * capture.head.segment_us
        for batch, _ in capture.dated(edge_us - _COVERED_US, edge_us):
            players = np.array([raw_kind(name) in ("raw.player", "raw.limb") for name in batch.names], bool)
            rows = np.repeat(players[batch.tag], batch.sizes)
            share = (batch.values[rows, :2] / 1e3 + half) / (2 * half)
            inside = share[np.all((share >= 0) & (share < 1), axis=1)]
            seen[tuple((inside * _ZONES).astype(int).T)] = True
    except CaptureError as error:
        yield Finding("coverage", "note", str(error))
        return
    missing = int((~seen).sum())
    found = f"{seen.size - missing} of {seen.size} zones of the pitch had a player within the last ten minutes"
    remedy = "before the match: walk a tag through the empty zones" if missing else ""
    yield Finding("coverage", "note" if missing else "ok", found, remedy)
