"""All options of a live run, validated once, and what of them a store must keep to go on later."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_serializer,
    field_validator,
    model_validator,
)

from app.kafka.address import KafkaError, is_kafka, parse
from app.settings.layers import Layer, chosen_file, environment_layer, file_layer, flag, name_origins
from app.settings.parameters import ParametersError, load_parameters, parameters_from
from app.sources.captures import SIM, default_channel, is_capture
from detectors.catalogue import OPT_IN
from detectors.parameters import Parameters, all_parameters
from football.errors import UserError
from middleware.ordering.retraction import Retraction
from replay.capture import Capture
from replay.match_store import StoreError, is_store, read_run
from simulator.settings import DEFAULT_SEED, SimulatorError, rates_named

Channel = Literal["none", "rtls", "wifi", "harsh"]
Speed = Literal["1", "4", "max"]

#: Arrival time between commits when nothing is waited for: long enough that Spark's turn-around does not count.
_UNPACED_WINDOW_S = 60.0

#: A token that others could try out is none.
_TOKEN_LEAST = 12


class SettingsError(UserError, ValueError):
    """An option that cannot be; the message names it and says what it may be."""


class LiveSettings(BaseModel):
    """Options of ``touchline live``.

    The first group says what the match is and what is made of it: a store belongs to one such choice, and a run
    that goes on in it must make the same one. The second group may differ from run to run.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    source: str = SIM
    channel: Channel = "none"
    rate: str = ""
    endless: bool = False
    seed: int = Field(default=DEFAULT_SEED, ge=0)
    duration_s: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    pitch: str = "105x68"
    sheet: Path | None = None
    alpha: float | Literal["auto"] = "auto"
    retraction: Retraction = "auto"
    engine: Literal["spark", "inprocess"] = "spark"
    parameters: Parameters = Parameters()
    detectors: tuple[str, ...] = ()
    official: Path | None = None

    speed: Speed = "1"
    store: Path | None = None
    dashboard: bool = True
    port: int = Field(default=8050, ge=0, le=65535)
    camera: bool | None = None
    window_s: float = Field(default=30.0, ge=1, le=120)
    publish: str = ""
    host: str = "127.0.0.1"
    token: SecretStr = SecretStr("")
    metrics_port: int | None = Field(default=None, ge=0, le=65535)
    logs: Literal["files", "stderr", "off"] = "files"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    seats: int = Field(default=0, ge=0)
    master: str = ""
    standby: bool = False

    @model_validator(mode="before")
    @classmethod
    def _default_channel(cls, values: dict[str, Any]) -> dict[str, Any]:
        """A simulated match comes by radio unless said otherwise, a file as it is, a capture as it came."""
        source = values.get("source", SIM)
        if not isinstance(source, str):
            return values  # of a damaged store: refused by its type
        if is_kafka(source):
            return _of_a_topic(source, values)
        if is_capture(source):
            came = Capture.open(source).channel
            if values.get("channel") not in (None, came):
                raise ValueError(f"--channel {values['channel']}: the capture has come through channel {came}")
            return {**values, "channel": came}
        if values.get("channel") is None:
            values = {**values, "channel": default_channel(source, values.get("rate", ""))}
        return values

    @field_validator("seed", "duration_s", "port", "window_s", "metrics_port", "seats", "alpha", mode="before")
    @classmethod
    def _number_is_no_truth(cls, value: Any) -> Any:
        if isinstance(value, bool):
            raise ValueError("must be a number")
        return value

    @field_validator("speed", mode="before")
    @classmethod
    def _speed_may_be_a_number(cls, value: Any) -> Any:
        """A settings file has numbers."""
        return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else value

    @field_validator("rate")
    @classmethod
    def _rate_is_known(cls, value: str) -> str:
        if value:
            try:
                rates_named(value)
            except SimulatorError as error:
                raise ValueError(str(error)) from None
        return value

    @field_validator("token")
    @classmethod
    def _token_is_no_guess(cls, value: SecretStr) -> SecretStr:
        if 0 < len(value.get_secret_value()) < _TOKEN_LEAST:
            raise ValueError(f"must have {_TOKEN_LEAST} characters or more")
        return value

    @model_validator(mode="after")
    def _open_to_others_with_a_token_only(self) -> LiveSettings:
        from dashboard.access import is_loopback  # brings a web framework

        if not is_loopback(self.host) and not self.token.get_secret_value():
            raise ValueError(
                f"--host {self.host}: others could look; a token is demanded: TOUCHLINE_TOKEN, or token in a settings "
                "file (never an option, since processes are listed with theirs)"
            )
        return self

    @model_validator(mode="after")
    def _fits_the_source(self) -> LiveSettings:
        """What a source leaves open may be chosen, nothing else."""
        if self.endless and (self.source != SIM or self.duration_s is not None):
            raise ValueError("--endless is for sim, and without --duration")
        if self.official is not None and is_kafka(self.source):
            raise ValueError("--official is for captures and files; a match out of a topic takes no lines of officials")
        if self.official is not None and self.official.is_dir():
            raise ValueError(f"--official {self.official}: is a folder; name a file of JSON lines")
        if is_capture(self.source) and (self.rate or self.duration_s is not None):
            raise ValueError("a capture is played as it is: without --rate and --duration")
        return self

    @model_validator(mode="after")
    def _stands_by_for_a_run(self) -> LiveSettings:
        if self.standby and (self.engine != "spark" or self.store is None or not is_store(self.store)):
            raise ValueError("--standby: is for a run through Spark that has begun; name its folder with --store")
        return self

    @field_validator("alpha", mode="before")
    @classmethod
    def _alpha_is_a_share(cls, value: Any) -> Any:
        if value == "auto":
            return value
        try:
            share = float(value)
        except (TypeError, ValueError):
            share = math.nan
        if not 0 <= share <= 1:
            raise ValueError("must be auto, or a number from 0 (speaks at once) to 1 (never takes back)")
        return share

    @field_validator("detectors", mode="before")
    @classmethod
    def _detectors_can_be_asked_for(cls, value: Any) -> Any:
        """Names with commas between them, or a list."""
        for name in (names := _names(value)):
            if name not in OPT_IN:
                raise ValueError(f"no detector {name!r} can be asked for; these can: {', '.join(OPT_IN)}")
        return names

    @field_serializer("parameters")
    def _parameters_in_full(self, value: Parameters) -> Any:
        """With every default, so that a match keeps the numbers it was made with."""
        return msgspec.to_builtins(value)

    @field_validator("pitch")
    @classmethod
    def _pitch_has_two_sides(cls, value: str) -> str:
        found = re.fullmatch(r"(\d+(?:\.\d+)?)x(\d+(?:\.\d+)?)", value)
        if found is None:
            raise ValueError("must be length x width in metres, like 105x68")
        length_m, width_m = float(found[1]), float(found[2])
        if not (90 <= length_m <= 120 and 45 <= width_m <= 90 and length_m > width_m):
            raise ValueError("must be 90 to 120 metres long and 45 to 90 wide, the length being more (Law 1)")
        return value

    @property
    def pitch_m(self) -> tuple[float, float]:
        """Length and width of the pitch in metres."""
        length_m, width_m = self.pitch.split("x")
        return float(length_m), float(width_m)

    @property
    def pace(self) -> float:
        """Stream seconds in a wall second; 0 is as fast as it goes."""
        return 0.0 if self.speed == "max" else float(self.speed)

    @property
    def available(self) -> float:
        """Wall seconds that there are for a second of the stream; one where nothing is waited for."""
        return 1 / self.pace if self.pace else 1.0

    @property
    def has_camera(self) -> bool:
        """Whether a camera runs: unless said otherwise where the match is paced, since a head moves in real time."""
        return self.pace > 0 if self.camera is None else self.camera

    @property
    def window_us(self) -> int:
        """Arrival time between two commits."""
        return round((self.window_s * self.pace or _UNPACED_WINDOW_S) * 1e6)

    def kept(self) -> dict[str, Any]:
        """The first group of options, as a store keeps it."""
        names = (
            "source", "channel", "rate", "endless", "seed", "duration_s", "pitch", "sheet", "alpha", "retraction",
            "engine", "parameters", "detectors", "official",
        )  # fmt: skip
        return self.model_dump(mode="json", include=set(names))


def _of_a_topic(source: str, values: dict[str, Any]) -> dict[str, Any]:
    """What comes out of a topic comes as it does."""
    parse(source)
    for name in ("channel", "rate", "duration_s", "sheet", "endless"):
        if values.get(name) not in (None, "", False, "none"):
            raise ValueError(f"--{name.removesuffix('_s')}: a topic is taken as it comes, and says itself who plays")
    if values.get("engine", "spark") != "spark":
        raise ValueError(f"--engine {values['engine']}: a topic is read through Spark")
    if values.get("speed", "1") != "1":
        raise ValueError(f"--speed {values['speed']}: a topic comes at its own speed")
    return {**values, "channel": "none"}


def _name(field: str) -> str:
    """What people call a field: units stand in the help."""
    return field.removesuffix("_s")


#: Name of each setting, as people know it, and its field.
SETTING_NAMES: Mapping[str, str] = {_name(field): field for field in LiveSettings.model_fields}

#: Settings that are shown to nobody, and can't be given where processes are listed.
SECRET = frozenset(("token",))

#: Settings that are places: files, folders, addresses.
_PLACES = frozenset(("source", "sheet", "store", "official", "parameters", "publish"))


@dataclass(frozen=True)
class ResolvedSettings:
    """Settings, and which place each comes from; by name. What stands in none is a default."""

    settings: LiveSettings
    origin: Mapping[str, Layer]


def make_settings(given: dict[str, Any]) -> LiveSettings:
    """Settings from the options that were given (None: not given), completed by those kept in the store.

    ``parameters`` is the path of a settings file of the detectors.

    Raises:
        SettingsError: an option is wrong, or contradicts the store that the run shall go on in.
        ParametersError: the settings file, or what the store keeps of one, cannot be used.
    """
    flags = {_name(field): value for field, value in given.items() if value is not None}
    return _settle([Layer("flag", "", flags)]).settings


def resolve_settings(flags: Mapping[str, Any], environ: Mapping[str, str], folder: Path) -> ResolvedSettings:
    """Settings of a run: flags, above the environment, above a settings file, above the defaults.

    What a store keeps of the run that shall go on in it stands above environment and file: those are wishes for runs to
    come, and what a match is made of has been chosen. A flag that contradicts it is refused.

    Args:
        flags: by name, None where not given; ``config`` names the file.
        environ: variables.
        folder: working folder.

    Raises:
        SettingsError, ParametersError: as :func:`make_settings`.
        LayerError: a key or a variable is none, or the file cannot be read.
    """
    told = {name: value for name, value in flags.items() if value is not None and name in SETTING_NAMES}
    layers = []
    if (found := chosen_file(flags.get("config"), environ, folder)) is not None:
        layers.append(file_layer(*found, SETTING_NAMES))
    layers.append(environment_layer(environ, SETTING_NAMES))
    return _settle([*layers, Layer("flag", "", told)])


def _settle(layers: Sequence[Layer]) -> ResolvedSettings:
    """Settings from layers, the last of which are the flags."""
    origin = {name: layer for layer in layers for name in layer.values}
    try:
        values = {SETTING_NAMES[name]: _findable(name, layer.values[name], layer) for name, layer in origin.items()}
        store, file = values.get("store"), values.get("parameters")
        kept = (read_stored_settings(Path(store)) if store is not None else None) or {}
        in_store = Layer("store", str(store), {_name(field): value for field, value in kept.items()})
        for name in set(in_store.values) - set(layers[-1].values):
            origin[name] = in_store
        values = {field: value for field, value in values.items() if origin[_name(field)] is not in_store}
        if "parameters" in values:
            values["parameters"] = load_parameters(Path(str(file)))
        for field in sorted(set(kept) & set(values)):
            if said := _contradiction(field, values[field], kept[field], f"the run in {store}", file):
                raise SettingsError(f"{said}; leave it out to go on there, or choose another --store")
        _check_addresses(values, origin)
        return ResolvedSettings(LiveSettings(**{**kept, **values}), origin)
    except ValidationError as error:
        raise SettingsError(_for_people(error, origin)) from error
    except (SettingsError, ParametersError) as error:
        raise type(error)(name_origins(str(error), origin)) from error


def _check_addresses(values: Mapping[str, Any], origin: Mapping[str, Layer]) -> None:
    """Before anything else looks at them: an address that holds a secret must not be repeated in an error."""
    for name in ("source", "publish"):
        if (address := values.get(name)) and (name == "publish" or is_kafka(address)):
            try:
                parse(address)
            except KafkaError as error:
                raise SettingsError(f"{origin[name].called(name)}: {error}") from None


def read_stored_settings(store: Path) -> dict[str, Any] | None:
    """Options that the match in a store was begun with, None if there is none in it.

    ``parameters`` are typed. A store from before parameters were kept has been made with the defaults.

    Raises:
        StoreError: the store is damaged, or of another version.
        ParametersError: there are no such parameters any more.
    """
    if not is_store(store):
        return None
    kept = read_run(store).get("settings")
    if not isinstance(kept, dict):
        raise StoreError(f"{store}: was not made by a live run, and cannot be gone on with")
    asked = kept.get("detectors", [])
    if not isinstance(asked, list) or not all(isinstance(name, str) for name in asked):
        raise StoreError(f"{store}/run.json: damaged: detectors = {asked}")
    tree = parameters_from(kept.get("parameters", {}), f"{store}/run.json")
    return {"detectors": [], **kept, "parameters": tree}


def _contradiction(name: str, given: Any, kept: Any, where: str, file: Any) -> str:
    """In what an option differs from the one that a run was begun with; empty if in nothing."""
    if name == "parameters":
        pairs = zip(all_parameters(given), all_parameters(kept), strict=True)
        other = [f"{mine.path} = {mine.value}, not {its.value}" for mine, its in pairs if mine.value != its.value]
        return f"--parameters {file} contradicts {where}, which has other numbers: {'; '.join(other)}" if other else ""
    if name == "detectors":
        mine, its = _names(given), _names(kept)
        return (
            ""
            if mine == its
            else f"--detectors {','.join(mine)} contradicts {where}, which has {','.join(its) or 'none'}"
        )
    if _plain(given) == _plain(kept):
        return ""
    return f"{flag(_name(name))} {given} contradicts {where}, which has {kept}"


def _names(value: Any) -> tuple[str, ...]:
    """Names with commas between them, or a list; their order and repetitions say nothing."""
    parts = value.split(",") if isinstance(value, str) else value
    return tuple(sorted({part.strip() for part in parts} - {""}))


def _findable(name: str, value: Any, layer: Layer) -> Any:
    """Paths in full, so that a store can be gone on with from another working directory."""
    if name not in _PLACES:
        return value
    if not isinstance(value, str | Path):
        raise SettingsError(f"{layer.called(name)} = {value}: must be text")
    if "\0" in str(value):
        raise SettingsError(f"{layer.called(name)}: a name with a NUL in it is no file's")
    if is_kafka(str(value)):
        return _with_settings_found(str(value), layer.folder)
    if name == "publish" or (name == "source" and (value == SIM or str(value).startswith("kloppy:"))):
        return value
    scheme, path = ("debs:", str(value)[5:]) if name == "source" and str(value).startswith("debs:") else ("", value)
    return f"{scheme}{(layer.folder / path).resolve()}"


def _with_settings_found(url: str, folder: Path) -> str:
    """An address whose settings file is named in full; one that is none is left for who refuses it."""
    try:
        address = parse(url)
    except KafkaError:
        return url
    if not address.settings or Path(address.settings).is_absolute():
        return url
    return msgspec.structs.replace(address, settings=str((folder / address.settings).resolve())).url


def _plain(value: Any) -> Any:
    """Numbers as numbers, all else as text: what was given on a command line against what was kept in JSON."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return str(value)


def _for_people(error: ValidationError, origin: Mapping[str, Layer]) -> str:
    problems = []
    for problem in error.errors():
        said = problem["msg"].removeprefix("Value error, ")
        if not problem["loc"]:
            problems.append(name_origins(said, origin))
            continue
        name = _name(str(problem["loc"][0]))
        layer = origin.get(name)
        called = layer.called(name) if layer is not None else flag(name)
        between = "=" if layer is not None and layer.kind == "environment" else " "
        shown = "" if name in SECRET else f"{between}{problem['input']}"
        problems.append(f"{called}{shown}: {said}")
    return "; ".join(problems)
