"""Rules: an event of a kind sends a camera to a preset or a player, and holds it there until another event. Pure.

A file of rules stands next to the file of the cameras, ``cameras.rules.toml`` next to ``cameras.toml``:

    [[rule]]
    name = "corner from the left"
    when = "spot.taker"             # kind, or its first word
    variant = "corner"
    x_m = [30, 60]                  # where the event is
    y_m = [20, 40]
    state = "tentative"             # tentative, confirmed or any
    chance = 0.7                    # least chance that the event stands
    camera = "goal right"
    preset = "corner-left"          # or player = "event", or an object id
    until = ["play.live"]
    for_s = 30                      # at most so long

An event fires a rule once it meets all conditions; its chance may grow while it stands. The rule ends with the first
later event of ``until``, when its event is withdrawn, and after ``for_s``. A later event that fires a rule takes the
camera over from an earlier one. The book says what the rules want; the operator and the on-air lock win over every
rule (``camera/authority.py``), and a move that the lock holds up is made once the camera is off air.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from camera.chances import Chance
from camera.toml_tables import TableError, convert_table
from football.errors import UserError
from football.untrusted import UntrustedError, is_text, read_toml
from football.update_stream import EventRecord, UpdateRecord

#: Limits of the rules of a run, and of the events that may still fire one.
RULES_MAX: Final = 100
WAITING_MAX: Final = 1_000

Range = tuple[float, float]


class RuleError(UserError, ValueError):
    """A rule is wrong; the message names the file, the rule, the key and the reason."""


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One rule; ``camera/rules.py`` explains the fields."""

    name: Annotated[str, Meta(min_length=1, max_length=100)]
    when: Annotated[str, Meta(min_length=1, max_length=100)]
    camera: str
    preset: str = ""
    player: str = ""
    variant: str = ""
    team: str = ""
    x_m: Range | None = None
    y_m: Range | None = None
    state: Literal["any", "tentative", "confirmed"] = "any"
    chance: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.0
    until: tuple[str, ...] = ("play.live",)
    for_s: Annotated[float, Meta(gt=0.0, le=600.0)] = 30.0

    def takes(self, event: EventRecord) -> bool:
        """True if an event meets the conditions that do not change."""
        return (
            _is_of(event.kind, self.when)
            and self.variant in ("", event.variant)
            and self.team in ("", event.team)
            and _is_within(event.x_m, self.x_m)
            and _is_within(event.y_m, self.y_m)
            and (self.player != "event" or bool(event.player))
        )

    def subject(self, event: EventRecord) -> str:
        """Return the player that the camera follows; empty for a preset."""
        return event.player if self.player == "event" else self.player


class Move(msgspec.Struct, frozen=True):
    """A change that a rule makes to a camera: ``rule`` is None where it hands it back; ``event`` is the cause."""

    camera: str
    rule: Rule | None
    event: EventRecord
    reason: str


class _Waiting(msgspec.Struct, frozen=True):
    """An event that may still fire a rule."""

    rule: Rule
    event: EventRecord
    asserted_us: int


class _Active(msgspec.Struct, frozen=True):
    rule: Rule
    event: EventRecord

    @property
    def end_us(self) -> int:
        return self.event.ts_us + round(self.rule.for_s * 1e6)


class RuleBook:
    """The rules of a run. One thread steps it; another may read and change the rules meanwhile.

    Args:
        rules: at the beginning.
        chance: that an event stands.
    """

    def __init__(self, rules: Sequence[Rule], chance: Chance = lambda event, age_us: event.confidence) -> None:
        self.rules: dict[str, Rule] = {rule.name: rule for rule in rules}
        self._chance = chance
        self._waiting: list[_Waiting] = []
        self._active: dict[str, _Active] = {}

    def put(self, rule: Rule) -> None:
        """Add a rule, or replace the one of its name.

        Raises:
            RuleError: there are too many.
        """
        if rule.name not in self.rules and len(self.rules) >= RULES_MAX:
            raise RuleError(f"there are {RULES_MAX} rules already")
        self.rules = {**self.rules, rule.name: rule}

    def remove(self, name: str) -> None:
        """Remove a rule; a camera that it holds is handed back at the next step."""
        self.rules = {key: rule for key, rule in self.rules.items() if key != name}

    def holds(self) -> list[tuple[Rule, EventRecord]]:
        """Return the rules that hold a camera, each with its event. Other threads may call it."""
        return [(one.rule, one.event) for one in list(self._active.values())]

    def resume(self, name: str, event: EventRecord) -> Rule | None:
        """Let a rule hold its camera again, as before a restart; return it, or None if there is no such rule."""
        rule = self.rules.get(name)
        if rule is not None:
            self._active[rule.camera] = _Active(rule, event)
        return rule

    def step(self, updates: Iterable[UpdateRecord], now_us: int, frontier_us: int) -> list[Move]:
        """Return what changes after the next updates.

        Args:
            updates: in their order.
            now_us: the stream's clock.
            frontier_us: the watermark of the inputs.
        """
        before, ended = dict(self._active), dict.fromkeys(self._active, "")
        for update in updates:
            self._take(update, ended)
        for camera, active in list(self._active.items()):
            if now_us >= active.end_us:
                self._end(camera, ended, f"{active.rule.for_s:g} s are over")
            elif self.rules.get(active.rule.name) is not active.rule:
                self._end(camera, ended, "the rule was removed")
        self._fire(now_us, frontier_us)
        changed = [camera for camera in {*before, *self._active} if before.get(camera) != self._active.get(camera)]
        return [self._move(camera, before.get(camera), ended.get(camera, "")) for camera in sorted(changed)]

    def _take(self, update: UpdateRecord, ended: dict[str, str]) -> None:
        event = update.event
        if update.diff < 0:
            self._waiting = [one for one in self._waiting if one.event != event]
            for camera, active in list(self._active.items()):
                if active.event == event:
                    self._end(camera, ended, f"{event.kind} is withdrawn")
            return
        self._waiting = [one for one in self._waiting if not _ends(event, one.rule, one.event)]
        for camera, active in list(self._active.items()):
            if _ends(event, active.rule, active.event):
                self._end(camera, ended, event.kind)
        found = [_Waiting(rule, event, update.emitted_us) for rule in self.rules.values() if rule.takes(event)]
        self._waiting = [*self._waiting, *found][-WAITING_MAX:]

    def _end(self, camera: str, ended: dict[str, str], reason: str) -> None:
        del self._active[camera]
        ended[camera] = reason

    def _fire(self, now_us: int, frontier_us: int) -> None:
        left: list[_Waiting] = []
        for one in self._waiting:
            rule, event = one.rule, one.event
            is_confirmed = event.is_confirmed(frontier_us)
            if self.rules.get(rule.name) is not rule:
                continue
            if _Active(rule, event).end_us <= now_us or (rule.state == "tentative" and is_confirmed):
                continue
            chance = 1.0 if is_confirmed else self._chance(event, max(0, now_us - one.asserted_us))
            if (rule.state == "confirmed" and not is_confirmed) or chance < rule.chance:
                left.append(one)
            elif rule.camera not in self._active or self._active[rule.camera].event.ts_us <= event.ts_us:
                self._active[rule.camera] = _Active(rule, event)
        self._waiting = left

    def _move(self, camera: str, before: _Active | None, reason: str) -> Move:
        active = self._active.get(camera)
        if active is not None:
            return Move(camera, active.rule, active.event, f"{active.rule.name}: {active.event.kind}")
        assert before is not None, "a camera that a rule neither held nor holds has not changed"
        return Move(camera, None, before.event, f"{before.rule.name} ends: {reason}")


def rules_file(cameras: Path) -> Path:
    """Return the path of the rules that belong to a file of cameras."""
    return cameras.with_suffix(".rules.toml")


def load_rules(path: Path, presets: Mapping[str, Iterable[str]]) -> tuple[Rule, ...]:
    """Load the rules of a file; none if it does not exist.

    Args:
        path: of the TOML file.
        presets: names of the presets by camera.

    Raises:
        RuleError: the file cannot be read, a key is unknown or wrong, or a rule names what does not exist.
    """
    if not path.exists():
        return ()
    try:
        rules = _rules(read_toml(path))
    except OSError as error:
        raise RuleError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (UntrustedError, RuleError) as error:
        raise RuleError(f"{path}: {error}") from error
    if len(rules) > RULES_MAX:
        raise RuleError(f"{path}: rule: {len(rules)} rules, more than {RULES_MAX}")
    for rule in rules:
        if sum(one.name == rule.name for one in rules) > 1:
            raise RuleError(f"{path}: rule {rule.name!r}: name: stands twice")
        try:
            check_rule(rule, presets)
        except RuleError as error:
            raise RuleError(f"{path}: {error}") from error
    return rules


def _rules(document: dict[str, Any]) -> tuple[Rule, ...]:
    """Return the tables of a document. Raises RuleError, which names the rule."""
    tables = document.get("rule", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise RuleError("rule: each rule is a table that begins with [[rule]]")
    for key in document:
        if key != "rule":
            raise RuleError(f"{key}: there is no such table; each rule begins with [[rule]]")
    rules = []
    for number, table in enumerate(tables, 1):
        try:
            rules.append(convert_table(table, Rule))
        except TableError as error:
            named = table.get("name", number)
            raise RuleError(f"rule {named!r}: {error}") from error
    return tuple(rules)


def check_rule(rule: Rule, presets: Mapping[str, Iterable[str]]) -> None:
    """Check what a rule names.

    Raises:
        RuleError: it names no camera, preset or subject that exists.
    """
    faults = []
    if not is_text(rule.name):
        faults.append(("name", "has control characters"))
    if rule.camera not in presets:
        faults.append(("camera", f"no camera {rule.camera}; there are {', '.join(presets)}"))
    elif rule.preset and rule.preset not in presets[rule.camera]:
        known = ", ".join(presets[rule.camera]) or "none"
        faults.append(("preset", f"camera {rule.camera} has no preset {rule.preset}; it has {known}"))
    if bool(rule.preset) == bool(rule.player):
        faults.append(("preset", "a rule has either a preset or a player"))
    for key, limits in (("x_m", rule.x_m), ("y_m", rule.y_m)):
        if limits is not None and not limits[0] < limits[1]:
            faults.append((key, "needs its lower end first"))
    for key, reason in faults:
        raise RuleError(f"rule {rule.name!r}: {key}: {reason}")


def _ends(event: EventRecord, rule: Rule, cause: EventRecord) -> bool:
    """True if an event ends what a rule does because of an earlier one."""
    return event.ts_us > cause.ts_us and any(_is_of(event.kind, kind) for kind in rule.until)


def _is_of(kind: str, wanted: str) -> bool:
    return kind == wanted or kind.startswith(f"{wanted}.")


def _is_within(value: float | None, limits: Range | None) -> bool:
    return limits is None or (value is not None and limits[0] <= value <= limits[1])
