"""Finds the records of a message and the values of their fields, by the sections of a profile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from app.gateway.message_tree import MessageError, parser_of
from app.gateway.profile import GatewayProfileError, Profile, Section
from football.packets import RejectedRecord
from replay.formats.value_path import NOTHING, RECORDS_MAX, records_at, steps_of, value_at

#: Characters of a refused record that are shown.
_RAW_CHARACTERS = 120

#: A field's value: of the message's tree, the record, its key, the levels of the topic.
_Read = Callable[[Any, Any, str, tuple[str, ...]], Any]


class _Section:
    """A section of a profile with its fields compiled."""

    def __init__(self, section: Section) -> None:
        self.steps = steps_of(section.path)
        #: Fields of the message as a whole, which are read once, and those of each record.
        self.common: dict[str, _Read] = {}
        self.own: dict[str, _Read] = {}
        for name in section.names:
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
        """True if a record has the values that the section asks for; ``*`` is any value, none is no value."""
        for read, values in self.when:
            value = read(tree, record, key, topic)
            present = value is not NOTHING and value != "" and value is not None
            if present != bool(values) or (present and "*" not in values and str(value) not in values):
                return False
        return True


class Record(NamedTuple):
    """A record of a message.

    Attributes:
        section: number of its section in the profile.
        key: its name or place in what holds it.
        is_wanted: whether the profile wants it.
        values: by field, before any conversion; of a record that is not wanted none, unless they are asked for.
    """

    section: int
    key: str
    is_wanted: bool
    values: dict[str, Any]


class RecordFinder:
    """Finds the records of one feed's messages.

    Args:
        profile: form of the feed.

    Attributes:
        messages: number of messages so far.

    Raises:
        GatewayProfileError: the profile contradicts itself.
    """

    def __init__(self, profile: Profile) -> None:
        try:
            self._parse = parser_of(profile)
        except ValueError as error:
            raise GatewayProfileError(str(error)) from error
        self._sections = [_Section(section) for section in profile.records]
        self.messages = 0

    def found(self, message: bytes, topic: str, rejected: list[RejectedRecord]) -> Iterator[Record]:
        """Yield the records of a message; what makes it unusable goes to ``rejected``."""
        self.messages += 1
        try:
            tree = self._parse(message)
        except MessageError as error:
            rejected.append(self.rejected("", str(error), message))
            return
        if tree is None:
            return
        levels = tuple(topic.split("/")) if topic else ()
        found = 0
        for number, section in enumerate(self._sections):
            common = section.of_message(tree, levels)
            for key, record in records_at(tree, section.steps):
                found += 1
                if found > RECORDS_MAX:
                    rejected.append(self.rejected("", f"more than {RECORDS_MAX} records", message))
                    return
                if section.is_wanted(tree, record, key, levels):
                    yield Record(number, key, True, section.values(common, tree, record, key, levels))
                else:
                    yield Record(number, key, False, {})
        if not found:
            rejected.append(self.rejected("", "no records where the profile looks for them", message))

    def all_fields(self, message: bytes, topic: str) -> list[Record]:
        """Return all records with the values that the profile finds, for ``gateway check``.

        Raises:
            MessageError: the message cannot be decoded.
        """
        tree = self._parse(message)
        levels = tuple(topic.split("/")) if topic else ()
        return [
            Record(
                number,
                key,
                section.is_wanted(tree, record, key, levels),
                section.values(section.of_message(tree, levels), tree, record, key, levels),
            )
            for number, section in enumerate(self._sections)
            for key, record in records_at(tree, section.steps)
        ]

    def rejected(self, where: str, reason: str, raw: object) -> RejectedRecord:
        """Return the rejected record of something in the newest message."""
        shown = raw.decode(errors="replace") if isinstance(raw, bytes) else str(raw)
        return RejectedRecord(f"message {self.messages}{where}", "", -1, None, reason[:300], shown[:_RAW_CHARACTERS])


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
