"""Decodes the messages of a feed into measurements: transmitter, time of the source, place on the pitch, quality.

Nothing is dropped in silence: a record that cannot be used is a :class:`football.packets.RejectedRecord` with its
reason, and what a profile leaves out on purpose (other teams, tags that nobody wears, failed measurements) is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from app.gateway.coordinates import PitchMap
from app.gateway.identities import Identifier
from app.gateway.profile import Profile, QualityScale
from app.gateway.records import Record, RecordFinder
from app.gateway.values import RefusedError, number_of, text_of, time_reader
from football.match_sheet import MatchSheet
from football.packets import RejectedRecord
from football.untrusted import NUMBER_MAX
from replay.formats.value_path import NOTHING

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


class Decoder:
    """Decodes the messages of one feed.

    Args:
        profile: form of the feed.
        sheet: of the match.
        identifier: names transmitters.

    Attributes:
        left_out: records that the profile leaves out, by reason.

    Raises:
        GatewayProfileError: the profile contradicts itself or the sheet.
    """

    def __init__(self, profile: Profile, sheet: MatchSheet, identifier: Identifier) -> None:
        self.profile, self._identifier = profile, identifier
        self._finder = RecordFinder(profile)
        self._map = PitchMap(profile.space, sheet)
        self._turned = frozenset(profile.space.turned)
        self._by_shirt = profile.identities.by == "shirt"
        self._time = time_reader(profile.time)
        self.left_out: Counter[str] = Counter()

    def decode(self, message: bytes, topic: str, now_us: int) -> Decoded:
        """Decode a message that has arrived at a wall time; ``topic`` is that of MQTT, else empty."""
        measurements: list[Measurement] = []
        rejected: list[RejectedRecord] = []
        for record in self._finder.found(message, topic, rejected):
            if not record.is_wanted:
                self.left_out["not of the profile's kind"] += 1
                continue
            try:
                measured = self._measured(record.values, now_us)
            except RefusedError as error:
                where = f" record {record.section}.{record.key}"
                rejected.append(self._finder.rejected(where, str(error), record.values))
            else:
                if measured is not None:
                    measurements.append(measured)
        return Decoded(measurements, rejected)

    def fields(self, message: bytes, topic: str) -> list[Record]:
        """Return all records with their values as the profile finds them.

        Raises:
            MessageError: the message cannot be decoded.
        """
        return self._finder.all_fields(message, topic)

    def examine(self, record: Record) -> tuple[Measurement | None, str]:
        """Return the measurement of a record, or None and the reason; without a reason the profile leaves it out."""
        if not record.is_wanted:
            return None, ""
        try:
            return self._measured(record.values, 2**61), ""
        except RefusedError as error:
            return None, str(error)

    @property
    def messages(self) -> int:
        """Number of messages so far."""
        return self._finder.messages

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
        x, y, z = number_of("x", values["x"]), number_of("y", values["y"]), values.get("z", 0.0)
        x_m, y_m, z_m = self._map.to_pitch(x, y, 0.0 if z is NOTHING or z is None or z == "" else number_of("z", z))
        if self._turned and text_of(values.get("turned")) in self._turned:
            x_m, y_m = -x_m, -y_m
        quality = 1.0
        if "quality" in values and values["quality"] is not NOTHING:
            quality = quality_of(number_of("quality", values["quality"]), self.profile.quality_scale)
        sequence = -1
        if "sequence" in values and values["sequence"] is not NOTHING:
            number = number_of("sequence", values["sequence"])
            if not 0 <= number < NUMBER_MAX or number != int(number):
                raise RefusedError(f"sequence {str(number)[:40]}: no number of a packet")
            sequence = int(number)
        return Measurement(name, source_us, _whole(x_m), _whole(y_m), _whole(z_m), quality, sequence)

    def _transmitter(self, values: Mapping[str, Any], now_us: int) -> str:
        if "ball" in values and text_of(values["ball"]) in _TRUE:
            return "ball"
        if self._by_shirt:
            name, reason = self._identifier.by_shirt(text_of(values["team"]), text_of(values.get("shirt")))
        else:
            name, reason = self._identifier.by_tag(text_of(values["id"]), now_us)
        if reason:
            raise RefusedError(reason)
        if not name:
            self.left_out["nobody of the match"] += 1
        return name


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


def _is_no_position(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value.strip() in _NO_POSITION)


def _whole(metres: float) -> float:
    """A length in whole millimetres, as captures hold it."""
    return round(metres * 1000.0) / 1000.0
