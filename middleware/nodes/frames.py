"""Frames: messages as bytes, compact, by MessagePack.

What repeats is sent once: channels, parts, sources and the types of payloads get a number at their first use, which
both ends of a link count. So the frames of a link are written and read in order, and begin anew after a restart. An
update is a list of channel, number, event time (less that of the update before), source, and what is not at
its default.

A payload may hold numbers, texts, bytes, tuples, lists, mappings, sets, and Structs, named tuples and enumerations of
modules that are loaded. Nothing else is written, and nothing is executed by reading.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Iterable
from typing import Any

import msgspec

from middleware.events import Event, Update
from middleware.nodes.messages import Channel, Data, Message, PartName, Reached, Statement

#: Bytes that a frame has besides its body: epoch, number, acknowledgement, times, length.
HEADER_BYTES = 32

_TUPLE, _LIST, _DICT, _SET, _FIRST_TYPE = range(5)
_DATA, _REACHED, _STATEMENT, _OTHER = range(4)


class FrameError(ValueError):
    """A value that no frame may hold, or bytes that are no frame; the message has the reason."""


class FrameWriter:
    """Writes the frames of one direction of a link."""

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self._types: dict[type, int] = {}
        self._seqs: dict[PartName, tuple[int, ...]] = {}
        self._ts_us = 0

    def write(self, messages: Iterable[Message]) -> bytes:
        """Return a frame's body."""
        return msgspec.msgpack.encode([self._message(message) for message in messages])

    def _message(self, message: Message) -> list[Any]:
        if isinstance(message, Data):
            return self._data(message)
        if isinstance(message, Reached):
            before, self._seqs[message.part] = self._seqs.get(message.part), message.seqs
            seqs = () if message.seqs == before else message.seqs
            return [_REACHED, self._number(message.part), message.number, *seqs]
        if isinstance(message, Statement):
            progress = [value for kind, us in message.progress_us for value in (self._number((kind, "")), us)]
            return [_STATEMENT, message.number, message.clk_us, message.final_us, *progress]
        return [_OTHER, self._pack(message)]

    def _data(self, message: Data) -> list[Any]:
        update = message.update
        event = update.event
        if event.kind != message.channel[0]:
            raise FrameError(f"an event of kind {event.kind} is in the channel of {message.channel[0]}")
        after_us, self._ts_us = event.ts_us - self._ts_us, event.ts_us
        rest = [
            event.seq, self._pack(event.payload), event.id, self._pack(event.causes), event.annuls, event.dated_us,
            update.diff, update.k_plus_us,
        ]  # fmt: skip
        defaults = [0, None, "", [_TUPLE], "", None, 1, 0]
        while rest and rest[-1] == defaults[len(rest) - 1]:
            rest.pop()
        return [
            _DATA,
            self._number(message.channel),
            message.seq,
            after_us,
            self._number((event.source, "", "")),
            *rest,
        ]

    def _number(self, value: tuple[Any, ...]) -> Any:
        """Return the number of a value; at its first use the value itself."""
        number = self._numbers.get(value)
        if number is None:
            self._numbers[value] = len(self._numbers)
            return list(value)
        return number

    def _pack(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | str | bytes | float) or type(value) is int:
            return value
        kind = type(value)
        if kind is tuple:
            return [_TUPLE, *map(self._pack, value)]
        if kind is list:
            return [_LIST, *map(self._pack, value)]
        if isinstance(value, dict):
            return [_DICT, *(self._pack(part) for pair in value.items() for part in pair)]
        if kind is frozenset:
            return [_SET, *map(self._pack, sorted(value, key=repr))]
        if isinstance(value, enum.Enum):
            return [self._type(kind), self._pack(value.value)]
        if isinstance(value, tuple):
            return [self._type(kind), *map(self._pack, value)]
        if isinstance(value, msgspec.Struct):
            return [self._type(kind), *(self._pack(getattr(value, name)) for name in value.__struct_fields__)]
        raise FrameError(f"no frame can hold a {kind.__name__}")

    def _type(self, kind: type) -> Any:
        number = self._types.get(kind)
        if number is None:
            self._types[kind] = _FIRST_TYPE + len(self._types)
            return f"{kind.__module__}:{kind.__qualname__}"
        return number


class FrameReader:
    """Reads the frames of one direction of a link, in order."""

    def __init__(self) -> None:
        self._values: list[tuple[Any, ...]] = []
        self._types: list[type] = []
        self._seqs: dict[PartName, tuple[int, ...]] = {}
        self._ts_us = 0

    def read(self, body: bytes) -> list[Message]:
        """Return the messages of a frame.

        Raises:
            FrameError: the bytes are no frame, or not the one whose turn it is.
        """
        try:
            return [self._message(fields) for fields in msgspec.msgpack.decode(body)]
        except FrameError:
            raise
        except (msgspec.DecodeError, TypeError, ValueError, IndexError, KeyError, AttributeError) as error:
            raise FrameError(f"no frame: {type(error).__name__}: {error}") from error

    def _message(self, fields: list[Any]) -> Message:
        what = fields[0]
        if what == _DATA:
            return self._data(*fields[1:])
        if what == _REACHED:
            part: PartName = self._value(fields[1])
            if len(fields) > 3 or part not in self._seqs:
                self._seqs[part] = tuple(fields[3:])
            return Reached(part, fields[2], self._seqs[part])
        if what == _STATEMENT:
            pairs = zip(fields[4::2], fields[5::2], strict=True)
            return Statement(fields[1], fields[2], tuple((self._value(kind)[0], us) for kind, us in pairs), fields[3])
        message = self._unpack(fields[1])
        if not isinstance(message, Message):
            raise FrameError(f"no message, but a {type(message).__name__}")
        return message

    def _data(
        self, channel: Any, seq: int, after_us: int, source: Any, number: int = 0, payload: Any = None,
        name: str = "", causes: Any = (_TUPLE,), annuls: str = "", dated_us: int | None = None, diff: int = 1,
        k_plus_us: int = 0,
    ) -> Data:  # fmt: skip
        at: Channel = self._value(channel)
        self._ts_us += after_us
        event = Event(
            at[0], self._ts_us, self._value(source)[0], number, self._unpack(payload), name,
            self._unpack(list(causes)), annuls, dated_us,
        )  # fmt: skip
        return Data(at, seq, Update(event, diff, k_plus_us))

    def _value(self, value: Any) -> tuple[Any, ...]:
        if isinstance(value, int):
            return self._values[value]
        self._values.append(tuple(value))
        return self._values[-1]

    def _unpack(self, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        kind = value[0]
        if isinstance(kind, str):
            # A type gets its number before those of its fields, as the writer numbers them.
            self._types.append(_loaded(kind))
            return self._made(self._types[-1], value[1:])
        if kind >= _FIRST_TYPE:
            return self._made(self._types[kind - _FIRST_TYPE], value[1:])
        parts = [self._unpack(part) for part in value[1:]]
        if kind == _TUPLE:
            return tuple(parts)
        if kind == _LIST:
            return parts
        return dict(zip(parts[::2], parts[1::2], strict=True)) if kind == _DICT else frozenset(parts)

    def _made(self, kind: type, fields: list[Any]) -> Any:
        return kind(*map(self._unpack, fields))


def _loaded(name: str) -> type:
    """Return a Struct, a named tuple or an enumeration of a module that is loaded.

    Raises:
        FrameError: there is none of that name.
    """
    module, _, qualified = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in qualified.split("."):
        found = getattr(found, part, None)
    is_tuple = isinstance(found, type) and issubclass(found, tuple) and hasattr(found, "_fields")
    if is_tuple or (isinstance(found, type) and issubclass(found, msgspec.Struct | enum.Enum)):
        return found  # type: ignore[no-any-return]
    raise FrameError(f"no type of a payload: {name}")
