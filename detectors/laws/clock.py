"""9.8: periods and the match clock (IFAB Law 7).

Theory of operation
-------------------
A period begins with a kick-off. The first one seen begins the first; a later one begins the next if the teams have
changed ends since, or if play had been dead for long and not for a goal (extra time may keep the ends). That it has
ended is known for sure only then; sooner it is told with doubt, once its time is over and the ball has been dead for a
while, and taken back if play goes on. Officials (1.10) who say it are believed at once.

Which team stands on which side is looked at once a second; a kick-off is seen half a second after it was taken, when
all are still in their own halves.
"""

from __future__ import annotations

import msgspec

from detectors.emission import make_event
from detectors.laws.restarts import restart_kind
from detectors.signals.official import decided_us
from football.match_sheet import MatchSheet, Team
from football.officials import PERIODS
from football.payloads import EventPayload, Scalar, frame_of, published, time_us
from football.pitch import pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Minute at which each period begins (Law 7).
FIRST_MINUTES = (0, 45, 90, 105, 120)


class ClockParameters(msgspec.Struct, frozen=True):
    """When a period begins and ends without a whistle; all but the halves' length ours.

    Attributes:
        half_minutes, extra_minutes: length of a half, and of one of extra time (Law 7).
        over_us: a ball that has been dead for so long after that ends it.
        pause_us: play was dead at least so long before a period that keeps the ends.
        every_us: sides are looked at so often.
        doubt: confidence of an end that nobody has confirmed.
    """

    half_minutes: int = 45
    extra_minutes: int = 15
    over_us: int = 60_000_000
    pause_us: int = 120_000_000
    every_us: int = 1_000_000
    doubt: float = 0.6


class ClockState(msgspec.Struct, frozen=True, gc=False):
    """Where the match is.

    Attributes:
        period: 0 before the first.
        begun_us: its beginning.
        left: the team that had the left half then; ``left_now`` has it now.
        dead_us: since when the ball is dead, -1 if it is not; ``goal`` if of a goal.
        ended: the end that was told, None if none was.
        minute: the last one told.
        due_us: next look at the sides.
        added_us: what officials have added to the period.
    """

    period: int = 0
    begun_us: int = 0
    left: Team = ""
    left_now: Team = ""
    dead_us: int = -1
    goal: bool = False
    ended: Event | None = None
    minute: int = 0
    due_us: int = -(2**62)
    added_us: int = 0


class MatchClock:
    """9.8: ``period.start`` and ``period.end`` x {1 .. 5}, and ``clock.minute`` at each full one, ``detail.minute``.

    ``period.end`` has in ``detail.since_us`` when the ball died. Period 5, the shoot-out, is the officials' to say.
    """

    def __init__(self, sheet: MatchSheet, parameters: ClockParameters | None = None) -> None:
        self.parameters = parameters or ClockParameters()
        self.pitch = pitch_of(sheet)
        self.spec = Spec(
            name="match_clock",
            number="9.8",
            level=9,
            inputs=(
                "frame",
                "clock.tick",
                "play.dead",
                "play.live",
                "official.added_time",
                "official.period_start",
                "official.period_end",
            ),
            outputs=("period.end", "period.start", "clock.minute"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="IFAB Law 7",
            annuls=("period.end",),
            amends=("period.end",),
            variants={"period.end": PERIODS, "period.start": PERIODS},
        )

    def initial(self) -> ClockState:
        """Before the match."""
        return ClockState()

    def step(self, state: ClockState, event: Event) -> Step[ClockState]:
        """Frames and ticks make up nearly all of the input."""
        if event.kind == "frame":
            return (self._look(state, event), NOTHING) if event.ts_us >= state.due_us else (state, NOTHING)
        if event.kind == "clock.tick":
            return self._tick(state, event) if state.period else (state, NOTHING)
        payload = published(event)
        if event.kind == "play.dead":
            return msgspec.structs.replace(state, dead_us=_since_us(event), goal=payload.variant == "goal"), NOTHING
        if event.kind == "play.live":
            return self._live(state, event, payload)
        if event.kind == "official.period_end":
            if not state.period or state.ended or payload.variant != str(state.period):
                return state, NOTHING
            end = _end(state, event.ts_us, event.source, decided_us(event), 1.0)
            return msgspec.structs.replace(state, ended=end), (end,)
        if event.kind == "official.added_time":
            return self._added(state, event, payload)
        return self._officially(state, event, int(payload.variant))

    def _look(self, state: ClockState, event: Event) -> ClockState:
        frame = frame_of(event)
        sums = {"home": [0.0, 0], "away": [0.0, 0]}
        for p in frame.players:
            if p.team:
                sums[p.team][0] += p.x_m
                sums[p.team][1] += 1
        left: Team = state.left_now
        if sums["home"][1] and sums["away"][1]:
            left = "home" if sums["home"][0] / sums["home"][1] < sums["away"][0] / sums["away"][1] else "away"
        every_us = self.parameters.every_us
        return msgspec.structs.replace(state, left_now=left, due_us=event.ts_us // every_us * every_us + every_us)

    def _tick(self, state: ClockState, event: Event) -> Step[ClockState]:
        """Full minutes while the period runs; its end when its time is over and the ball has long been dead."""
        p = self.parameters
        if state.ended:
            return state, NOTHING
        ran_us = event.ts_us - state.begun_us
        length_us = self._length_us(state)
        over = ran_us >= length_us and 0 <= state.dead_us <= event.ts_us - p.over_us and not state.goal
        if over and state.period < len(PERIODS):
            end = _end(state, event.ts_us, f"clock:{state.dead_us}/{state.added_us}", state.dead_us, p.doubt)
            return msgspec.structs.replace(state, ended=end), (end,)
        minute = ran_us // 60_000_000
        if minute <= state.minute:
            return state, NOTHING
        detail: dict[str, Scalar] = {"minute": FIRST_MINUTES[state.period - 1] + minute, "period": state.period}
        told = make_event("clock.minute", event.ts_us, f"clock:{state.period}/{minute}", EventPayload(detail=detail))
        return msgspec.structs.replace(state, minute=minute), (told,)

    def _length_us(self, state: ClockState) -> int:
        """How long the period lasts at least."""
        minutes = self.parameters.half_minutes if state.period <= 2 else self.parameters.extra_minutes
        return 60_000_000 * minutes + state.added_us

    def _added(self, state: ClockState, event: Event, payload: EventPayload) -> Step[ClockState]:
        """The period lasts longer: an end that was taken for one before that never was."""
        minutes = time_us(payload, "minutes")
        longer = msgspec.structs.replace(state, added_us=60_000_000 * minutes)
        early = state.ended is not None and event.ts_us - state.begun_us < self._length_us(longer)
        return self._goes_on(longer, event) if early else (longer, NOTHING)

    def _live(self, state: ClockState, event: Event, payload: EventPayload) -> Step[ClockState]:
        kick_off = restart_kind(self.pitch, payload) == "kick_off"
        dead_us = state.dead_us
        alive = msgspec.structs.replace(state, dead_us=-1, goal=False)
        if not kick_off:
            return self._goes_on(alive, event)
        swapped = bool(state.left and state.left_now and state.left != state.left_now)
        pause_us = event.ts_us - dead_us if dead_us >= 0 else 0
        rested = state.period >= 2 and not state.goal and pause_us >= self.parameters.pause_us
        if state.period and not swapped and not rested:
            return self._goes_on(alive, event)
        if state.period >= len(PERIODS):
            return alive, NOTHING
        kick_us = time_us(payload, "kick_us")
        return self._begin(state, event, state.period + 1, kick_us, dead_us)

    def _goes_on(self, state: ClockState, event: Event) -> Step[ClockState]:
        """Play goes on in the same period: an end that was told was none."""
        ended = state.ended
        if ended is None or not ended.source.startswith("clock:"):
            return state, NOTHING
        void = msgspec.structs.replace(ended, ts_us=event.ts_us, seq=1, annuls=ended.id, dated_us=ended.ts_us)
        return msgspec.structs.replace(state, ended=None), (void,)

    def _officially(self, state: ClockState, event: Event, period: int) -> Step[ClockState]:
        if period == state.period:
            return state, NOTHING
        return self._begin(state, event, period, decided_us(event), state.dead_us)

    def _begin(self, state: ClockState, event: Event, period: int, at_us: int, dead_us: int) -> Step[ClockState]:
        out: list[Event] = []
        if state.period and not state.ended:
            out.append(_end(state, event.ts_us, event.source, dead_us if dead_us >= 0 else event.ts_us, 1.0))
        detail: dict[str, Scalar] = {"since_us": at_us, "left": state.left_now}
        payload = EventPayload(str(period), detail=detail)
        out.append(make_event("period.start", event.ts_us, event.source, payload, causes=(event.id,)))
        return ClockState(period, at_us, state.left_now, state.left_now, -1, due_us=state.due_us), out


def _since_us(event: Event) -> int:
    payload = published(event)
    since_us = time_us(payload, "since_us")
    return since_us


def _end(state: ClockState, ts_us: int, anchor: str, since_us: int, confidence: float) -> Event:
    payload = EventPayload(str(state.period), confidence=confidence, detail={"since_us": since_us})
    return make_event("period.end", ts_us, anchor, payload)
