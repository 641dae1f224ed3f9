"""``touchline gateway`` as a user runs it: a check of a sample, the list of profiles, wrong options."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli.gateway import app as gateway
from app.cli.publish import app as publish
from app.gateway.address import FeedError
from app.settings.model import SettingsError
from app.settings.resolve import make_settings
from football.match_sheet import MatchSheet
from football.packets import Block, Packet
from replay.capture import CaptureWriter

SAMPLE = b"""5,home_7,1,2,0.5
6,home_7,1,nowhere,0.5
# a comment
7,home_7
"""


def test_a_check_shows_values_positions_and_reasons(tmp_path: Path):
    (tmp_path / "sample.csv").write_bytes(SAMPLE)
    done = CliRunner().invoke(gateway, ["check", "csv-lines", str(tmp_path / "sample.csv")])
    assert done.exit_code == 0, done.output
    assert "message 1: id 'home_7', time '5', x '1', y '2', z '0.5'" in done.stdout
    assert "-> home_7 at (1.000, 2.000, 0.500) m, 0.000005 s" in done.stdout
    assert "-> refused: y 'nowhere': no number" in done.stdout
    assert "refused: 1 x 2 columns; the profile has 5" in done.stdout


def test_a_check_as_json_and_one_without_a_position_ends_with_1(tmp_path: Path):
    (tmp_path / "sample.csv").write_bytes(SAMPLE.splitlines()[1])
    done = CliRunner().invoke(gateway, ["check", "csv-lines", str(tmp_path / "sample.csv"), "--json"])
    assert done.exit_code == 1
    result = json.loads(done.stdout)
    assert result["measurements"] == 0
    assert result["records"][0]["reason"] == "y 'nowhere': no number"


def test_the_profiles_of_the_package_are_listed_with_their_documents():
    done = CliRunner().invoke(gateway, ["profiles", "--json"])
    found = json.loads(done.stdout)
    assert "docs.pozyx.io" in found["pozyx-mqtt"]["documents"]


def test_wrong_options_name_what_is_missing(tmp_path: Path):
    for arguments, reason in (
        ([], "--from and --to"),
        (["--from", "udp://127.0.0.1:1", "--to", str(tmp_path / "c")], "no profile"),
        (["--from", "ftp://x", "--to", "c"], "must begin with one of"),
    ):
        done = CliRunner().invoke(gateway, arguments)
        assert isinstance(done.exception, FeedError)
        assert reason in str(done.exception)
    done = CliRunner().invoke(publish, ["a", "--as", "json-lines"])
    assert isinstance(done.exception, SettingsError)
    assert "--to" in str(done.exception)


def test_the_table_of_tags_alone_and_one_that_is_missing(tmp_path: Path):
    with CaptureWriter(tmp_path / "c", MatchSheet()) as writer:
        writer.extend([Block(1_000, (Packet("home_7", 1, (900,), (0.0,), (0.0,), (0.0,)),))])
    done = CliRunner().invoke(
        publish, [str(tmp_path / "c"), "--as", "pozyx-mqtt", "--tags", str(tmp_path / "tags.csv")]
    )
    assert done.exit_code == 0, done.output
    assert "home_7" in (tmp_path / "tags.csv").read_text()
    source = f"gateway:udp://127.0.0.1:1?profile=pozyx-mqtt&tags={tmp_path}/none.csv"
    with pytest.raises(SettingsError, match=r"none\.csv: No such file"):
        make_settings({"source": source})
