"""Level 6: who has the ball: the player who played it last, and his team."""

from __future__ import annotations

import msgspec

from detectors.deadball import Play, RestartParameters, contact, crossed, watched
from detectors.facts import Fact, fact_event
from detectors.inputs import MatchSheet
from detectors.pitch import Pitch, pitch_of
from detectors.states import Frame
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class HolderState(msgspec.Struct, frozen=True, gc=False):
    """Whether in play; the contact by which the holder gained the ball, None if nobody has it."""

    play: Play = Play()
    gain: Event | None = None


class IndividualPossession:
    """6.2: ``possession.gain`` at a hit or touch, ``possession.loss`` when another gains or the ball leaves the field.

    The gain is named by its contact; ``detail`` has ``speed_before_m_s`` of the ball that was gained.
    """

    def __init__(self, sheet: MatchSheet, restart: RestartParameters | None = None) -> None:
        self.restart = restart or RestartParameters()
        self._pitch = pitch_of(sheet)
        self.spec = Spec(
            name="individual_possession",
            number="6.2",
            level=6,
            inputs=("frame", "ball.crossed", "hit", "touch"),
            outputs=("possession.loss", "possession.gain"),
            parameters=msgspec.structs.asdict(self.restart),
            source="DEBS 2013 Q2; databallpy get_valid_gains",
        )

    def initial(self) -> HolderState:
        """Nobody has the ball."""
        return HolderState()

    def step(self, state: HolderState, event: Event) -> Step[HolderState]:
        """Takes a contact, a crossing, or a frame (hands)."""
        if event.kind in ("frame", "ball.crossed"):
            play = _play_after(state.play, event, self._pitch, self.restart)
            if play is state.play:
                return state, NOTHING
            if state.gain is None or not play.dead:
                return HolderState(play, state.gain), NOTHING
            return HolderState(play, None), (_loss(state.gain, event),)
        fact = event.payload
        assert isinstance(fact, Fact)
        assert fact.x_m is not None
        assert fact.y_m is not None
        play = contact(state.play, self._pitch, event.ts_us, fact.player, fact.x_m, fact.y_m, self.restart)
        if play.dead:
            return HolderState(play, None), NOTHING
        if state.gain is not None and _holder(state.gain).player == fact.player:
            return HolderState(play, state.gain), NOTHING
        gain = fact_event(
            "possession.gain",
            event.ts_us,
            f"{event.source}/{event.kind}",
            Fact(
                event.kind,
                fact.team,
                fact.player,
                fact.x_m,
                fact.y_m,
                fact.z_m,
                fact.confidence,
                {"speed_before_m_s": fact.detail["speed_before_m_s"]},
            ),
            causes=(event.id,),
        )
        lost = (_loss(state.gain, event),) if state.gain is not None else ()
        return HolderState(play, gain), (*lost, gain)


def _holder(gain: Event) -> Fact:
    fact = gain.payload
    assert isinstance(fact, Fact)
    return fact


def _play_after(play: Play, event: Event, pitch: Pitch, restart: RestartParameters) -> Play:
    if event.kind == "ball.crossed":
        return crossed(play, event)
    frame = event.payload
    assert isinstance(frame, Frame)
    return watched(play, pitch, event.ts_us, frame, restart)


def _loss(gain: Event, cause: Event) -> Event:
    """The holder's loss, named by his gain. ``variant``: what ended it (``hit``, ``touch``, ``out`` or ``stopped``)."""
    held, ended = _holder(gain), cause.payload
    variant = {"ball.crossed": "out", "frame": "stopped"}.get(cause.kind, cause.kind)
    place = (ended.x_m, ended.y_m, ended.z_m) if isinstance(ended, Fact) else (None, None, None)
    detail = {"held_us": cause.ts_us - gain.ts_us}
    lost = Fact(variant, held.team, held.player, *place, held.confidence, detail)
    causes = (gain.id, cause.id) if cause.id else (gain.id,)
    return fact_event("possession.loss", cause.ts_us, gain.source, lost, causes=causes)


class TeamPossessionParameters(msgspec.Struct, frozen=True):
    """``contest_us``: a team controls the ball once the other has not played it for so long (hierarchy 6.3, ours)."""

    contest_us: int = 800_000


class TeamState(msgspec.Struct, frozen=True, gc=False):
    """Play; what was last published; the newest contact of each team."""

    play: Play = Play()
    shown: str = ""
    home: Event | None = None
    away: Event | None = None


class TeamPossession:
    """6.3: ``team.possession`` x {home, away, in contest, dead}; ``Fact.team`` where the value is a team.

    A contact gives its team the ball at once, unless the other team played it less than ``contest_us`` ago: then it is
    in contest until one of them has had it alone for that long.
    """

    def __init__(
        self,
        sheet: MatchSheet,
        parameters: TeamPossessionParameters | None = None,
        restart: RestartParameters | None = None,
    ) -> None:
        self.parameters = parameters or TeamPossessionParameters()
        self.restart = restart or RestartParameters()
        self._pitch = pitch_of(sheet)
        self.spec = Spec(
            name="team_possession",
            number="6.3",
            level=6,
            inputs=("frame", "ball.crossed", "hit", "touch"),
            outputs=("team.possession",),
            parameters={
                **msgspec.structs.asdict(self.parameters),
                **msgspec.structs.asdict(self.restart),
            },
            source="FIFA EFI possession control; 0.8 s ours",
        )

    def initial(self) -> TeamState:
        """Unknown."""
        return TeamState()

    def step(self, state: TeamState, event: Event) -> Step[TeamState]:
        """Takes a contact, a crossing, or a frame (hands, and the end of a contest)."""
        if event.kind in ("frame", "ball.crossed"):
            return self._pass_time(state, event)
        fact = event.payload
        assert isinstance(fact, Fact)
        assert fact.x_m is not None
        assert fact.y_m is not None
        play = contact(state.play, self._pitch, event.ts_us, fact.player, fact.x_m, fact.y_m, self.restart)
        if play.dead:
            return TeamState(play, state.shown, state.home, state.away), NOTHING
        home = event if fact.team == "home" else state.home
        away = event if fact.team == "away" else state.away
        rival = away if fact.team == "home" else home
        contested = rival is not None and event.ts_us - rival.ts_us < self.parameters.contest_us
        value = "in contest" if contested else fact.team
        return _show(TeamState(play, state.shown, home, away), value, event, event)

    def _pass_time(self, state: TeamState, event: Event) -> Step[TeamState]:
        play = _play_after(state.play, event, self._pitch, self.restart)
        if play.dead:
            if play is state.play:
                return state, NOTHING
            return _show(TeamState(play, state.shown), "dead", event, None)
        if state.shown != "in contest":
            return (state if play is state.play else TeamState(play, state.shown, state.home, state.away)), NOTHING
        assert state.home is not None
        assert state.away is not None
        last, rival = (state.home, state.away) if state.home.ts_us >= state.away.ts_us else (state.away, state.home)
        after = TeamState(play, state.shown, state.home, state.away)
        if event.ts_us - rival.ts_us < self.parameters.contest_us:
            return after, NOTHING
        return _show(after, _holder(last).team, event, last)


def _show(state: TeamState, value: str, event: Event, contact_event: Event | None) -> Step[TeamState]:
    if value == state.shown:
        return state, NOTHING
    fact = _holder(contact_event) if contact_event is not None else Fact()
    controlled = value in ("home", "away")
    shown = Fact(
        value,
        fact.team if controlled else "",
        fact.player if controlled else "",
        fact.x_m,
        fact.y_m,
        fact.z_m,
        fact.confidence,
    )
    causes = tuple(e.id for e in (contact_event, event) if e is not None and e.id)
    found = fact_event("team.possession", event.ts_us, f"{event.source}:{event.ts_us}", shown, causes=causes[:1])
    return TeamState(state.play, value, state.home, state.away), (found,)
