"""Decodes the messages of a feed into measurements: transmitter, time of the source, place on the pitch, quality.

Nothing is dropped in silence: a record that cannot be used is a :class:`football.packets.RejectedRecord` with its
reason, and what a profile leaves out on purpose (other teams, tags that nobody wears, failed measurements) is counted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from app.gateway.coordinates import PitchMap
from app.gateway.identities import Identifier
from app.gateway.message_tree import MessageError, parser_of
from app.gateway.profile import FIELDS, TIME_UNITS, GatewayProfileError, Profile, QualityScale, Section
from football.match_sheet import MatchSheet
from football.packets import RejectedRecord
from football.untrusted import NUMBER_MAX
from replay.formats.value_path import NOTHING, RECORDS_MAX, records_at, steps_of, value_at

#: Characters of a refused record that are shown.
_RAW_CHARACTERS = 120

#: Coordinates beyond this are no positions, whatever the unit; what is computed of them stays finite.
_COORDINATE_MAX = 1e12

#: Texts that stand where a position is missing; null is one as well.
_NO_POSITION = frozenset(("", "nan", "NaN"))

_TRUE = frozenset(("True", "true", "1"))


class Measurement(NamedTuple):
    """A position as the source measured it.

    Attributes:
        transmitter: of the match.
        source_us: time on the source's clock in microseconds; None if the source gives none.
        x_m, y_m, z_m: place on the pitch, whole millimetres.
        quality: 0 to 1, whole percent.
        sequence: number that the source gives, or -1.
    """

    transmitter: str
    source_us: int | None
    x_m: float
    y_m: float
    z_m: float
    quality: float
    sequence: int


class Decoded(NamedTuple):
    """Content of a message."""

    measurements: list[Measurement]
    rejected: list[RejectedRecord]


class FieldsOf(NamedTuple):
    """A record's values before any conversion, and whether the profile wants the record: for ``gateway check``."""

    is_wanted: bool
    values: dict[str, Any]


#: A field's value: of the message's tree, the record, its key, the levels of the topic.
_Read = Callable[[Any, Any, str, tuple[str, ...]], Any]


class _RefusedError(ValueError):
    """A record that cannot be used; the text is the reason."""


class _Section:
    """A section of a profile with its fields compiled."""

    def __init__(self, section: Section) -> None:
        self.steps = steps_of(section.path)
        #: Fields of the message as a whole, which are read once, and those of each record.
        self.common: dict[str, _Read] = {}
        self.own: dict[str, _Read] = {}
        for name in FIELDS:
            if (where := section.fields.get(name)) is not None:
                (self.common if where.startswith(("/", "=", "@topic.")) else self.own)[name] = _reader(where)
        self.when = [(_reader(where), frozenset(values)) for where, values in section.when.items()]

    def of_message(self, tree: Any, topic: tuple[str, ...]) -> dict[str, Any]:
        """The fields that all records of a message have in common."""
        return {name: read(tree, None, "", topic) for name, read in self.common.items()}

    def values(
        self, common: dict[str, Any], tree: Any, record: Any, key: str, topic: tuple[str, ...]
    ) -> dict[str, Any]:
        """All fields of a record."""
        values = common.copy()
        for name, read in self.own.items():
            values[name] = read(tree, record, key, topic)
        return values

    def is_wanted(self, tree: Any, record: Any, key: str, topic: tuple[str, ...]) -> bool:
        """True if a record has the values that the section asks for; ``*`` is any value."""
        for read, values in self.when:
            value = read(tree, record, key, topic)
            present = value is not NOTHING and value != "" and value is not None
            if not present or ("*" not in values and str(value) not in values):
                return False
        return True


class Decoder:
    """Decodes the messages of one feed.

    Args:
        profile: form of the feed.
        sheet: of the match.
        identifier: names transmitters.

    Attributes:
        left_out: records that the profile leaves out, by reason.
        messages: number of messages so far.

    Raises:
        GatewayProfileError: the profile contradicts itself or the sheet.
    """

    def __init__(self, profile: Profile, sheet: MatchSheet, identifier: Identifier) -> None:
        self.profile, self._identifier = profile, identifier
        try:
            self._parse = parser_of(profile)
        except ValueError as error:
            raise GatewayProfileError(str(error)) from error
        self._sections = [_Section(section) for section in profile.records]
        self._map = PitchMap(profile.space, sheet)
        self._turned = frozenset(profile.space.turned)
        self._by_shirt = profile.identities.by == "shirt"
        self._time = _time_reader(profile)
        self.left_out: Counter[str] = Counter()
        self.messages = 0

    def decode(self, message: bytes, topic: str, now_us: int) -> Decoded:
        """Decode a message that has arrived at a wall time; ``topic`` is that of MQTT, else empty."""
        self.messages += 1
        measurements: list[Measurement] = []
        rejected: list[RejectedRecord] = []
        try:
            tree = self._parse(message)
        except MessageError as error:
            rejected.append(self._rejected("", str(error), message))
            return Decoded(measurements, rejected)
        if tree is None:
            return Decoded(measurements, rejected)
        levels = tuple(topic.split("/")) if topic else ()
        found = 0
        for number, section in enumerate(self._sections):
            common = section.of_message(tree, levels)
            for key, record in records_at(tree, section.steps):
                found += 1
                if found > RECORDS_MAX:
                    rejected.append(self._rejected("", f"more than {RECORDS_MAX} records", message))
                    return Decoded(measurements, rejected)
                if not section.is_wanted(tree, record, key, levels):
                    self.left_out["not of the profile's kind"] += 1
                    continue
                values = section.values(common, tree, record, key, levels)
                try:
                    measured = self._measured(values, now_us)
                except _RefusedError as error:
                    rejected.append(self._rejected(f" record {number}.{key}", str(error), values))
                else:
                    if measured is not None:
                        measurements.append(measured)
        if not found:
            rejected.append(self._rejected("", "no records where the profile looks for them", message))
        return Decoded(measurements, rejected)

    def fields(self, message: bytes, topic: str) -> list[FieldsOf]:
        """Return the values of each record as the profile finds them.

        Raises:
            MessageError: the message cannot be decoded.
        """
        tree = self._parse(message)
        levels = tuple(topic.split("/")) if topic else ()
        return [
            FieldsOf(
                section.is_wanted(tree, record, key, levels),
                section.values(section.of_message(tree, levels), tree, record, key, levels),
            )
            for section in self._sections
            for key, record in records_at(tree, section.steps)
        ]

    def examine(self, record: FieldsOf) -> tuple[Measurement | None, str]:
        """Return the measurement of a record, or None and the reason; without a reason the profile leaves it out."""
        if not record.is_wanted:
            return None, ""
        try:
            return self._measured(record.values, 2**61), ""
        except _RefusedError as error:
            return None, str(error)

    @property
    def corner_errors_m(self) -> tuple[float, ...]:
        """Distances of surveyed corners from those of the pitch."""
        return self._map.corner_errors_m

    def _measured(self, values: Mapping[str, Any], now_us: int) -> Measurement | None:
        if _is_no_position(values["x"]) or _is_no_position(values["y"]):
            self.left_out["no position"] += 1
            return None
        name = self._transmitter(values, now_us)
        if not name:
            return None
        source_us = None if "time" not in values else self._time(values["time"])
        x, y, z = _number("x", values["x"]), _number("y", values["y"]), values.get("z", 0.0)
        x_m, y_m, z_m = self._map.to_pitch(x, y, 0.0 if z is NOTHING or z is None or z == "" else _number("z", z))
        if self._turned and _text(values.get("turned")) in self._turned:
            x_m, y_m = -x_m, -y_m
        quality = 1.0
        if "quality" in values and values["quality"] is not NOTHING:
            quality = quality_of(_number("quality", values["quality"]), self.profile.quality_scale)
        sequence = -1
        if "sequence" in values and values["sequence"] is not NOTHING:
            number = _number("sequence", values["sequence"])
            if not 0 <= number < NUMBER_MAX or number != int(number):
                raise _RefusedError(f"sequence {str(number)[:40]}: no number of a packet")
            sequence = int(number)
        return Measurement(name, source_us, _whole(x_m), _whole(y_m), _whole(z_m), quality, sequence)

    def _transmitter(self, values: Mapping[str, Any], now_us: int) -> str:
        if "ball" in values and _text(values["ball"]) in _TRUE:
            return "ball"
        if self._by_shirt:
            name, reason = self._identifier.by_shirt(_text(values["team"]), _text(values.get("shirt")))
        else:
            name, reason = self._identifier.by_tag(_text(values["id"]), now_us)
        if reason:
            raise _RefusedError(reason)
        if not name:
            self.left_out["nobody of the match"] += 1
        return name

    def _rejected(self, where: str, reason: str, raw: object) -> RejectedRecord:
        shown = raw.decode(errors="replace") if isinstance(raw, bytes) else str(raw)
        return RejectedRecord(f"message {self.messages}{where}", "", -1, None, reason[:300], shown[:_RAW_CHARACTERS])


def quality_of(value: float, scale: QualityScale) -> float:
    """Return a quality in 0..1, whole percent.

    >>> quality_of(0.25, QualityScale("error_m", 1.0))
    0.75
    """
    if scale.unit == "percent":
        value /= 100.0
    elif scale.unit == "error_m":
        value = 1.0 - abs(value) / scale.worst_m
    return round(min(1.0, max(0.0, value)) * 100.0) / 100.0


def _reader(where: str) -> _Read:
    if where.startswith("="):
        text = where[1:]
        return lambda tree, record, key, topic: text
    if where == "@key":
        return lambda tree, record, key, topic: key
    if where.startswith("@topic."):
        level = where.removeprefix("@topic.")
        if not level.isdecimal() or len(level) > 2:
            raise GatewayProfileError(f"field {where}: a level of a topic is a number from 0")
        number = int(level)
        return lambda tree, record, key, topic: topic[number] if number < len(topic) else NOTHING
    if where.startswith("@"):
        raise GatewayProfileError(f"field {where}: only @key and @topic.N begin with @")
    if where.startswith("/"):
        steps = steps_of(where[1:])
        return lambda tree, record, key, topic: value_at(tree, steps)
    steps = steps_of(where)
    if len(steps) == 1 and isinstance(steps[0], str) and not steps[0].isdecimal():
        name = steps[0]
        return lambda tree, record, key, topic: record.get(name, NOTHING) if isinstance(record, dict) else NOTHING
    return lambda tree, record, key, topic: value_at(record, steps)


def _time_reader(profile: Profile) -> Callable[[Any], int]:
    """Return the conversion of a time into whole microseconds of the source's clock."""
    unit, rate_hz = profile.time.unit, profile.time.rate_hz
    if unit == "iso":
        return _iso_us
    if unit == "frames":
        return lambda value: _bounded(_number("time", value) * 1e6 / rate_hz)
    factor, divisor = TIME_UNITS[unit]

    def in_unit(value: Any) -> int:
        number = _number("time", value)
        if isinstance(number, int):
            return _bounded(number * factor // divisor)
        return _bounded(number * factor / divisor)

    return in_unit


def _bounded(us: float) -> int:
    if not abs(us) <= NUMBER_MAX:
        raise _RefusedError("time that cannot be")
    return round(us)


def _iso_us(value: Any) -> int:
    try:
        moment = datetime.fromisoformat(value.strip())
        return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1e6)
    except (AttributeError, TypeError, ValueError, OverflowError):
        shown = "is missing" if value is NOTHING else f"{str(value)[:40]!r} is no time such as 2026-11-23T14:30:00Z"
        raise _RefusedError(f"time {shown}") from None


def _number(name: str, value: Any) -> float:
    """Return a number, whole ones as they are.

    Raises:
        _RefusedError: missing, no number, or out of range.
    """
    kind = type(value)
    if kind is str:
        try:
            value = int(value) if value.isdecimal() and len(value) < 20 else float(value)
        except ValueError:
            raise _RefusedError(f"{name} {value[:40]!r}: no number") from None
        if "_" in str(value):
            raise _RefusedError(f"{name}: no number")
    elif kind is not int and kind is not float:
        raise _RefusedError(f"{name} is missing" if value is NOTHING else f"{name} {str(value)[:40]!r}: no number")
    limit = 1e30 if name == "time" else _COORDINATE_MAX if name in ("x", "y", "z") else float(NUMBER_MAX)
    if not -limit <= value <= limit or not math.isfinite(value):
        raise _RefusedError(f"{name} {str(value)[:40]}: out of range")
    return value


def _is_no_position(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value.strip() in _NO_POSITION)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int | float) else ""


def _whole(metres: float) -> float:
    """A length in whole millimetres, as captures hold it."""
    return round(metres * 1000.0) / 1000.0
