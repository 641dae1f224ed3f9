"""Level 1, from packets to conditioned states: unpack, gate and filter the positions of one transmitter.

Theory of operation
-------------------
One unit per transmitter. A packet's positions pass three sub-functions in turn:

1. Unpack (hierarchy 1.1). A packet is rejected whole if its sequence or time is not beyond the last one's.
2. Gate (1.3). A position is rejected if it is outside the volume, or farther from the last accepted position than the
   object can move in that time. A jump may also be true: an identity was corrected, or a ball was set down elsewhere
   unobserved. So once ``relock`` rejected positions in a row agree among themselves, the gate accepts them and the
   filter starts afresh there. Of each run of rejections the first is reported.
3. Filter (1.4). Blocks of samples are averaged (:class:`detectors.signals.sampling.Sampling`). A straight line through
   the last few averages gives the velocity and, where samples are averaged, the position. The filter is causal: a state
   depends on nothing later than its own time.

Acceleration is not gated: in positions alone its bound is implied by the bound of speed, or noise exceeds it.

Nearly all packets have no rejected position and follow none. A compiled kernel takes them as a run
(:mod:`detectors.signals.kernels.filter_kernel`). The plain fold takes the others position by position, and is the
kernel's oracle in the tests: both give the same, bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple, cast

import msgspec

from detectors.decisions import is_recording, note
from detectors.emission import make_event
from detectors.reasons import reason
from detectors.signals.kernels.filter_kernel import Filter, Fitted, PacketFilter, PacketFilters, Point, Taken
from detectors.signals.sampling import Sampling, ball_sampling, body_sampling
from football.constants import BALL_STEP_MAX_M_S
from football.match_sheet import MatchSheet, Team
from football.packets import Packet
from football.payloads import RUN_MAX, BallState, BodyState, EventPayload, LimbRun, LimbState
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class ConditioningParameters(msgspec.Struct, frozen=True):
    """Bounds of plausible positions, and when a filter starts afresh.

    Attributes:
        ball_speed_max_m_s: the greatest speed of a ball from one position to the next.
        body_speed_max_m_s: the greatest speed of a player or referee.
        limb_speed_max_m_s: the greatest speed of a limb.
        noise_sigmas: slack of a distance for noise, in standard deviations of a position.
        margin_m: how far beyond the lines a position is accepted.
        height_max_m: the greatest height.
        relock: rejected positions in a row that must agree before a jump is accepted.
        reset_us: silence after which the filter starts afresh.
    """

    ball_speed_max_m_s: Annotated[
        float, reason("ours, above the 42 m/s of paper 004: a strike whose first position is rejected is no hit")
    ] = BALL_STEP_MAX_M_S
    body_speed_max_m_s: Annotated[float, reason("LaurieOnTracking")] = 12.0
    limb_speed_max_m_s: Annotated[float, reason("ours; a kicking foot reaches about 25 m/s")] = 30.0
    noise_sigmas: Annotated[float, reason("ours")] = 6.0
    margin_m: Annotated[float, reason("hierarchy 1.3")] = 10.0
    height_max_m: Annotated[float, reason("ours; the highest kicks stay below 35 m")] = 60.0
    relock: Annotated[
        int, reason("ours; 3 are 0.12 s of optical tracking, and single-frame jumps of real files last one frame")
    ] = 3
    reset_us: Annotated[int, reason("hierarchy 1.7: hold at most 200 ms")] = 200_000


#: Kinds of runs of positions: of hands and other limbs, and of feet, which most detectors take alone.
LIMB_RUNS = ("limb.run", "foot.run")

#: Variants of ``sample.rejected``: the why, and the class of the transmitter.
REJECTIONS = (
    *(f"{why} {name}" for why in ("outside", "speed", "time backwards") for name in ("ball", "player", "referee")),
    "unknown player",
)


class Track(msgspec.Struct, frozen=True, gc=False):
    """State of one transmitter.

    Attributes:
        sequence: number of the last accepted packet.
        last_us: time of its last position.
        memory: the filter, packed (:mod:`detectors.signals.kernels.filter_kernel`).
        refused: positions rejected since.
    """

    sequence: int = -1
    last_us: int | None = None
    memory: bytes = b""
    refused: tuple[Point, ...] = ()


class TransmitterClass(msgspec.Struct, frozen=True):
    """A class of transmitters: bounds, sampling and filter.

    Attributes:
        name: ``ball``, ``player`` or ``referee``.
        kind: kind of its states; empty for limbs, which give runs.
        speed_max_m_s: bound of speed.
        sampling: how its samples are averaged and fitted.
        slack_m: slack of a distance for noise.
        packets: the filter of one packet.
    """

    name: str
    kind: str
    speed_max_m_s: float
    sampling: Sampling
    slack_m: float
    packets: PacketFilter


class Transmitter(NamedTuple):
    """A transmitter: the parts of its name, and its class, which has the number ``class_number``.

    ``is_unknown``: it is of a player who is not on the sheet. ``kind`` is that of its states or runs.
    """

    name: str
    its: TransmitterClass
    class_number: int
    object_id: str
    team: Team
    limb: str
    is_unknown: bool
    kind: str


class Conditioning:
    """1.4, covering 1.1 and 1.3: raw packets of one transmitter to its conditioned states.

    With limb transmitters declared, limbs and centroids go to the player fusion (``foot.run`` and ``limb.run``, a run
    of positions a packet; ``centroid.state``). Without them a centroid is the player (``player.state``).
    ``detail`` of ``sample.rejected``: ``transmitter``, ``sequence`` (of the packet), ``index`` (of the position in it).

    Attributes:
        classes: of transmitters, by the kind of their packets.

    Args:
        sheet: the pitch bounds the volume, the players give the teams, the quality chooses the sampling.
        parameters: bounds.
    """

    def __init__(self, sheet: MatchSheet, parameters: ConditioningParameters | None = None) -> None:
        self.parameters = parameters or ConditioningParameters()
        self._teams = {player.object_id: player.team for player in sheet.players}
        self._x_max_m = sheet.length_m / 2 + self.parameters.margin_m
        self._y_max_m = sheet.width_m / 2 + self.parameters.margin_m
        limbs = bool(sheet.quality.limbs)
        self.classes = self._make_classes(sheet, "centroid.state" if limbs else "player.state")
        body = (*LIMB_RUNS, "centroid.state") if limbs else ("player.state",)
        self._numbers = {kind: number for number, kind in enumerate(self.classes)}
        #: Transmitters by kind and name.
        self._transmitters: dict[str, dict[str, Transmitter]] = {kind: {} for kind in self.classes}
        self._packets = PacketFilters([kind.packets for kind in self.classes.values()])
        self.spec = Spec(
            name="conditioning",
            number="1.4",
            level=1,
            inputs=("raw.referee", *(("raw.limb",) if limbs else ()), "raw.player", "raw.ball"),
            outputs=("sample.rejected", "referee.state", *body, "ball.sample"),
            internal=("referee.state", *body, "ball.sample"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="004 Fig 6 (packets); LaurieOnTracking and databallpy (gates, Savitzky-Golay of order 1)",
            keyed=True,
            takes_runs=True,
            variants={"sample.rejected": REJECTIONS},
            team_variants=dict.fromkeys(body[-1:], ("",)),
            covers=("1.1", "1.3"),
            details={"sample.rejected": ("transmitter", "sequence", "index")},
        )

    def _make_classes(self, sheet: MatchSheet, centroid_kind: str) -> dict[str, TransmitterClass]:
        p = self.parameters
        ball, body = ball_sampling(sheet.quality), body_sampling(sheet.quality)
        bounds_m = self._x_max_m, self._y_max_m, p.height_max_m

        def build(name: str, kind: str, speed_max_m_s: float, sampling: Sampling) -> TransmitterClass:
            slack_m = p.noise_sigmas * sampling.jitter_m
            packets = PacketFilter(sampling, speed_max_m_s, slack_m, p.reset_us, bounds_m, limb=not kind)
            return TransmitterClass(name, kind, speed_max_m_s, sampling, slack_m, packets)

        return {
            "raw.ball": build("ball", "ball.sample", p.ball_speed_max_m_s, ball),
            "raw.player": build("player", centroid_kind, p.body_speed_max_m_s, body),
            "raw.limb": build("player", "", p.limb_speed_max_m_s, body),
            "raw.referee": build("referee", "referee.state", p.body_speed_max_m_s, body),
        }

    def key(self, event: Event) -> str:
        """The transmitter."""
        return event.source

    def initial(self) -> Track:
        """No packet yet."""
        return Track()

    def step(self, state: Track, event: Event) -> Step[Track]:
        """Takes one packet."""
        packet, sender = _numbered(event), self._transmitter(event)
        why = _refusal_of_packet(state, packet, sender)
        if why:
            return self._refuse_packet(state, packet, sender, why)
        taken = None if state.refused else sender.its.packets.take(state.memory, packet)
        return self._one_by_one(state, packet, sender) if taken is None else _step(packet, sender, taken)

    def step_together(self, states: Sequence[Track], events: Sequence[Event]) -> Sequence[Step[Track]]:
        """Takes one packet of each of several transmitters, nearly all with one call of the kernel."""
        steps: list[Step[Track]] = []
        packets: list[tuple[int, bytes, Packet]] = []
        regular: list[tuple[int, Track, Packet, Transmitter]] = []
        for at, (state, event) in enumerate(zip(states, events, strict=True)):
            packet, sender = _numbered(event), self._transmitter(event)
            if state.refused or _refusal_of_packet(state, packet, sender):
                steps.append(self.step(state, event))
            else:
                steps.append((state, NOTHING))
                regular.append((at, state, packet, sender))
                packets.append((sender.class_number, state.memory, packet))
        if packets:
            for (at, state, packet, sender), taken in zip(regular, self._packets.take(packets), strict=True):
                steps[at] = self._one_by_one(state, packet, sender) if taken is None else _step(packet, sender, taken)
        return steps

    def _transmitter(self, event: Event) -> Transmitter:
        """The transmitter of a packet."""
        known = self._transmitters[event.kind]
        name = cast(Packet, event.payload).transmitter
        sender = known.get(name)
        if sender is None:
            its, team, (object_id, _, limb) = self.classes[event.kind], self.team(name), name.partition("/")
            is_unknown = its.name == "player" and not team
            kind = its.kind or LIMB_RUNS["foot" in limb]
            sender = Transmitter(name, its, self._numbers[event.kind], object_id, team, limb, is_unknown, kind)
            known[name] = sender
        return sender

    def _one_by_one(self, state: Track, packet: Packet, sender: Transmitter) -> Step[Track]:
        """The plain fold over the positions of a packet."""
        out: list[Event] = []
        fitted: list[Fitted] = []
        kind, team = sender.its, sender.team
        before = now = kind.packets.unpack(state.memory)
        refused = state.refused
        for index, point in enumerate(zip(packet.ts_us, packet.x_m, packet.y_m, packet.z_m, strict=True)):
            why = self._refusal(now.last, point, kind)
            if why:
                if not refused:
                    out.append(_rejected(why, kind.name, team, packet, index, point[0]))
                    if is_recording():
                        self._note_refusal(why, now.last, point, kind, out[-1].source, packet.transmitter)
                refused = self._refused(refused, point, kind, why)
                if len(refused) < self.parameters.relock:
                    continue
                now = Filter(state_us=now.state_us)  # a jump that so many positions agree on is believed
            now, refused = self._accept(now, point, kind, index, fitted), ()
        limb_states = [(ts_us, x, y, z, vx, vy) for ts_us, _, _, _, x, y, z, vx, vy, _ in fitted]
        out.extend(_events(packet, sender, fitted if kind.kind else tuple(limb_states)))
        memory = state.memory if now is before else kind.packets.pack(now)
        return Track(packet.sequence, now.last[0] if now.last else None, memory, refused), out or NOTHING

    def _refuse_packet(self, track: Track, packet: Packet, sender: Transmitter, why: str) -> Step[Track]:
        """Reject a whole packet; of a run of such packets the first is reported."""
        if track.refused:
            return track, NOTHING
        marked = msgspec.structs.replace(track, refused=(_nowhere(packet.ts_us[0]),))
        return marked, (_rejected(why, sender.its.name, sender.team, packet, 0, packet.ts_us[0]),)

    def team(self, transmitter: str) -> Team:
        """Team of a transmitter's player, empty if the sheet does not have it."""
        known = self._teams.get(transmitter)
        if known is not None:
            return known
        object_id = transmitter.partition("/")[0]
        team = self._teams.get(object_id)
        if team is not None or self._teams:
            return team or ""
        if object_id.startswith("home_"):
            return "home"
        return "away" if object_id.startswith("away_") else ""

    def _refusal(self, last: Point | None, point: Point, kind: TransmitterClass) -> str:
        """The why to reject ``point``, empty if there is none. The comparisons reject NaN."""
        _, x_m, y_m, z_m = point
        inside = abs(x_m) <= self._x_max_m and abs(y_m) <= self._y_max_m
        if not (inside and abs(z_m) <= self.parameters.height_max_m):
            return "outside"
        if last is None:
            return ""
        return "" if self._reachable(last, point, kind) else "speed"

    def _reachable(self, before: Point, after: Point, kind: TransmitterClass) -> bool:
        reach_m = kind.speed_max_m_s * (after[0] - before[0]) * 1e-6 + kind.slack_m
        dx, dy, dz = after[1] - before[1], after[2] - before[2], after[3] - before[3]
        return dx * dx + dy * dy + dz * dz <= reach_m * reach_m

    def _refused(self, refused: tuple[Point, ...], point: Point, kind: TransmitterClass, why: str) -> tuple[Point, ...]:
        """Rejected positions that agree among themselves, the newest included."""
        if why == "outside":
            return (_nowhere(point[0]),)
        return (*refused, point) if refused and self._reachable(refused[-1], point, kind) else (point,)

    def _note_refusal(
        self, why: str, last: Point | None, point: Point, kind: TransmitterClass, anchor: str, transmitter: str
    ) -> None:
        """Note by how much a position missed the gate."""
        p = self.parameters
        outside_m = max(abs(point[1]) - self._x_max_m, abs(point[2]) - self._y_max_m) + p.margin_m
        if why == "speed" and last is not None and point[0] > last[0]:
            speed_m_s = (math.dist(point[1:], last[1:]) - kind.slack_m) * 1e6 / (point[0] - last[0])
            group = "limb" if "/" in transmitter else "body" if kind.name != "ball" else "ball"
            parameter = f"conditioning.{group}_speed_max_m_s"
            note(
                "speed from the last position, noise allowed",
                speed_m_s,
                "at least",
                kind.speed_max_m_s,
                parameter,
                anchor,
            )
        elif why == "outside" and outside_m > p.margin_m:
            note("distance outside the lines", outside_m, "at least", p.margin_m, "conditioning.margin_m", anchor)
        elif why == "outside":
            note("height", abs(point[3]), "at least", p.height_max_m, "conditioning.height_max_m", anchor)

    def _accept(self, now: Filter, point: Point, kind: TransmitterClass, index: int, fitted: list[Fitted]) -> Filter:
        """Add the point to its block; a full block gives a state."""
        sampling = kind.sampling
        block = (*now.block, point)
        if len(block) < sampling.block:
            return Filter(point, now.points, block, now.run, now.state_us)
        mean = block[0] if len(block) == 1 else _mean(block)
        points, run, ts_us = now.points, now.run, point[0]
        if points and mean[0] - points[-1][0] > self.parameters.reset_us:
            points, run = (), 0
        points = (*points[1 - sampling.fit :], mean) if points else (mean,)
        run = min(run + 1, RUN_MAX)
        velocity = _velocity(points)
        # Unaveraged samples come from sources that have smoothed them already: the line would only lag.
        x, y, z = _position(mean, velocity, ts_us) if sampling.block > 1 else mean[1:]
        fitted.append((ts_us, index, run, ts_us - now.state_us, x, y, z, *velocity))
        return Filter(point, points, (), run, ts_us)


def _numbered(event: Event) -> Packet:
    """Return the packet of an event, under the number that the event has."""
    packet = cast(Packet, event.payload)
    if packet.sequence == event.seq:
        return packet
    # The source's counter wrapped or began anew, and was counted on.
    return msgspec.structs.replace(packet, sequence=event.seq)


def _nowhere(ts_us: int) -> Point:
    """A rejected position that no other can agree with."""
    return ts_us, 1e9, 1e9, 0.0


def _refusal_of_packet(track: Track, packet: Packet, sender: Transmitter) -> str:
    if sender.is_unknown:
        return "unknown"
    if packet.sequence <= track.sequence or (track.last_us is not None and packet.ts_us[0] <= track.last_us):
        return "time backwards"
    return ""


def _mean(block: Sequence[Point]) -> Point:
    t_sum = 0
    x_sum = y_sum = z_sum = 0.0
    for t, x, y, z in block:
        t_sum += t
        x_sum += x
        y_sum += y
        z_sum += z
    n = len(block)
    return t_sum // n, x_sum / n, y_sum / n, z_sum / n


def _velocity(points: tuple[Point, ...]) -> tuple[float, float, float]:
    """Slope of the least-squares line through ``points``, m/s; zero for one point.

    Of two points, and of three at equal distances, it is the slope between the ends: no sums needed.
    """
    n = len(points)
    if n == 1:
        return 0.0, 0.0, 0.0
    t0, x0, y0, z0 = points[0]
    if n <= 3:
        t1, x1, y1, z1 = points[-1]
        if n == 2 or points[1][0] - t0 == t1 - points[1][0]:
            per_s = 1e6 / (t1 - t0)
            return (x1 - x0) * per_s, (y1 - y0) * per_s, (z1 - z0) * per_s
    middle_us = sum([p[0] - t0 for p in points]) / n + t0
    tt = tx = ty = tz = 0.0
    for t, x, y, z in points:
        d = t - middle_us
        tt += d * d
        tx += d * (x - x0)
        ty += d * (y - y0)
        tz += d * (z - z0)
    per_s = 1e6 / tt
    return tx * per_s, ty * per_s, tz * per_s


def _position(mean: Point, velocity: tuple[float, float, float], at_us: int) -> tuple[float, float, float]:
    """The newest average carried on to ``at_us``, metres. A line through more of them would cut the curves."""
    t, x, y, z = mean
    ahead_s = (at_us - t) * 1e-6
    return x + velocity[0] * ahead_s, y + velocity[1] * ahead_s, z + velocity[2] * ahead_s


def _step(packet: Packet, sender: Transmitter, taken: Taken) -> Step[Track]:
    """The step on a packet that the kernel has taken."""
    return Track(packet.sequence, packet.ts_us[-1], taken[0]), _events(packet, sender, taken[1])


def _events(packet: Packet, sender: Transmitter, fitted: Sequence[Any]) -> Sequence[Event]:
    """Events of a packet: one of each of what was fitted, or one run of a limb's states."""
    if not fitted:
        return NOTHING
    name, its, object_id, quality = sender.name, sender.its, sender.object_id, packet.quality
    if not its.kind:
        run = LimbRun(object_id, sender.team, sender.limb, cast("tuple[LimbState, ...]", fitted), quality)
        return (Event(sender.kind, fitted[0][0], name, packet.sequence, run),)
    first = packet.sequence * 10
    if its.name == "ball":
        return [
            Event(its.kind, ts_us, name, first + index, BallState(x, y, z, vx, vy, vz, gap_us, quality, since))
            for ts_us, index, since, gap_us, x, y, z, vx, vy, vz in fitted
        ]
    team, limb = sender.team, sender.limb
    return [
        Event(its.kind, ts_us, name, first + index, BodyState(object_id, team, limb, x, y, z, vx, vy, quality))
        for ts_us, index, _, _, x, y, z, vx, vy, _ in fitted
    ]


def _rejected(why: str, name: str, team: Team, packet: Packet, index: int, ts_us: int) -> Event:
    """The event of a rejected position, or of a rejected packet (index 0)."""
    finite = all(abs(v[index]) < 1e6 for v in (packet.x_m, packet.y_m, packet.z_m))
    payload = EventPayload(
        variant=f"{why} {name}",
        team=team,
        player=packet.transmitter.partition("/")[0] if name == "player" else "",
        x_m=packet.x_m[index] if finite else None,
        y_m=packet.y_m[index] if finite else None,
        z_m=packet.z_m[index] if finite else None,
        detail={"transmitter": packet.transmitter, "sequence": packet.sequence, "index": index},
    )
    return make_event("sample.rejected", ts_us, f"{packet.transmitter}:{packet.sequence}:{index}", payload)
