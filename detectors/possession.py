"""Level 6: who has the ball: the player who played it last, and his team."""

from __future__ import annotations

import msgspec

from detectors.deadball import Play, RestartParameters, contact, crossed
from detectors.facts import Fact, fact_event
from detectors.inputs import MatchSheet, Team
from detectors.pitch import pitch_of
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
            inputs=("ball.crossed", "hit", "touch"),
            outputs=("possession.loss", "possession.gain"),
            parameters=msgspec.structs.asdict(self.restart),
            source="DEBS 2013 Q2; databallpy get_valid_gains",
        )

    def initial(self) -> HolderState:
        """Nobody has the ball."""
        return HolderState()

    def step(self, state: HolderState, event: Event) -> Step[HolderState]:
        """Takes a contact or a crossing."""
        fact = event.payload
        assert isinstance(fact, Fact)
        if event.kind == "ball.crossed":
            play = crossed(state.play, event)
            if play == state.play or state.gain is None or not play.dead:
                return HolderState(play, state.gain), NOTHING
            return HolderState(play, None), (_loss(state.gain, event),)
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


def _loss(gain: Event, cause: Event) -> Event:
    held, fact = _holder(gain), cause.payload
    assert isinstance(fact, Fact)
    detail = {"held_us": cause.ts_us - gain.ts_us}
    lost = Fact(cause.kind, held.team, held.player, fact.x_m, fact.y_m, fact.z_m, held.confidence, detail)
    return fact_event("possession.loss", cause.ts_us, f"{gain.source}:{cause.ts_us}", lost, causes=(gain.id, cause.id))


class TeamPossessionParameters(msgspec.Struct, frozen=True):
    """``contest_us``: nobody has controlled the ball for so long (hierarchy 6.3, ours). ``pressed_us``: contacts of
    both teams within this time are a struggle (ours, as contest_us)."""

    contest_us: int = 800_000


class TeamState(msgspec.Struct, frozen=True, gc=False):
    """Play; what was last published; last contact of each team; players in the zone as (player, team)."""

    play: Play = Play()
    shown: str = ""
    home_us: int = -(2**62)
    away_us: int = -(2**62)
    team: Team = ""
    since_us: int = 0


class TeamPossession:
    """6.3: ``team.possession`` x {home, away, in contest, dead}."""

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
            inputs=("ball.crossed", "hit", "touch"),
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
        """Takes a contact or a crossing."""
        fact = event.payload
        assert isinstance(fact, Fact)
        replace = msgspec.structs.replace
        if event.kind == "ball.crossed":
            play = crossed(state.play, event)
            return self._show(replace(state, play=play), "dead" if play.dead else state.shown, "", event, fact)
        assert fact.x_m is not None
        assert fact.y_m is not None
        play = contact(state.play, self._pitch, event.ts_us, fact.player, fact.x_m, fact.y_m, self.restart)
        if play.dead:
            return replace(state, play=play), NOTHING
        return self._show(replace(state, play=play), fact.team, fact.team, event, fact)

    def _show(self, state: TeamState, value: str, team: Team, event: Event, fact: Fact) -> Step[TeamState]:
        if value == state.shown:
            return state, NOTHING
        shown = Fact(value, team, fact.player if team else "", fact.x_m, fact.y_m, fact.z_m, fact.confidence)
        found = fact_event(
            "team.possession", event.ts_us, f"{event.source}/{event.kind}", shown, causes=(event.id,)
        )
        return msgspec.structs.replace(state, shown=value), (found,)
