"""A further kind of sink is one module and one line of the registry; this module is such a one."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from app.hub import sinks
from app.hub.feed import MatchFeed
from app.run.live import run_live
from app.settings.model import SettingsError
from app.settings.resolve import make_settings, resolve_settings
from app.sources import registry
from football.errors import UserError
from replay.match_store import updates_log
from tests.app.sources.test_further_source import KIND


class UpdateLines:
    """Appends committed updates to a file, one JSON array a line."""

    def __init__(self, path: Path, feed: MatchFeed) -> None:
        self._path, self._feed, self._cursor = path, feed, feed.update_count()
        feed.retain_from(lambda: self._cursor)

    def __enter__(self) -> Self:
        self._path.touch()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing waits: the commit of the last window has written all."""

    def committed(self, next_seq: int) -> None:
        end, updates = self._feed.events_since(self._cursor)
        ready = [update for update in updates if update.seq < next_seq]
        self._cursor = end - len(updates) + len(ready)
        with self._path.open("a", encoding="utf-8") as lines:
            lines.writelines(f"{json.dumps([u.seq, u.diff, u.event.id])}\n" for u in ready)

    def waiting(self) -> int:
        return 0

    def waits_s(self) -> float:
        return 0.0


class LinesSink:
    """``lines://FILE``."""

    def check(self, address: str) -> None:
        if not self._path(address).parent.is_dir():
            raise UserError("there is no folder for the file")

    def with_absolute_paths(self, address: str, folder: Path) -> str:
        return f"lines://{folder.resolve() / self._path(address)}"

    def open(self, address: str, feed: MatchFeed, folder: Path) -> UpdateLines:
        return UpdateLines(self._path(address), feed)

    def _path(self, address: str) -> Path:
        return Path(address.removeprefix("lines://"))


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sinks.SINKS, "lines", f"{__name__}:LinesSink")
    monkeypatch.setattr(registry, "SOURCES", [KIND, *registry.SOURCES])


def play(store: Path, publish: Path) -> dict[str, Any]:
    given = {
        "source": "rolling:12", "store": store, "engine": "inprocess", "speed": "max", "alpha": "0", "window_s": 1.0,
        "retraction": "on-demand", "dashboard": False, "camera": False, "metrics_port": 0,
        "publish": f"lines://{publish}",
    }  # fmt: skip
    return run_live(make_settings(given), as_json=True)


def test_a_further_sink_publishes_every_committed_update_once(tmp_path: Path):
    assert play(tmp_path / "store", tmp_path / "lines")["ended"]
    published = [json.loads(line) for line in (tmp_path / "lines").read_text().splitlines()]
    rows = updates_log(tmp_path / "store").to_pylist()
    assert len(rows) > 5
    assert published == [[row["seq"], row["diff"], row["id"]] for row in rows]
    play(tmp_path / "store", tmp_path / "lines")
    assert len((tmp_path / "lines").read_text().splitlines()) == len(rows), "a match that has ended is not sent again"


def test_the_kind_of_sink_checks_its_addresses_and_completes_their_paths(tmp_path: Path):
    (tmp_path / "touchline.toml").write_text('publish = "lines://out"\n')
    assert resolve_settings({}, {}, tmp_path).settings.publish == f"lines://{tmp_path / 'out'}"
    with pytest.raises(SettingsError, match="--publish: there is no folder for the file"):
        make_settings({"publish": f"lines://{tmp_path / 'absent' / 'out'}"})


@pytest.mark.parametrize("address", ["hush", "hush://h/t", "/hush"])
def test_an_address_of_no_kind_is_refused_and_not_repeated(address: str):
    with pytest.raises(SettingsError, match="--publish: must begin with kafka:// or lines://") as raised:
        make_settings({"publish": address})
    assert "hush" not in str(raised.value)
