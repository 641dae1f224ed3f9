"""1.10 (ours): decisions of officials, from an operator or a feed, as events: ``official.card``, ``official.goal`` ...

Tracking cannot measure a card, a foul, a decision of the video referee or added time; on goals, offside and
substitutions the officials decide. A decision enters as ``raw.official`` (``detectors.arrivals``) like every other
input: dated in event time, late, doubled or out of order. This detector names it. The detectors that a decision may
contradict read it (goals 7.5, their confirmation 10.14, play 5.10, numbers 9.12, time 10.13).

``official.void`` withdraws any one published event of the kinds in ``OVERRULED``, decisions included.
"""

from __future__ import annotations

from detectors.emission import make_event
from football.officials import DECISIONS, Official
from football.payloads import EventPayload, Scalar, payload_as, payload_of, time_us
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event

KINDS = tuple(f"official.{name}" for name in DECISIONS)

#: Kinds of which ``official.void`` may withdraw an event.
OVERRULED = (
    *(kind for kind in KINDS if kind != "official.void"),
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
)


class Officials:
    """1.10: ``official.<kind>``: a decision of officials.

    A decision that arrives long after it was taken is known from its arrival, and shown at ``at_us``. ``detail``:
    ``by`` (source of the decision), ``at_us`` (event time at which it was taken), and where they are stated ``other``
    (the second player of a substitution), ``minutes`` (of added time), ``event`` (id of the event that it is about),
    ``note``.
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
            amends=tuple(kind for kind in KINDS if kind != "official.void"),
            details=dict.fromkeys(KINDS, ("by", "at_us", "other", "minutes", "event", "note")),
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
        }
        detail = {name: value for name, value in named.items() if value not in ("", None)}
        payload = EventPayload(decision.variant, decision.team, decision.player, detail=detail)
        void = decision.kind == "void" and decision.event.partition("#")[0] in OVERRULED
        shown_us = decision.at_us if decision.at_us < event.ts_us and decision.kind != "void" else None
        anchor = f"official:{decision.source}:{decision.number}"
        annuls = decision.event if void else ""
        kind = f"official.{decision.kind}"
        return None, (make_event(kind, event.ts_us, anchor, payload, annuls=annuls, dated_us=shown_us),)


def decided_us(event: Event) -> int:
    """Event time of an ``official`` event's decision, which may be long before its arrival."""
    return time_us(payload_of(event), "at_us")
