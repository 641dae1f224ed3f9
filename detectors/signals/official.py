"""1.10 (ours): decisions of officials, from an operator or a feed, as events: ``official.card``, ``official.goal`` ...

Tracking cannot measure a card, a foul, a decision of the video referee or added time; on goals, offside and
substitutions the officials decide. A decision enters as ``raw.official`` (``detectors.arrivals``) like every other
input: dated in event time, late, doubled or out of order. This detector names it. The detectors that a decision may
contradict read it (goals 7.5, their confirmation 10.14, play 5.10, numbers 9.12, time 10.13).

``official.void`` withdraws any one published event of the kinds in ``OVERRULED``, decisions included.
``official.correction`` gives it another kind, variant, player or time (``CorrectionPayload``). Both change what is
published and no detector's input: a pass that is given to another player leaves the possession as it was.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from detectors.emission import make_event
from football.officials import DECISIONS, Official
from football.payloads import EventPayload, Scalar, payload_as, payload_of, time_us
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event

KINDS = tuple(f"official.{name}" for name in DECISIONS)

#: Kinds of which ``official.void`` may withdraw an event.
OVERRULED = (
    *(kind for kind in KINDS if kind not in ("official.void", "official.correction")),
    "goal.scored",
    "goal.own",
    "goal.confirmed",
    "goal.disallowed",
    "out",
    "restart.kick_off",
    "restart.throw_in",
    "restart.corner",
    "restart.goal_kick",
    "restart.free_kick",
    "restart.penalty",
    "period.start",
    "period.end",
    "offside.offence",
    "gk.hold_warn",
    "gk.hold_offence",
    "sub.in",
    "sub.out",
    "sendoff.suspected",
    "overruled",
    "shot.attempt",
    "shot.blocked",
    "shot.deflected",
    "shot.off",
    "shot.saved",
    "shot.post",
    "shootout.kick",
    "pass.attempt",
    "pass.complete",
    "pass.intercepted",
    "pass.out",
    "pass.kept",
    "pass.through",
    "pass.switch",
    "cross",
    "cutback",
    "keypass",
    "assist",
    "second_assist",
    "interception",
    "clearance",
    "recovery",
    "takeon.won",
    "takeon.lost",
    "tackle.won",
    "tackle.lost",
    "restart.dropped",
    "gk.catch",
    "gk.parry",
    "gk.punch",
    "gk.drop",
    "gk.claim",
    "gk.pickup",
    "gk.smother",
    "gk.sweep",
    "gk.backpass",
)


#: Decisions about one event, by its id; they count from their arrival.
_ABOUT_ONE = ("void", "correction")

#: Fields of a decision with the right values of a correction.
_RIGHT = ("right_kind", "right_variant", "right_us")


def kind_of(event_id: str) -> str:
    """Return the kind of the event that an id names."""
    return event_id.partition("#")[0]


class CorrectionPayload(EventPayload, frozen=True, gc=False):
    """Payload of ``official.correction``, which ``middleware.publisher`` applies to the event that it names.

    ``team`` and ``player`` are the right ones. Empty values stay as they were detected; without any value the event
    stands as it was detected, whatever was decided about it before.

    Attributes:
        right_kind, right_variant, right_us: the right kind, variant and event time.
        other: the right second player, such as the receiver of a pass.
    """

    right_kind: str = ""
    right_variant: str = ""
    right_us: int | None = None
    other: str = ""

    @property
    def restores(self) -> bool:
        """True if the event shall stand as it was detected."""
        values = self.right_kind, self.right_variant, self.team, self.player, self.other
        return not any(values) and self.right_us is None

    def corrected(self, version: Event) -> Event:
        """Return an event as it should be. The position stays; ``detail`` has ``official``, as of a decided goal."""
        payload = version.payload
        if self.restores or not isinstance(payload, EventPayload):
            return version
        kind = self.right_kind or version.kind
        detail = {**payload.detail, "official": True}
        for name in ("receiver", "other"):
            if self.other and name in detail:
                detail[name] = self.other
        right = msgspec.structs.replace(
            payload,
            variant=self.right_variant or (payload.variant if kind == version.kind else ""),
            team=self.team or payload.team,
            player=self.player or payload.player,
            confidence=1.0,
            detail=detail,
        )
        ts_us = version.ts_us if self.right_us is None else self.right_us
        return msgspec.structs.replace(version, kind=kind, ts_us=ts_us, payload=right)


def correction_of(decision: Official, detail: Mapping[str, Scalar] | None = None) -> CorrectionPayload:
    """Return the payload of a correction."""
    return CorrectionPayload(
        "",
        decision.team,
        decision.player,
        detail=detail or {},
        right_kind=decision.right_kind,
        right_variant=decision.right_variant,
        right_us=decision.right_us,
        other=decision.other,
    )


class Officials:
    """1.10: ``official.<kind>``: a decision of officials.

    A decision that arrives long after it was taken is known from its arrival, and shown at ``at_us``. ``detail``:
    ``by`` (source of the decision), ``at_us`` (event time at which it was taken), and where they are stated ``other``
    (the second player of a substitution), ``minutes`` (of added time), ``event`` (id of the event that it is about),
    ``note``, ``right_kind``, ``right_variant`` and ``right_us`` (of a correction).
    """

    def __init__(self) -> None:
        plain = {f"official.{name}": d.variants for name, d in DECISIONS.items() if not d.of_team}
        teams = {f"official.{name}": d.variants for name, d in DECISIONS.items() if d.of_team}
        self.spec = Spec(
            name="official",
            number="1.10",
            level=1,
            inputs=("raw.official",),
            outputs=KINDS,
            source="ours; IFAB Laws 3, 5, 7, 10-14 and VAR protocol for what there is to decide",
            annuls=OVERRULED,
            amends=tuple(kind for kind in KINDS if kind in OVERRULED),
            details={
                **dict.fromkeys(KINDS, ("by", "at_us", "other", "minutes", "event", "note")),
                "official.correction": ("by", "at_us", "other", "minutes", "event", "note", *_RIGHT),
            },
            known=dict.fromkeys(KINDS, Known("when the decision arrives")),
            variants={kind: variants for kind, variants in plain.items() if variants != ("",)},
            team_variants=teams,
        )

    def initial(self) -> None:
        """No state."""
        return

    def step(self, state: None, event: Event) -> Step[None]:
        """Name a decision."""
        decision = payload_as(event, Official)
        if decision.kind not in DECISIONS:
            return None, NOTHING
        named: dict[str, Scalar] = {
            "by": decision.source,
            "at_us": decision.at_us,
            "other": decision.other,
            "minutes": decision.minutes,
            "event": decision.event,
            "note": decision.note,
            **{name: getattr(decision, name) for name in _RIGHT},
        }
        detail = {name: value for name, value in named.items() if value not in ("", None)}
        payload = EventPayload(decision.variant, decision.team, decision.player, detail=detail)
        if decision.kind == "correction":
            payload = correction_of(decision, detail)
        annuls = decision.event if decision.kind in _ABOUT_ONE and kind_of(decision.event) in OVERRULED else ""
        shown_us = decision.at_us if decision.at_us < event.ts_us and decision.kind not in _ABOUT_ONE else None
        anchor = f"official:{decision.source}:{decision.number}"
        kind = f"official.{decision.kind}"
        return None, (make_event(kind, event.ts_us, anchor, payload, annuls=annuls, dated_us=shown_us),)


def decided_us(event: Event) -> int:
    """Event time of an ``official`` event's decision, which may be long before its arrival."""
    return time_us(payload_of(event), "at_us")


def changes_kind(correction: EventPayload) -> bool:
    """True if an ``official.correction`` makes its event one of another group of kinds: no goal, no pass."""
    right, wrong = str(correction.detail.get("right_kind", "")), str(correction.detail["event"])
    return right != "" and right.partition(".")[0] != kind_of(wrong).partition(".")[0]
