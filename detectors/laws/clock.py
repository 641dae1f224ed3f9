"""9.8: periods and the match clock (IFAB Law 7).

Theory of operation
-------------------
A period begins with a kick-off. The first kick-off begins the first period. A later one begins the next period if the
teams have changed ends since, or if play had been dead for long and not for a goal (extra time may keep the ends). A
television picture does not show all players: after a long break and a change of ends any kick from the centre spot is a
kick-off. Only then the end of the period before is certain. Earlier it is published with doubt, once its time
is over and the ball has been dead for a while, and withdrawn if play goes on before a pause as long as half-time. A
decision of the officials (1.10) counts at once. After the final whistle there is often nothing more in a stream, so a
period whose time is over ends with it.

Where the source knows the periods (``MatchSheet.periods``), they begin when it says, with or without a kick-off that
is seen, and no kick-off before the last of them begins another.

The side of each team is sampled once a second. A kick-off is known half a second after it was taken, when all players
are still in their own halves.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.decisions import at_least, note
from detectors.emission import make_event, withdrawal
from detectors.play.restart_kicks import RestartKickParameters, at_centre, restart_kind
from detectors.reasons import reason
from detectors.signals.official import decided_us
from football.match_sheet import MatchSheet, Team, period_at
from football.officials import PERIODS
from football.payloads import EventPayload, Scalar, frame_of, location_m, payload_of, time_us
from football.pitch import pitch_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event
from middleware.publisher import AMENDABLE_US

#: Minute at which each period begins (Law 7).
FIRST_MINUTES = (0, 45, 90, 105, 120)


class ClockParameters(msgspec.Struct, frozen=True):
    """Limits of a period without a whistle.

    Attributes:
        half_minutes: length of a half.
        extra_minutes: length of a half of extra time.
        over_us: after that length, a period ends when the ball has been dead for this long.
        goal_over_us: the same after a goal, since a celebration and a review take their time.
        pause_us: least time of dead play before a period that keeps the ends, or whose kick-off is seen in part only.
        every_us: time between two samples of the sides.
        doubt: confidence of an end that nothing has confirmed.
    """

    half_minutes: Annotated[int, reason("Law 7.")] = 45
    extra_minutes: Annotated[int, reason("Law 7.")] = 15
    over_us: Annotated[int, reason("Ours.")] = 60_000_000
    goal_over_us: Annotated[int, reason("Ours: most reviews of goals are over by then.")] = 180_000_000
    pause_us: Annotated[int, reason("Ours.")] = 120_000_000
    every_us: Annotated[int, reason("Ours.")] = 1_000_000
    doubt: Annotated[float, reason("Ours.")] = 0.6


class ClockState(msgspec.Struct, frozen=True, gc=False):
    """State of the match.

    Attributes:
        period: its number; 0 before the first.
        begun_us: its begin.
        left: the team in the left half then.
        left_now: the team in the left half now.
        dead_us: time since which the ball is dead; -1 if it is not.
        goal: True if it is dead by a goal.
        ended: the published end of the period; None if there is none.
        minute: the newest published minute.
        due_us: time of the next sample of the sides.
        added_us: time that officials have added to the period.
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
    """9.8: ``period.start`` and ``period.end`` x {1 .. 5}, and ``clock.minute`` at each full minute.

    ``detail`` of ``period.start``: ``since_us`` (event time of the kick-off), ``left`` (team in the left half). Of
    ``period.end``: ``since_us`` (when the ball became dead). Of ``clock.minute``: ``minute`` of the match, ``period``,
    ``shown`` (what a scoreboard shows: ``45+1`` in added time). In added time ``minute`` stays the period's last one.
    Period 5 is the shoot-out; its first kick begins it.
    """

    def __init__(
        self,
        sheet: MatchSheet,
        parameters: ClockParameters | None = None,
        kick: RestartKickParameters | None = None,
    ) -> None:
        self.parameters = parameters or ClockParameters()
        self.kick = kick or RestartKickParameters()
        self.pitch = pitch_of(sheet)
        self._periods = sheet.periods
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
                "raw.end",
            ),
            outputs=("period.end", "period.start", "clock.minute"),
            parameters={**msgspec.structs.asdict(self.parameters), **msgspec.structs.asdict(self.kick)},
            source="IFAB Law 7",
            annuls=("period.end",),
            amends=("period.end",),
            known={
                "period.end": Known("when the ball has been dead for long enough, the next period begins, or all ends")
            },
            variants={"period.end": PERIODS, "period.start": PERIODS},
            details={
                "period.end": ("since_us",),
                "period.start": ("since_us", "left"),
                "clock.minute": ("minute", "shown", "period"),
            },
        )

    def initial(self) -> ClockState:
        """Before the match."""
        return ClockState()

    def step(self, state: ClockState, event: Event) -> Step[ClockState]:
        """Dispatch on the kind; frames and ticks make up nearly all of the input."""
        if event.kind == "frame":
            return self._look(state, event) if event.ts_us >= state.due_us else (state, NOTHING)
        if event.kind == "clock.tick":
            return self._tick(state, event) if state.period else (state, NOTHING)
        if event.kind == "raw.end":
            return self._stream_ends(state, event)
        payload = payload_of(event)
        if event.kind == "play.dead":
            dead_us = time_us(payload, "since_us")
            return msgspec.structs.replace(state, dead_us=dead_us, goal=payload.variant == "goal"), NOTHING
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

    def _look(self, state: ClockState, event: Event) -> Step[ClockState]:
        """Sample the sides, and begin the period that the source knows."""
        looked_us = state.due_us - self.parameters.every_us
        state, period = self._sample_sides(state, event), period_at(self._periods, event.ts_us)
        if period is None or period.number <= state.period:
            return state, NOTHING
        # A source that knows the periods may have no frame of the pause.
        dead_us = state.dead_us if state.dead_us >= 0 else looked_us
        if period.attacks_positive_x:
            state = msgspec.structs.replace(state, left_now=period.attacks_positive_x)
        return self._begin(state, event, period.number, period.from_us, dead_us, f"source/{period.number}")

    def _sample_sides(self, state: ClockState, event: Event) -> ClockState:
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
        """Publish full minutes, and the end of the period when its time is over and the ball has long been dead."""
        p = self.parameters
        if state.ended:
            return state, NOTHING
        ran_us = event.ts_us - state.begun_us
        if state.period < len(PERIODS) and self._is_over(state, ran_us, event.ts_us):
            end = _end(state, event.ts_us, f"clock:{state.dead_us}/{state.added_us}", state.dead_us, p.doubt)
            return msgspec.structs.replace(state, ended=end), (end,)
        minute = ran_us // 60_000_000
        if minute <= state.minute:
            return state, NOTHING
        detail: dict[str, Scalar] = {**shown_minute(state.period, minute, self.parameters), "period": state.period}
        anchor = f"clock:{state.period}/{minute}"
        tick = make_event("clock.minute", event.ts_us, anchor, EventPayload(detail=detail))
        return msgspec.structs.replace(state, minute=minute), (tick,)

    def _stream_ends(self, state: ClockState, event: Event) -> Step[ClockState]:
        """End the period if its time is over; a shoot-out, which has no length, ends in any case."""
        is_last = state.period == len(PERIODS)
        if not state.period or state.ended or not (is_last or self._has_run(state, event.ts_us - state.begun_us)):
            return state, NOTHING
        since_us = state.dead_us if state.dead_us >= 0 else event.ts_us
        end = _end(state, event.ts_us, f"clock:{state.period}/end", since_us, 1.0)
        return msgspec.structs.replace(state, ended=end), (end,)

    def _is_over(self, state: ClockState, ran_us: int, now_us: int) -> bool:
        """True if the time of the period is over, and the ball has been dead for long enough."""
        if state.dead_us < 0 or not self._has_run(state, ran_us):
            return False
        p, what, dead_us, about = self.parameters, "time that the ball is dead", now_us - state.dead_us, "period.end"
        if state.goal:
            return at_least(what, dead_us, p.goal_over_us, "match_clock.goal_over_us", about)
        return at_least(what, dead_us, p.over_us, "match_clock.over_us", about)

    def _has_run(self, state: ClockState, ran_us: int) -> bool:
        """True if the time of the period is over."""
        length_us, name = self._length_us(state)
        if ran_us < length_us:
            return False
        what = "minutes that it has run"
        note(what, ran_us / 60e6, "at least", length_us / 60e6, f"match_clock.{name}", "period.end")
        return True

    def _length_us(self, state: ClockState) -> tuple[int, str]:
        """Least length of the period, and the name of its parameter."""
        name = "half_minutes" if state.period <= 2 else "extra_minutes"
        minutes: int = getattr(self.parameters, name)
        return 60_000_000 * minutes + state.added_us, name

    def _added(self, state: ClockState, event: Event, payload: EventPayload) -> Step[ClockState]:
        """Lengthen the period; withdraw an end that was published before its new time was over."""
        minutes = time_us(payload, "minutes")
        longer = msgspec.structs.replace(state, added_us=60_000_000 * minutes)
        early = state.ended is not None and event.ts_us - state.begun_us < self._length_us(longer)[0]
        return self._goes_on(longer, event) if early else (longer, NOTHING)

    def _live(self, state: ClockState, event: Event, payload: EventPayload) -> Step[ClockState]:
        kind, dead_us = restart_kind(self.pitch, payload, self.kick), state.dead_us
        swapped = bool(state.left and state.left_now and state.left != state.left_now)
        pause_us = event.ts_us - dead_us if dead_us >= 0 else 0
        alive = msgspec.structs.replace(state, dead_us=-1, goal=False)
        shoot_out = len(PERIODS)
        if kind == "penalty" and payload.detail["shoot_out"] and 0 < state.period < shoot_out:
            return self._begin(state, event, shoot_out, time_us(payload, "kick_us"), dead_us)
        seen_in_part = kind == "free_kick" and swapped and self._is_kick_off(state, event.ts_us, payload, pause_us)
        if kind != "kick_off" and not seen_in_part:
            return self._goes_on(alive, event)
        if state.period and not swapped and not self._is_pause(state, event.ts_us, pause_us):
            return self._goes_on(alive, event)
        if state.period >= len(PERIODS) or (self._periods and state.period < self._periods[-1].number):
            return alive, NOTHING
        kick_us = time_us(payload, "kick_us")
        return self._begin(state, event, state.period + 1, kick_us, dead_us)

    def _is_kick_off(self, state: ClockState, now_us: int, live: EventPayload, pause_us: int) -> bool:
        """True if a kick, after teams have changed ends, is the kick-off of the next period though not all are seen.

        It is taken from the centre spot, the time of the period is over, and play was dead for longer than free kicks
        wait.
        """
        if not state.period or not at_centre(self.kick, *location_m(live)):
            return False
        what, least_us, about = "time that play was dead", self.parameters.pause_us, "period.start"
        long = at_least(what, pause_us, least_us, "match_clock.pause_us", about)
        return long and self._has_run(state, now_us - state.begun_us)

    def _is_pause(self, state: ClockState, now_us: int, pause_us: int) -> bool:
        """True if play was dead for long enough that a kick-off without a change of ends begins a period.

        A goal that was not seen is reviewed for as long, so the time of the period must be over.
        """
        if state.period < 2 or state.goal or not self._has_run(state, now_us - state.begun_us):
            return False
        least_us, about = self.parameters.pause_us, "period.start"
        return at_least("time that play was dead", pause_us, least_us, "match_clock.pause_us", about)

    def _goes_on(self, state: ClockState, event: Event) -> Step[ClockState]:
        """Withdraw a published end, as play goes on in the same period.

        An end that nobody can withdraw any more stands: players who come back from half-time kick the ball about.
        """
        ended = state.ended
        if ended is None or not ended.source.startswith("clock:") or event.ts_us - ended.ts_us > AMENDABLE_US:
            return state, NOTHING
        return msgspec.structs.replace(state, ended=None), (withdrawal(ended, event.ts_us),)

    def _officially(self, state: ClockState, event: Event, period: int) -> Step[ClockState]:
        """Begin a period, as officials decided."""
        if period == state.period:
            return state, NOTHING
        return self._begin(state, event, period, decided_us(event), state.dead_us)

    def _begin(
        self, state: ClockState, event: Event, period: int, at_us: int, dead_us: int, anchor: str = ""
    ) -> Step[ClockState]:
        """Begin a period, and end the one before.

        Args:
            state, event: the state before, and what shows the begin.
            period, at_us: its number, and the event time of its kick-off.
            dead_us: the ball is dead since then; -1 if it is not.
            anchor: of the events; that of ``event``, which is then their cause, if empty.
        """
        out: list[Event] = []
        if state.period and not state.ended:
            since_us = dead_us if dead_us >= 0 else event.ts_us
            out.append(_end(state, event.ts_us, anchor or event.source, since_us, 1.0))
        detail: dict[str, Scalar] = {"since_us": at_us, "left": state.left_now}
        payload, causes = EventPayload(str(period), detail=detail), () if anchor else (event.id,)
        out.append(make_event("period.start", event.ts_us, anchor or event.source, payload, causes=causes))
        return ClockState(period, at_us, state.left_now, state.left_now, -1, due_us=state.due_us), out


def shown_minute(period: int, ran: int, p: ClockParameters) -> dict[str, Scalar]:
    """The minute of the match and what a scoreboard shows, ``ran`` full minutes after the begin of a period.

    >>> shown_minute(1, 46, ClockParameters())
    {'minute': 45, 'shown': '45+1'}
    >>> shown_minute(2, 1, ClockParameters())
    {'minute': 46, 'shown': '46'}
    """
    first = FIRST_MINUTES[period - 1]
    length = p.half_minutes if period <= 2 else p.extra_minutes
    minute, added = first + min(ran, length), max(0, ran - length)
    return {"minute": minute, "shown": f"{minute}+{added}" if added else str(minute)}


def _end(state: ClockState, ts_us: int, anchor: str, since_us: int, confidence: float) -> Event:
    payload = EventPayload(str(state.period), confidence=confidence, detail={"since_us": since_us})
    return make_event("period.end", ts_us, anchor, payload)
