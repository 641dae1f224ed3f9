"""1.10 (ours): what an operator or a feed asserts, as events: ``official.card``, ``official.goal`` ...

Tracking cannot know a card, a foul, a decision of the video referee, added time; and on goals, offside and
substitutions the officials have the last word. What they say enters as ``raw.official`` (``football.packets``) by the
way of every other input: dated in event time, late, doubled and out of order as it comes. Here it gets its name; who
knows what it contradicts listens (goals 7.5, their confirmation 10.14, play 5.10, numbers 9.12, time 10.13).

``official.void`` takes any one event of the kinds in ``OVERRULED`` out of what is published, decisions included.
"""

from __future__ import annotations

from detectors.emission import make_event
from football.officials import DECISIONS, Official
from football.payloads import EventPayload, Scalar
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

KINDS = tuple(f"official.{name}" for name in DECISIONS)

#: Kinds of which ``official.void`` may take an event back.
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
    """1.10: ``official.<kind>``: a decision as it was told; ``detail`` says by whom, and what else was said.

    Decisions told long after they happened are known from when they were told, and shown under ``detail.at_us``.
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
            variants={kind: variants for kind, variants in plain.items() if variants != ("",)},
            team_variants=teams,
        )

    def initial(self) -> None:
        """Nothing is remembered."""
        return

    def step(self, state: None, event: Event) -> Step[None]:
        """Names what was told."""
        emitted = event.payload
        assert isinstance(emitted, Official)
        if emitted.kind not in DECISIONS:
            return None, NOTHING
        named: dict[str, Scalar] = {
            "by": emitted.source,
            "at_us": emitted.at_us,
            "other": emitted.other,
            "minutes": emitted.minutes,
            "event": emitted.event,
            "note": emitted.note,
        }
        detail = {name: value for name, value in named.items() if value not in ("", None)}
        payload = EventPayload(emitted.variant, emitted.team, emitted.player, detail=detail)
        void = emitted.kind == "void" and emitted.event.partition("#")[0] in OVERRULED
        shown_us = emitted.at_us if emitted.at_us < event.ts_us and emitted.kind != "void" else None
        anchor = f"official:{emitted.source}:{emitted.number}"
        annuls = emitted.event if void else ""
        kind = f"official.{emitted.kind}"
        return None, (make_event(kind, event.ts_us, anchor, payload, annuls=annuls, dated_us=shown_us),)


def decided_us(event: Event) -> int:
    """Event time of what an ``official`` event is about, which may be long before it was said."""
    payload = event.payload
    assert isinstance(payload, EventPayload)
    at_us = payload.detail["at_us"]
    assert isinstance(at_us, int)
    return at_us
