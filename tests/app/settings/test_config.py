"""Settings by file, environment and flags, and the command that shows them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from app.cli.main import app, main
from app.kafka.address import parse
from app.settings.layers import LayerError
from app.settings.model import SETTING_NAMES, SettingsError
from app.settings.parameters import ParametersError
from app.settings.resolve import make_settings, resolve_settings
from football.match_sheet import MatchSheet
from replay.match_store import MatchStore

SECRET = "correct-horse-battery"


def config_file(folder: Path, text: str, name: str = "touchline.toml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(text)
    return file


def test_the_key_of_stored_states_is_no_setting_and_no_fault(tmp_path: Path):
    settled = resolve_settings({}, {"TOUCHLINE_STATE_KEY": "ab" * 16, "HOME": "/"}, tmp_path)
    assert "ab" * 16 not in repr(settled)
    with pytest.raises(LayerError, match="TOUCHLINE_STATE_KEYS: there is no such setting"):
        resolve_settings({}, {"TOUCHLINE_STATE_KEYS": "1", "HOME": "/"}, tmp_path)


def test_flags_go_before_the_environment_before_the_file_before_defaults(tmp_path: Path):
    config_file(tmp_path, "seed = 1\nwindow = 5\nalpha = 0.5\n")
    environ = {"TOUCHLINE_SEED": "2", "TOUCHLINE_WINDOW": "6", "HOME": "/"}
    settled = resolve_settings({"seed": 3, "pitch": None}, environ, tmp_path)
    found = settled.settings
    assert (found.seed, found.window_s, found.alpha, found.pitch) == (3, 6.0, 0.5, "105x68")
    shown = {name: settled.origin[name].called(name) for name in ("seed", "window", "alpha")}
    assert shown == {"seed": "--seed", "window": "TOUCHLINE_WINDOW", "alpha": "touchline.toml: alpha"}
    assert "pitch" not in settled.origin


@given(st.sets(st.sampled_from(["file", "environment", "flag"])), st.sampled_from(["seed", "port", "window"]))
def test_the_highest_place_that_says_something_wins(tmp_path_factory, places: set[str], name: str):
    folder = tmp_path_factory.mktemp("c")
    values = {"file": 11, "environment": 12, "flag": 13}
    if "file" in places:
        config_file(folder, f"{name} = 11\n")
    environ = {f"TOUCHLINE_{name.upper()}": "12"} if "environment" in places else {}
    settled = resolve_settings({name: 13 if "flag" in places else None}, environ, folder)
    highest = next((place for place in ("flag", "environment", "file") if place in places), None)
    expected = values[highest] if highest else getattr(make_settings({}), SETTING_NAMES[name])
    assert getattr(settled.settings, SETTING_NAMES[name]) == expected
    assert (settled.origin[name].kind if name in settled.origin else None) == highest


def test_every_flag_of_live_is_a_setting_of_the_same_name():
    from typer.main import get_command

    flags = {parameter.name for parameter in get_command(app).commands["live"].load().params}  # type: ignore[attr-defined]
    assert flags - {"config", "matches", "verbose", "as_json", "help"} == set(SETTING_NAMES) - {"token"}, (
        "a token is never a flag"
    )


def test_a_file_is_named_by_flag_or_environment_and_its_paths_count_from_it(tmp_path: Path):
    named = config_file(tmp_path / "there", 'source = "match.parquet"\nsheet = "m.json"\n', "a.toml")
    other = config_file(tmp_path, "seed = 4\n", "b.toml")
    environ = {"TOUCHLINE_CONFIG": str(named), "TOUCHLINE_STORE": "here"}
    found = resolve_settings({}, environ, tmp_path).settings
    assert (found.source, found.sheet) == (str(tmp_path / "there/match.parquet"), tmp_path / "there/m.json")
    assert found.store == Path("here").resolve()
    assert resolve_settings({"config": other}, environ, tmp_path).settings.seed == 4
    assert resolve_settings({"config": other}, environ, tmp_path).settings.source == "sim"


def test_an_address_names_its_settings_file_in_full(tmp_path: Path):
    config_file(tmp_path, 'source = "kafka://h:1/t?match=a&settings=k.toml"\n')
    found = resolve_settings({"publish": "kafka://h:1/u?settings=/etc/k.toml"}, {}, tmp_path).settings
    address = parse(found.source)
    assert (address.settings, address.match, address.topic) == (str(tmp_path / "k.toml"), "a", "t")
    assert found.publish == "kafka://h:1/u?settings=/etc/k.toml"


@pytest.mark.parametrize(
    ("text", "environ", "flags", "message"),
    [
        ("sed = 1", {}, {}, "touchline.toml: there is no setting 'sed' (is seed meant?)"),
        ("seed = -1", {}, {}, "touchline.toml: seed -1: Input should be greater than or equal to 0"),
        ("seed = true", {}, {}, "touchline.toml: seed True: must be a number"),
        ("seed = 1979-05-27", {}, {}, "touchline.toml: seed: must be text, a number"),
        ("[near]\nenter_m = 1.0", {}, {}, "touchline.toml: there is no setting 'near'"),
        ("seed =", {}, {}, "touchline.toml: is not TOML"),
        ("source = 5", {}, {}, "touchline.toml: source = 5: must be text"),
        ("speed = -3", {}, {}, "touchline.toml: speed -3: must be max, or a number above 0"),
        ("duration = 5", {}, {"endless": True}, "--endless needs the source sim, and no touchline.toml: duration"),
        ("", {"TOUCHLINE_SED": "1"}, {}, "TOUCHLINE_SED: there is no such setting (is TOUCHLINE_SEED meant?)"),
        ("", {"TOUCHLINE_PORT": "70000"}, {}, "TOUCHLINE_PORT=70000: Input should be less than or equal to 65535"),
        ("", {"TOUCHLINE_RATE": "33"}, {}, "TOUCHLINE_RATE=33: rate '33' is neither of"),
        ("", {"TOUCHLINE_CONFIG": "no.toml"}, {}, "TOUCHLINE_CONFIG=no.toml: no such file"),
        ("", {"TOUCHLINE_PARAMETERS": "/no.toml"}, {}, "TOUCHLINE_PARAMETERS /no.toml: no such file"),
        ("", {}, {"config": Path("no.toml")}, "--config no.toml: no such file"),
        (
            "",
            {"TOUCHLINE_HOST": "0.0.0.0"},
            {},
            "TOUCHLINE_HOST 0.0.0.0: other machines reach it",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place_in_one_line(tmp_path: Path, text, environ, flags, message):
    if text:
        config_file(tmp_path, text)
    with pytest.raises((LayerError, SettingsError, ParametersError)) as raised:
        resolve_settings(flags, environ, tmp_path)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "environ"),
    [
        ('token = "hush"', {}),
        ("", {"TOUCHLINE_TOKEN": "hush"}),
        ('publish = "kafka://u:hush@h/t"', {}),
        ("", {"TOUCHLINE_SOURCE": "kafka://u:hush@h:9092/t"}),
    ],
)
def test_an_error_repeats_no_secret(tmp_path: Path, text, environ):
    if text:
        config_file(tmp_path, text)
    with pytest.raises(SettingsError) as raised:
        resolve_settings({}, environ, tmp_path)
    assert "hush" not in str(raised.value)
    assert "touchline.toml" in str(raised.value) or "TOUCHLINE_" in str(raised.value)


def test_beyond_loopback_a_token_is_demanded_and_is_not_kept_with_the_match(tmp_path: Path):
    found = resolve_settings({"host": "0.0.0.0"}, {"TOUCHLINE_TOKEN": SECRET}, tmp_path).settings
    assert found.token.get_secret_value() == SECRET
    assert SECRET not in repr(found)
    assert SECRET not in json.dumps(found.stored_options())
    for name in ("127.0.0.1", "localhost", "::1"):
        assert make_settings({"host": name}).host == name


def test_a_store_goes_before_file_and_environment_and_a_flag_must_agree(tmp_path: Path):
    begun = make_settings({"seed": 5, "alpha": 0.5})
    MatchStore.create(tmp_path / "store", MatchSheet(), {"settings": begun.stored_options()})
    config_file(tmp_path, "seed = 6\nport = 8123\n")
    settled = resolve_settings({"store": tmp_path / "store"}, {"TOUCHLINE_ALPHA": "1"}, tmp_path)
    assert (settled.settings.seed, settled.settings.alpha, settled.settings.port) == (5, 0.5, 8123)
    assert {settled.origin[name].kind for name in ("seed", "alpha")} == {"store"}
    with pytest.raises(SettingsError, match=r"--seed 6 contradicts .*choose another --store"):
        resolve_settings({"store": tmp_path / "store", "seed": 6}, {}, tmp_path)


def test_the_command_shows_values_places_and_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    kafka = config_file(tmp_path, f'sasl_mechanism = "PLAIN"\nsasl_plain_password = "{SECRET}"\n', "kafka.toml")
    config_file(tmp_path, f'token = "{SECRET}"\nseed = 7\nparameters = "p.toml"\n')
    config_file(tmp_path, "[near]\nenter_m = 0.9\n", "p.toml")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOUCHLINE_WINDOW", "9")
    monkeypatch.setenv("TOUCHLINE_KAFKA_SETTINGS", str(kafka))
    arguments = ["config", "--publish", "kafka://h:1/t", "--no-dashboard"]
    done = CliRunner().invoke(app, [*arguments, "--json"])
    assert done.exit_code == 0, done.output
    shown = json.loads(done.stdout)
    assert shown["seed"] == {"value": 7, "origin": "file", "where": "touchline.toml: seed"}
    assert shown["window"] == {"value": 9.0, "origin": "environment", "where": "TOUCHLINE_WINDOW"}
    assert shown["dashboard"] == {"value": False, "origin": "flag", "where": "--dashboard"}
    assert shown["port"] == {"value": 8050, "origin": "default", "where": ""}
    assert shown["parameters"]["value"] == {"near.enter_m": 0.9}
    assert shown["token"]["value"] == shown["kafka.sasl_plain_password"]["value"] == "********"
    assert shown["kafka.sasl_mechanism"]["value"] == "PLAIN"
    for_people = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"}).output
    assert "TOUCHLINE_WINDOW" in for_people
    assert SECRET not in done.output + for_people


def test_the_command_refuses_what_live_would_refuse(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for arguments, message in ((["--tempo", "3"], "--tempo"), (["--alpha", "3"], "--alpha 3")):
        monkeypatch.setattr("sys.argv", ["touchline", "config", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr().err
        assert ended.value.code == 2
        assert message in shown
        assert shown.count("\n") == 1
    assert os.listdir(tmp_path) == []
