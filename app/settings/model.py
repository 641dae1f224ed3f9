"""The options of a live run: their types, defaults, descriptions and checks.

The command line (``app.cli.live``), settings files and the environment all take their settings from this model.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    field_serializer,
    field_validator,
    model_validator,
)

from app.base.tokens import TokenStore
from app.settings.slack import DEFAULT, parse_slack
from app.sources.captures import SIM
from app.sources.registry import source_of
from dashboard.steadiness import STEADY
from detectors.catalogue import OPT_IN
from detectors.parameters import Parameters
from football.errors import UserError
from middleware.ordering.retraction import Retraction
from replay.match_store import is_store
from simulator.settings import DEFAULT_SEED, SimulatorError, rates_named

Channel = Literal["none", "rtls", "wifi", "harsh"]

#: Arrival time between commits of an unpaced run: long enough that Spark's turn-around does not count.
_UNPACED_WINDOW_S = 60.0

#: The speed of a run that is not paced.
_FULL_SPEED = "max"

#: A shorter token could be guessed by trying.
_TOKEN_CHARACTERS_MIN = 12


class SettingsError(UserError, ValueError):
    """An option that is not allowed; the message names it and what is allowed."""


class LiveSettings(BaseModel):
    """Options of ``touchline live``.

    The first group defines the match and its events: a store belongs to one such choice, and a run that resumes it must
    make the same one. The second group may differ from run to run.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    source: str = Field(
        SIM,
        description="sim, a tracking table (parquet), kloppy:<provider>:<file>[:<metadata>], debs:<stream>, the folder "
        "of a capture (or of `simulate`), kafka://host:port/topic[?match=...&start=latest], or a live "
        "feed, gateway:URL?profile=P.",
    )
    channel: Channel = Field(
        "none",
        description="Radio channel between tags and gateway: none, rtls, wifi, harsh. Default rtls for sim, else none.",
    )
    rate: str = Field(
        "",
        description="Tags and rates of the locating system: live, full (36,000 positions/s), 50k, or BALL/LIMB in Hz "
        "such as 1000/100. Default live for sim; a tracking file keeps its own rate unless one is given.",
    )
    endless: bool = Field(False, description="Play one half after another without end (sim).")
    seed: int = Field(DEFAULT_SEED, ge=0, description="Seed of the simulated match and of the radio channel.")
    duration_s: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="Seconds of the match to play. Default all of it."
    )
    pitch: str = Field("105x68", description="Length x width of the pitch in metres, if no match sheet has it.")
    sheet: Path | None = Field(
        None, description="Match sheet (metadata.json): names of the players, pitch, sides of the teams."
    )
    alpha: float | Literal["auto"] = Field(
        "auto",
        description="Share of the slack that is waited before an event is emitted: 0 emits at once, 1 waits for late "
        "inputs (detectors still amend what they learn later), auto waits as little as the load allows.",
    )
    retraction: Retraction = Field(
        "auto",
        description="How to correct events: full (withdraw all after the late input), on-demand (only what changed), "
        "or auto (the cheaper one for each detector).",
    )
    slack: str = Field(
        DEFAULT,
        description="How long inputs wait where alpha is above 0: METHOD[:NUMBER], and with commas "
        "DETECTOR=METHOD[:NUMBER] for single detectors. target:LATE-SHARE[:MAX-MS], kslack, kslack:last, kslack:semi, "
        "adaptive:LAMBDA, fixed:MS, progress, sba, bett, betta, bettwa, bettd, flink (docs/slack.md).",
    )
    allowed_lateness_s: float = Field(
        3.0,
        ge=0.1,
        le=60,
        description="Seconds behind the newest event up to which a late input is repaired; a later one is lost. More "
        "needs more memory; where the match sheet names no sources, events are confirmed later.",
    )
    engine: Literal["spark", "inprocess"] = Field("spark", description="spark, or inprocess (without Spark and Java).")
    parameters: Parameters = Field(
        Parameters(),
        description="File (TOML) with parameters of the detectors; `touchline detectors --toml` writes a complete one. "
        "Default: the default of each.",
    )
    detectors: tuple[str, ...] = Field(
        (),
        description="Opt-in detectors to run as well, with commas; `touchline detectors` lists them.",
    )
    patterns: Mapping[str, str] = Field(
        {},
        description="Files of patterns of your own (docs/patterns.md) or folders of them, with commas. Their matches "
        "are events pattern.NAME. Default: none.",
    )
    alerts: bool = Field(
        True, description="Play the shipped alerts, the patterns of patterns/alerts (docs/live.md). Default yes."
    )
    official: Path | None = Field(
        None,
        description="File of JSON lines with the officials' decisions; it may grow during the match. "
        "`touchline official` sends decisions without it.",
    )

    speed: str = Field(
        "1", description="Playback speed: times real time, such as 0.5, 1 or 4, or max (as fast as possible)."
    )
    store: Path | None = Field(
        None,
        description="Folder of the match store. If it holds an interrupted match, the run resumes it. Default "
        "matches/<match>-<time>.",
    )
    dashboard: bool = Field(True, description="Serve the live page. Default yes.")
    steady: float = Field(
        STEADY,
        gt=0,
        lt=1,
        description="Share of the events in the page's calm list that may be withdrawn: less waits longer. The age at "
        "which an event is shown is learned for each kind; the log and the stored events are the same. Default 0.05.",
    )
    port: int = Field(8050, ge=0, le=65535, description="Port of the live page, 0 for a free one.")
    camera: bool | None = Field(
        None, description="Steer cameras: those of --cameras, else a simulated head. Default yes, unless --speed max."
    )
    cameras: Path | None = Field(
        None, description="TOML file of the cameras (docs/cameras.md); `touchline cameras check` checks it."
    )
    window_s: float = Field(30.0, ge=1, le=120, description="Wall seconds between two commits to the store, 1 to 120.")
    publish: str = Field(
        "",
        description="Kafka topic to write updates to, kafka://host:port/topic; positions and rejected records go to "
        "TOPIC.positions and TOPIC.rejected.",
    )
    host: str = Field(
        "127.0.0.1",
        description="Network address that page and metrics listen at. Default 127.0.0.1, this machine only; any other "
        "needs a token: `touchline token create`, or TOUCHLINE_TOKEN.",
    )
    token: SecretStr = Field(
        SecretStr(""), description="Token of an administrator of this run; with it reading needs a token."
    )
    metrics_port: int | None = Field(
        None,
        ge=0,
        le=65535,
        description="Port of /metrics and /health, 0 for none. Default 8049, or a free one if that is taken.",
    )
    logs: Literal["files", "stderr", "off"] = Field(
        "files", description="Where logs go (JSON lines): files (in logs/ of the store), stderr, or off."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Lowest level that is logged: debug, info, warning or error."
    )
    seats: int = Field(
        0,
        ge=0,
        description="With --matches, number of seats: pairs of a source and an engine process, which share the "
        "matches. Default 0: as many as there are cores.",
    )
    master: str = Field(
        "",
        description="With --matches or --nodes, Spark cluster on this machine, spark://host:port. Default: no cluster.",
    )
    nodes: int = Field(
        1,
        ge=1,
        le=16,
        description="Number of nodes that share the detectors of one match: Spark tasks, each with a process. "
        "`touchline nodes` shows them and moves detectors.",
    )
    nodes_placement: Path | None = Field(
        None,
        description="With --nodes, node of each detector: JSON as `touchline place --json` prints it. Default: levels "
        "1 to 5 with the input on node 0, the rest spread over the others.",
    )
    standby: bool = Field(
        False,
        description="Start Spark, wait until the run in --store has ended, then resume its match.",
    )

    @model_validator(mode="before")
    @classmethod
    def _settle_by_source(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Complete the options by those that the source fixes, and by its defaults."""
        source = values.get("source", SIM)
        if not isinstance(source, str):
            return values  # from a damaged store: refused by its type
        rate = values.get("rate")
        return source_of(source, rate if isinstance(rate, str) else "").complete_options({**values, "source": source})

    @field_validator(
        "seed",
        "duration_s",
        "alpha",
        "allowed_lateness_s",
        "port",
        "window_s",
        "metrics_port",
        "seats",
        "nodes",
        mode="before",
    )
    @classmethod
    def _bool_is_not_a_number(cls, value: Any) -> Any:
        if isinstance(value, bool):
            raise ValueError("must be a number")
        return value

    @field_validator("speed", mode="before")
    @classmethod
    def _speed_is_above_zero(cls, value: Any) -> str:
        """Accept a number, as a settings file has it, or text."""
        return f"{speed:g}" if (speed := parse_speed(value)) else _FULL_SPEED

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
        if 0 < len(value.get_secret_value()) < _TOKEN_CHARACTERS_MIN:
            raise ValueError(f"must have {_TOKEN_CHARACTERS_MIN} characters or more")
        return value

    @model_validator(mode="after")
    def _open_to_others_with_a_token_only(self) -> LiveSettings:
        from dashboard.access import is_loopback  # brings a web framework

        if not is_loopback(self.host) and not self.token.get_secret_value() and not TokenStore().has_valid():
            raise ValueError(
                f"--host {self.host}: other machines reach it, so a token is needed: `touchline token create`, "
                "TOUCHLINE_TOKEN, or token in a settings file (never an option: other users see the options of a "
                "process)"
            )
        return self

    @model_validator(mode="after")
    def _fits_the_source(self) -> LiveSettings:
        """Refuse options that the source has already settled."""
        if self.endless and (self.source != SIM or self.duration_s is not None):
            raise ValueError("--endless needs the source sim, and no --duration")
        if self.official is not None and self.official.is_dir():
            raise ValueError(f"--official {self.official}: is a folder; name a file of JSON lines")
        return self

    @model_validator(mode="after")
    def _nodes_are_tasks(self) -> LiveSettings:
        if self.nodes > 1 and self.engine != "spark":
            raise ValueError("--nodes: nodes are tasks of Spark, and need --engine spark")
        if self.nodes_placement is not None and self.nodes == 1:
            raise ValueError("--nodes-placement: needs --nodes, with two or more")
        return self

    @model_validator(mode="after")
    def _stands_by_for_a_run(self) -> LiveSettings:
        if self.standby and (self.engine != "spark" or self.store is None or not is_store(self.store)):
            raise ValueError("--standby: needs --engine spark, and in --store the folder of a run that has begun")
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
            raise ValueError("must be auto, or a number from 0 (emits at once) to 1 (waits the whole slack)")
        return share

    @field_validator("slack")
    @classmethod
    def _slack_is_known(cls, value: str) -> str:
        parse_slack(value)
        return value

    @field_validator("detectors", mode="before")
    @classmethod
    def _detectors_can_be_asked_for(cls, value: Any) -> Any:
        """Accept names with commas between them, or a list."""
        for name in (names := detector_names(value)):
            if name not in OPT_IN:
                raise ValueError(f"there is no opt-in detector {name!r}; there are {', '.join(OPT_IN)}")
        return names

    @field_serializer("parameters")
    def _parameters_in_full(self, value: Parameters) -> Any:
        """Return all parameters, defaults included, so that a run resumes the match with the same numbers."""
        return msgspec.to_builtins(value)

    @field_validator("pitch")
    @classmethod
    def _pitch_has_two_sides(cls, value: str) -> str:
        sides = re.fullmatch(r"(\d+(?:\.\d+)?)x(\d+(?:\.\d+)?)", value)
        if sides is None:
            raise ValueError("must be length x width in metres, like 105x68")
        length_m, width_m = float(sides[1]), float(sides[2])
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
        """Stream seconds in a wall second; 0 is as fast as possible."""
        return parse_speed(self.speed)

    @property
    def available(self) -> float:
        """Wall seconds available for a second of the stream; one if the run is unpaced."""
        return 1 / self.pace if self.pace else 1.0

    @property
    def has_camera(self) -> bool:
        """True if a camera runs; by default where the match is paced, since a head moves in real time."""
        return self.pace > 0 if self.camera is None else self.camera

    @property
    def window_us(self) -> int:
        """Arrival time between two commits."""
        return round((self.window_s * self.pace or _UNPACED_WINDOW_S) * 1e6)

    def stored_options(self) -> dict[str, Any]:
        """The first group of options, as a store records it."""
        names = (
            "source", "channel", "rate", "endless", "seed", "duration_s", "pitch", "sheet", "alpha", "retraction",
            "slack", "allowed_lateness_s", "engine", "parameters", "detectors", "patterns",
            "alerts", "official", "nodes",
        )  # fmt: skip
        return self.model_dump(mode="json", include=set(names))


def parse_speed(value: object) -> float:
    """A playback speed as stream seconds in a wall second; 0 for as fast as possible.

    >>> [parse_speed(value) for value in ("1", "2.50", 4, "max")]
    [1.0, 2.5, 4.0, 0.0]

    Raises:
        ValueError: it is neither a number above 0 nor ``max``.
    """
    try:
        speed = 0.0 if value == _FULL_SPEED else float(str(value))
    except ValueError:
        speed = -1.0
    if (value != _FULL_SPEED and not (0.0 < speed < math.inf)) or isinstance(value, bool):
        raise ValueError("must be max, or a number above 0 such as 0.5, 1 or 4")
    return speed


def setting_name(field: str) -> str:
    """The name of a setting: its field's without the unit, which stands in the help."""
    return field.removesuffix("_s")


#: Ending of a file of a pattern.
PATTERN_SUFFIX = ".touchline"

#: Name of each setting and its field.
SETTING_NAMES: Mapping[str, str] = {setting_name(field): field for field in LiveSettings.model_fields}

#: Settings that are never shown, and are no options: others see the options of a process.
SECRET = frozenset(("token",))


def file_names(value: Any) -> list[str]:
    """Names of files from text with commas or from a list."""
    parts = value.split(",") if isinstance(value, str) else value
    return [name for part in parts if (name := str(part).strip())]


def detector_names(value: Any) -> tuple[str, ...]:
    """Names of detectors from text with commas or from a list, sorted, without repetitions."""
    parts = value.split(",") if isinstance(value, str) else value
    return tuple(sorted({part.strip() for part in parts} - {""}))
