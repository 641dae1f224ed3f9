"""9.12: who plays: substitutions, and players who are off for good (IFAB Law 3).

Theory of operation
-------------------
Once a second the detector samples who plays (1.8 decides it); samples count while play is live. They do not count
while more players of a team are seen off the pitch than a match may go on without (Law 3): then the teams have left for
half-time, whatever the ball shows. A player who has played in some samples is *fielded*. If another player of the team
stays on the pitch, he is a substitute for the fielded mate who has been off longest, but not through much play if
somebody else has gone off: teams change players while play is stopped. A fielded player who has been off
for a minute of live play, without a substitute, may have been sent off. If he returns (he was treated), that is
withdrawn. At half-time all go, and who does not come back with the first of his team is off since then. A player lost
from tracking counts as substituted only once a substitute is on the pitch, because a tag may fail at the line. Cameras
do not follow who is sent off: if a player is lost for minutes of live play, and all others are tracked, he may have
been sent off, too.

Teams may differ in number. A substitution or red card of the officials (1.10) counts at once.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.decisions import at_least
from detectors.emission import make_event, withdrawal
from detectors.reasons import reason
from football.match_sheet import TEAMS, MatchSheet, Team, team_of
from football.payloads import EventPayload, Scalar, frame_of, payload_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event


class NumbersParameters(msgspec.Struct, frozen=True):
    """Limits of coming on and going off, in samples while play is live.

    Attributes:
        every_us: time between two samples.
        first_looks: a player who is on the pitch in the first samples begins the match.
        on_looks: a player who is on the pitch in this many samples has come on.
        off_looks: a player who is seen off the pitch in this many samples may have been sent off.
        long_looks: who has been off in so many samples is changed only if nobody else has gone off.
        lost_looks: a player who is lost in this many samples, in which all others are tracked, may have been sent off.
        lost_share: least share of these among the samples since he is lost.
        off_most: with more fielded players of a team seen off the pitch, the match does not go on.
    """

    every_us: Annotated[int, reason("Ours.")] = 1_000_000
    first_looks: Annotated[int, reason("Ours.")] = 10
    on_looks: Annotated[int, reason("Ours: a trainer crosses the pitch in dead play only.")] = 3
    off_looks: Annotated[int, reason("Hierarchy 9.12: 60 s.")] = 60
    long_looks: Annotated[int, reason("Ours: players change places while play is stopped.")] = 20
    lost_looks: Annotated[
        int, reason("Ours: cameras lose a player for seconds, and one who is treated beside the pitch is soon back.")
    ] = 180
    lost_share: Annotated[
        float, reason("Ours: a television picture seldom shows all players; who is not in it has not gone.")
    ] = 0.5
    off_most: Annotated[int, reason("Law 3: a match does not go on with fewer than seven of eleven.")] = 4


class PlayerCount(msgspec.Struct, frozen=True, gc=False):
    """Samples of a player who came on or went off.

    Attributes:
        player: the player.
        samples: live samples so far.
        since_us: the first of them.
        seen: True if he was tracked off the pitch.
        alone: live samples in which of neither team anybody else was away, but for those who may have been sent off.
    """

    player: str
    samples: int
    since_us: int
    seen: bool = False
    alone: int = 0


class FieldedState(msgspec.Struct, frozen=True, gc=False):
    """The players of the match.

    Attributes:
        live: True if the ball is in play; until that is known it counts as live. The state begins anew with the first
            kick-off.
        fielded: players who play, sorted.
        ineligible: players who went off or were sent off; they may not return (Law 3).
        new: players on the pitch who are not fielded.
        away: fielded players who are not on the pitch.
        suspected: published events of players sent off.
        samples: live samples so far.
        due_us: time of the next sample.
    """

    live: bool = True
    fielded: tuple[str, ...] = ()
    ineligible: tuple[str, ...] = ()
    new: tuple[PlayerCount, ...] = ()
    away: tuple[PlayerCount, ...] = ()
    suspected: tuple[Event, ...] = ()
    samples: int = 0
    due_us: int = -(2**62)


class PlayersOnPitch:
    """9.12: ``sub.out``, ``sub.in`` and ``sendoff.suspected``: a player went off, came on, may have been sent off.

    ``detail``: ``since_us`` (event time of the first sample of it), ``other`` (the mate he changes with; not of
    ``sendoff.suspected``).
    """

    def __init__(self, sheet: MatchSheet, parameters: NumbersParameters | None = None) -> None:
        self.parameters = parameters or NumbersParameters()
        self._sheet, self._follows_nobody_off = sheet, sheet.quality.kind == "optical"
        self._teams = {player.object_id: player.team for player in sheet.players}
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
            known={"sendoff.suspected": Known("at the card, or when he has been off for long enough")},
            team_variants=dict.fromkeys(kinds, ("",)),
            details={**dict.fromkeys(("sub.out", "sub.in"), ("other", "since_us")), "sendoff.suspected": ("since_us",)},
        )

    def initial(self) -> FieldedState:
        """No player sampled."""
        return FieldedState()

    def step(self, state: FieldedState, event: Event) -> Step[FieldedState]:
        """Sample once a second; follow the officials' decisions."""
        if event.kind == "frame":
            return (state, NOTHING) if event.ts_us < state.due_us else self._sample(state, event)
        payload = payload_of(event)
        if event.kind == "play.live" and payload.variant == "start":
            return FieldedState(), NOTHING
        if event.kind.startswith("play."):
            return msgspec.structs.replace(state, live=event.kind == "play.live"), NOTHING
        if event.kind == "official.substitution":
            other = str(payload.detail.get("other", ""))
            if payload.player in state.fielded and other not in state.fielded:
                return state, NOTHING  # tracking has shown it already
            return self._change(state, event, payload.player, other, (event.id,), event.ts_us, event.ts_us)
        if event.kind in ("official.var", "official.void"):
            return self._was_not_sent_off(state, event, payload)
        if payload.variant == "yellow" or _is_suspected(state, payload.player):
            return state, NOTHING
        return self._sent_off(state, event, payload.player, event.ts_us, 1.0)

    def _was_not_sent_off(self, state: FieldedState, event: Event, decision: EventPayload) -> Step[FieldedState]:
        """Withdraw a red card that a review overruled, or that officials declared void."""
        out: list[Event] = []
        for suspected in state.suspected:
            card = payload_of(suspected)
            same = decision.team in ("", card.team) and decision.player in ("", card.player)
            reviewed = event.kind == "official.var" and decision.variant == "no red card" and same
            void = event.kind == "official.void"
            if (void and str(decision.detail["event"]) in (suspected.id, *suspected.causes)) or (
                reviewed and card.confidence == 1.0
            ):
                state, withdrawn = _withdraw(state, event, suspected)
                out += withdrawn
        return state, out or NOTHING

    def _sample(self, state: FieldedState, event: Event) -> Step[FieldedState]:
        frame, p = frame_of(event), self.parameters
        inside = {body.object_id for body in frame.players if body.team}
        outside = {body.object_id for body in frame.others if body.team}
        due_us = event.ts_us // p.every_us * p.every_us + p.every_us
        fielded = set(state.fielded)
        step = int(state.live and not self._have_left(state))
        new = _count_samples(state.new, inside - fielded - set(state.ineligible), set(), event.ts_us, step)
        away = _count_samples(state.away, fielded - inside, outside, event.ts_us, step)
        if step and self._follows_nobody_off:
            away = self._with_alone(state, away, inside)
        if not state.live:
            away = tuple(self._dated(c, fielded & inside, event.ts_us) for c in away)
        state = msgspec.structs.replace(state, new=new, away=away, samples=state.samples + step, due_us=due_us)
        out: list[Event] = []
        what, paths = "samples on the pitch", ("players_on_pitch.on_looks", "players_on_pitch.off_looks")
        for count in new:
            if at_least(what, count.samples, p.on_looks, paths[0]):
                state, emitted = self._come_on(state, event, count)
                out += emitted
        for count in state.away:
            if _is_suspected(state, count.player):
                continue
            is_off = False
            if count.seen:
                is_off = at_least("samples off the pitch", count.samples, p.off_looks, paths[1], "sendoff.suspected")
            elif self._follows_nobody_off:
                what, path = "samples lost, all others tracked", "players_on_pitch.lost_looks"
                least, share_path = p.lost_share * count.samples, "players_on_pitch.lost_share"
                mostly = at_least(what, count.alone, least, share_path, "sendoff.suspected")
                is_off = mostly and at_least(what, count.alone, p.lost_looks, path, "sendoff.suspected")
            if is_off:
                state, emitted = self._sent_off(state, event, count.player, count.since_us, 0.7)
                out += emitted
        for suspected in state.suspected:
            if _player(suspected) in inside and payload_of(suspected).confidence < 1.0:
                state, emitted = _withdraw(state, event, suspected)
                out += emitted
        return state, out or NOTHING

    def _with_alone(
        self, state: FieldedState, away: tuple[PlayerCount, ...], inside: set[str]
    ) -> tuple[PlayerCount, ...]:
        """The counts, with one more sample alone if of neither team two players are away.

        Not of a team of which as many are on the pitch as if nobody were away: then somebody is there who was taken for
        changed, and the other one has gone off in his place.
        """
        if len(away) - len(state.suspected) > len(TEAMS):
            return away  # nearly always enough
        teams, suspected = [self._team(c.player) for c in away], [_is_suspected(state, c.player) for c in away]
        left = [team for team, is_suspected in zip(teams, suspected, strict=True) if not is_suspected]
        if any(left.count(team) > 1 for team in TEAMS):
            return away
        short = {
            team: sum(self._team(p) == team for p in state.fielded) - sum(self._team(p) == team for p in inside)
            for team in TEAMS
        }
        return tuple(
            msgspec.structs.replace(c, alone=c.alone + (short[team] >= teams.count(team)))
            for c, team in zip(away, teams, strict=True)
        )

    def _team(self, player: str) -> Team:
        return self._teams.get(player) or team_of(player, self._sheet)

    def _have_left(self, state: FieldedState) -> bool:
        """True if so many players of a team are seen off the pitch that the match cannot go on."""
        off = [self._team(count.player) for count in state.away if count.seen]
        return max(off.count("home"), off.count("away")) > self.parameters.off_most

    def _dated(self, count: PlayerCount, back: set[str], now_us: int) -> PlayerCount:
        """The count of a player who is off since now, as long as nobody of his team is on the pitch."""
        team = self._team(count.player)
        if count.samples >= self.parameters.off_looks or any(self._team(player) == team for player in back):
            return count
        return msgspec.structs.replace(count, since_us=now_us)

    def _come_on(self, state: FieldedState, event: Event, count: PlayerCount) -> tuple[FieldedState, tuple[Event, ...]]:
        """Field a player who stays on the pitch: he begins the match, or is the substitute of a mate who is off."""
        team = self._team(count.player)
        off = [c for c in state.away if self._team(c.player) == team and not _is_confirmed(state, c.player)]
        if state.samples <= self.parameters.first_looks or not off:
            fielded = tuple(sorted((*state.fielded, count.player)))
            new = tuple(c for c in state.new if c.player != count.player)
            return msgspec.structs.replace(state, fielded=fielded, new=new), NOTHING
        long_looks = self.parameters.long_looks
        first = min(off, key=lambda c: (c.samples >= long_looks, not c.seen, c.since_us, c.player))
        return self._change(state, event, count.player, first.player, (), count.since_us, first.since_us)

    def _change(
        self,
        state: FieldedState,
        event: Event,
        incoming: str,
        outgoing: str,
        causes: tuple[str, ...],
        on_us: int,
        off_us: int,
    ) -> tuple[FieldedState, tuple[Event, ...]]:
        team = self._team(incoming)
        out = [
            _emit("sub.out", event, team, outgoing, {"other": incoming, "since_us": off_us}, causes),
            _emit("sub.in", event, team, incoming, {"other": outgoing, "since_us": on_us}, causes),
        ]
        for suspected in state.suspected:
            if _player(suspected) == outgoing:
                state, emitted = _withdraw(state, event, suspected)
                out += emitted
        fielded = tuple(sorted({*state.fielded, incoming} - {outgoing}))
        after = msgspec.structs.replace(
            state,
            fielded=fielded,
            ineligible=tuple(sorted({*state.ineligible, outgoing})),
            new=tuple(c for c in state.new if c.player != incoming),
            away=tuple(c for c in state.away if c.player != outgoing),
        )
        return after, tuple(out)

    def _sent_off(
        self, state: FieldedState, event: Event, player: str, since_us: int, confidence: float
    ) -> tuple[FieldedState, tuple[Event, ...]]:
        team = self._team(player)
        causes = (event.id,) if event.id else ()
        emitted = _emit("sendoff.suspected", event, team, player, {"since_us": since_us}, causes, confidence)
        return msgspec.structs.replace(state, suspected=(*state.suspected, emitted)), (emitted,)


def _count_samples(
    before: tuple[PlayerCount, ...], now: set[str], seen: set[str], ts_us: int, step: int
) -> tuple[PlayerCount, ...]:
    """The counts of the players in ``now``, with ``step`` samples more; ``seen`` are tracked off the pitch."""
    old = {c.player: c for c in before}
    counts = []
    for name in sorted(now):
        was = old.get(name) or PlayerCount(name, 0, ts_us)
        counts.append(PlayerCount(name, was.samples + step, was.since_us, was.seen or name in seen, was.alone))
    return tuple(counts)


def _player(event: Event) -> str:
    return payload_of(event).player


def _is_suspected(state: FieldedState, player: str) -> bool:
    return any(_player(event) == player for event in state.suspected)


def _is_confirmed(state: FieldedState, player: str) -> bool:
    """True if officials have sent a player off: he has no substitute."""
    return any(_player(e) == player and payload_of(e).confidence == 1.0 for e in state.suspected)


def _emit(
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


def _withdraw(state: FieldedState, event: Event, suspected: Event) -> tuple[FieldedState, tuple[Event, ...]]:
    """Withdraw a suspicion: the player is back, or has a substitute."""
    void = withdrawal(suspected, event.ts_us)
    left = tuple(e for e in state.suspected if e is not suspected)
    return msgspec.structs.replace(state, suspected=left), (void,) if event.ts_us > suspected.ts_us else NOTHING
