"""The state of a camera, as the page, the API and logs show it."""

from __future__ import annotations

import msgspec

from camera.authority import NAMES, Authority, Steering
from camera.head import Pose
from camera.record import Row

_PROBLEMS = {"stop": "it has no new position to follow"}


class CameraState(msgspec.Struct, frozen=True):
    """The state of a camera at its last tick.

    Attributes:
        mode: of ``camera.planner.Plan``, ``wide`` in the care for failures, ``offline`` while the head does not answer.
        order: the operator's order in force: ``drive``, ``hold``, ``preset``, ``player``, or empty.
        pose: of the head; None while offline.
        problem: what is wrong, in a sentence; empty if nothing is.
        by: who steers it: ``planner``, ``care``, ``rule`` or ``operator``.
        care: state of the care for failures (``camera.failures``).
        fault: what has failed, by its name there; empty if nothing has.
        needs_operator: the operator should take over.
        on_air: its picture is on air.
        causes: ids of the events that pull the picture now.
        may_turn: it is offline, and its last command may be turning it still.
    """

    mode: str
    order: str
    pose: Pose | None
    problem: str
    by: str = "planner"
    care: str = "following"
    fault: str = ""
    needs_operator: bool = False
    on_air: bool = False
    causes: tuple[str, ...] = ()
    may_turn: bool = False


def with_orders(state: CameraState, authority: Authority) -> CameraState:
    """Return a state with the orders that have been given since its tick."""
    return msgspec.structs.replace(state, order=NAMES[type(authority.operator)], on_air=authority.on_air)


def state_of_ended(authority: Authority, problem: str) -> CameraState:
    """Return the state of a camera that is not steered any more."""
    care = authority.care
    return CameraState(
        "offline", "", None, problem, "care", care.state, care.fault, care.needs_operator, authority.on_air
    )


def state_of(
    row: Row, steering: Steering, authority: Authority, causes: tuple[str, ...], head_problem: str, *, may_turn: bool
) -> CameraState:
    """Return the state after a tick.

    Args:
        row: the record of the tick.
        steering: who steers, and how.
        authority: of the camera.
        causes: ids of the events that pull.
        head_problem: what is wrong with the head while it does not answer.
        may_turn: its last command may be turning it still.
    """
    care, pose, problem = authority.care, None, head_problem
    if row.achieved_pan_deg is not None and row.achieved_tilt_deg is not None and row.achieved_width_deg is not None:
        pose = Pose(row.achieved_pan_deg, row.achieved_tilt_deg, row.achieved_width_deg)
        problem, may_turn = care.problem or _PROBLEMS.get(row.mode, ""), False
    return CameraState(
        row.mode,
        NAMES[type(authority.operator)],
        pose,
        problem,
        steering.by,
        care.state,
        care.fault,
        care.needs_operator,
        authority.on_air,
        causes,
        may_turn,
    )
