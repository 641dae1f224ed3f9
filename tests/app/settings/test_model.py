from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.pipeline.options import options_of
from app.pipeline.pipeline import PipelineOptions
from app.settings.model import LiveSettings, SettingsError
from app.settings.parameters import ParametersError
from app.settings.resolve import make_settings
from detectors.parameters import Parameters
from football.match_sheet import MatchSheet
from replay.match_store import MatchStore, StoreError


def test_a_simulated_match_comes_by_radio_and_a_file_as_it_is():
    assert make_settings({}).channel == "rtls"
    assert make_settings({"source": "match.parquet"}).channel == "none"
    assert make_settings({"source": "match.parquet", "channel": "harsh"}).channel == "harsh"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"channel": "fog"}, "--channel fog"),
        ({"speed": "fast"}, "--speed fast: must be max, or a number above 0"),
        ({"alpha": 1.5}, "--alpha 1.5"),
        ({"alpha": float("nan")}, "--alpha nan"),
        ({"alpha": "soon"}, "--alpha soon: must be auto, or a number"),
        ({"retraction": "never"}, "--retraction never"),
        ({"allowed_lateness_s": 0.0}, "--allowed-lateness 0.0"),
        ({"engine": "flink"}, "--engine flink"),
        ({"duration_s": 0.0}, "--duration 0.0"),
        ({"duration_s": float("inf")}, "--duration inf"),
        ({"seed": -1}, "--seed -1"),
        ({"port": 70_000}, "--port 70000"),
        ({"pitch": "105 by 68"}, "--pitch 105 by 68: must be length x width"),
        ({"pitch": "68x105"}, "--pitch 68x105: must be 90 to 120"),
        ({"window_s": 0.0}, "--window 0.0"),
        ({"standby": True}, "--standby: needs --engine spark, and in --store the folder of a run that has begun"),
        ({"source": "a\0b"}, "--source: no file has a name with a NUL"),
    ],
)
def test_a_wrong_option_is_named_with_its_value(given, message):
    with pytest.raises(SettingsError) as raised:
        make_settings(given)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_window_is_wall_time_when_paced_and_stream_time_when_not():
    assert make_settings({"speed": "1"}).window_us == 30_000_000
    assert make_settings({"speed": "4"}).window_us == 120_000_000
    assert make_settings({"speed": "0.50"}).window_us == 15_000_000
    assert make_settings({"speed": 2.5}).pace == 2.5
    assert make_settings({"speed": "max"}).window_us == 60_000_000


def test_allowed_lateness_reaches_the_pipeline_and_belongs_to_the_match(tmp_path: Path):
    assert options_of(make_settings({})).allowed_lateness_ms == PipelineOptions().allowed_lateness_ms == 3_000
    chosen = make_settings({"store": tmp_path, "allowed_lateness_s": 5.5})
    assert options_of(chosen).allowed_lateness_ms == 5_500
    write_kept(chosen, tmp_path)
    assert make_settings({"store": tmp_path}).allowed_lateness_s == 5.5
    with pytest.raises(SettingsError, match=r"--allowed-lateness 3\.0 contradicts"):
        make_settings({"store": tmp_path, "allowed_lateness_s": 3.0})


def test_alpha_and_retraction_may_be_left_to_the_engine(tmp_path: Path):
    adaptive = make_settings({"store": tmp_path, "alpha": "auto", "retraction": "auto", "speed": "4"})
    assert (adaptive.alpha, adaptive.retraction, adaptive.available) == ("auto", "auto", 0.25)
    write_kept(adaptive, tmp_path)
    assert make_settings({"store": tmp_path, "alpha": "auto"}).alpha == "auto"
    with pytest.raises(SettingsError, match=r"--alpha 0\.5 contradicts"):
        make_settings({"store": tmp_path, "alpha": "0.5"})


def test_a_number_is_the_same_however_it_was_written(tmp_path: Path):
    write_kept(make_settings({"store": tmp_path, "alpha": 0.5}), tmp_path)
    assert make_settings({"store": tmp_path, "alpha": "0.50"}).alpha == 0.5


def test_where_nothing_is_waited_for_the_engine_has_as_long_as_the_stream_lasts():
    assert make_settings({"speed": "max"}).available == make_settings({"speed": "1"}).available == 1.0


def test_a_camera_runs_where_time_does():
    assert make_settings({}).has_camera
    assert not make_settings({"speed": "max"}).has_camera
    assert make_settings({"speed": "max", "camera": True}).has_camera


def write_kept(settings: LiveSettings, folder: Path) -> None:
    MatchStore.create(folder, MatchSheet(), {"settings": settings.stored_options()})


def test_a_run_is_gone_on_with_as_it_was_begun(tmp_path: Path):
    begun = make_settings({"store": tmp_path, "seed": 5, "alpha": 0.5, "duration_s": 30.0, "speed": "max"})
    write_kept(begun, tmp_path)
    again = make_settings({"store": tmp_path})
    assert again.stored_options() == begun.stored_options()
    assert again.speed == "1", "pace is not part of what a match is"


@pytest.mark.parametrize("damage", [{"source": None}, {"detectors": None}, {"detectors": [3]}])
def test_a_stored_run_with_a_setting_that_is_none_is_refused(tmp_path: Path, damage: dict):
    MatchStore.create(tmp_path, MatchSheet(), {"settings": damage})
    with pytest.raises((SettingsError, StoreError), match=next(iter(damage))):
        make_settings({"store": str(tmp_path)})


def test_a_contradiction_to_the_stored_run_is_refused(tmp_path: Path):
    write_kept(make_settings({"store": tmp_path, "seed": 5}), tmp_path)
    with pytest.raises(SettingsError, match=r"--seed 6 contradicts the run in .* which has 5"):
        make_settings({"store": tmp_path, "seed": 6})
    assert make_settings({"store": tmp_path, "seed": 5}).seed == 5


def parameters_file(folder: Path, text: str) -> Path:
    file = folder / "p.toml"
    file.write_text(text)
    return file


def test_parameters_are_kept_in_full_with_the_match(tmp_path: Path):
    file = parameters_file(tmp_path, "[near]\nenter_m = 0.9\n")
    store = tmp_path / "store"
    begun = make_settings({"store": store, "parameters": file, "detectors": "heat_map, running_intensity"})
    write_kept(begun, store)
    run = json.loads((store / "run.json").read_text())["settings"]
    assert (run["parameters"]["near"]["enter_m"], run["parameters"]["hit"]["far_m"]) == (0.9, Parameters().hit.far_m)
    assert run["detectors"] == ["heat_map", "running_intensity"]
    again = make_settings({"store": store})
    assert again.parameters == begun.parameters != Parameters()
    assert again.detectors == ("heat_map", "running_intensity")
    assert make_settings({"store": store, "parameters": file, "detectors": "running_intensity,heat_map"}) == begun


def test_other_parameters_than_the_runs_are_refused_by_name(tmp_path: Path):
    store = tmp_path / "store"
    write_kept(make_settings({"store": store}), store)
    for text, message in (
        ("[near]\nenter_m = 0.9\n", r"p\.toml contradicts the run in .*: near\.enter_m = 0\.9, not 1\.0; leave it out"),
        ("[phase.stall]\nslow_m_s = 3.25\n", r"phase\.stall\.slow_m_s = 3\.25, not "),
    ):
        with pytest.raises(SettingsError, match=message):
            make_settings({"store": store, "parameters": parameters_file(tmp_path, text)})
    same = parameters_file(tmp_path, "[near]\nenter_m = 1.0\n")
    assert make_settings({"store": store, "parameters": same}).parameters == Parameters()
    with pytest.raises(SettingsError, match=r"--detectors heat_map contradicts the run in .*, which has none"):
        make_settings({"store": store, "detectors": "heat_map"})


def test_a_wrong_settings_file_or_detector_is_named(tmp_path: Path):
    with pytest.raises(ParametersError, match=r"near\.enter_m = 200\.0 is out of range"):
        make_settings({"parameters": parameters_file(tmp_path, "[near]\nenter_m = 200.0\n")})
    with pytest.raises(ParametersError, match=r"no parameter near\.entr_m"):
        make_settings({"parameters": parameters_file(tmp_path, "[near]\nentr_m = 1.0\n")})
    with pytest.raises(SettingsError, match=r"there is no opt-in detector 'heatmap'; there are .*heat_map"):
        make_settings({"detectors": "heatmap"})


def test_a_store_from_before_parameters_were_kept_has_the_defaults(tmp_path: Path):
    old = {k: v for k, v in make_settings({}).stored_options().items() if k not in ("parameters", "detectors")}
    MatchStore.create(tmp_path / "store", MatchSheet(), {"settings": old})
    assert make_settings({"store": tmp_path / "store"}).parameters == Parameters()
    file = parameters_file(tmp_path, "[near]\nenter_m = 0.9\n")
    with pytest.raises(SettingsError, match=r"near\.enter_m = 0\.9, not 1\.0"):
        make_settings({"store": tmp_path / "store", "parameters": file})


def test_parameters_that_are_no_more_are_named(tmp_path: Path):
    kept = make_settings({}).stored_options()
    kept["parameters"]["near"]["leap_m"] = 1.0
    MatchStore.create(tmp_path / "store", MatchSheet(), {"settings": kept})
    with pytest.raises(ParametersError, match=r"run\.json: no parameter near\.leap_m"):
        make_settings({"store": tmp_path / "store"})


def test_paths_are_kept_in_full(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert make_settings({"source": "match.parquet"}).source == str(tmp_path / "match.parquet")
    assert make_settings({"source": "kloppy:tracab:a:b"}).source == "kloppy:tracab:a:b"
    assert make_settings({"sheet": Path("m.json")}).sheet == tmp_path / "m.json"
