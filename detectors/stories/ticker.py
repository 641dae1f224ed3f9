"""15.7: the ticker: a sentence for each event that a viewer wants to know of, corrected in place.

Theory of operation
-------------------
A sentence has the variant ``preview`` while its event may still be decided otherwise (a goal before the kick-off, a
counter-attack under way), ``confirmed`` once it stands, ``corrected`` when it has changed. All versions have one id.
The sentence of an event that is withdrawn is withdrawn, but that of a goal says that there was none.

The goal comes with the score: the sentence is made at ``state.score`` (13.5), which follows each goal at its instant.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from detectors.emission import make_event, shown_us, withdrawal
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, payload_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event

PREVIEW, CONFIRMED, CORRECTED = VARIANTS = ("preview", "confirmed", "corrected")

#: Sentence by kind; the names in braces are those of the payload and of its detail, players as people call them.
SENTENCES: Mapping[str, str] = {
    "period.start": "Period {variant} begins.",
    "period.end": "Period {variant} is over.",
    "restart.corner": "Corner kick for {team}, from the {variant}.",
    "restart.penalty": "Penalty for {team}: {player} takes it.",
    "shot.saved": "{player} saves from {shooter}.",
    "shot.blocked": "The shot of {player} is blocked.",
    "shot.off": "{player} shoots {variant}.",
    "shot.post": "{player} hits the {part}.",
    "offside.offence": "Offside: {player}.",
    "sub.in": "{player} comes on for {other}.",
    "sendoff.suspected": "{player} has left the pitch, it seems sent off.",
    "counterpress.won": "{team} win the ball back at once, by {player}.",
    "counter.start": "{team} run a counter-attack.",
    "formation": "{team} play {variant}.",
    "momentum.shift": "{team} have the better of the last minutes.",
}
#: Kinds whose event is decided later.
_OPEN = ("counter.start",)
_GOALS = ("goal.scored", "goal.own")
#: So many sentences are remembered for corrections; a goal is decided within two minutes.
_RECENT = 24


class TickerState(msgspec.Struct, frozen=True, gc=False):
    """State: the newest sentences; the newest goals; what a scoreboard shows, such as ``45+1``."""

    recent: tuple[Event, ...] = ()
    goals: tuple[Event, ...] = ()
    clock: str = ""


class Ticker:
    """15.7: ``ticker`` x {preview, confirmed, corrected} x team: a sentence for each event of note, corrected in place.

    Time, team, player and position are those of the event, the id derives from it. ``detail``: ``text`` (the sentence),
    ``of`` (kind of the event, or ``goal``), ``clock`` (match minute as a scoreboard shows it).
    """

    def __init__(self, sheet: MatchSheet) -> None:
        self._names = {p.object_id: p.name or p.object_id for p in sheet.players}
        self.spec = Spec(
            name="ticker",
            number="15.7",
            level=15,
            inputs=(*SENTENCES, *_GOALS, "state.score", "goal.confirmed", "goal.disallowed", "clock.minute"),
            outputs=("ticker",),
            source="practice of tickers; guardian n10n 1872 (corrections)",
            amends=("ticker",),
            annuls=("ticker",),
            variants={"ticker": VARIANTS},
            details={"ticker": ("text", "of", "clock")},
            known={
                "ticker": Known(
                    "with its event",
                    "when that is decided, changed or withdrawn",
                    ("variant", "team", "player", "x_m", "y_m", "z_m", "confidence", "text", "clock"),
                )
            },
        )

    def initial(self) -> TickerState:
        """No sentence."""
        return TickerState()

    def step(self, state: TickerState, event: Event) -> Step[TickerState]:
        """Write the sentence of an event, or correct one."""
        payload = payload_of(event)
        if event.kind == "clock.minute":
            return msgspec.structs.replace(state, clock=str(payload.detail["shown"])), NOTHING
        if event.kind in _GOALS:
            others = tuple(goal for goal in state.goals if goal.source != event.source)
            goals = (*others, event)[-_RECENT:]
            return (state if event.annuls else msgspec.structs.replace(state, goals=goals)), NOTHING
        if event.kind in ("goal.confirmed", "goal.disallowed"):
            # A verdict that is withdrawn itself leaves the goal open again.
            open_again = event.annuls == event.id or event.kind == "goal.disallowed"
            anchor = str(payload.detail["goal"]).partition("#")[2]
            return (state, NOTHING) if open_again else self._decided(state, event, f"state.score:{anchor}")
        if event.kind == "state.score":
            return self._scored(state, event, payload)
        anchor = f"{event.kind}:{event.source}"
        if event.annuls:
            return _withdrawn(state, event, anchor)
        variant = PREVIEW if event.kind in _OPEN and payload.confidence < 1.0 else CONFIRMED
        return self._write(state, event, payload, anchor, variant, self._text(event.kind, payload))

    def _scored(self, state: TickerState, event: Event, payload: EventPayload) -> Step[TickerState]:
        """The sentence of a goal, by the score after it."""
        anchor, score = f"state.score:{event.source}", f"{payload.detail['home']}:{payload.detail['away']}"
        if event.annuls:
            return self._write(state, event, payload, anchor, CORRECTED, "The goal does not count.")
        goal = next((goal for goal in state.goals if goal.source == event.source), None)
        if goal is None:
            return state, NOTHING
        scored = payload_of(goal)
        own = " (own goal)" if goal.kind == "goal.own" else ""
        text = f"Goal for {_team(scored.team)}! {self._name(scored.player)}{own}, {score}."
        return self._write(state, event, scored, anchor, PREVIEW, text)

    def _decided(self, state: TickerState, event: Event, anchor: str) -> Step[TickerState]:
        """The sentence of a goal that counts."""
        old = _sentence_before(state, anchor)
        if old is None or payload_of(old).variant != PREVIEW:
            return state, NOTHING
        written = payload_of(old)
        return self._write(state, event, written, anchor, CONFIRMED, str(written.detail["text"]))

    def _write(
        self, state: TickerState, event: Event, about: EventPayload, anchor: str, variant: str, text: str
    ) -> Step[TickerState]:
        """Write a sentence, or a newer version of it."""
        old = _sentence_before(state, anchor)
        kind, clock = "goal" if event.kind == "state.score" else event.kind, state.clock
        if old is not None:
            before = payload_of(old)
            kind, clock = str(before.detail["of"]), str(before.detail["clock"])
            same = before.detail["text"] == text and (before.variant == variant or variant != CONFIRMED)
            if event.ts_us <= old.ts_us or (same and not old.annuls):
                return state, NOTHING
            variant = variant if before.detail["text"] == text else CORRECTED
        detail: dict[str, Scalar] = {"text": text, "of": kind, "clock": clock}
        payload = EventPayload(
            variant, about.team, about.player, about.x_m, about.y_m, about.z_m, about.confidence, detail
        )
        dated_us = event.dated_us if old is None else shown_us(old)
        sentence = make_event("ticker", event.ts_us, anchor, payload, causes=(event.id,), dated_us=dated_us)
        return _with(state, sentence), (sentence,)

    def _text(self, kind: str, payload: EventPayload) -> str:
        values = {name: self._name(value) for name, value in payload.detail.items() if isinstance(value, str)}
        values |= {"team": _team(payload.team), "player": self._name(payload.player), "variant": payload.variant}
        return SENTENCES[kind].format_map(_Unknown(values))

    def _name(self, player: str) -> str:
        return self._names.get(player, player) or "somebody"


class _Unknown(dict[str, str]):
    """Values of a sentence; one that is not known is somebody."""

    def __missing__(self, key: str) -> str:
        """Name what is not known."""
        return "somebody"


def _team(team: Team) -> str:
    return {"home": "Home", "away": "Away"}.get(team, "A team")


def _sentence_before(state: TickerState, anchor: str) -> Event | None:
    return next((e for e in state.recent if e.source == anchor), None)


def _with(state: TickerState, sentence: Event) -> TickerState:
    others = tuple(e for e in state.recent if e.source != sentence.source)
    return msgspec.structs.replace(state, recent=(*others, sentence)[-_RECENT:])


def _withdrawn(state: TickerState, event: Event, anchor: str) -> Step[TickerState]:
    """The withdrawal of the sentence of an event that is withdrawn."""
    old = _sentence_before(state, anchor)
    if old is None or old.annuls or event.ts_us < old.ts_us:
        return state, NOTHING
    void = withdrawal(old, event.ts_us)
    return _with(state, void), (void,)
