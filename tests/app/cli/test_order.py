"""``touchline order``: paper 001's data through the product's units, against the figures known for them."""

from __future__ import annotations

import functools
import gzip
import json
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from app.cli.order import METHODS, OrderError, report, run_order
from app.order.measure import Ordering, order_blocks, order_rows
from football.errors import TrackingError
from football.match_sheet import MatchSheet
from football.packets import Block, Packet
from middleware.events import Arrival, Event
from middleware.ordering.slack.settings import Method, SlackSettings
from middleware.sources.delay_bound import LATE_SHARE, ReleaseTarget
from middleware.sources.progress import ProgressSettings
from replay.capture import CaptureWriter
from replay.formats.ooo_dataset import ROW, Row, read_rows

SETS = (1, 2, 3, 4, 5)

#: B mean / median / max (ms), timeout-late, order-late on D-1 to D-5, from another implementation (a plain heap).
LITERAL: dict[Method, tuple[tuple[float, float, float, int, int], ...]] = {
    "sba": ((700, 700, 700, 27, 22), (700, 700, 700, 33, 31), (700, 700, 700, 50, 46), (700, 700, 700, 29, 23),
            (700, 700, 700, 17, 12)),
    "bett": ((787, 722, 4969, 0, 7), (782, 733, 3887, 0, 15), (796, 713, 5678, 0, 25), (749, 713, 3545, 0, 6),
             (700, 684, 2048, 0, 0)),
    "betta": ((827, 821, 1723, 14, 12), (836, 828, 1628, 22, 21), (826, 812, 1444, 36, 34), (817, 805, 1808, 13, 12),
              (797, 792, 1569, 7, 4)),
    "bettwa": ((832, 821, 1882, 13, 11), (840, 828, 1681, 24, 21), (830, 812, 1559, 36, 35), (825, 805, 1900, 13, 12),
               (801, 792, 1551, 7, 3)),
    "bettd": ((3356, 2517, 5001, 1, 2), (1967, 2381, 3949, 2, 8), (2916, 2664, 5871, 2, 11),
              (2596, 2135, 3527, 2, 4), (1343, 1743, 1964, 2, 1)),
}  # fmt: skip
PAPER: dict[Method, tuple[tuple[float, float, float, int, int], ...]] = {
    "betta": ((824, 820, 1608, 17, 14), (833, 828, 1520, 24, 23), (821, 812, 1753, 37, 33), (811, 805, 1743, 15, 14),
              (794, 791, 1569, 9, 5)),
    "bettwa": ((825, 820, 1882, 15, 13), (834, 828, 1645, 26, 21), (817, 807, 2018, 35, 35), (810, 803, 2041, 15, 14),
               (794, 790, 1551, 8, 5)),
    "bettd": ((1265, 825, 5023, 7, 6), (1015, 675, 3979, 4, 7), (1541, 757, 5881, 6, 14), (1098, 840, 3540, 5, 3),
              (765, 656, 1982, 2, 0)),
}  # fmt: skip

#: D-5: min, q1, median, mean, q3, max, sd of B.
D5_PAPER = {
    "bett": (642.2, 670.5, 683.5, 700.0, 700.9, 2048.0, 108.2),
    "betta": (700.0, 788.5, 791.3, 793.8, 793.9, 1569.0, 28.0),
    "bettwa": (700.0, 785.8, 790.0, 793.7, 794.6, 1550.6, 37.6),
    "bettd": (598, 630, 656, 764.9, 668, 1982, 352.1),
}

ESTIMATORS = [(method, "literal", rows) for method, rows in LITERAL.items()]
ESTIMATORS += [(method, "paper", rows) for method, rows in PAPER.items()]
#: Each estimator on one data set, in turns so that each set has its turn; the other pairs are slow.
ROWS = [
    pytest.param(method, profile, n, row, marks=() if n == SETS[turn % len(SETS)] else pytest.mark.slow)
    for turn, (method, profile, rows) in enumerate(ESTIMATORS)
    for n, row in zip(SETS, rows, strict=True)
]


@functools.cache
def rows_of(path: Path) -> list[Row]:
    return read_rows(path)


@functools.cache
def ordered(shared_data: Path, number: int, method: Method, profile: Any = "literal", **more: Any) -> Ordering:
    """A data set in order; several tests look at the same one."""
    rows = rows_of(shared_data / "ooo" / f"d-{number}.csv.gz")
    return order_rows(rows, SlackSettings(method, profile=profile), **more)


@pytest.mark.parametrize(("method", "profile", "number", "row"), ROWS, ids=lambda value: str(value)[:8])
def test_foreign_estimators_on_all_data_sets(method: Method, profile: str, number: int, row, shared_data: Path):
    figures = report(ordered(shared_data, number, method, profile), "", method, profile)
    buffer = figures["buffer_ms"]
    assert [buffer["mean"], buffer["median"], buffer["max"]] == pytest.approx(row[:3], abs=0.6)
    assert (figures["timeout_late"], figures["order_late"]) == row[3:]


@pytest.mark.parametrize(
    "method", [pytest.param(method, marks=() if method == "bettwa" else pytest.mark.slow) for method in D5_PAPER]
)
def test_foreign_the_whole_distribution_on_d5(method: Method, shared_data: Path):
    buffer = report(ordered(shared_data, 5, method, "paper"), "", method, "paper")["buffer_ms"]
    found = [buffer[name] for name in ("min", "q1", "median", "mean", "q3", "max", "sd")]
    assert found == pytest.approx(D5_PAPER[method], abs=0.25)


def test_sba_on_d5_is_exactly_the_papers(shared_data: Path):
    figures = report(ordered(shared_data, 5, "sba"), "d-5", "sba", "literal")
    assert (figures["events"], figures["out_of_order"], figures["timeout_late"], figures["order_late"]) == (
        8400,
        1584,
        17,
        12,
    )


def test_bett_on_d5_within_the_bounds_asked_for(shared_data: Path):
    figures = report(ordered(shared_data, 5, "bett"), "d-5", "bett", "literal")
    buffer = figures["buffer_ms"]
    assert [buffer["q1"], buffer["median"], buffer["max"]] == pytest.approx([671, 684, 2048], abs=1)
    assert buffer["mean"] == pytest.approx(700.0, abs=1.5)
    assert figures["order_late"] == figures["timeout_late"] == 0


@pytest.mark.parametrize(
    ("number", "late", "mean_ms"),
    [
        pytest.param(1, 7, 230, marks=pytest.mark.slow),
        pytest.param(2, 15, 240, marks=pytest.mark.slow),
        (3, 25, 300),
        pytest.param(4, 6, 230, marks=pytest.mark.slow),
        (5, 0, 170),
    ],
)
def test_the_frontier_beats_every_estimator_with_one_setting(number: int, late: int, mean_ms: int, shared_data: Path):
    result = ordered(shared_data, number, "progress")
    assert result.order_late <= late
    assert result.latency_us.mean() / 1000 <= mean_ms


@pytest.mark.parametrize(
    ("number", "late", "mean_ms"),
    [
        (1, 10, 180),
        pytest.param(2, 15, 200, marks=pytest.mark.slow),
        pytest.param(3, 26, 215, marks=pytest.mark.slow),
        pytest.param(4, 8, 190, marks=pytest.mark.slow),
        pytest.param(5, 0, 140, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("loss", [pytest.param(0.0, marks=pytest.mark.slow), 0.05])
def test_the_target_is_as_fast_as_progress_with_the_tail_of_bett(
    number: int, late: int, mean_ms: int, loss: float, shared_data: Path
):
    rng = Random(7)
    rows = [row for row in rows_of(shared_data / "ooo" / f"d-{number}.csv.gz") if rng.random() >= loss]
    found = order_rows(rows, SlackSettings("target"), progress=ProgressSettings(late_share=LATE_SHARE))
    bett = order_rows(rows, SlackSettings("bett"))
    assert found.order_late <= late
    assert found.latency_us.mean() / 1000 <= (mean_ms if not loss else bett.latency_us.mean() / 1000)
    assert np.percentile(found.latency_us, 99) <= 1.02 * np.percentile(bett.latency_us, 99)


def test_no_event_waits_longer_than_the_longest_wait(shared_data: Path):
    rows = rows_of(shared_data / "ooo" / "d-1.csv.gz")
    found = order_rows(rows, SlackSettings("target", target=ReleaseTarget(0.001, 300_000)))
    arrived_us = {(row.ts_us): row.arrival_us for row in rows}
    waited = [left - ts for left, ts in zip(found.left_us, found.ts_us, strict=True) if left > arrived_us[ts]]
    assert max(waited) <= 300_000


def steady_ms(rows: list[Row], times: list[tuple[int, int]]) -> float:
    """Mean latency of (left, ts) while every source is up: from the last one's first message to the first one's end."""
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for row in rows:
        first.setdefault(row.source, row.arrival_us)
        last[row.source] = max(last.get(row.source, 0), row.ts_us)
    begin_us, end_us = max(first.values()), min(last.values())
    return float(np.mean([left - ts for left, ts in times if begin_us <= ts <= end_us])) / 1000


def clairvoyant(rows: list[Row]) -> list[tuple[int, int]]:
    """(left, ts) if every event leaves as soon as all before it have come: nothing in order can be sooner."""
    latest_us, out = 0, []
    for row in sorted(rows, key=lambda row: row.ts_us):
        latest_us = max(latest_us, row.arrival_us)
        out.append((latest_us, row.ts_us))
    return out


@pytest.mark.parametrize("number", [1, *(pytest.param(number, marks=pytest.mark.slow) for number in (2, 3, 4)), 5])
def test_nothing_is_late_without_a_list_of_sources_near_the_bound(number: int, shared_data: Path):
    progress = ProgressSettings(discovery_us=12_500_000)
    result = ordered(shared_data, number, "progress", progress=progress)
    rows = rows_of(shared_data / "ooo" / f"d-{number}.csv.gz")
    steady = steady_ms(rows, list(zip(result.left_us, result.ts_us, strict=True)))
    assert result.order_late == 0
    assert steady <= 1.3 * steady_ms(rows, clairvoyant(rows))


@pytest.mark.parametrize("number", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_with_the_number_of_sources_nothing_is_late_and_the_start_is_cheap(number: int, shared_data: Path):
    sources = len({row.source for row in rows_of(shared_data / "ooo" / f"d-{number}.csv.gz")})
    progress = ProgressSettings(discovery_us=12_500_000, sources=sources)
    result = ordered(shared_data, number, "progress", progress=progress)
    assert result.order_late == 0
    assert result.latency_us.mean() / 1000 <= 230


@pytest.mark.parametrize("events", [2_500, pytest.param(8_400, marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", METHODS)
def test_every_event_leaves_once_whatever_the_policy(method: Method, events: int, shared_data: Path):
    rows = rows_of(shared_data / "ooo" / "d-5.csv.gz")[:events]
    result = order_rows(rows, SlackSettings(method, profile="literal"))
    assert sorted(result.ts_us) == sorted(row.ts_us for row in rows)
    assert result.out_of_order > 0
    assert len(result.k_us) == result.events == events
    assert (result.latency_us >= 0).all()


def plain(ts_ms: int, arrival_ms: int, source: str = "a", seq: int = 0) -> Row:
    return Row(arrival_ms * 1000, ts_ms * 1000, source, seq, None)


def test_time_goes_on_between_arrivals():
    result = order_rows([plain(0, 10), plain(5_000, 5_010, seq=1)], SlackSettings("sba"))
    assert result.left_us == [700_000, 5_700_000]


def test_what_is_due_leaves_before_what_arrives_at_the_same_instant():
    result = order_rows([plain(0, 10), plain(100, 700, seq=1)], SlackSettings("sba"))
    assert result.left_us == [700_000, 800_000]
    late = order_rows([plain(50, 60), plain(0, 750, "b")], SlackSettings("sba"))
    assert (late.order_late, late.timeout_late, late.ts_us) == (1, 1, [50_000, 0])


def test_an_event_that_was_overtaken_leaves_at_once_though_its_buffer_time_runs_on():
    """It raised B to 1300 ms itself; 001 would keep it until then, and reads B there."""
    result = order_rows([plain(50, 60), plain(0, 800, "b")], SlackSettings("bett"))
    assert (result.left_us, result.ts_us) == ([560_000, 800_000], [50_000, 0])
    assert result.k_us == [510_000, 1_300_000]


def test_equal_times_are_in_order():
    result = order_rows([plain(50, 60), plain(50, 900, "b")], SlackSettings("sba"))
    assert (result.out_of_order, result.order_late, result.timeout_late) == (0, 0, 1)


def test_alpha_is_the_share_that_is_waited():
    rows = [plain(0, 10), plain(5_000, 5_010, seq=1)]
    assert order_rows(rows, SlackSettings("sba"), alpha=0.5).left_us == [350_000, 5_350_000]
    assert order_rows(rows, SlackSettings("sba"), alpha=0.0).left_us == [10_000, 5_010_000]


def test_doubled_events_are_counted_and_have_one_effect():
    row = plain(0, 10)
    result = order_rows([row, row], SlackSettings("kslack"))
    assert (result.events, result.duplicates, len(result.ts_us)) == (1, 1, 1)


def test_k_slack_releases_what_waits_when_the_stream_is_over():
    result = order_rows([plain(0, 10), plain(20, 30, seq=1)], SlackSettings("fixed", 1_000_000))
    assert result.left_us == [30_000, 30_000]


def test_a_report_has_the_form_agreed_on(shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Of the first rows of a data set: how many there are does not change the form."""
    with gzip.open(shared_data / "ooo" / "d-5.csv.gz", "rb") as whole, gzip.open(tmp_path / "d-5.csv.gz", "wb") as part:
        part.writelines(islice(whole, 1000))
    given = {
        "method": "bett", "profile": "paper", "alpha": 1.0, "k": None, "lambda": 0.5, "patience": 7.0,
        "newcomers": 6.0, "sources": None, "late": 0.001, "wait": None,
    }  # fmt: skip
    run_order(tmp_path / "d-5.csv.gz", given, as_json=True)
    figures = json.loads(capsys.readouterr().out)
    assert list(figures) == [
        "dataset", "method", "profile", "events", "out_of_order", "order_late", "timeout_late", "latency_ms",
        "buffer_ms", "buffered_events",
    ]  # fmt: skip
    assert list(figures["latency_ms"]) == ["mean", "median", "p95", "p99", "max"]
    assert list(figures["buffer_ms"]) == ["min", "q1", "median", "mean", "q3", "max", "sd"]
    assert (figures["dataset"], figures["method"], figures["profile"]) == ("d-5", "bett", "paper")
    run_order(tmp_path / "d-5.csv.gz", {**given, "method": "all"}, as_json=False)
    table = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in table[-len(METHODS) :]] == list(METHODS)
    for name, value in (
        ("method", "best"),
        ("profile", "x"),
        ("alpha", 1.5),
        ("k", -1),
        ("newcomers", -1.0),
        ("late", 0.0),
        ("wait", -1),
    ):
        with pytest.raises(OrderError, match=f"--{name}"):
            run_order(tmp_path / "d-5.csv.gz", {**given, name: value}, as_json=True)
    with pytest.raises(OrderError, match="is called progress"):
        run_order(tmp_path / "d-5.csv.gz", {**given, "method": "frontier"}, as_json=True)
    with pytest.raises(TrackingError, match="no such file"):
        run_order(tmp_path / "nothing", given, as_json=True)


def test_a_capture_is_put_in_order_packet_by_packet(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """A player's packets are 100 ms late, the ball's 5 ms: all of the player's but the last are out of order."""
    sent = []
    for n in range(100):
        ts_us = (n * 10_000, n * 10_000 + 5_000)
        ball = Packet("ball", n, ts_us, (0.0, 0.0), (0.0, 0.0), (0.0, 0.0))
        player = Packet("home_1", n, tuple(t + 1_000 for t in ts_us), (1.0, 1.0), (0.0, 0.0), (0.0, 0.0))
        sent += [(ts_us[1] + 5_000, ball), (ts_us[1] + 100_000, player)]
    sent.sort(key=lambda pair: pair[0])
    with CaptureWriter(tmp_path / "capture", MatchSheet()) as writer:
        writer.extend(
            Block(now_us, tuple(p for t, p in sent if t == now_us)) for now_us in sorted({t for t, _ in sent})
        )
    given = {
        "profile": "literal", "alpha": 1.0, "k": None, "lambda": 0.5, "patience": 7.0, "newcomers": 0.0,
        "sources": None, "late": 0.001, "wait": None,
    }  # fmt: skip
    for method in ("progress", "kslack"):
        (figures,) = run_order(tmp_path / "capture", {**given, "method": method}, as_json=True)
        assert (figures["events"], figures["out_of_order"]) == (200, 99), "the last of the player is the newest of all"
        assert figures["latency_ms"]["mean"] < 150
        assert figures["order_late"] == 9, "those that came before the player was heard of, and no other"
    capsys.readouterr()


def test_several_kinds_are_one_stream():
    def event(kind: str, ts_us: int) -> Arrival:
        return Arrival(Event(kind, ts_us, kind, 0), ts_us)

    pushes = [(10, [event("x", 5)]), (20, [event(ROW, 1)])]
    result = order_blocks(
        pushes, SlackSettings("progress"), raw_kinds=(ROW, "x"), progress=ProgressSettings(discovery_us=0)
    )
    assert result.ts_us == [5, 1]
    assert result.order_late == 1
