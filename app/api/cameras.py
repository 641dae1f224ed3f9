"""Routes of the cameras, ``/api/v1/cameras``: what each does, and an operator's orders.

Reading needs a viewer, an order an operator (``docs/security.md``). A run of one match has cameras.
"""

from __future__ import annotations

import time
from typing import Annotated, Any, Final

from fastapi import APIRouter, Body, Depends, HTTPException, Request
from pydantic import BaseModel, Field

from app.cameras.group import CameraGroup, described
from camera.head import Pose
from camera.operator import GoTo, Hold, ManualDrive, Order
from dashboard.access import audit, grant_of, permits
from dashboard.roles import Role

_Share = Annotated[float, Field(ge=-1, le=1)]


class CameraOut(BaseModel):
    """A camera: its setup and what it does now."""

    name: str
    role: str
    player: str
    style: str
    protocol: str
    simulated: bool
    presets: list[str]
    mode: str = Field(description="follow, hold, stop, operator, held or preset; offline while the head is silent.")
    order: str = Field(description="The operator's order in force: drive, hold, preset, or empty.")
    pose: dict[str, float] | None = Field(description="pan_deg, tilt_deg and width_deg; null while unknown.")
    problem: str = Field(description="What is wrong, in a sentence; empty if nothing is.")
    may_turn: bool = Field(description="It is offline, and its last command may be turning it still.")


class DriveIn(BaseModel):
    """Shares of the style's greatest speeds; right, up and towards tele are positive."""

    pan: _Share = 0.0
    tilt: _Share = 0.0
    zoom: _Share = 0.0


def _operator(request: Request) -> Request:
    if not permits(request, Role.OPERATOR):
        raise HTTPException(403, "this needs the token of an operator")
    return request


_Operator = Annotated[Request, Depends(_operator)]


STRUCTS: Final[tuple[Any, ...]] = ()


def camera_routes(group: CameraGroup) -> APIRouter:
    """Create the routes below ``/cameras``.

    Args:
        group: the cameras of the run.
    """
    router = APIRouter(prefix="/cameras", tags=["cameras"])

    @router.get("", response_model=list[CameraOut])
    def cameras() -> list[dict[str, Any]]:
        """List all cameras."""
        return [described(group, name) for name in group.names()]

    @router.get("/{name}", response_model=CameraOut)
    def camera(name: str) -> dict[str, Any]:
        """Show one camera."""
        return described(group, name)

    def give(request: Request, name: str, order: Order | None, what: str) -> dict[str, Any]:
        group.order(name, order)
        audit("camera ordered", grant_of(request), request, camera=name, order=what)
        return described(group, name)

    @router.post("/{name}/hold", response_model=CameraOut)
    def hold(name: str, request: _Operator) -> dict[str, Any]:
        """Brake and stand still until another order or ``release``."""
        return give(request, name, Hold(), "hold")

    @router.post("/{name}/release", response_model=CameraOut)
    def release(name: str, request: _Operator) -> dict[str, Any]:
        """Hand the camera back to the planner, which goes on from here within the limits of its style."""
        return give(request, name, None, "release")

    @router.post("/{name}/drive", response_model=CameraOut)
    def drive(name: str, request: _Operator, speeds: Annotated[DriveIn, Body()]) -> dict[str, Any]:
        """Turn and zoom. The camera stops half a second after the last such message."""
        now_us = time.monotonic_ns() // 1000
        return give(request, name, ManualDrive(speeds.pan, speeds.tilt, speeds.zoom, now_us), "drive")

    @router.post("/{name}/preset/{preset}", response_model=CameraOut)
    def preset(name: str, preset: str, request: _Operator) -> dict[str, Any]:
        """Go to a preset of the cameras' file and stay there."""
        one = group.preset(name, preset)
        return give(request, name, GoTo(Pose(one.pan_deg, one.tilt_deg, one.width_deg)), f"preset {preset}")

    return router
