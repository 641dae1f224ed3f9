"""Metrics, health and lag of a running match, and the server that answers with them."""

from __future__ import annotations

import shutil
import socket
import time
from pathlib import Path

import msgspec
import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from app.hub.client import HubClient
from app.hub.feed import MatchFeed
from app.hub.server import Hub
from app.operations.health import health_of, readiness_of
from app.operations.match_monitor import SILENCE_S, MatchMonitor, MonitoredCommitter
from app.operations.metrics import registry_of
from dashboard.live import Had, LiveState
from football.input_quality import InputQuality
from football.match_sheet import MatchSheet
from football.update_stream import EventRecord, Health, UpdateMessage, UpdateRecord, WatermarkHold
from replay.match_store import updates_table

HEALTH = Health(
    clk_us=0, frontier_us=0, slack_us={"near": 45_000, "pass": 912_000}, alpha={"near": 0.5}, buffered=14, held=7,
    late=3, retractions=5, lost=1, duplicates=9, quarantined=0, positions=1_000, packets=100, busy=0.25,
    failed={"shot": "KeyError: 'x'"}, faults={"near": 4}, differing_copies=2,
    lag_us={"pass": 182_000}, work_shares={"near": 0.6}, hold=WatermarkHold("source", "home_7", 800_000, 7_100_000),
)  # fmt: skip


class Clocks:
    """Both clocks, moved by hand. The wall began at 1,000 s."""

    def __init__(self) -> None:
        self.s = 0.0

    def now_s(self) -> float:
        return self.s

    def wall_us(self) -> int:
        return round((1_000 + self.s) * 1e6)


class Link:
    """A hub of which only the number of stages counts."""

    def __init__(self) -> None:
        self.count = 1

    def connected_stages(self) -> int:
        return self.count


class Case:
    """A match whose messages are written by hand."""

    def __init__(self, folder: Path, *, paced: bool = True, match: str = "m") -> None:
        self.clocks, self.link, self.folder = Clocks(), Link(), folder
        self.feed = MatchFeed(MatchSheet(match_id=match))
        self.monitor = MatchMonitor(
            self.feed, folder / "states", paced=paced, link=self.link, clock_s=self.clocks.now_s,
            wall_us=self.clocks.wall_us,
        )  # fmt: skip
        self.seq = 0

    def say(self, *diffs: int, epoch: int = 0, now_s: float | None = None, due_s: float | None = None, **more) -> None:
        """A message of the stage at ``now_s`` of the stream, whose block was due at ``due_s`` of the wall."""
        now_us = round((self.clocks.s if now_s is None else now_s) * 1e6)
        due_us = 0 if due_s is None else round((1_000 + due_s) * 1e6)
        updates = tuple(UpdateRecord(self.seq + i, diff, now_us, event("e")) for i, diff in enumerate(diffs))
        self.seq += len(diffs)
        self.feed.apply(
            UpdateMessage("m", epoch, now_us, now_us - 500_000, updates, due_wall_us=due_us, **more), due_us + 20_000
        )

    def metrics(self) -> dict[tuple[str, ...], float]:
        """Samples by name and labels."""
        text = generate_latest(registry_of([self.monitor], self.folder)).decode()
        return {
            (sample.name, *(value for name, value in sorted(sample.labels.items()) if name != "match")): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }


def event(name: str) -> EventRecord:
    return EventRecord(name, "hit", "", 5, 1, "home", "home_7", None, None, None, 1.0)


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path)


def test_a_match_is_starting_until_the_engine_speaks_then_live_then_ended(case: Case):
    case.clocks.s = 4
    assert health_of([case.monitor])[0] == 503
    assert "starting" in case.monitor.problems()[0]
    case.say(health=HEALTH)
    assert health_of([case.monitor]) == (200, {"status": "live", "reasons": [], "matches": {"m": "live"}})
    case.say(ended=True)
    case.clocks.s = 3_600
    case.link.count = 0
    status, body = health_of([case.monitor])
    assert (status, body["matches"]) == (200, {"m": "ended"})


def test_a_run_is_ready_once_every_engine_has_sent_a_message(case: Case, tmp_path: Path):
    other = Case(tmp_path, match="n")
    case.say()
    monitors = [case.monitor, other.monitor]
    reasons = ["n: the engine has sent no message yet"]
    matches = {"m": True, "n": False}
    assert readiness_of(monitors) == (503, {"status": "starting", "reasons": reasons, "matches": matches})
    other.say()
    matches = {"m": True, "n": True}
    assert readiness_of(monitors) == (200, {"status": "ready", "reasons": [], "matches": matches})


def test_a_run_without_a_match_is_not_ready():
    reasons = ["no match is registered yet"]
    assert readiness_of([]) == (503, {"status": "starting", "reasons": reasons, "matches": {}})


def test_silence_and_an_engine_that_is_not_connected_are_reported(case: Case):
    case.say()
    case.clocks.s = SILENCE_S
    assert case.monitor.problems() == []
    case.clocks.s = SILENCE_S + 2
    assert case.monitor.problems() == ["no data for 12 s"]
    case.link.count = 0
    assert case.monitor.problems() == ["the engine is restarting", "no data for 12 s"]
    case.link.count = 1
    case.say(epoch=1, continues_from=0)
    assert case.monitor.problems() == []
    assert case.monitor.restarts == 1


@pytest.mark.parametrize(("bad", "good", "is_storm"), [(40, 100, False), (60, 100, True), (60, 900, False)])
def test_a_storm_is_many_bad_records_and_a_great_share(case: Case, bad: int, good: int, is_storm: bool):
    case.say(health=HEALTH)
    case.clocks.s = 1
    case.say(health=msgspec.structs.replace(HEALTH, quarantined=bad, packets=100 + good))
    problem = f"quarantine storm: {bad} of {bad + good} records of the last 10 s were quarantined"
    assert case.monitor.problems() == ([problem] if is_storm else [])
    case.clocks.s = 9
    case.say()
    case.clocks.s = 12
    assert case.monitor.problems() == [], "it is over"


def test_a_store_that_fails_is_reported_until_a_commit_succeeds(case: Case):
    class Committer:
        def __init__(self) -> None:
            self.error: Exception | None = OSError(28, "No space left on device")

        def commit(self, match, start, tables, meta) -> None:
            if self.error:
                raise self.error

    inner = Committer()
    committer = MonitoredCommitter(inner, {"m": case.monitor})
    case.say()
    with pytest.raises(OSError, match="No space"):
        committer.commit("m", 0, {}, {})
    assert case.monitor.problems() == ["the store is failing: [Errno 28] No space left on device"]
    assert case.metrics()[("touchline_live",)] == 0
    inner.error = None
    (case.folder / "states" / "m").mkdir(parents=True)
    for offset, size in ((5, 10), (20, 1_000)):
        (case.folder / "states" / "m" / f"{offset}.0.state").write_bytes(b"x" * size)
    committer.commit("m", 0, {"updates": updates_table([UpdateRecord(0, 1, 5, event("e"))], 0)}, {})
    assert case.monitor.problems() == []
    samples = case.metrics()
    assert [samples[(f"touchline_{name}",)] for name in ("commits_total", "commit_failures_total", "state_bytes")] == [
        1, 1, 1_000,
    ]  # fmt: skip
    assert (samples[("touchline_committed_rows_total",)], samples[("touchline_commit_seconds_count",)]) == (1, 1)


def test_a_full_disk_is_reported_while_the_match_waits_for_it(case: Case, monkeypatch: pytest.MonkeyPatch):
    case.say()
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10, 10, 0))
    assert case.monitor.problems() == ["the store is failing: its disk is full"]
    case.say(ended=True)
    assert case.monitor.problems() == []


class Stuck:
    """A relay whose broker takes nothing."""

    passed_s = 0.0

    def waiting(self) -> int:
        return 7

    def waits_s(self) -> float:
        return self.passed_s


def test_a_broker_that_does_not_answer_is_reported_on_both_sides(case: Case):
    case.say()
    assert ("touchline_publish_waiting_records",) not in case.metrics()
    case.monitor.publisher = Stuck()
    assert case.monitor.problems() == []
    assert case.metrics()[("touchline_publish_waiting_records",)] == 7
    case.monitor.publisher.passed_s = 11.0
    assert case.monitor.problems() == ["the broker has acknowledged nothing for 11 s: 7 records wait"]
    case.monitor.source_trouble = "positions at 127.0.0.1:9092: no answer"
    assert case.monitor.problems()[0] == "the source cannot be read: positions at 127.0.0.1:9092: no answer"
    assert case.metrics()[("touchline_live",)] == 0
    case.monitor.source_trouble, case.monitor.publisher.passed_s = "", 0.0
    assert case.monitor.problems() == []


def test_a_store_that_is_gone_is_said_and_the_other_metrics_are_told(case: Case, monkeypatch: pytest.MonkeyPatch):
    def unreadable(path: object) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    case.say()
    monkeypatch.setattr(shutil, "disk_usage", unreadable)
    (problem,) = case.monitor.problems()
    assert problem.startswith("the store is failing")
    assert problem.endswith("No such file or directory")
    samples = case.metrics()
    assert samples[("touchline_live",)] == 0
    assert not [key for key in samples if key[0] == "touchline_store_free_bytes"]


def test_a_match_that_was_taken_out_is_troubled_and_others_are_not(case: Case, tmp_path: Path):
    other = Case(tmp_path, match="n")
    for one in (case, other):
        one.say(ended=True)
    case.monitor.exclusion = "state is missing"
    status, body = health_of([case.monitor, other.monitor])
    assert (status, body["reasons"]) == (503, ["m: broken: state is missing"])
    assert health_of([other.monitor])[0] == 200


def test_how_far_behind_grows_while_nothing_comes_and_is_not_told_where_nothing_is_live(case: Case, tmp_path: Path):
    assert case.monitor.behind_s() is None
    case.clocks.s = 10
    case.say(due_s=9.9)
    assert case.monitor.behind_s() == pytest.approx(0.1)
    case.clocks.s = 13
    assert case.monitor.behind_s() == pytest.approx(3.1)
    case.say(due_s=12.0)
    assert case.monitor.behind_s() == pytest.approx(1.0)
    case.say(ended=True)
    assert case.monitor.behind_s() is None
    unpaced = Case(tmp_path, paced=False)
    unpaced.say(due_s=1.0)
    assert unpaced.monitor.behind_s() is None
    assert ("touchline_source_lag_seconds",) not in unpaced.metrics()


def test_speed_is_that_of_the_last_ten_seconds(case: Case):
    for second in range(30):
        case.clocks.s = second
        case.say(now_s=second if second < 15 else 15 + (second - 15) * 2, health=HEALTH)
    assert case.monitor.speed() == pytest.approx(2.0)
    assert case.metrics()[("touchline_speed_ratio",)] == pytest.approx(2.0)


def test_every_counter_of_the_health_is_told_and_a_redone_batch_counts_once(case: Case):
    case.say(1, 1, -1, health=HEALTH, continues_from=0)
    samples = case.metrics()
    for name in (
        "positions",
        "packets",
        "late",
        "lost",
        "duplicates",
        "differing_copies",
        "quarantined",
        "retractions",
    ):
        assert samples[(f"touchline_{name}_total",)] == getattr(HEALTH, name)
    assert (samples[("touchline_updates_total", "assert")], samples[("touchline_updates_total", "withdraw")]) == (2, 1)
    assert samples[("touchline_slack_seconds", "pass")] == 0.912
    assert samples[("touchline_alpha_ratio", "near")] == 0.5
    assert samples[("touchline_unit_lag_seconds", "pass")] == 0.182
    assert samples[("touchline_unit_lag_seconds", "near")] == 0, "nothing waits in it"
    assert samples[("touchline_work_ratio", "near")] == 0.6
    assert samples[("touchline_frontier_hold_seconds", "source", "home_7")] == 0.8
    assert samples[("touchline_detector_faults_total", "near")] == 4
    assert samples[("touchline_detector_failed", "shot")] == 1
    assert (samples[("touchline_buffered_inputs",)], samples[("touchline_held_inputs",)]) == (14, 7)
    assert samples[("touchline_busy_ratio",)] == 0.25
    assert samples[("touchline_frontier_lag_seconds",)] == 0.5
    case.say(epoch=1, continues_from=1, health=msgspec.structs.replace(HEALTH, positions=600, packets=60))
    again = case.metrics()
    assert (again[("touchline_positions_total",)], again[("touchline_epoch",)]) == (1_000, 1)
    assert again[("touchline_restarts_total",)] == 1
    case.say(epoch=1, health=msgspec.structs.replace(HEALTH, positions=1_001))
    assert case.metrics()[("touchline_positions_total",)] == 1_001


def test_latency_is_a_histogram_by_stage(case: Case):
    for lag_us in (1_000, 3_000, 30_000):
        case.feed.apply(
            UpdateMessage("m", 0, 0, 0, due_wall_us=10_000, stage_wall_us=11_000, sent_wall_us=11_500), 10_000 + lag_us
        )
    samples = case.metrics()

    def below(stage: str, bound_s: float) -> float:
        return samples[("touchline_latency_seconds_bucket", str(bound_s), stage)]

    assert [below("total", bound_s) for bound_s in (0.00064, 0.00128, 0.00512, 0.04096)] == [0, 1, 2, 3]
    assert samples[("touchline_latency_seconds_count", "total")] == 3
    assert samples[("touchline_latency_seconds_sum", "total")] == pytest.approx(0.034)
    assert below("source", 0.00064) == 0
    assert below("source", 0.00128) == 3


def test_the_page_shows_the_state_of_the_input(case: Case):
    case.clocks.s = 1
    case.say(due_s=0.5)
    case.monitor.records_behind = 42
    state = LiveState(case.feed)
    state.step()
    strip = state.message(Had(), (), strip=True)[0].strip
    assert strip is not None
    assert dict(strip[0].rows) == {  # type: ignore[call-overload]
        "condition": "running", "behind": "0.50 s", "records behind": "42", "speed": "–", "engine restarts": "0",
    }  # fmt: skip
    assert case.metrics()[("touchline_source_lag_records",)] == 42


def test_figures_of_feeds_are_metrics_and_their_problems_reasons(case: Case):
    case.clocks.s = 1
    case.say(due_s=0.5)
    assert case.monitor.problems() == []
    case.monitor.feed_figures = {"radio": {"connected": 0.0, "latency_p95_seconds": 0.07}}
    case.monitor.feed_problems = ["radio: not connected: Connection refused"]
    assert case.monitor.problems() == ["feed radio: not connected: Connection refused"]
    samples = case.metrics()
    assert samples[("touchline_feed", "radio", "connected")] == 0.0
    assert samples[("touchline_feed", "radio", "latency_p95_seconds")] == 0.07


def test_a_hub_counts_the_stages_that_have_shown_its_token():
    with Hub([MatchSheet(match_id="m")]) as hub:
        client = HubClient(hub.address)
        client.send(UpdateMessage("m", 0, 1, 0, continues_from=0, ended=True))
        assert hub.feed("m").wait_ended(10)
        assert hub.connected_stages() == 1
        stranger = socket.socket(socket.AF_UNIX)
        stranger.connect(hub.address.path)
        assert hub.connected_stages() == 1
        stranger.close()
        client.close()
        until_s = time.monotonic() + 10
        while hub.connected_stages():  # the hub hears of it in its own thread
            assert time.monotonic() < until_s
            time.sleep(0.01)


def test_the_care_for_a_camera_is_a_metric_with_its_state_and_fault(case: Case):
    case.monitor.camera_cares = lambda: {"main": ("easing", "ball"), "tight": ("following", "")}
    found = {name: value for name, value in case.metrics().items() if name[0] == "touchline_camera_care"}
    assert found == {
        ("touchline_camera_care", "main", "ball", "easing"): 1,
        ("touchline_camera_care", "tight", "", "following"): 1,
    }


def test_a_finding_that_comes_and_goes_is_logged_once(case: Case, caplog: pytest.LogCaptureFixture) -> None:
    good = InputQuality(
        packets=30_000, positions=30_000, ball_hz=25.0, body_hz=25.0, ball_share=0.99, ball_height_share=0.9,
        ball_height_max_m=12.0, away_players=11, home_objects=11, away_objects=11, x_low_m=-46.0, x_high_m=47.0,
        y_low_m=-30.0, y_high_m=31.0, periods=((0.0, 200.0),),
    )  # fmt: skip
    for second, players in enumerate((11, 6, 11, 6)):
        quality = msgspec.structs.replace(good, span_s=200.0 + second, home_players=players)
        case.say(health=msgspec.structs.replace(HEALTH, quality=quality))
        assert [finding.code for finding in case.monitor.findings()] == ["players"] * (players < 7)
    assert [record.figures["code"] for record in caplog.records] == ["players"]  # type: ignore[attr-defined]
