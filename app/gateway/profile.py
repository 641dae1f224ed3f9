"""Profiles of feeds: the form of a vendor's messages as data, in ``app/gateway/profiles/*.toml`` or a user's own file.

A message is decoded into a tree, whatever its format: JSON as it is; an XML element into an object of its attributes
and of lists of its children, by their names; a text line into nested lists, one level for each separator; bytes into an
object by a table of numbers. Everything else is the same for all formats: ``[[records]]`` says
where the records stand in the tree, and where the fields stand in a record (:mod:`replay.formats.value_path`). So a new
vendor is a file and no code. ``docs/gateway.md`` shows every field.

A field of a record is one of these:

    "data.x"      the value under that path in the record
    "/time"       the value under that path in the whole message
    "@key"        the record's name or place in the object or list that holds it
    "@topic.2"    a level of the topic of an MQTT message, counted from 0
    "=ball"       that text itself
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from camera.toml_tables import TableError, convert_table
from football.errors import UserError
from football.house_time import RATES
from football.match_sheet import Quality
from football.officials import DECISIONS
from football.untrusted import UntrustedError, read_toml
from replay.formats.value_path import steps_of

#: Names of fields that a record may have, in the order in which ``gateway check`` shows them.
FIELDS = ("id", "team", "shirt", "time", "x", "y", "z", "quality", "sequence", "ball", "turned")

#: Names of fields of a record that is a decision of officials.
DECISION_FIELDS = (
    "id", "version", "kind", "variant", "team", "player", "other", "minutes", "event", "note", "time", "mark",
    "partner",
)  # fmt: skip

#: Names of fields of a record that names a frame of timecode: as text, or as numbers.
TIMECODE_FIELDS = ("code", "hours", "minutes", "seconds", "frames", "rate")

_FIELDS_OF = {"positions": FIELDS, "decisions": DECISION_FIELDS, "timecode": TIMECODE_FIELDS}

#: Microseconds of a unit of time, as numerator and denominator, so that whole numbers stay exact.
TIME_UNITS = {
    "ps": (1, 1_000_000), "ns": (1, 1_000), "us": (1, 1), "ms": (1_000, 1), "s": (1_000_000, 1), "min": (60_000_000, 1),
}  # fmt: skip

#: Metres of a unit of length; ``deg`` are degrees of longitude (x) and latitude (y).
LENGTH_UNITS_M = {"um": 1e-6, "mm": 1e-3, "cm": 1e-2, "m": 1.0, "ft": 0.3048, "yd": 0.9144, "deg": 1.0}

_SHIPPED = Path(__file__).parent / "profiles"
_Positive = Annotated[float, msgspec.Meta(gt=0)]
_Size = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]


class GatewayProfileError(UserError, ValueError):
    """A profile is missing or wrong; the message names the file, the field and the reason."""


class Framing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a stream of bytes (TCP, a file) is cut into messages. Datagrams, MQTT and WebSocket have messages already.

    Attributes:
        cut: ``lines``; ``length`` (a length stands before each message); ``fixed`` (all are equally long).
        length_bytes, length_order: the number that is the length.
        length_covers: what it counts: the rest of the ``message``, or ``all``, itself included.
        fixed_bytes: length of each message if all are equally long.
    """

    cut: Literal["lines", "length", "fixed"] = "lines"
    length_bytes: Literal[1, 2, 4] = 4
    length_order: Literal["big", "little"] = "big"
    length_covers: Literal["message", "all"] = "message"
    fixed_bytes: _Size = 1


class Text(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of text.

    Attributes:
        separators: a level of lists for each, the outermost first.
        columns: names of the columns of a line with one separator; without names columns are numbers from 0.
        header: the first line has the names of the columns.
        comment: lines that begin with it are left out.
    """

    separators: tuple[str, ...] = (",",)
    columns: tuple[str, ...] = ()
    header: bool = False
    comment: str = "#"


class Binary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message of bytes: a head, and records of equal length.

    Attributes:
        order: of the bytes of a number.
        head, record: name and type of each number, in order; types are u8, i8, u16, i16, u32, i32, u64, i64, f32, f64
            and ``pad`` (a byte of no meaning).
        count: name of the number of the head that counts the records; without it they fill the message.
        magic: numbers of the head that must have these values.
    """

    order: Literal["big", "little"] = "little"
    head: tuple[tuple[str, str], ...] = ()
    record: tuple[tuple[str, str], ...] = ()
    count: str = ""
    magic: dict[str, int] = {}


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Records of one kind in a message.

    Attributes:
        path: where they stand; ``*`` is every element. Empty: the message is one record.
        fields: where the fields of :data:`FIELDS` stand; :data:`DECISION_FIELDS` or :data:`TIMECODE_FIELDS` of others.
        when: values (as text) of which a path must have one, ``*`` for any, and none for a path that must lead to
            nothing; other records are left out, and counted.
        decision, variant: kind and variant of the records' decisions, where no field has them.
        deletes: the records withdraw the decision with their id.
        prefix: stands before the ids, where those of two sections would be the same.
        against: the records name the team against which the decision counts, as of an own goal its scorer's.
    """

    fields: dict[str, str]
    path: str = ""
    when: dict[str, tuple[str, ...]] = {}
    decision: str = ""
    variant: str = ""
    deletes: bool = False
    prefix: str = ""
    against: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the fields, in the order in which they are shown."""
        every = dict.fromkeys((*FIELDS, *DECISION_FIELDS, *TIMECODE_FIELDS))
        return tuple(name for name in every if name in self.fields)


class Time(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The time of a record.

    Attributes:
        unit: a unit, ``iso`` for texts such as 2026-11-23T14:30:00.125Z (UTC without a zone), or ``frames``.
        rate_hz: frames a second, of the unit ``frames``.
        clock: ``utc`` if times count from 1970 and the source's clock is set by NTP or PTP, like the gateway's: they
            are taken as they are. ``own``: the gateway estimates offset and drift against arrival.
        wraps_at: value at which the time begins at 0 again, in the unit; 0 if it does not.
        latency_us: shortest time from a measurement to its arrival, which no estimate can see; of the clock ``own``.
    """

    unit: Literal["ps", "ns", "us", "ms", "s", "min", "iso", "frames"] = "ms"
    rate_hz: _Positive = 25.0
    clock: Literal["utc", "own"] = "own"
    wraps_at: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    latency_us: Annotated[int, msgspec.Meta(ge=0, le=10_000_000)] = 0


class Space(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The source's coordinates: ours are metres from the centre spot, x along the pitch, y to the left of +x.

    Attributes:
        unit: of x, y and z; ``deg`` for longitude and latitude, whose z is in metres.
        origin: the centre spot in the source's coordinates.
        rotation_deg: turn from the source's axes to ours, counter-clockwise.
        mirrored: the source's y runs to the right of its x.
        corners: longitude and latitude of four corners of the pitch, at (-x, -y), (+x, -y), (+x, +y), (-x, +y); of the
            unit ``deg``.
        corner_error_m: largest distance of a surveyed corner from that of the sheet's pitch.
        turned: values (as text) of the field ``turned`` with which positions are turned by half a turn, as of sources
            that let a team attack the same way in both halves.
    """

    unit: Literal["um", "mm", "cm", "m", "ft", "yd", "deg"] = "m"
    origin: tuple[float, float] = (0.0, 0.0)
    rotation_deg: float = 0.0
    mirrored: bool = False
    corners: tuple[tuple[float, float], ...] = ()
    corner_error_m: _Positive = 1.0
    turned: tuple[str, ...] = ()


class Identities(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which transmitter of the match an id of the source is.

    Attributes:
        by: ``tag``: the field ``id``, by the tables below, else as it is. ``shirt``: team and number on the shirt, by
            the match sheet.
        teams: the source's teams -> home, away, referee or ball; others are left out, and counted.
        tags: tag -> object id, or object id and limb such as ``home_7/left_foot``.
        ball: tags of balls, all of which are the transmitter ``ball``.
        ignored: tags that nobody wears, such as those of a trainer.
    """

    by: Literal["tag", "shirt"] = "tag"
    teams: dict[str, Literal["home", "away", "referee", "ball"]] = {}
    tags: dict[str, str] = {}
    ball: tuple[str, ...] = ("ball",)
    ignored: tuple[str, ...] = ()


class QualityScale(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The field ``quality``.

    Attributes:
        unit: ``share`` (0 to 1, 1 is best), ``percent``, or ``error_m`` (metres, 0 is best).
        worst_m: error that counts as quality 0.
    """

    unit: Literal["share", "percent", "error_m"] = "share"
    worst_m: _Positive = 1.0


class Sequence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The field ``sequence``.

    Attributes:
        counts: ``tag``: the packets of each tag, so a missing number is a lost packet. ``source``: the messages of
            the source; a missing number is counted as a lost message.
        wraps_at: number at which it begins at 0 again; 0 if it does not.
    """

    counts: Literal["tag", "source"] = "tag"
    wraps_at: Annotated[int, msgspec.Meta(ge=0, le=2**32)] = 0


class Timecode(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The timecode of a feed of it.

    Attributes:
        rate: of the frames, a name of :data:`football.house_time.RATES`, where no field has it.
        rates: values (as text) of the field ``rate`` -> names of rates; others are names themselves.
    """

    rate: str = "25"
    rates: dict[str, str] = {}

    def __post_init__(self) -> None:
        if unknown := sorted({self.rate, *self.rates.values()} - set(RATES)):
            raise ValueError(f"no rate of timecodes is named {', '.join(unknown)}: {', '.join(RATES)} are")


class Subscription(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a feed is asked for.

    Attributes:
        topic: of MQTT.
        qos: of MQTT.
        text: sent over a WebSocket or TCP connection when it is open; ``{secret}`` is replaced by the secret of the
            settings file.
    """

    topic: str = "#"
    qos: Literal[0, 1, 2] = 0
    text: str = ""


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The form of a feed.

    Attributes:
        title: name for people.
        documents: where the form is documented, and when that was read.
        format: of a message: ``json``, ``xml``, ``text`` or ``binary``.
        gives: ``positions``, ``decisions`` of officials (:mod:`app.gateway.decisions`), or ``timecode`` of the house
            (:mod:`app.gateway.timecodes`).
        records: records of a message.
        quality: declared quality of the input, see :class:`football.match_sheet.Quality`.
        framing, text, binary, time, space, identities, quality_scale, sequence, subscription, timecode: see there.

    Raises:
        ValueError: fields that contradict each other.
    """

    title: str
    documents: str
    format: Literal["json", "xml", "text", "binary"]
    records: tuple[Section, ...]
    gives: Literal["positions", "decisions", "timecode"] = "positions"
    quality: Quality = Quality(kind="rtls")
    framing: Framing = Framing()
    text: Text = Text()
    binary: Binary = Binary()
    time: Time = Time()
    space: Space = Space()
    identities: Identities = Identities()
    quality_scale: QualityScale = QualityScale()
    sequence: Sequence = Sequence()
    subscription: Subscription = Subscription()
    timecode: Timecode = Timecode()

    def __post_init__(self) -> None:
        if not self.records:
            raise ValueError("records: at least one section")
        known = _FIELDS_OF[self.gives]
        for section in self.records:
            steps_of(section.path)
            if missing := self._needed(section) - set(section.fields):
                raise ValueError(f"records: the fields {', '.join(sorted(missing))} are missing")
            if unknown := set(section.fields) - set(known):
                raise ValueError(f"records: no field is named {', '.join(sorted(unknown))}: {', '.join(known)} are")
            if section.decision and section.decision not in DECISIONS:
                raise ValueError(f"records: no decision is called {section.decision}: {', '.join(DECISIONS)} are")
            for where in (*section.fields.values(), *section.when):
                if where[:1] not in ("=", "@"):
                    steps_of(where.removeprefix("/"))
        if any(not separator for separator in self.text.separators) or not self.text.separators:
            raise ValueError("text.separators: at least one, and none is empty")
        if (self.space.unit == "deg") != (len(self.space.corners) == 4):
            raise ValueError("space: degrees go with four corners, and corners with degrees")
        if self.gives == "decisions" and self.time.clock != "utc":
            raise ValueError('time: decisions are dated by UTC: clock = "utc"')

    @property
    def numbers_packets(self) -> bool:
        """True if the source numbers the packets of each tag."""
        return self.sequence.counts == "tag" and all("sequence" in section.fields for section in self.records)

    def _needed(self, section: Section) -> set[str]:
        """Fields that a section must have."""
        if self.gives == "decisions":
            return {"id"} if section.deletes or section.decision else {"id", "kind"}
        if self.gives == "timecode":
            return set() if "code" in section.fields else {"hours", "minutes", "seconds", "frames"}
        return {"x", "y", *(("team",) if self.identities.by == "shirt" else ("id",))}


def shipped_profiles() -> tuple[str, ...]:
    """Names of the profiles of the package."""
    return tuple(sorted(path.stem for path in _SHIPPED.glob("*.toml")))


def read_profile(name: str) -> Profile:
    """Read a profile of the package by its name, or a file by its path.

    Raises:
        GatewayProfileError: there is none, or it is wrong.
    """
    path = _SHIPPED / f"{name}.toml" if name in shipped_profiles() else Path(name)
    try:
        return convert_table(read_toml(path), Profile)
    except FileNotFoundError:
        known = ", ".join(shipped_profiles())
        raise GatewayProfileError(f"profile {name}: no such file, and none of the package: {known}") from None
    except (OSError, UntrustedError, TableError) as error:
        raise GatewayProfileError(f"profile {name}: {error}") from error
