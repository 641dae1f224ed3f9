"""One feed of other people's events: from messages to lines of officials, each with the number by which it is known.

Theory of operation
-------------------
A provider names each of its events by an id, sends it again when it changes, and says so when it deletes it. A decision
of officials cannot be taken out of the stream, but another one can declare it void
(:mod:`detectors.signals.official`). So the feed remembers what it has passed on under each id:

* the same content again is a copy, and leads to nothing;
* another content is an amendment: the line before is declared void, and the new one follows under its own number;
* a deletion declares it void;
* a lower version than the known one comes late, and leads to nothing.

Each line has ``origin``, the provider's id and version, so that a gateway that goes on with a capture knows from the
lines that are there what was passed on. A line enters the engine when its message arrived (``said_s``), also when the
capture is played again.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, cast

import msgspec

from app.gateway.identities import Identifier, TagTable
from app.gateway.profile import GatewayProfileError, Profile, Section, Time
from app.gateway.records import Record, RecordFinder
from app.gateway.values import RefusedError, number_of, text_of, time_reader
from football.match_sheet import MatchSheet
from football.packets import RejectedRecord
from football.untrusted import REJECTED_MAX, is_text
from replay.formats.officials import DecisionFields, OfficialError, check, parse
from replay.formats.value_path import NOTHING

#: Refused records that are kept until somebody takes them; further ones are counted.
_REFUSED_WAITING_MAX = 1_000

#: Events of one feed, and decisions of two records.
EVENTS_MAX, _PAIRS_MAX = 20_000, 200

#: Fields of a record that is half of a decision: its own mark, and that of the other half.
_PAIR = ("mark", "partner")

_Side = Literal["home", "away", ""]
_OTHER: Mapping[_Side, _Side] = {"home": "away", "away": "home", "": ""}


class DecisionFigures(msgspec.Struct, frozen=True):
    """Figures of a feed of decisions since its beginning.

    Attributes:
        messages: received.
        decisions: passed on, amendments included.
        amended, deleted: decisions that were declared void, with a new one and without.
        copies: records that say nothing new.
        refused: records that cannot be used, by reason.
        left_out: records that are no decisions.
    """

    messages: int
    decisions: int
    amended: int
    deleted: int
    copies: int
    refused: dict[str, int]
    left_out: int


class Statement(NamedTuple):
    """A record's content: the provider's event ``id``, its version, and the decision; None deletes it."""

    id: str
    version: float
    decision: DecisionFields | None


class _Known(msgspec.Struct):
    """State of an event that was passed on: its newest version, the decision if any stands, and its number."""

    version: float
    decision: DecisionFields | None = None
    number: int = 0


class DecisionDecoder:
    """Decodes the records of one feed's messages.

    Args:
        profile: form of the feed.
        sheet: of the match.
        zero_us: UTC of the time line's zero.
        identifier: names players, and teams where the profile does not.

    Raises:
        GatewayProfileError: the profile contradicts itself, or gives no decisions.
    """

    def __init__(self, profile: Profile, sheet: MatchSheet, zero_us: int, identifier: Identifier) -> None:
        if profile.gives != "decisions":
            raise GatewayProfileError(f"{profile.title}: gives {profile.gives}, no decisions")
        self.finder = RecordFinder(profile)
        self._sections, self._teams = profile.records, profile.identities.teams
        self._sheet, self._zero_us, self._identifier = sheet, zero_us, identifier
        self._time = time_reader(profile.time)
        self._sides: dict[str, _Side] = {player.object_id: player.team for player in sheet.players}
        self._halves: dict[tuple[str, ...], dict[str, Statement]] = {}
        self._wholes: dict[str, str] = {}

    def statement(self, record: Record, now_us: int) -> Statement | None:
        """Return what a record says; None for half a decision, whose other half is still to come.

        Args:
            record: one that the profile wants.
            now_us: wall time of its arrival.

        Raises:
            RefusedError: it cannot be used.
        """
        values, section = record.values, self._sections[record.section]
        name = _checked("id", values.get("id"))
        if not name:
            raise RefusedError("id is missing")
        name = section.prefix + name
        version = _version(values.get("version", NOTHING))
        if section.deletes:
            return Statement(self._wholes.get(name, name), version, None)
        stated = Statement(name, version, self._decision(values, section, now_us))
        if "partner" in values and values["partner"] is not NOTHING:
            return self._whole(stated, _checked("mark", values.get("mark")), _checked("partner", values["partner"]))
        return self._possible(stated)

    def _decision(self, values: Mapping[str, Any], section: Section, now_us: int) -> DecisionFields:
        player, other = (self._player(name, values.get(name), now_us) for name in ("player", "other"))
        team = self._team(values.get("team"), now_us) or self._sides.get(player or other, "")
        at_s = None
        if values.get("time", NOTHING) is not NOTHING:
            at_s = (self._time(values["time"]) - self._zero_us) / 1e6
        minutes = values.get("minutes", NOTHING)
        texts = {name: _checked(name, values.get(name)) for name in ("kind", "variant", "event", "note")}
        return DecisionFields(
            kind=section.decision or texts["kind"],
            variant=section.variant or texts["variant"],
            team=_OTHER[team] if section.against else team,
            player=player,
            other=other,
            minutes=None if minutes is NOTHING else int(number_of("minutes", minutes)),
            event=texts["event"],
            note=texts["note"],
            at_s=at_s,
        )

    def _whole(self, stated: Statement, mark: str, partner: str) -> Statement | None:
        """Join the two halves of a decision, such as who goes off and who comes on."""
        assert stated.decision is not None
        key = (stated.decision.kind, *sorted((mark, partner)))
        if key not in self._halves and len(self._halves) >= _PAIRS_MAX:
            raise RefusedError(f"more than {_PAIRS_MAX} decisions of two records")
        halves = self._halves.setdefault(key, {})
        halves[stated.id] = stated
        if len(halves) < len(_PAIR):
            return None
        first, second = (halves[name] for name in sorted(halves)[: len(_PAIR)])
        assert first.decision is not None
        assert second.decision is not None
        given = {name: value for name, value in msgspec.structs.asdict(second.decision).items() if value}
        joined = Statement(
            f"{first.id}+{second.id}",
            max(first.version, second.version),
            msgspec.structs.replace(first.decision, **given),
        )
        self.note_whole(joined.id)
        return self._possible(joined)

    def note_whole(self, name: str) -> None:
        """Note the id of a decision of two records, so that the deletion of one of them deletes it."""
        self._wholes.update(dict.fromkeys(name.split("+"), name))

    def _possible(self, stated: Statement) -> Statement:
        assert stated.decision is not None
        try:
            check(stated.decision, self._sheet)
        except OfficialError as error:
            raise RefusedError(str(error)) from None
        return stated

    def _player(self, field: str, value: Any, now_us: int) -> str:
        tag = _checked(field, value)
        if not tag:
            return ""
        name, reason = self._identifier.by_tag(tag, now_us)
        if reason:
            raise RefusedError(f"{field} {tag[:40]!r}: {reason}")
        return name

    def _team(self, value: Any, now_us: int) -> _Side:
        tag = _checked("team", value)
        if not tag:
            return ""
        side = self._teams.get(tag) or self._identifier.by_tag(tag, now_us)[0] or tag
        if side not in ("home", "away"):
            raise RefusedError(f"team {tag[:40]!r}: neither in the profile's teams nor in the table of tags")
        return cast("_Side", side)


class DecisionFeed:
    """Turns the messages of one source into lines of officials.

    Args:
        name: of the source, in lines, figures and refused records.
        profile: its form.
        sheet: of the match.
        zero_us: UTC of the time line's zero.
        table: of ids of players and teams that may change, or None.

    Attributes:
        refused_records: until somebody takes them.

    Raises:
        GatewayProfileError: the profile contradicts itself, or gives no decisions.
    """

    def __init__(
        self,
        name: str,
        profile: Profile,
        sheet: MatchSheet,
        zero_us: int,
        table: TagTable | None = None,
    ) -> None:
        self.name, self.profile, self._zero_us = name, profile, zero_us
        self.identifier = Identifier(profile.identities, sheet, table)
        self._decoder = DecisionDecoder(profile, sheet, zero_us, self.identifier)
        self.refused_records: deque[RejectedRecord] = deque(maxlen=_REFUSED_WAITING_MAX)
        self._known: dict[str, _Known] = {}
        self._waiting: list[DecisionFields] = []
        self._refused: Counter[str] = Counter()
        self._left_out = self._number = self._decisions = self._amended = self._deleted = self._copies = 0

    def recall(self, lines: Iterable[str]) -> None:
        """Learn from the lines of a capture what was passed on before."""
        for line in lines:
            self._recall(line)

    def receive(self, message: bytes, topic: str, arrival_us: int) -> None:
        """Take in a message that has arrived at a time of the gateway's time line."""
        wall_us = arrival_us + self._zero_us
        self.identifier.refresh(wall_us)
        rejected: list[RejectedRecord] = []
        unwanted, wanted = set[str](), set[str]()  # a record stands once in each section
        for record in self._decoder.finder.found(message, topic, rejected):
            (wanted if record.is_wanted else unwanted).add(record.key)
            if not record.is_wanted:
                continue
            try:
                stated = self._decoder.statement(record, wall_us)
                if stated is not None:
                    self._take(stated, arrival_us)
            except RefusedError as error:
                where = f" record {record.section}.{record.key}"
                rejected.append(self._decoder.finder.rejected(where, str(error), record.values))
        self._left_out += len(unwanted - wanted)
        for one in rejected:
            if len(self._refused) < REJECTED_MAX or one.reason in self._refused:
                self._refused[one.reason.partition(":")[0]] += 1
            self.refused_records.append(one)

    def take(self) -> list[DecisionFields]:
        """Return the lines that wait to be written."""
        waiting, self._waiting = self._waiting, []
        return waiting

    def figures(self) -> DecisionFigures:
        """Return the figures of the feed."""
        return DecisionFigures(
            self._decoder.finder.messages, self._decisions, self._amended, self._deleted, self._copies,
            dict(self._refused.most_common(20)), self._left_out,
        )  # fmt: skip

    def _take(self, stated: Statement, arrival_us: int) -> None:
        known = self._known.get(stated.id)
        if known is None:
            if len(self._known) >= EVENTS_MAX:
                raise RefusedError(f"more than {EVENTS_MAX} events")
            known = self._known[stated.id] = _Known(stated.version)
        elif stated.version < known.version or known.decision == stated.decision:
            known.version = max(known.version, stated.version)
            self._copies += 1
            return
        before, number = known.decision, known.number
        known.version, known.decision = stated.version, stated.decision
        origin = f"{stated.id}@{stated.version:.17g}"
        if before is not None:
            self._amended += stated.decision is not None
            self._deleted += stated.decision is None
            void = DecisionFields("void", event=f"official.{before.kind}#official:{self.name}:{number}")
            self._pass_on(void, origin if stated.decision is None else "", arrival_us)
        if stated.decision is not None:
            known.number = self._pass_on(stated.decision, origin, arrival_us)
            self._decisions += 1

    def _pass_on(self, decision: DecisionFields, origin: str, arrival_us: int) -> int:
        self._number += 1
        self._waiting.append(
            msgspec.structs.replace(
                decision, source=self.name, number=self._number, origin=origin, announced_s=arrival_us / 1e6
            )
        )
        return self._number

    def _recall(self, line: str) -> None:
        try:
            decision = parse(line)
        except OfficialError:
            return
        if decision.source != self.name or decision.number is None:
            return
        self._number = max(self._number, decision.number)
        name, _, version = decision.origin.rpartition("@")
        if name:
            bare = msgspec.structs.replace(decision, source="", number=None, origin="", announced_s=None)
            stands = None if decision.kind == "void" else bare
            self._known[name] = _Known(float(version), stands, decision.number)
            if "+" in name:
                self._decoder.note_whole(name)


def _checked(name: str, value: Any) -> str:
    """Return a value as text; empty for a missing one.

    Raises:
        RefusedError: too long, or with control characters.
    """
    text = text_of(value)
    if text and not is_text(text, 200):
        raise RefusedError(f"{name} is too long, or has control characters")
    return text


def _version(value: Any) -> float:
    """Return a version as a number; of a time its seconds, of none 0.

    Raises:
        RefusedError: neither number nor time.
    """
    if value is NOTHING or value in ("", None):
        return 0.0
    if isinstance(value, str) and "-" in value[1:]:
        return _time_of(value) / 1e6
    return float(number_of("version", value))


_time_of = time_reader(Time(unit="iso"))
