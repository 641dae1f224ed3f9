"""Level 1, from packets to conditioned states: unpacker, plausibility gate and kinematic filter of one transmitter.

Theory of operation
-------------------
One unit per transmitter. A packet's positions pass three sub-functions in turn:

1. unpack (hierarchy 1.1): a packet whose sequence or time is not beyond the last one's is refused whole.
2. gate (1.3): outside the volume, or farther from the last accepted position than anybody moves in that time.
   A source may also be right about a jump (a corrected identity, a ball set down elsewhere while nobody
   looked): once ``relock`` refused positions in a row agree among themselves, they are believed and the filter
   starts afresh there. Of each run of refusals the first is reported.
3. filter (1.4): blocks of samples are averaged (``signal.Sampling``), and a straight line through the last few
   averages gives velocity and, where samples are averaged, the position. It is causal: a state depends on
   nothing later than its own time.

Acceleration is not gated: in positions alone its bound is either implied by the bound of speed or drowned by
noise.

Nearly all packets are good ones: no position of theirs is refused, and none was before. They are gated and averaged as
a run, in one go (``_run``); the others position by position. Both ways give the same, bit for bit (tests).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from detectors.facts import Fact, fact_event
from detectors.inputs import MatchSheet, Packet, Team
from detectors.signals.sampling import Sampling, ball_sampling, body_sampling
from detectors.states import RUN_MAX, BallState, BodyState, LimbRun, LimbState
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: One averaged sample: time in microseconds, then metres.
Point = tuple[int, float, float, float]

#: A conditioned position before it is an event: place of its last sample in the packet, its time, the averages of
#: the fit, states since the last jump, time since the state before.
Fit = tuple[int, int, tuple[Point, ...], int, int]


class ConditioningParameters(msgspec.Struct, frozen=True):
    """Bounds of what is believed.

    ``ball_speed_max_m_s``: 150 km/h, the seeds' greatest. ``body_speed_max_m_s``: LaurieOnTracking's 12.
    ``limb_speed_max_m_s``: ours; a kicking foot reaches about 25. ``noise_sigmas``: slack for noise.
    ``margin_m``: beyond the lines. ``height_max_m``: ours; the highest kicks stay below 35.
    ``relock``: refused positions in a row that must agree before a jump is believed (ours; 3 is 0.12 s of
    optical tracking, while single-frame jumps of real files come back after one).
    ``reset_us``: after so long a silence the filter starts afresh (1.7: hold at most 200 ms).
    """

    ball_speed_max_m_s: float = 42.0
    body_speed_max_m_s: float = 12.0
    limb_speed_max_m_s: float = 30.0
    noise_sigmas: float = 6.0
    margin_m: float = 10.0
    height_max_m: float = 60.0
    relock: int = 3
    reset_us: int = 200_000


#: Runs of positions of limbs: hands and whatever else, and feet, which most listeners want alone.
LIMB_RUNS = ("limb.run", "foot.run")

#: Why a sample or a packet is refused, and whose.
REJECTIONS = (
    *(
        f"{reason} {name}"
        for reason in ("outside", "speed", "time backwards")
        for name in ("ball", "player", "referee")
    ),
    "unknown player",
)


class Track(msgspec.Struct, frozen=True, gc=False):
    """State of one transmitter. ``points`` are the averages of the fit, oldest first."""

    sequence: int = -1
    last: Point | None = None
    points: tuple[Point, ...] = ()
    block: tuple[Point, ...] = ()
    run: int = 0
    state_us: int = 0
    refused: tuple[Point, ...] = ()


class _Class(msgspec.Struct, frozen=True):
    """What is common to all transmitters of a class: bounds and sampling. ``kind``: of its states; limbs give runs."""

    name: str
    kind: str
    speed_max_m_s: float
    sampling: Sampling
    slack_m: float


class Conditioning:
    """1.4, covering 1.1 and 1.3: raw packets of one transmitter to its conditioned states.

    Args:
        sheet: the pitch bounds the volume, the players give the teams, the quality chooses the sampling.
        parameters: bounds.

    With limb transmitters declared, limbs and centroids go to the player fusion (``foot.run`` and ``limb.run``, a run
    of positions for each packet; ``centroid.state``); without them a centroid is the player (``player.state``).
    """

    def __init__(self, sheet: MatchSheet, parameters: ConditioningParameters | None = None) -> None:
        self.parameters = parameters or ConditioningParameters()
        self._teams = {player.object_id: player.team for player in sheet.players}
        self._x_max_m = sheet.length_m / 2 + self.parameters.margin_m
        self._y_max_m = sheet.width_m / 2 + self.parameters.margin_m
        limbs = bool(sheet.quality.limbs)
        self._classes = self._make_classes(sheet, "centroid.state" if limbs else "player.state")
        body = (*LIMB_RUNS, "centroid.state") if limbs else ("player.state",)
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
        )

    def _make_classes(self, sheet: MatchSheet, centroid_kind: str) -> dict[str, _Class]:
        p = self.parameters
        ball, body = ball_sampling(sheet.quality), body_sampling(sheet.quality)
        slack_m = p.noise_sigmas * body.jitter_m
        return {
            "raw.ball": _Class("ball", "ball.sample", p.ball_speed_max_m_s, ball, p.noise_sigmas * ball.jitter_m),
            "raw.player": _Class("player", centroid_kind, p.body_speed_max_m_s, body, slack_m),
            "raw.limb": _Class("player", "", p.limb_speed_max_m_s, body, slack_m),
            "raw.referee": _Class("referee", "referee.state", p.body_speed_max_m_s, body, slack_m),
        }

    def key(self, event: Event) -> str:
        """The transmitter."""
        return event.source

    def initial(self) -> Track:
        """Nothing seen."""
        return Track()

    def step(self, state: Track, event: Event) -> Step[Track]:
        """Takes one packet."""
        packet = event.payload
        assert isinstance(packet, Packet)
        if packet.sequence != event.seq:  # the source's counter wrapped or began anew, and was counted on
            packet = msgspec.structs.replace(packet, sequence=event.seq)
        kind = self._classes[event.kind]
        team = self._team(packet.transmitter)
        reason = _refusal_of_packet(state, packet, unknown=kind.name == "player" and not team)
        if reason:
            return self._refuse_packet(state, packet, kind, reason, team)
        if not state.refused and self._is_good(state.last, packet, kind):
            return self._run(state, packet, kind, team)
        out: list[Event] = []
        fits: list[Fit] = []
        track = state
        for index, ts_us in enumerate(packet.ts_us):
            point = (ts_us, packet.x_m[index], packet.y_m[index], packet.z_m[index])
            reason = self._refusal(track, point, kind)
            if reason and not track.refused:
                out.append(_rejected(reason, kind.name, team, packet, index, ts_us))
            if reason:
                track = self._refuse(track, point, kind, reason, packet, index, fits)
            else:
                track = self._accept(track, point, kind, packet, index, fits)
        out.extend(_events(kind, packet, team, fits))
        return track, out or NOTHING

    def _is_good(self, last: Point | None, packet: Packet, kind: _Class) -> bool:
        """Whether no position of a packet is refused; the comparisons are those of :meth:`_refusal`."""
        x_max_m, y_max_m, z_max_m = self._x_max_m, self._y_max_m, self.parameters.height_max_m
        speed_max_m_s, slack_m = kind.speed_max_m_s, kind.slack_m
        # The first position of all is compared with itself.
        t0, x0, y0, z0 = last or (packet.ts_us[0], packet.x_m[0], packet.y_m[0], packet.z_m[0])
        for t, x, y, z in zip(packet.ts_us, packet.x_m, packet.y_m, packet.z_m, strict=True):
            dx, dy, dz = x - x0, y - y0, z - z0
            reach_m = speed_max_m_s * (t - t0) * 1e-6 + slack_m
            if not (
                dx * dx + dy * dy + dz * dz <= reach_m * reach_m
                and -x_max_m <= x <= x_max_m
                and -y_max_m <= y <= y_max_m
                and -z_max_m <= z <= z_max_m
            ):
                return False
            t0, x0, y0, z0 = t, x, y, z
        return True

    def _run(self, track: Track, packet: Packet, kind: _Class, team: Team) -> Step[Track]:
        """Takes a good packet as :meth:`_accept` takes its positions one by one."""
        size, fit, reset_us = kind.sampling.block, kind.sampling.fit, self.parameters.reset_us
        held = track.block
        waiting = [*held, *zip(packet.ts_us, packet.x_m, packet.y_m, packet.z_m, strict=True)]
        last = waiting[-1]
        full = len(waiting) - len(waiting) % size
        if not full:
            return Track(packet.sequence, last, track.points, tuple(waiting), track.run, track.state_us), NOTHING
        points, run, state_us = track.points, track.run, track.state_us
        fits: list[Fit] = []
        for begin in range(0, full, size):
            ts_us = waiting[begin + size - 1][0]
            mean = waiting[begin] if size == 1 else _mean(waiting[begin : begin + size])
            if points and mean[0] - points[-1][0] > reset_us:
                points, run = (), 0
            points = (*points[1 - fit :], mean) if points else (mean,)
            if run < RUN_MAX:
                run += 1
            fits.append((begin + size - 1 - len(held), ts_us, points, run, ts_us - state_us))
            state_us = ts_us
        return Track(packet.sequence, last, points, tuple(waiting[full:]), run, state_us), _events(
            kind, packet, team, fits
        )

    def _refuse_packet(self, track: Track, packet: Packet, kind: _Class, reason: str, team: Team) -> Step[Track]:
        """Refuses a whole packet; of a run of such packets the first is reported."""
        if track.refused:
            return track, NOTHING
        marked = msgspec.structs.replace(track, refused=(_nowhere(packet.ts_us[0]),))
        return marked, (_rejected(reason, kind.name, team, packet, 0, packet.ts_us[0]),)

    def _team(self, transmitter: str) -> Team:
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

    def _refusal(self, track: Track, point: Point, kind: _Class) -> str:
        """Why ``point`` is not believed, or nothing. Comparisons are so written that NaN is refused."""
        _, x_m, y_m, z_m = point
        inside = abs(x_m) <= self._x_max_m and abs(y_m) <= self._y_max_m
        if not (inside and abs(z_m) <= self.parameters.height_max_m):
            return "outside"
        last = track.last
        if last is None:
            return ""
        return "" if self._reachable(last, point, kind) else "speed"

    def _reachable(self, before: Point, after: Point, kind: _Class) -> bool:
        reach_m = kind.speed_max_m_s * (after[0] - before[0]) * 1e-6 + kind.slack_m
        dx, dy, dz = after[1] - before[1], after[2] - before[2], after[3] - before[3]
        return dx * dx + dy * dy + dz * dz <= reach_m * reach_m

    def _refuse(
        self,
        track: Track,
        point: Point,
        kind: _Class,
        reason: str,
        packet: Packet,
        index: int,
        fits: list[Fit],
    ) -> Track:
        """Believes a jump that ``relock`` positions agree on."""
        if reason == "outside":
            refused: tuple[Point, ...] = (_nowhere(point[0]),)
        elif track.refused and self._reachable(track.refused[-1], point, kind):
            refused = (*track.refused, point)
        else:
            refused = (point,)
        if len(refused) < self.parameters.relock:
            return msgspec.structs.replace(track, sequence=packet.sequence, refused=refused)
        jumped = Track(state_us=track.state_us)
        return self._accept(jumped, point, kind, packet, index, fits)

    def _accept(self, track: Track, point: Point, kind: _Class, packet: Packet, index: int, fits: list[Fit]) -> Track:
        """Averages the point into its block; a full block gives a state."""
        sampling = kind.sampling
        block = (*track.block, point)
        if len(block) < sampling.block:
            return Track(packet.sequence, point, track.points, block, track.run, track.state_us)
        mean = block[0] if len(block) == 1 else _mean(block)
        points, run, ts_us = track.points, track.run, point[0]
        if points and mean[0] - points[-1][0] > self.parameters.reset_us:
            points, run = (), 0
        points = (*points[1 - sampling.fit :], mean) if points else (mean,)
        run = min(run + 1, RUN_MAX)
        fits.append((index, ts_us, points, run, ts_us - track.state_us))
        return Track(packet.sequence, point, points, (), run, ts_us)


def _nowhere(ts_us: int) -> Point:
    """A refused position that no other can agree with."""
    return ts_us, 1e9, 1e9, 0.0


def _refusal_of_packet(track: Track, packet: Packet, *, unknown: bool) -> str:
    if unknown:
        return "unknown"
    if packet.sequence <= track.sequence or (track.last is not None and packet.ts_us[0] <= track.last[0]):
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


def _position(
    points: tuple[Point, ...], velocity: tuple[float, float, float], at_us: int
) -> tuple[float, float, float]:
    """The newest average carried on to ``at_us``, metres. A line through more of them would cut corners."""
    t, x, y, z = points[-1]
    ahead_s = (at_us - t) * 1e-6
    return x + velocity[0] * ahead_s, y + velocity[1] * ahead_s, z + velocity[2] * ahead_s


def _events(kind: _Class, packet: Packet, team: Team, fits: Sequence[Fit]) -> Sequence[Event]:
    """What a packet comes to: an event a state, or one run of a limb's states."""
    if not fits:
        return NOTHING
    if kind.kind:
        return [_state_event(kind, packet, team, fit) for fit in fits]
    name = packet.transmitter
    object_id, _, limb = name.partition("/")
    averaged = kind.sampling.block > 1
    states: list[LimbState] = []
    for _, ts_us, points, _, _ in fits:
        vx, vy, _ = velocity = _velocity(points)
        x, y, z = _position(points, velocity, ts_us) if averaged else points[-1][1:]
        states.append((ts_us, x, y, z, vx, vy))
    run = LimbRun(object_id, team, limb, tuple(states), packet.quality)
    return (Event(LIMB_RUNS["foot" in limb], states[0][0], name, packet.sequence, run),)


def _state_event(kind: _Class, packet: Packet, team: Team, fit: Fit) -> Event:
    index, ts_us, points, run, gap_us = fit
    vx, vy, vz = velocity = _velocity(points)
    # Unaveraged samples come from sources that have smoothed them already: the line would only lag.
    x, y, z = _position(points, velocity, ts_us) if kind.sampling.block > 1 else points[-1][1:]
    seq = packet.sequence * 10 + index
    if kind.name == "ball":
        ball = BallState(x, y, z, vx, vy, vz, gap_us, packet.quality, run)
        return Event(kind.kind, ts_us, packet.transmitter, seq, ball)
    object_id, _, limb = packet.transmitter.partition("/")
    body = BodyState(object_id, team, limb, x, y, z, vx, vy, packet.quality)
    return Event(kind.kind, ts_us, packet.transmitter, seq, body)


def _rejected(reason: str, name: str, team: Team, packet: Packet, index: int, ts_us: int) -> Event:
    """A refused position, or a refused packet (index 0)."""
    finite = all(abs(v[index]) < 1e6 for v in (packet.x_m, packet.y_m, packet.z_m))
    fact = Fact(
        variant=f"{reason} {name}",
        team=team,
        player=packet.transmitter.partition("/")[0] if name == "player" else "",
        x_m=packet.x_m[index] if finite else None,
        y_m=packet.y_m[index] if finite else None,
        z_m=packet.z_m[index] if finite else None,
        detail={"transmitter": packet.transmitter, "sequence": packet.sequence, "index": index},
    )
    return fact_event("sample.rejected", ts_us, f"{packet.transmitter}:{packet.sequence}:{index}", fact)
