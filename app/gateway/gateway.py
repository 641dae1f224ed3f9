"""The gateway: feeds in, blocks out, in one event loop.

Theory of operation
-------------------
A transport hands each message to its feed the moment it arrives. The feed decodes it at once, and what it measures
waits in the feed for at most ``SLOT_S``. Then the packets of all feeds become one block, dated by the gateway's clock,
and go to the output. Of feeds of frames each frame is a block of its own, since an instant is one input of the engine.

The gateway's clock is the monotonic clock, set once to UTC: arrival never goes back when that is set.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from app.base.errors import one_line
from app.base.logs import hide_secrets
from app.base.pace import wall_us
from app.gateway.address import FeedAddress, FeedError, read_settings
from app.gateway.agreement import Agreement, Comparison
from app.gateway.choice import SourceChoice
from app.gateway.decisions import DecisionFeed, DecisionFigures
from app.gateway.feed import Feed, FeedFigures
from app.gateway.identities import TagTable, nobodys
from app.gateway.outputs import Output
from app.gateway.profile import Profile, read_profile
from app.gateway.timecodes import TimecodeFeed, TimecodeFigures
from app.gateway.transports.interface import LinkFigures, Transport
from app.gateway.transports.registry import transport_of
from football.match_sheet import MatchSheet, Quality
from football.packets import Block, Packet
from replay.house_times import Stamp

#: Longest time that a measurement waits for others of its block.
SLOT_S = 0.002

#: Interval of figures and of the look at a silent feed.
FIGURES_S = 1.0

#: Interval at which feeds of the same objects are compared.
COMPARE_S = 10.0

#: Lag of a clock that is set, beyond which it is reported.
LAG_US = 20_000

#: Messages of a feed of decisions that a spare keeps.
_KEPT_MESSAGES = 10_000

#: A feed without a message for so long is silent.
SILENT_US = 5_000_000


class FeedRequest(msgspec.Struct, frozen=True):
    """A feed of a gateway: its address, with the profile in it."""

    address: FeedAddress

    @property
    def profile(self) -> Profile:
        """The profile of the feed.

        Raises:
            FeedError: the address names none.
            GatewayProfileError: it is missing or wrong.
        """
        if not self.address.profile:
            raise FeedError(f"{self.address.place}: no profile: add --profile, or ?profile= to the address")
        return read_profile(self.address.profile)


def fingerprint_of(requests: Sequence[FeedRequest], sheet: MatchSheet) -> str:
    """Return a digest of the feeds and the match, by which a gateway knows its own capture again."""
    places = sorted(f"{request.address.place} {request.address.profile}" for request in requests)
    return hashlib.sha256(msgspec.json.encode((places, sheet))).hexdigest()


def sheet_of(sheet: MatchSheet, profiles: Sequence[Profile]) -> MatchSheet:
    """Return the sheet with the quality of the feeds of positions, unless it declares one of its own.

    Raises:
        FeedError: no feed gives positions.
    """
    profiles = [profile for profile in profiles if profile.gives == "positions"]
    if not profiles:
        raise FeedError("no feed of positions: decisions of officials and timecode go with one")
    quality = profiles[0].quality if sheet.quality == Quality() else sheet.quality
    framed = all(profile.quality.framed for profile in profiles) and not quality.limbs
    return msgspec.structs.replace(sheet, quality=msgspec.structs.replace(quality, framed=framed))


class _Receiving:
    """A feed with its transport."""

    def __init__(self, request: FeedRequest, sheet: MatchSheet, zero_us: int) -> None:
        settings, profile = read_settings(request.address), request.profile
        hide_secrets(settings.secrets)
        self.label, self.address = request.address.label, request.address
        self.transport: Transport = transport_of(request.address, profile, settings)
        self.feed = Feed(
            self.label, profile, sheet, zero_us, TagTable(Path(self.address.tags)) if self.address.tags else None
        )
        self.newest_us: int | None = None


class _DecisionLink:
    """A feed of decisions with its transport."""

    def __init__(self, request: FeedRequest, sheet: MatchSheet, zero_us: int) -> None:
        self.address, profile = request.address, request.profile
        settings = read_settings(self.address)
        hide_secrets(settings.secrets)
        self.label = self.address.label
        self.transport: Transport = transport_of(self.address, profile, settings)
        table = TagTable(Path(self.address.tags)) if self.address.tags else None
        self.feed = DecisionFeed(self.address.name or Path(self.address.profile).stem, profile, sheet, zero_us, table)
        #: Messages that a spare keeps until it knows what the other gateway has made of them.
        self.kept: deque[tuple[bytes, str, int]] = deque(maxlen=_KEPT_MESSAGES)


class _TimecodeLink:
    """A feed of timecode with its transport."""

    def __init__(self, request: FeedRequest) -> None:
        self.address, profile = request.address, request.profile
        settings = read_settings(self.address)
        hide_secrets(settings.secrets)
        self.label = self.address.label
        self.transport: Transport = transport_of(self.address, profile, settings)
        self.feed = TimecodeFeed(self.label, profile)


_Link = _Receiving | _DecisionLink | _TimecodeLink


class Gateway:
    """Runs the feeds of one match into an output.

    Args:
        requests: the feeds.
        sheet: of the match, with the quality of the feeds.
        output: takes the blocks; its context is open.
        watch: gets the figures every second.

    Raises:
        FeedError, GatewayProfileError: a feed cannot be used.
    """

    def __init__(
        self,
        requests: Sequence[FeedRequest],
        sheet: MatchSheet,
        output: Output,
        watch: Callable[[GatewayFigures], None] | None = None,
    ) -> None:
        self._sheet, self._output, self._watch = sheet, output, watch
        self._base_us, self._base_ns = wall_us() - output.zero_us, time.monotonic_ns()
        positions = [request for request in requests if request.profile.gives == "positions"]
        others = [request for request in requests if request not in positions]
        self._receiving = [_Receiving(request, sheet, output.zero_us) for request in positions]
        decisions = [request for request in others if request.profile.gives == "decisions"]
        self._decision_links = [_DecisionLink(request, sheet, output.zero_us) for request in decisions]
        self._timecode_links = [_TimecodeLink(request) for request in others if request not in decisions]
        if len({one.feed.name for one in self._decision_links}) < len(self._decision_links):
            raise FeedError("feeds of decisions need names of their own: add name= to their addresses")
        self._several = len(self._receiving) > 1
        self._agreement = Agreement({one.label: one.address.priority for one in self._receiving})
        self._choice = SourceChoice(self._agreement)
        self._last_us = output.last_us
        self._flush_due = False
        self._blocks = 0
        self._writing = asyncio.Event()

    @property
    def now_us(self) -> int:
        """The gateway's clock: microseconds since its zero."""
        return self._base_us + (time.monotonic_ns() - self._base_ns) // 1000

    async def run(self, stop: asyncio.Event) -> None:
        """Receive until ``stop`` is set; everything that arrived is in the output when this returns.

        Raises:
            FeedError: a feed can never work, such as a port that is taken.
        """
        loop = asyncio.get_running_loop()
        tasks = [
            loop.create_task(self._receive(one, self._deliverer(one, loop))) for one in self._receiving
        ] + [loop.create_task(self._receive(one, self._decider(one))) for one in self._decision_links]  # fmt: skip
        tasks += [loop.create_task(self._receive(one, self._stamper(one))) for one in self._timecode_links]
        tasks.append(loop.create_task(self._look()))
        stopped = loop.create_task(stop.wait())
        try:
            done, _ = await asyncio.wait([*tasks, stopped], return_when=asyncio.FIRST_COMPLETED)
            for task in done - {stopped}:
                task.result()
        finally:
            for task in (*tasks, stopped):
                task.cancel()
            with contextlib.suppress(FeedError):
                await asyncio.gather(*tasks, stopped, return_exceptions=True)
            for one in self._receiving:
                one.feed.finish()
            self._flush()
            self._report()

    def ports(self) -> dict[str, int]:
        """Return the ports on which feeds listen, by label."""
        every: list[_Link] = [*self._receiving, *self._decision_links, *self._timecode_links]
        return {one.label: one.transport.port for one in every if one.transport.port}

    def figures(self) -> GatewayFigures:
        """Return how the gateway stands."""
        now_us = self.now_us
        feeds = {}
        for one in self._receiving:
            silent_us = None if one.newest_us is None else now_us - one.newest_us
            feeds[one.label] = ReceivingFigures(one.transport.figures, one.feed.figures(), silent_us)
        worn = [name for one in feeds.values() for name in one.feed.transmitters]
        starting = [player.object_id for player in self._sheet.players if player.starts]
        every: list[_Receiving | _DecisionLink] = [*self._receiving, *self._decision_links]
        unknown = sorted({tag for one in every for tag in one.feed.identifier.unknown})
        return GatewayFigures(
            self._output.zero_us, now_us, self._blocks, feeds, nobodys(starting, worn), unknown, self._problems(feeds),
            dict(self._choice.left_out), self._choice.hand_overs, dict(self._agreement.comparisons),
            list(self._agreement.findings),
            {one.label: DecisionFeedFigures(one.transport.figures, one.feed.figures()) for one in self._decision_links},
            timecodes={
                one.label: TimecodeFeedFigures(one.transport.figures, one.feed.figures())
                for one in self._timecode_links
            },
        )  # fmt: skip

    async def _receive(self, one: _Link, deliver: Callable[[bytes, str], None]) -> None:
        """Receive a feed; one that only one process can receive once this gateway writes."""
        if not one.address.can_be_shared:
            await self._writing.wait()
        await one.transport.run(deliver)

    def begin_writing(self) -> None:
        """Let the output have decisions, and receive feeds that only one process can receive. A spare calls it later.

        What the feeds of positions have measured is in the output in any case.
        """
        lines = self._output.decided()
        for one in self._decision_links:
            one.feed.recall(lines)
            for message, topic, at_us in one.kept:
                self._decide(one, message, topic, at_us)
            one.kept.clear()
        self._writing.set()

    def _decider(self, one: _DecisionLink) -> Callable[[bytes, str], None]:
        def deliver(message: bytes, topic: str) -> None:
            if self._writing.is_set():
                self._decide(one, message, topic, self.now_us)
            else:
                one.kept.append((message, topic, self.now_us))

        return deliver

    def _decide(self, one: _DecisionLink, message: bytes, topic: str, at_us: int) -> None:
        one.feed.receive(message, topic, at_us)
        self._output.decide(one.feed.take())
        if one.feed.refused_records:
            self._output.refuse(tuple(one.feed.refused_records))
            one.feed.refused_records.clear()

    def _stamper(self, one: _TimecodeLink) -> Callable[[bytes, str], None]:
        def deliver(message: bytes, topic: str) -> None:
            one.feed.receive(message, topic, self.now_us)
            if one.feed.refused_records:
                self._output.refuse(tuple(one.feed.refused_records))
                one.feed.refused_records.clear()

        return deliver

    def _deliverer(self, one: _Receiving, loop: asyncio.AbstractEventLoop) -> Callable[[bytes, str], None]:
        receive, base_us, base_ns = one.feed.receive, self._base_us, self._base_ns
        clock = time.monotonic_ns

        def deliver(message: bytes, topic: str) -> None:
            now_us = one.newest_us = base_us + (clock() - base_ns) // 1000
            receive(message, topic, now_us)
            if not self._flush_due:
                self._flush_due = True
                loop.call_later(SLOT_S, self._flush)

        return deliver

    def _flush(self) -> None:
        """Give what waits to the output."""
        self._flush_due = False
        together: list[Packet] = []
        for one in self._receiving:
            for taken in one.feed.take():
                packets = taken
                if self._several:
                    self._agreement.observe(one.label, taken)
                    packets = self._choice.chosen(one.label, one.address.priority, taken)
                if not packets:
                    continue
                if one.feed.profile.quality.framed and self._sheet.quality.framed:
                    self._write(packets)
                else:
                    together += packets
            if one.feed.refused_records:
                self._output.refuse(tuple(one.feed.refused_records))
                one.feed.refused_records.clear()
        if together:
            self._write(tuple(together))

    def _write(self, packets: tuple[Packet, ...]) -> None:
        self._last_us = max(self._last_us + 1, self.now_us)
        self._blocks += 1
        self._output.write(Block(self._last_us, packets))

    async def _look(self) -> None:
        looks = 0
        while True:
            await asyncio.sleep(FIGURES_S)
            looks += 1
            if self._several:
                self._agreement.look()
                if looks % round(COMPARE_S / FIGURES_S) == 0:
                    self._align()
            if self._last_us < self.now_us - FIGURES_S * 1e6:  # nobody sends anything: windows must close all the same
                self._last_us = self.now_us
                self._output.pass_time(self._last_us)
            self._report()

    def _align(self) -> None:
        """Compare the feeds, and turn their clocks towards that of the reference."""
        self._agreement.compare({one.label: one.feed.clock.turned_us for one in self._receiving})
        for one in self._receiving:
            lag_us = self._agreement.lag_us(one.label)
            if lag_us is not None:
                one.feed.clock.turn_to(lag_us)

    def _report(self) -> None:
        if self._watch is not None:
            self._watch(self.figures())

    def _problems(self, feeds: dict[str, ReceivingFigures]) -> list[str]:
        problems = []
        for one in self._receiving:
            figures = feeds[one.label]
            if not figures.link.connected:
                problems.append(f"{one.label}: not connected: {one_line(Exception(figures.link.trouble or 'not yet'))}")
            elif figures.silent_us is None or figures.silent_us > SILENT_US:
                problems.append(f"{one.label}: silent")
            elif not figures.feed.positions and figures.feed.refused:
                reason = max(figures.feed.refused, key=figures.feed.refused.__getitem__)
                problems.append(f"{one.label}: no position can be used: {reason}")
            lag_us = self._agreement.lag_us(one.label)
            if one.feed.profile.time.clock == "utc" and lag_us is not None and abs(lag_us) > LAG_US:
                problems.append(f"{one.label}: its clock is {lag_us / 1e3:+.0f} ms from that of the other feed")
        others: list[_Link] = [*self._decision_links, *self._timecode_links]
        for linked in others:
            link = linked.transport.figures
            if not link.connected:
                problems.append(f"{linked.label}: not connected: {one_line(Exception(link.trouble or 'not yet'))}")
        return problems + self._agreement.findings


class DecisionFeedFigures(msgspec.Struct, frozen=True):
    """Figures of a feed of decisions and its connection.

    Attributes:
        link: see :class:`app.gateway.transports.interface.LinkFigures`.
        feed: see :class:`app.gateway.decisions.DecisionFigures`.
    """

    link: LinkFigures
    feed: DecisionFigures


class TimecodeFeedFigures(msgspec.Struct, frozen=True):
    """Figures of a feed of timecode and its connection.

    Attributes:
        link: see :class:`app.gateway.transports.interface.LinkFigures`.
        feed: see :class:`app.gateway.timecodes.TimecodeFigures`.
    """

    link: LinkFigures
    feed: TimecodeFigures


class ReceivingFigures(msgspec.Struct, frozen=True):
    """Figures of a feed and its connection.

    Attributes:
        link: see :class:`app.gateway.transports.interface.LinkFigures`.
        feed: see :class:`app.gateway.feed.FeedFigures`.
        silent_us: time since the last message; None before the first.
    """

    link: LinkFigures
    feed: FeedFigures
    silent_us: int | None


class GatewayFigures(msgspec.Struct, frozen=True):
    """Figures of a gateway.

    Attributes:
        zero_us: UTC of its time 0.
        now_us: its clock.
        blocks: written.
        feeds: by label.
        players_without_tag: starting players of the sheet without a position.
        tags_without_player: tags that nobody on the sheet wears.
        problems: what is wrong, a line each.
        superseded: packets of each feed that were left out because another one gives their transmitter.
        hand_overs: changes of the feed that gives a transmitter.
        comparisons: how each feed stands to the reference, see :mod:`app.gateway.agreement`.
        disagreements: what is wrong with feeds that have the same transmitters; also among the problems.
        decisions: feeds of decisions, by label.
        stands_by: True while another gateway writes the capture.
        filled: packets that a spare had kept, and the gateway before it had not written.
        timecodes: feeds of timecode, by label.
    """

    zero_us: int
    now_us: int
    blocks: int
    feeds: dict[str, ReceivingFigures]
    players_without_tag: list[str]
    tags_without_player: list[str]
    problems: list[str]
    superseded: dict[str, int] = {}
    hand_overs: int = 0
    comparisons: dict[str, Comparison] = {}
    disagreements: list[str] = []
    decisions: dict[str, DecisionFeedFigures] = {}
    stands_by: bool = False
    filled: int = 0
    timecodes: dict[str, TimecodeFeedFigures] = {}

    @property
    def stamp(self) -> Stamp | None:
        """Newest stamp of the first feed of timecode that has one."""
        return next((one.feed.stamp for one in self.timecodes.values() if one.feed.stamp is not None), None)


def gateway_lines(figures: GatewayFigures) -> list[str]:
    """Return the figures for people, a line each."""
    lines = []
    for label, one in figures.feeds.items():
        feed, clock = one.feed, one.feed.clock
        lines.append(
            f"{label}: {feed.messages} messages, {feed.positions} positions of {len(feed.transmitters)} "
            f"transmitters, {one.link.connects} connections"
        )
        lines.append(
            f"  latency {feed.latency_p50_us / 1e3:.1f} ms (p95 {feed.latency_p95_us / 1e3:.1f}), "
            f"clock {clock.offset_us / 1e6:+.4f} s, drift {clock.drift_ppm:+.2f} ppm, {clock.steps} steps, "
            f"{feed.copies} copies, {feed.disordered} disordered, {feed.lost_messages} messages lost"
            + (f", {one.link.dropped} datagrams dropped by the kernel" if one.link.dropped else "")
        )
        if (compared := figures.comparisons.get(label)) is not None:
            lines.append(
                f"  against {compared.reference}: {compared.lag_us / 1e3:+.0f} ms (standard error "
                f"{compared.lag_error_us / 1e3:.0f}), turned by {clock.turned_us / 1e3:+.0f} ms, "
                f"{compared.residual_m:.2f} m apart over {compared.transmitters} transmitters"
            )
        lines += [f"  refused: {count} x {reason}" for reason, count in feed.refused.items()]
        lines += [f"  left out: {count} x {reason}" for reason, count in feed.left_out.items()]
    for label, linked in figures.decisions.items():
        stated = linked.feed
        lines.append(
            f"{label}: {stated.messages} messages, {stated.decisions} decisions, {stated.amended} amended, "
            f"{stated.deleted} deleted, {stated.copies} copies, {stated.left_out} other records, "
            f"{linked.link.connects} connections"
        )
        lines += [f"  refused: {count} x {reason}" for reason, count in stated.refused.items()]
    for label, timed in figures.timecodes.items():
        stamp = timed.feed.stamp
        known = "no timecode yet" if stamp is None else f"timecode at {stamp.rate}, to {stamp.error_us / 1e3:.0f} ms"
        lines.append(f"{label}: {timed.feed.frames} frames, {known}, set anew {timed.feed.steps} times")
        lines += [f"  refused: {count} x {reason}" for reason, count in timed.feed.refused.items()]
    if figures.superseded:
        left = ", ".join(f"{count} of {label}" for label, count in figures.superseded.items())
        lines.append(f"packets of objects that another feed gives: {left}; {figures.hand_overs} hand-overs")
    if figures.players_without_tag:
        lines.append(f"players without a tag: {', '.join(figures.players_without_tag)}")
    if figures.tags_without_player:
        lines.append(f"tags that nobody wears: {', '.join(figures.tags_without_player)}")
    return lines
