"""15.3: highlight clips: from before the chance is known to after it, withdrawn if nothing came of it.

Theory of operation
-------------------
A clip opens with the first of these events of a team, and each further one while it is open carries it on:

| event | variant | worth a clip by itself |
|---|---|---|
| a goal | ``goal`` | yes |
| a shot of at least ``chance_share`` | ``big chance`` | yes |
| a save | ``save`` | yes |
| a penalty | ``foul`` | yes |
| a counter-attack | ``counter`` | only if it ends in the area |
| a take-on in the last third | ``skill`` | no |
| a box entry, a smaller shot | ``big chance`` | no |

The clip has the variant that stands highest in the table. It ends ``after_us`` after the last of them: it is closed
then, or withdrawn if nothing in it was worth a clip. That shows at the next gain, stop or minute.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.contacts.recent_contacts import opponents_of
from detectors.decisions import at_least
from detectors.emission import is_version, make_event, shown_us, withdrawal
from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, number, payload_of
from football.pitch import pitch_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event

#: The first of them counts.
VARIANTS = ("goal", "big chance", "save", "foul", "counter", "skill")
_CLOCK = ("possession.gain", "play.dead", "play.live", "clock.minute")


class ClipParameters(msgspec.Struct, frozen=True):
    """Bounds of a clip, and what is worth one.

    Attributes:
        before_us: a clip begins this long before its first event.
        after_us: and ends this long after its last one.
        chance_share: least value of a shot that is a big chance.
        doubt: confidence of a clip before anything in it is worth one.
    """

    before_us: Annotated[int, reason("Practice (Veo, Pixellot): 8 s.")] = 8_000_000
    after_us: Annotated[int, reason("Practice (Veo, Pixellot): 6 s.")] = 6_000_000
    chance_share: Annotated[float, reason("The second highest class of 8.10.")] = 0.15
    doubt: Annotated[float, reason("Ours: about every fourth entry into the area ends in a shot.")] = 0.3


class ClipState(msgspec.Struct, frozen=True, gc=False):
    """State: the team that attacks +x; the newest version of the open clip; its variant, end, value of shots and
    number of events; True once it is worth keeping."""

    attacks: Team = ""
    clip: Event | None = None
    variant: str = ""
    out_us: int = 0
    xg: float = 0.0
    events: int = 0
    worth: bool = False


class Clips:
    """15.3: ``clip.open`` and ``clip.close`` x {goal, big chance, save, foul, skill, counter} x team: a highlight.

    Both are named by the first event of the clip. ``clip.open`` is published with it, often before the shot; its end
    and variant are amended by what follows. ``clip.close`` follows once the clip is over; a clip in which nothing
    happened is withdrawn. ``detail``: ``in_us`` and ``out_us`` (event times of begin and end), ``excitement`` (value
    of its shots, and 0.05 for each event), ``events`` (their number).
    """

    def __init__(self, sheet: MatchSheet, parameters: ClipParameters | None = None) -> None:
        self.parameters = parameters or ClipParameters()
        self.pitch = pitch_of(sheet)
        kinds = ("clip.close", "clip.open")
        names = ("in_us", "out_us", "excitement", "events")
        self.spec = Spec(
            name="clips",
            number="15.3",
            level=15,
            inputs=(
                "direction", "entry", "shot.xg", "shot.saved", "goal.scored", "goal.own", "restart.penalty",
                "takeon.won", "counter.start", "counter.end", *_CLOCK,
            ),
            outputs=kinds,
            parameters=msgspec.structs.asdict(self.parameters),
            source="practice of providers (Veo, Pixellot); excitement ours",
            amends=("clip.open",),
            annuls=("clip.open",),
            team_variants=dict.fromkeys(kinds, VARIANTS),
            details=dict.fromkeys(kinds, names),
            known={
                "clip.open": Known(
                    "with its first event", "with each further one", ("variant", "confidence", *names[1:])
                )
            },
        )  # fmt: skip

    def initial(self) -> ClipState:
        """No clip."""
        return ClipState()

    def step(self, state: ClipState, event: Event) -> Step[ClipState]:
        """Close a clip that is over; open one or carry it on."""
        payload = payload_of(event)
        if event.kind == "direction":
            return msgspec.structs.replace(state, attacks=payload.team), NOTHING
        after, out = self._over(state, event)
        if event.kind in _CLOCK or event.annuls or (is_version(event) and event.kind not in ("entry", "counter.start")):
            return after, out
        variant, worth, xg = self._judged(after, event, payload)
        if not variant:
            return after, out
        team = opponents_of(payload.team) if event.kind == "shot.saved" else payload.team
        if after.clip is not None and payload_of(after.clip).team != team:
            if not worth:
                return after, out
            after, ended = self._closed(after, event)
            out = (*out, *ended)
        after, shown = self._carried(after, event, payload, (team, variant, worth, xg))
        return after, (*out, *shown)

    def _judged(self, state: ClipState, event: Event, payload: EventPayload) -> tuple[str, bool, float]:
        """Variant of an event, whether it is worth a clip, and the value of a shot; no variant: not of a clip."""
        kind = event.kind
        if kind == "shot.xg":
            xg = number(payload, "xg")
            least = self.parameters.chance_share
            return "big chance", at_least("value of the shot", xg, least, "clips.chance_share"), xg
        if kind == "entry":
            return ("big chance" if payload.variant.startswith("box") else ""), False, 0.0
        if kind == "takeon.won":
            sign = 1.0 if payload.team == state.attacks else -1.0
            last = bool(state.attacks) and sign * (payload.x_m or 0.0) > self.pitch.half_length_m / 3
            return ("skill" if last else ""), False, 0.0
        named = {"shot.saved": "save", "restart.penalty": "foul", "counter.start": "counter", "counter.end": "counter"}
        return named.get(kind, "goal"), kind != "counter.start", 0.0

    def _carried(
        self, state: ClipState, event: Event, payload: EventPayload, judged: tuple[Team, str, bool, float]
    ) -> Step[ClipState]:
        """Open a clip, or carry it on."""
        (team, variant, worth, xg), p, old = judged, self.parameters, state.clip
        variant = min((v for v in (variant, state.variant) if v), key=VARIANTS.index)
        out_us = event.ts_us + p.after_us
        after = ClipState(state.attacks, old, variant, out_us, state.xg + xg, state.events + 1, state.worth or worth)
        in_us = max(0, event.ts_us - p.before_us) if old is None else int(number(payload_of(old), "in_us"))
        where = payload if old is None else payload_of(old)
        shown = EventPayload(
            variant, team, "", where.x_m, where.y_m, None, 1.0 if after.worth else p.doubt, _detail(after, in_us)
        )
        if old is None:
            clip = make_event("clip.open", event.ts_us, f"{event.kind}:{event.source}", shown, causes=(event.id,))
        elif event.ts_us <= old.ts_us:
            return after, NOTHING
        else:
            causes, dated_us = (*old.causes, event.id), shown_us(old)
            clip = make_event("clip.open", event.ts_us, old.source, shown, causes=causes, dated_us=dated_us)
        return msgspec.structs.replace(after, clip=clip), (clip,)

    def _over(self, state: ClipState, event: Event) -> Step[ClipState]:
        """Close a clip whose time is over."""
        if state.clip is None or event.ts_us <= state.out_us:
            return state, NOTHING
        return self._closed(state, event)

    def _closed(self, state: ClipState, event: Event) -> Step[ClipState]:
        """Close the clip, or withdraw it if nothing in it was worth one."""
        clip, after = state.clip, ClipState(state.attacks)
        if clip is None:
            return after, NOTHING
        if not state.worth:
            void = withdrawal(clip, event.ts_us)
            return after, (void,)
        opened = payload_of(clip)
        detail = _detail(state, int(number(opened, "in_us")))
        payload = EventPayload(state.variant, opened.team, "", opened.x_m, opened.y_m, detail=detail)
        return after, (make_event("clip.close", event.ts_us, clip.source, payload, causes=(clip.id,)),)


def _detail(state: ClipState, in_us: int) -> dict[str, Scalar]:
    excitement = round(state.xg + 0.05 * state.events, 3)
    return {"in_us": in_us, "out_us": state.out_us, "excitement": excitement, "events": state.events}
