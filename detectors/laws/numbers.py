"""9.12: who plays: substitutions, and players who are off for good (IFAB Law 3).

Theory of operation
-------------------
Once a second it is looked who is on the pitch; looks count while play is live. Who has been there for some is
*fielded*. When somebody else of the team stays on the pitch, he has come on, for the fielded mate who has been off
longest. A fielded player who has been off for a minute of live play, with nobody in his place, may have been sent off;
if he comes back (he was treated) that is taken back. Who is lost from tracking is taken for changed only when somebody
has come on, for a tag may end at the line, and never for sent off.

Teams may differ in number. Officials (1.10) who tell of a substitution or a red card are believed at once.
"""

from __future__ import annotations

import msgspec

from detectors.emission import make_event
from football.match_sheet import MatchSheet, Team, team_of
from football.payloads import EventPayload, Scalar, frame_of, published
from football.pitch import pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class NumbersParameters(msgspec.Struct, frozen=True):
    """How long is for good; counted in looks while play is live.

    Attributes:
        every_us: time between two looks (ours).
        first_looks: in the first so many, all who are there belong to those who begin (ours).
        on_looks: who is on the pitch so long has come on (ours: a trainer's way across it happens in dead play).
        off_looks: who is off so long may have been sent off (hierarchy: 60 s).
        edge_m: on the pitch is inside its lines, or so far outside (a thrower's place).
    """

    every_us: int = 1_000_000
    first_looks: int = 10
    on_looks: int = 3
    off_looks: int = 60
    edge_m: float = 1.0


class Count(msgspec.Struct, frozen=True, gc=False):
    """Of a player who is not where he was: looks so far, since when, and whether he was seen off the pitch."""

    player: str
    looks: int
    since_us: int
    seen: bool = False


class Numbers(msgspec.Struct, frozen=True, gc=False):
    """Who plays.

    Attributes:
        live: whether the ball is in play; taken so until it is known, and begun anew with the match's first kick.
        fielded: who plays, sorted.
        gone: who was taken off or sent off; he may not come back (Law 3).
        new: who is on the pitch and is not fielded.
        away: who is fielded and not seen on the pitch.
        suspected: events that told of somebody sent off.
        looks: so far, up to the first ones.
        due_us: when to look again.
    """

    live: bool = True
    fielded: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    new: tuple[Count, ...] = ()
    away: tuple[Count, ...] = ()
    suspected: tuple[Event, ...] = ()
    looks: int = 0
    due_us: int = -(2**62)


class PlayersOnPitch:
    """9.12: ``sub.out``, ``sub.in`` and ``sendoff.suspected``; ``player`` is who comes or goes.

    ``detail.since_us`` is when he was first seen there or gone, ``detail.other`` the mate he changes with.
    """

    def __init__(self, sheet: MatchSheet, parameters: NumbersParameters | None = None) -> None:
        self.parameters = parameters or NumbersParameters()
        self.pitch = pitch_of(sheet)
        self._sheet = sheet
        kinds = ("sub.out", "sub.in", "sendoff.suspected")
        self.spec = Spec(
            name="players_on_pitch",
            number="9.12",
            level=9,
            inputs=(
                "frame",
                "play.dead",
                "play.live",
                "official.card",
                "official.var",
                "official.substitution",
                "official.void",
            ),
            outputs=kinds,
            parameters=msgspec.structs.asdict(self.parameters),
            source="IFAB Law 3; looks ours",
            annuls=("sendoff.suspected",),
            amends=("sendoff.suspected",),
            team_variants=dict.fromkeys(kinds, ("",)),
        )

    def initial(self) -> Numbers:
        """Nobody seen."""
        return Numbers()

    def step(self, state: Numbers, event: Event) -> Step[Numbers]:
        """Looks once a second; takes the officials' word."""
        if event.kind == "frame":
            return (state, NOTHING) if event.ts_us < state.due_us else self._look(state, event)
        payload = published(event)
        if event.kind == "play.live" and payload.variant == "start":
            return Numbers(), NOTHING
        if event.kind.startswith("play."):
            return msgspec.structs.replace(state, live=event.kind == "play.live"), NOTHING
        if event.kind == "official.substitution":
            other = str(payload.detail.get("other", ""))
            if payload.player in state.fielded and other not in state.fielded:
                return state, NOTHING  # it was seen already
            return self._change(state, event, payload.player, other, (event.id,), event.ts_us, event.ts_us)
        if event.kind in ("official.var", "official.void"):
            return self._stays(state, event, payload)
        if payload.variant == "yellow" or any(e.payload.player == payload.player for e in state.suspected):  # type: ignore[attr-defined]
            return state, NOTHING
        return self._off(state, event, payload.player, event.ts_us, 1.0)

    def _stays(self, state: Numbers, event: Event, said: EventPayload) -> Step[Numbers]:
        """A red card that was none, by a review or taken back: he was not sent off."""
        out: list[Event] = []
        for told in state.suspected:
            his = published(told)
            reviewed = said.variant == "no red card" and said.team in ("", his.team) and said.player in ("", his.player)
            void = event.kind == "official.void" and str(said.detail["event"]) in (told.id, *told.causes)
            if void or (event.kind == "official.var" and reviewed and his.confidence == 1.0):
                state, back = _back(state, event, told)
                out += back
        return state, out or NOTHING

    def _look(self, state: Numbers, event: Event) -> Step[Numbers]:
        frame, p = frame_of(event), self.parameters
        inside: set[str] = set()
        outside: set[str] = set()
        for body in frame.players:
            if body.team:
                on = self.pitch.inside(body.x_m, body.y_m, p.edge_m)
                (inside if on else outside).add(body.object_id)
        due_us = event.ts_us // p.every_us * p.every_us + p.every_us
        fielded = set(state.fielded)
        step = int(state.live)
        new = _counted(state.new, inside - fielded - set(state.gone), set(), event.ts_us, step)
        away = _counted(state.away, fielded - inside, outside, event.ts_us, step)
        state = Numbers(state.live, state.fielded, state.gone, new, away, state.suspected, state.looks + step, due_us)
        out: list[Event] = []
        for count in new:
            if count.looks >= p.on_looks:
                state, told = self._came(state, event, count)
                out += told
        for count in state.away:
            if count.seen and count.looks >= p.off_looks and not _told(state, count.player):
                state, told = self._off(state, event, count.player, count.since_us, 0.7)
                out += told
        for suspected in state.suspected:
            if _player(suspected) in inside and suspected.payload.confidence < 1.0:  # type: ignore[attr-defined]
                state, told = _back(state, event, suspected)
                out += told
        return state, out or NOTHING

    def _came(self, state: Numbers, event: Event, count: Count) -> tuple[Numbers, tuple[Event, ...]]:
        """Somebody stays on the pitch: he begins, or comes for a mate who is off."""
        team = team_of(count.player, self._sheet)
        off = [c for c in state.away if team_of(c.player, self._sheet) == team and not _sure(state, c.player)]
        if state.looks <= self.parameters.first_looks or not off:
            fielded = tuple(sorted((*state.fielded, count.player)))
            new = tuple(c for c in state.new if c.player != count.player)
            return msgspec.structs.replace(state, fielded=fielded, new=new), NOTHING
        first = min(off, key=lambda c: (not c.seen, c.since_us, c.player))
        return self._change(state, event, count.player, first.player, (), count.since_us, first.since_us)

    def _change(
        self,
        state: Numbers,
        event: Event,
        comes: str,
        goes: str,
        causes: tuple[str, ...],
        came_us: int,
        went_us: int,
    ) -> tuple[Numbers, tuple[Event, ...]]:
        team = team_of(comes, self._sheet)
        out = [
            _tell("sub.out", event, team, goes, {"other": comes, "since_us": went_us}, causes),
            _tell("sub.in", event, team, comes, {"other": goes, "since_us": came_us}, causes),
        ]
        for suspected in state.suspected:
            if _player(suspected) == goes:
                state, told = _back(state, event, suspected)
                out += told
        fielded = tuple(sorted({*state.fielded, comes} - {goes}))
        after = msgspec.structs.replace(
            state,
            fielded=fielded,
            gone=tuple(sorted({*state.gone, goes})),
            new=tuple(c for c in state.new if c.player != comes),
            away=tuple(c for c in state.away if c.player != goes),
        )
        return after, tuple(out)

    def _off(
        self, state: Numbers, event: Event, player: str, since_us: int, confidence: float
    ) -> tuple[Numbers, tuple[Event, ...]]:
        team = team_of(player, self._sheet)
        causes = (event.id,) if event.id else ()
        told = _tell("sendoff.suspected", event, team, player, {"since_us": since_us}, causes, confidence)
        return msgspec.structs.replace(state, suspected=(*state.suspected, told)), (told,)


def _counted(before: tuple[Count, ...], now: set[str], seen: set[str], ts_us: int, step: int) -> tuple[Count, ...]:
    """The counts of who is so now, ``step`` looks more; ``seen`` is who is seen off the pitch."""
    old = {c.player: c for c in before}
    counts = []
    for name in sorted(now):
        was = old.get(name) or Count(name, 0, ts_us)
        counts.append(Count(name, was.looks + step, was.since_us, was.seen or name in seen))
    return tuple(counts)


def _player(event: Event) -> str:
    return published(event).player


def _told(state: Numbers, player: str) -> bool:
    return any(_player(event) == player for event in state.suspected)


def _sure(state: Numbers, player: str) -> bool:
    """Whether officials have said that he is sent off: nobody comes for him."""
    return any(_player(e) == player and e.payload.confidence == 1.0 for e in state.suspected)  # type: ignore[attr-defined]


def _tell(
    kind: str,
    event: Event,
    team: Team,
    player: str,
    detail: dict[str, Scalar],
    causes: tuple[str, ...],
    confidence: float = 0.9,
) -> Event:
    payload = EventPayload("", team, player, confidence=1.0 if causes else confidence, detail=detail)
    return make_event(kind, event.ts_us, f"{player}:{event.ts_us}", payload, causes=causes)


def _back(state: Numbers, event: Event, suspected: Event) -> tuple[Numbers, tuple[Event, ...]]:
    """He is back, or somebody has come for him: he was not sent off."""
    void = msgspec.structs.replace(suspected, ts_us=event.ts_us, seq=1, annuls=suspected.id, dated_us=suspected.ts_us)
    left = tuple(e for e in state.suspected if e is not suspected)
    return msgspec.structs.replace(state, suspected=left), (void,) if event.ts_us > suspected.ts_us else NOTHING
