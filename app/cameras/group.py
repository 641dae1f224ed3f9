"""The cameras of a run by name: what each does, orders to them, and rules."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from app.cameras.journal import Journal
from app.cameras.refusals import OrderRefusedError, UnknownCameraError
from football.update_stream import EventRecord

if TYPE_CHECKING:
    from app.cameras.calibrations import Calibrations
    from app.cameras.kept import Keeper, Kept, KeptCamera
    from camera.controller import CameraController
    from camera.head import Pose
    from camera.installation import Camera, CameraSetup
    from camera.operator import Order, Track
    from camera.rules import Rule, RuleBook
    from camera.state import CameraState

#: Width of the picture in metres at a point or an event, if the order has none.
POINT_M: Final = 30.0
_AGAIN: Final = "as before the restart"


class CameraInfo(msgspec.Struct, frozen=True):
    """A camera: its set-up, without its login, and what it does now.

    Attributes:
        presets: names, in the order of the file.
        mount: position of the lens, heading, tilt offset and roll.
        aspect: width of the picture divided by its height.
        mode: follow, hold (dead zone), stop, wide (a failure), operator, held, preset; offline without its head.
        order: the operator's order in force: drive, hold, preset, player, or empty.
        by: who steers it: planner, care (for failures), rule or operator.
        rule: the rule that holds it; empty for none.
        pose: pan_deg, tilt_deg and width_deg; null while unknown.
        problem: what is wrong, in a sentence; empty if nothing is.
        care: state of the care for failures: following, noticed, easing, wide, returning, silent.
        fault: what has failed: steering, head, feed, clock, late, player, ball, confidence; empty if nothing has.
        needs_operator: the operator should take over.
        on_air: its picture is on air: it moves in the calm style, and takes no order to another picture.
        causes: ids of the events that pull the picture now.
        may_turn: it is offline, and its last command may be turning it still.
        shows: its role; of a camera with the role auto, the one that it has now.
        score: how good its picture of the play is now, 0 to 1.
        is_best: its picture is the best one now, in the judgement of ``camera.pictures``.
    """

    name: str
    role: str
    player: str
    style: str
    protocol: str
    simulated: bool
    presets: list[str]
    mount: dict[str, float]
    aspect: float
    mode: str
    order: str
    by: str
    rule: str
    pose: dict[str, float] | None
    problem: str
    care: str
    fault: str
    needs_operator: bool
    on_air: bool
    causes: tuple[str, ...]
    may_turn: bool
    shows: str = ""
    score: float = 0.0
    is_best: bool = False


class CameraGroup:
    """The cameras of one match, by name; empty until ``cameras_on`` starts them. Thread safe.

    Attributes:
        journal: of orders, moves and failures.
        distrust: returns why the input is not reliable; empty if it is.
        calibrations: of their mounts; None until they run.
    """

    def __init__(self) -> None:
        self.journal = Journal()
        self.distrust: Callable[[], str] = str
        self.calibrations: Calibrations | None = None
        self._cameras: Mapping[str, tuple[Camera, CameraController]] = {}
        self._styles: dict[str, str] = {}
        self._roles: dict[str, str] = {}
        self._scores: dict[str, float] = {}
        self._best = ("", 0)
        self._book: RuleBook | None = None
        self._book_lock = threading.Lock()
        self._keeper: Keeper | None = None
        self._file_rules: tuple[str, ...] = ()
        self._put_rules: dict[str, Rule] = {}
        self._kept: dict[str, KeptCamera] = {}
        self._find_event: Callable[[str], EventRecord | None] = lambda event_id: None
        self._has_player: Callable[[str], bool] = lambda player: False

    def started(
        self,
        cameras: Mapping[str, tuple[Camera, CameraController]],
        book: RuleBook,
        journal: Journal,
        find_event: Callable[[str], EventRecord | None],
        has_player: Callable[[str], bool],
        folder: Path | None = None,
    ) -> None:
        """Take the cameras that run now, their rules and journal, and the events and players that may be named.

        Tally, styles, orders and rules are kept in the folder of the match store, and are in force again after a
        restart (``app/cameras/kept.py``).
        """
        from app.cameras.kept import Keeper

        self.journal, self._book, self._find_event, self._has_player = journal, book, find_event, has_player
        self._styles = {name: camera.setup.style for name, (camera, _) in cameras.items()}
        self._roles = {name: camera.setup.role for name, (camera, _) in cameras.items()}
        self._file_rules = tuple(book.rules)
        self._keeper, self._cameras = Keeper(folder), cameras
        self._resume(self._keeper.read(), book)

    def _resume(self, kept: Kept, book: RuleBook) -> None:
        """Put in force again what the last run kept; the journal gets all of it. What names nothing is left out."""
        from app.cameras.supervisor import command_of
        from camera.rules import RuleError

        for name in kept.removed:
            book.remove(name)
        for rule in kept.rules:
            try:
                self.put_rule(rule)
            except RuleError as error:
                self.journal.note("", f"rule {rule.name}", "restart", f"not in force any more: {error}")
        for hold in kept.holds:
            if (found := book.resume(hold.rule, hold.event)) is not None:
                camera, controller = self._cameras[found.camera]
                controller.authority.take_rule(command_of(found, hold.event, camera), found.name)
                self.journal.note(found.camera, f"rule {found.name}", "restart", _AGAIN, (hold.event.id,))
        for name, one in kept.cameras.items():
            if name in self._cameras:
                self._resume_camera(name, one)

    def _resume_camera(self, name: str, kept: KeptCamera) -> None:
        camera, controller = self._cameras[name]
        if kept.style not in ("", camera.setup.style):
            with suppress(UnknownCameraError):
                self._choose_style(name, kept.style)
                self.journal.note(name, f"style {kept.style}", "restart", _AGAIN)
        if (command := kept.command()) is not None:
            controller.order(command)
            self.journal.note(name, kept.order, "restart", _AGAIN)
        if kept.on_air:
            controller.authority.on_air = True
            self.journal.note(name, "on air", "restart", _AGAIN)

    def keep(self) -> None:
        """Keep what is in force, for a restart; called after each change, and every second."""
        from app.cameras.kept import Kept, KeptCamera, KeptHold, kept_order

        if self._keeper is None or self._book is None:
            return
        with self._book_lock:
            rules, put, holds = self._book.rules, tuple(self._put_rules.values()), self._book.holds()
        self._kept |= {
            name: KeptCamera(one.authority.on_air, self._styles[name], *kept_order(one.authority.operator))
            for name, (_, one) in self._cameras.items()
            if not one.ended  # one that failed keeps what it had
        }
        removed = tuple(name for name in self._file_rules if name not in rules)
        self._keeper.write(
            Kept(dict(self._kept), put, removed, tuple(KeptHold(rule.name, event) for rule, event in holds))
        )

    def names(self) -> list[str]:
        """Return the names in the order of the file."""
        return list(self._cameras)

    def setup(self, name: str) -> CameraSetup:
        """Return the setup of a camera. Raises UnknownCameraError."""
        return self._one(name)[0].setup

    def state(self, name: str) -> CameraState:
        """Return what a camera does now. Raises UnknownCameraError."""
        return self._one(name)[1].state()

    def info(self, name: str) -> CameraInfo:
        """Return a camera as the API shows it. Raises UnknownCameraError."""
        camera, controller = self._one(name)
        setup, state = camera.setup, controller.state()
        return CameraInfo(
            name, setup.role, setup.player, self._styles[name], setup.protocol, setup.is_simulated,
            list(setup.presets), msgspec.to_builtins(setup.mount), camera.profile.zoom.aspect,
            rule=controller.authority.rule_name, shows=self._roles[name],
            score=self.score(name), is_best=self.best() == name, **msgspec.to_builtins(state),
        )  # fmt: skip

    def score(self, name: str) -> float:
        """Return how good the picture of a camera was at the last look, 0 to 1."""
        return self._scores.get(name, 0.0)

    def best(self) -> str:
        """Return the camera whose picture is the best one; empty before the first look."""
        return self._best[0]

    def direct(self, now_us: int, length_m: float) -> None:
        """Give the free cameras their roles, score all pictures, and choose the best one; to be called every second.

        A camera on air keeps its role, and one under an order is not scored.

        Args:
            now_us: any monotonic time.
            length_m: length of the pitch.
        """
        from camera.pictures import Advice, advised, assigned, framing_score
        from camera.roles import ROLES

        free = {
            name: camera.setup.mount
            for name, (camera, controller) in self._cameras.items()
            if camera.setup.role == "auto" and not controller.authority.on_air
        }
        taken = [role for name, role in self._roles.items() if name not in free]
        for name, role in assigned(free, taken, self._roles, length_m).items():
            self._roles[name], self._cameras[name][1].authority.role = role, ROLES[role]
        scores: dict[str, float] = {}
        for name, (camera, controller) in self._cameras.items():
            focus, pose = controller.focus(), controller.state().pose
            if focus is not None and pose is not None:
                scores[name] = round(framing_score(focus, pose, camera.setup.mount, camera.profile.aspect), 3)
        self._scores, best = scores, advised(scores, Advice(*self._best), now_us)
        self._best = best.camera, best.since_us

    def order(self, name: str, order: Order | Track | None, *, force: bool = False) -> None:
        """Give a camera an operator's order; None hands it back to rules and planner.

        Raises:
            UnknownCameraError: there is no such camera.
            OrderRefusedError: it is not steered any more; or it is on air, the order would move it to another picture,
                and ``force`` is not set.
        """
        controller = self._one(name)[1]
        refusal = controller.ended or ("" if force else controller.authority.refusal(order))
        if refusal:
            raise OrderRefusedError(f"camera {name}: {refusal}")
        controller.order(order)
        self.keep()

    def calibration(self, name: str) -> Calibrations:
        """Return the calibrations, of which one is of this camera. Raises UnknownCameraError."""
        self._one(name)
        assert self.calibrations is not None, "the cameras run"
        return self.calibrations

    def set_on_air(self, name: str, *, on_air: bool) -> None:
        """Set the tally of a camera, and keep it. Raises UnknownCameraError."""
        self._one(name)[1].authority.on_air = on_air
        self.keep()

    def set_style(self, name: str, style: str) -> None:
        """Choose the style in which a camera moves, and keep it. Raises UnknownCameraError."""
        self._choose_style(name, style)
        self.keep()

    def _choose_style(self, name: str, style: str) -> None:
        from camera.planner import STYLES

        if style not in STYLES:
            raise UnknownCameraError(f"no style {style}; there are {', '.join(STYLES)}")
        camera, controller = self._one(name)
        controller.authority.style = camera.setup.steering_style(style)
        self._styles[name] = style

    def preset(self, name: str, preset: str) -> Pose:
        """Return the pose of a preset. Raises UnknownCameraError."""
        presets = self._one(name)[0].setup.presets
        if preset not in presets:
            raise UnknownCameraError(f"camera {name} has no preset {preset}; it has {', '.join(presets) or 'none'}")
        return presets[preset].pose()

    def player(self, player: str) -> Track:
        """Return the order to follow a player. Raises UnknownCameraError."""
        from camera.operator import Track

        if not self._has_player(player):
            raise UnknownCameraError(f"no player {player} on the match sheet or among the positions")
        return Track(player)

    def point(self, name: str, x_m: float, y_m: float, width_m: float = POINT_M) -> Pose:
        """Return the pose that shows a point of the pitch. Raises UnknownCameraError."""
        return self._one(name)[1].authority.pose_at(x_m, y_m, width_m)

    def event(self, event_id: str) -> EventRecord:
        """Return an event that stands, and has a position. Raises UnknownCameraError."""
        event = self._find_event(event_id)
        if event is None or event.x_m is None or event.y_m is None:
            raise UnknownCameraError(f"no event {event_id} with a position among those that may still change")
        return event

    def rules(self) -> list[Rule]:
        """Return the rules."""
        with self._book_lock:
            return list(self._book.rules.values()) if self._book is not None else []

    def put_rule(self, rule: Rule) -> None:
        """Add a rule, or replace the one of its name.

        Raises:
            RuleError: it names what does not exist.
        """
        from camera.rules import check_rule

        check_rule(rule, {name: camera.setup.presets for name, (camera, _) in self._cameras.items()})
        assert self._book is not None, "a rule that was checked names a camera"
        with self._book_lock:
            self._book.put(rule)
            self._put_rules[rule.name] = rule
        self.keep()

    def remove_rule(self, name: str) -> None:
        """Remove a rule. Raises UnknownCameraError."""
        with self._book_lock:
            if self._book is None or name not in self._book.rules:
                raise UnknownCameraError(f"no rule {name}")
            self._book.remove(name)
            self._put_rules.pop(name, None)
        self.keep()

    def figures(self) -> dict[str, dict[str, float | str]]:
        """Return the figures of each camera."""
        return {name: controller.figures() for name, (_, controller) in self._cameras.items()}

    def cares(self) -> dict[str, tuple[str, str]]:
        """Return by camera the state of its care for failures, and the fault that it has seen; empty for none."""
        states = {name: self.state(name) for name in self._cameras}
        return {name: (state.care, state.fault) for name, state in states.items()}

    def problems(self) -> dict[str, str]:
        """Return by camera what is wrong with its head; empty where it answers."""
        states = {name: self.state(name) for name in self._cameras}
        return {name: state.problem if state.mode == "offline" else "" for name, state in states.items()}

    def _one(self, name: str) -> tuple[Camera, CameraController]:
        if name not in self._cameras:
            raise UnknownCameraError(f"no camera {name}; there are {', '.join(self._cameras) or 'none'}")
        return self._cameras[name]
