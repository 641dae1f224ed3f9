"""7.1 to 7.3: what becomes of shots."""

from __future__ import annotations

import msgspec

from detectors.actions.flight import project_on_goal
from detectors.contacts.hits import number
from detectors.facts import Fact, Scalar, fact_event
from detectors.inputs import MatchSheet, Team
from detectors.pitch import GOAL_AREA_DEPTH_M, end_of, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class ShotOutcomeParameters(msgspec.Struct, frozen=True):
    """``block_us``: 7.1, 1.5 s. ``within_us``: a shot from 40 m rolls so long (ours). ``caught_m_s``: a ball that
    a goalkeeper keeps is this slow after his contact (5.5 has 1.5 m/s relative to the hand; a body moves too)."""

    block_us: int = 1_500_000
    within_us: int = 3_000_000
    caught_m_s: float = 3.0


class ShotState(msgspec.Struct, frozen=True, gc=False):
    """Who attacks +x; the shot under way."""

    attacks: Team = ""
    shot: Event | None = None


class ShotOutcome:
    """7.1, covering 7.2 and 7.3: ``shot.blocked``, ``shot.deflected``, ``shot.saved``, ``shot.off``.

    The first contact of an opponent decides: a goalkeeper's saves a shot that was on target; a field player's blocks
    it, or deflects it if the ball still goes on to the goal. Without a contact, the line decides. Named by
    the kick; ``team`` and ``player`` are the shooter's, but the goalkeeper's of a save.
    """

    def __init__(self, sheet: MatchSheet, parameters: ShotOutcomeParameters | None = None) -> None:
        self.parameters = parameters or ShotOutcomeParameters()
        self._pitch = pitch_of(sheet)
        self._keepers = frozenset(p.object_id for p in sheet.players if p.goalkeeper)
        self.spec = Spec(
            name="shot_outcome",
            number="7.1",
            level=7,
            inputs=("ball.crossed", "ball.over_bar", "direction", "hit", "touch", "shot.attempt"),
            outputs=("shot.blocked", "shot.deflected", "shot.saved", "shot.off"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="000 Fig 5, 004 (blocked shot); kloppy (save); StreamTeam shotOffTarget",
            team_variants={
                "shot.blocked": ("",),
                "shot.deflected": ("",),
                "shot.saved": ("caught", "parried"),
                "shot.off": ("wide left", "wide right", "over"),
            },
            covers=("7.2", "7.3"),
        )

    def initial(self) -> ShotState:
        """No shot."""
        return ShotState()

    def step(self, state: ShotState, event: Event) -> Step[ShotState]:
        """A shot, then the first contact or line."""
        fact = event.payload
        assert isinstance(fact, Fact)
        if event.kind == "direction":
            return ShotState(fact.team, state.shot), NOTHING
        if event.kind == "shot.attempt":
            return ShotState(state.attacks, event), NOTHING
        if state.shot is None:
            return state, NOTHING
        if event.ts_us - state.shot.ts_us > self.parameters.within_us:
            return ShotState(state.attacks), NOTHING
        made = state.shot.payload
        assert isinstance(made, Fact)
        if event.kind in ("hit", "touch"):
            return self._contact(state, state.shot, made, event, fact)
        return self._line(state, state.shot, made, event, fact)

    def _contact(self, state: ShotState, shot: Event, made: Fact, event: Event, fact: Fact) -> Step[ShotState]:
        """Contacts that came before the shot was told are its own kick's."""
        if event.ts_us <= shot.ts_us:
            return state, NOTHING
        done = ShotState(state.attacks)
        if fact.team == made.team:
            return done, NOTHING
        if self._is_keeper(fact):
            if not made.detail["on_target"]:
                return done, NOTHING
            caught = number(fact, "speed_after_m_s") < self.parameters.caught_m_s
            saved = Fact("caught" if caught else "parried", fact.team, fact.player, fact.x_m, fact.y_m, fact.z_m)
            return done, (_named("shot.saved", shot, event, saved),)
        if event.ts_us - shot.ts_us > self.parameters.block_us:
            return done, NOTHING
        onward = project_on_goal(fact, state.attacks == made.team, self._pitch)
        kind = "shot.deflected" if onward is not None and onward.on_target else "shot.blocked"
        detail: dict[str, Scalar] = {"by": fact.player}
        blocked = Fact("", made.team, made.player, fact.x_m, fact.y_m, fact.z_m, fact.confidence, detail)
        return done, (_named(kind, shot, event, blocked),)

    def _line(self, state: ShotState, shot: Event, made: Fact, event: Event, fact: Fact) -> Step[ShotState]:
        """Over the bar, or over the goal line beside the posts as the shooter sees it."""
        assert fact.y_m is not None
        if event.kind == "ball.over_bar":
            variant = "over"
        elif fact.variant.endswith((" +y out", " -y out")):
            to_left = (fact.y_m > 0) == (state.attacks == made.team)
            variant = "wide left" if to_left else "wide right"
        else:
            ended = fact.variant.endswith(("touch out", "mouth out"))
            return (ShotState(state.attacks) if ended and "touch" in fact.variant else state), NOTHING
        off = Fact(variant, made.team, made.player, fact.x_m, fact.y_m, fact.z_m, fact.confidence)
        return ShotState(state.attacks), (_named("shot.off", shot, event, off),)

    def _is_keeper(self, fact: Fact) -> bool:
        """By the sheet; without one, whoever stands in his goal area."""
        if self._keepers:
            return fact.player in self._keepers
        assert fact.x_m is not None
        assert fact.y_m is not None
        return self._pitch.goal_distance_m(fact.x_m, fact.y_m, end_of(fact.x_m)) <= GOAL_AREA_DEPTH_M


def _named(kind: str, shot: Event, event: Event, fact: Fact) -> Event:
    return fact_event(kind, event.ts_us, shot.source, fact, causes=(shot.id, event.id))
