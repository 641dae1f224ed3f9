"""Plays a match as a vendor's system would send it: the inverse of a profile, for tests, demonstrations, commissioning.

:class:`VendorEncoder` writes the fields of a profile where the decoder reads them. What a form has no room for is lost
on the way; :func:`losses_of` lists it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import count
from typing import Any, NamedTuple

import msgspec

from app.base.pace import Pace, wall_us
from app.gateway.address import FeedAddress, read_settings
from app.gateway.coordinates import PitchMap
from app.gateway.framing import framed
from app.gateway.message_tree import layout
from app.gateway.profile import LENGTH_UNITS_M, TIME_UNITS, GatewayProfileError, Profile, Section
from app.gateway.transports.registry import sender_of
from football.match_sheet import MatchSheet
from football.packets import Block
from replay.capture import Capture
from replay.formats.value_path import Step, steps_of

#: Decimals of a length in units larger than a millimetre, as text.
_DECIMALS = {"cm": 1, "m": 3, "ft": 3, "yd": 3, "deg": 9}


class _Position(NamedTuple):
    transmitter: str
    ts_us: int
    place_m: tuple[float, float, float]
    quality: float
    sequence: int


class VendorEncoder:
    """Encodes blocks in the form of a profile.

    Args:
        profile: the form.
        sheet: of the match.
        zero_us: time of the source's clock at the match's time 0.

    Attributes:
        tags: transmitter -> tag; the inverse of what a gateway must know (:meth:`tag_table`).
    """

    def __init__(self, profile: Profile, sheet: MatchSheet, zero_us: int) -> None:
        if profile.gives != "positions":
            raise GatewayProfileError(f"{profile.title}: gives {profile.gives}; a capture is played as positions")
        self._profile, self._zero_us = profile, zero_us
        self._map = PitchMap(profile.space, sheet)
        self._sections = {is_ball: _section_of(profile, is_ball) for is_ball in (True, False)}
        self._players = {player.object_id: player for player in sheet.players}
        self._teams = {ours: theirs for theirs, ours in reversed(profile.identities.teams.items())}
        self.tags: dict[str, str] = {name: tag for tag, name in profile.identities.tags.items()}
        if profile.identities.ball:
            self.tags.setdefault("ball", profile.identities.ball[0])
        self._numbered = profile.format == "binary" or any("@key" in s.fields.values() and "0" in s.when for s in
                                                           profile.records)  # fmt: skip
        if profile.format == "binary":
            self._head, self._head_names = layout(profile.binary.order, profile.binary.head)
            self._record, self._record_names = layout(profile.binary.order, profile.binary.record)
            self.tags.pop("ball", None)
        self._numbers = count()
        self._counts_tags = profile.sequence.counts == "tag"
        self._messages = 0

    def encode(self, blocks: Iterable[Block]) -> list[tuple[bytes, str]]:
        """Return the messages of some blocks, each with its topic of MQTT."""
        groups: dict[tuple[Any, ...], list[tuple[Section, _Position, dict[str, Any]]]] = {}
        for block in blocks:
            for packet in block.packets:
                for ts_us, *place in zip(packet.ts_us, packet.x_m, packet.y_m, packet.z_m, strict=True):
                    position = _Position(packet.transmitter, ts_us, tuple(place), packet.quality, packet.sequence)
                    self._add(position, groups)
        return [self._message(records) for records in groups.values()]

    def tag_table(self) -> str:
        """Return the table of tags that a gateway needs, as CSV."""
        rows = ["tag,object,limb"]
        rows += [f"{tag},{name.partition('/')[0]},{name.partition('/')[2]}" for name, tag in self.tags.items()]
        return "\n".join(rows) + "\n"

    def _add(self, position: _Position, groups: dict[tuple[Any, ...], list[Any]]) -> None:
        section = self._sections[position.transmitter.startswith("ball")]
        values = self._values(section, position)
        if values is None:
            return
        # What stands in the head or the topic of a message is common to its records; a source's counter follows.
        common = tuple(
            (name, values[name])
            for name, where in section.fields.items()
            if (where.startswith(("/", "@topic"))) and (name != "sequence" or self._counts_tags)
        )
        several = "*" in section.path or any("*" in other.path for other in self._profile.records)
        if several and not common:
            common = (position.transmitter, position.sequence)
        key = common if several else (*common, len(groups))
        groups.setdefault(key, []).append((section, position, values))

    def _values(self, section: Section, position: _Position) -> dict[str, Any] | None:
        """The fields of a position in the source's units; None if the source cannot send it."""
        profile, name = self._profile, position.transmitter
        values: dict[str, Any] = {"time": self._time(position.ts_us), "sequence": position.sequence}
        unit = profile.space.unit
        for axis, value in zip("xyz", self._map.from_pitch(*position.place_m), strict=True):
            length = round(value, _DECIMALS.get(unit, 0))
            values[axis] = length if unit in _DECIMALS else int(length)
        scale = profile.quality_scale
        if scale.unit == "percent":
            values["quality"] = round(position.quality * 100)
        else:
            worst = (1.0 - position.quality) * scale.worst_m
            values["quality"] = round(position.quality if scale.unit == "share" else worst, 4)
        if profile.identities.by == "shirt":
            player = self._players.get(name)
            side = (
                "ball" if name == "ball" else "referee" if name.startswith("referee") else player.team if player else ""
            )
            if side not in self._teams:
                return None
            values["team"] = self._teams[side]
            values["shirt"] = player.shirt if player else name.rpartition("_")[2] if side == "referee" else 0
        else:
            values["id"] = self._tag(name)
        return values

    def _tag(self, name: str) -> str:
        tag = self.tags.get(name)
        if tag is None:
            tag = self.tags[name] = str(next(self._numbers)) if self._numbered else name.replace("/", ".")
        return tag

    def _time(self, ts_us: int) -> Any:
        time = self._profile.time
        source_us = ts_us + self._zero_us
        if time.unit == "iso":
            moment = datetime.fromtimestamp(source_us // 1_000_000, UTC).replace(microsecond=source_us % 1_000_000)
            return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if time.unit == "frames":
            return round(source_us * time.rate_hz / 1e6)
        factor, divisor = TIME_UNITS[time.unit]
        value = source_us * divisor // factor if divisor >= factor else round(source_us * divisor / factor, 6)
        return value % round(time.wraps_at) if time.wraps_at else value

    def _message(self, records: Sequence[tuple[Section, _Position, dict[str, Any]]]) -> tuple[bytes, str]:
        self._messages += 1
        profile = self._profile
        levels = steps_topic(profile.subscription.topic)
        root: Any = None
        for section, _, values in records:
            if not self._counts_tags:
                values["sequence"] = self._messages
            root = self._written(root, section, values, levels)
        if profile.format == "json":
            content = msgspec.json.encode(root)
        elif profile.format == "text":
            content = self._line(root).encode()
        else:
            content = self._packed(root)
        return content, "/".join(levels)

    def _written(self, root: Any, section: Section, values: Mapping[str, Any], levels: list[str]) -> Any:
        """The tree of a message with one more record; numbers of text are places in lists."""
        lists = self._profile.format == "text" and not self._profile.text.columns
        record: Any = None
        key = ""
        for path, wanted in section.when.items():
            if wanted[0] != "*":
                value: Any = {"True": True, "False": False}.get(wanted[0], wanted[0])
                record = put(record, steps_of(path), value, lists=lists)
        for name, where in section.fields.items():
            if name not in values or where.startswith("="):
                continue
            value = values[name]
            if where == "@key":
                key = str(value)
            elif where.startswith("@topic."):
                levels[int(where.removeprefix("@topic."))] = str(value)
            elif where.startswith("/"):
                root = put(root, steps_of(where[1:]), value, lists=lists)
            else:
                record = put(record, steps_of(where), value, lists=lists)
        return attach(root, steps_of(section.path), key, record, lists=lists)

    def _line(self, root: Any) -> str:
        text = self._profile.text
        if text.columns:
            return text.separators[0].join(str(root.get(name, 0)) for name in text.columns)
        return _joined(root, text.separators)

    def _packed(self, root: Any) -> bytes:
        binary = self._profile.binary
        records = root["records"]
        head = {**binary.magic, **root.get("head", {}), **({binary.count: len(records)} if binary.count else {})}
        rows = (self._record.pack(*(int(row.get(name, 0)) for name in self._record_names)) for row in records)
        return self._head.pack(*(int(head.get(name, 0)) for name in self._head_names)) + b"".join(rows)


def put(tree: Any, steps: tuple[Step, ...], value: Any, *, lists: bool) -> Any:
    """Return a tree with a value under some steps; what is missing on the way is made.

    >>> put(None, steps_of("a[id=x].v"), 1, lists=False)
    {'a': [{'id': 'x', 'v': 1}]}
    """
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(step, tuple):
        tree = [] if tree is None else tree
        found = next((element for element in tree if element.get(step[0]) == step[1]), None)
        if found is None:
            found = {step[0]: step[1]}
            tree.append(found)
        put(found, rest, value, lists=lists)
        return tree
    if lists and step.isdecimal():
        tree = [] if tree is None else tree
        tree.extend([None] * (int(step) + 1 - len(tree)))
        tree[int(step)] = put(tree[int(step)], rest, value, lists=lists)
        return tree
    tree = {} if tree is None else tree
    tree[step] = put(tree.get(step), rest, value, lists=lists)
    return tree


def attach(root: Any, steps: tuple[Step, ...], key: str, record: Any, *, lists: bool) -> Any:
    """Return a tree with a record where a section's path leads: under its key, as a further element, or as it is."""
    if not steps:
        if isinstance(root, dict) and isinstance(record, dict):
            return {**root, **record}
        return record if root is None else root
    step, rest = steps[0], steps[1:]
    if step == "*":
        if key and not lists:
            root = {} if root is None else root
            root[key] = attach(root.get(key), rest, "", record, lists=lists)
        elif key:
            root = [] if root is None else root
            root.extend([None] * (int(key) + 1 - len(root)))
            root[int(key)] = record
        else:
            root = [] if root is None else root
            root.append(attach(None, rest, "", record, lists=lists))
        return root
    assert isinstance(step, str), "no section's path selects by a value"
    if lists and step.isdecimal():
        root = [] if root is None else root
        root.extend([None] * (int(step) + 1 - len(root)))
        root[int(step)] = attach(root[int(step)], rest, key, record, lists=lists)
        return root
    root = {} if root is None else root
    root[step] = attach(root.get(step), rest, key, record, lists=lists)
    return root


def steps_topic(topic: str) -> list[str]:
    """Return the levels of a topic to publish to."""
    return ["all" if level in ("+", "#") else level for level in topic.split("/")]


def losses_of(profile: Profile) -> list[str]:
    """List what a form cannot carry, a line each."""
    fields = {name for section in profile.records for name in section.fields}
    time, unit = profile.time, profile.space.unit
    lost = []
    if time.unit == "frames":
        lost.append(f"times: whole frames, {1e3 / time.rate_hz:g} ms")
    elif time.unit in ("iso", "ms", "min"):
        lost.append("times: whole milliseconds" if time.unit != "min" else "times: microseconds as a fraction")
    if "time" not in fields:
        lost.append("times: those of arrival")
    if unit in _DECIMALS and LENGTH_UNITS_M[unit] * 10 ** -_DECIMALS[unit] > 1.5e-3 and unit != "deg":
        lost.append(f"positions: {LENGTH_UNITS_M[unit] * 10 ** -_DECIMALS[unit] * 1e3:g} mm")
    bodies = _section_of(profile, False).fields
    lost += [f"{name} of players" for name in ("z",) if name not in bodies]
    lost += [name for name in ("quality", "sequence") if name not in fields]
    if profile.identities.by == "shirt" or any("0" in section.when for section in profile.records):
        lost.append("limbs, and players that are not on the sheet")
    return lost


def _section_of(profile: Profile, is_ball: bool) -> Section:
    """The section for the ball, or for everybody else."""
    of_ball = [s for s in profile.records if "=ball" in s.fields.values()]
    others = [s for s in profile.records if s not in of_ball]
    chosen = (of_ball or others) if is_ball else (others or of_ball)
    if not chosen:
        raise GatewayProfileError("records: no section")
    return chosen[0]


def _joined(tree: Any, separators: tuple[str, ...]) -> str:
    if not isinstance(tree, list):
        return "nan" if tree is None else str(tree)
    if not separators:
        return str(tree[0])
    return separators[0].join(_joined(part, separators[1:]) for part in tree)


class Played(NamedTuple):
    """Figures of a match that was played as a vendor's feed."""

    messages: int
    bytes: int
    seconds: float
    wall_s: float


async def play_as_vendor(
    capture: Capture,
    profile: Profile,
    address: FeedAddress,
    speed: float = 1.0,
    *,
    encoder: VendorEncoder | None = None,
    stopped: Callable[[], bool] = lambda: False,
    progress: Callable[[int], None] = lambda arrival_us: None,
) -> Played:
    """Send a finished capture at the pace of its arrivals, in a vendor's form.

    Args:
        capture: the match.
        profile: the form.
        address: to send to; a ``-listen`` address waits for the gateway to connect.
        speed: stream seconds in a wall second; 0 for as fast as the other side takes it.
        encoder: made for the capture; a new one by default.
        stopped: True ends it early.
        progress: gets the arrival time of each block sent.

    Raises:
        FeedError: the address cannot be used.
    """
    began_us = wall_us()
    encoder = encoder or VendorEncoder(profile, capture.sheet, began_us - capture.begin_us)
    sender = sender_of(address, profile, read_settings(address))
    messages = size = 0
    arrival_us = capture.begin_us
    async with sender:
        await sender.ready()
        pace = Pace(speed, capture.begin_us, wall_us())
        for block in capture.blocks(capture.begin_us, capture.end_us):
            arrival_us = block.arrival_us
            if (wait_us := pace.due_wall_us(arrival_us) - wall_us()) > 0:
                await asyncio.sleep(wait_us / 1e6)
            if stopped():
                break
            for message, topic in encoder.encode([block]):
                await sender.send(message, topic)
                messages, size = messages + 1, size + len(framed(message, profile.framing))
            if not speed:
                await asyncio.sleep(0)
            progress(arrival_us)
    return Played(messages, size, (arrival_us - capture.begin_us) / 1e6, (wall_us() - began_us) / 1e6)
