"""Routes of the cameras, ``/api/v1/cameras`` and ``/api/v1/rules``: what each does, an operator's orders, rules.

Reading needs a viewer, an order an operator (``docs/security.md``). A run of one match has cameras. Each order is one
POST, most of them without a body, so that a button box sends it. Its answer is the state of the camera, with the order
in it and before the order takes effect: mode, pose and who steers are those of the tick before.
"""

from __future__ import annotations

import time
from typing import Annotated, Any, Final

from fastapi import APIRouter, Body, Query, Request
from fastapi import Path as PathValue
from pydantic import BaseModel, Field
from starlette.responses import Response
from starlette.websockets import WebSocket

from app.api.limits import StreamLimit
from app.api.orders import CameraName, OperatorRequest, Orders
from app.api.schemas import answer, as_json, refusals, streamed
from app.api.streams import Stream
from app.cameras.group import POINT_M, CameraGroup, CameraInfo
from app.cameras.journal import NEWEST_MAX, Entry
from camera.operator import GoTo, Hold, ManualDrive
from camera.rules import Rule
from football.untrusted import decode_json

STRUCTS: Final[tuple[Any, ...]] = (list[CameraInfo], list[Entry], list[Rule])

_CAMERA: Final = CameraInfo(
    "main", "main", "", "normal", "visca", False, ["corner-left"],
    {"x_m": 0.0, "y_m": -58.0, "z_m": 12.0, "heading_deg": 90.0, "tilt_offset_deg": 0.0, "roll_deg": 0.0}, 1.78,
    "follow", "", "planner", "", {"pan_deg": 12.4, "tilt_deg": -8.1, "width_deg": 22.0}, "", "following", "",
    False, True, ("restart.corner#41",), False,
)  # fmt: skip
_ENTRY: Final = Entry(1_764_000_000_000_000, "main", "rule corner left", "rule", "", ("restart.corner#41",))
_RULE: Final = Rule("corner left", "spot.taker", "main", "corner-left", variant="corner", chance=0.7)

_FIGURES: Final = {"main": {"framed_share": 0.97, "aim_p95_deg": 3.1, "latency_p95_ms": 34.0, "failure": ""}}

#: Interval at which a stream repeats states that have not changed, so that its client notices a silent server.
REPEAT_S: Final = 0.5

_Share = Annotated[float, Field(ge=-1, le=1)]
_Metres = Annotated[float, Query(ge=-200, le=200)]
_Player = Annotated[str, PathValue(max_length=100)]
_Event = Annotated[str, PathValue(max_length=500)]
_Force = Annotated[bool, Query(description="Do it although the camera is on air.")]


class DriveIn(BaseModel):
    """Shares of the style's greatest speeds; right, up and towards tele are positive."""

    pan: _Share = 0.0
    tilt: _Share = 0.0
    zoom: _Share = 0.0


class _Watching:
    """The states of all cameras, as they change."""

    def __init__(self, group: CameraGroup) -> None:
        self._group = group
        self._last: list[CameraInfo] | None = None
        self._sent_s = 0.0

    async def next(self) -> tuple[list[CameraInfo], str] | None:
        """Return the states; None if they were the last message, and that was sent a moment ago."""
        states, now_s = [self._group.info(name) for name in self._group.names()], time.monotonic()
        if states == self._last and now_s - self._sent_s < REPEAT_S:
            return None
        self._last, self._sent_s = states, now_s
        return states, ""


def camera_routes(group: CameraGroup, streams: StreamLimit) -> APIRouter:
    """Create the routes that show cameras and give them orders.

    Args:
        group: the cameras of the run.
        streams: counts the open streams.
    """
    router = APIRouter(prefix="/cameras", tags=["cameras"])

    @router.get("", responses=answer(list[CameraInfo], [_CAMERA]) | refusals())
    def cameras() -> Response:
        """List all cameras."""
        return as_json([group.info(name) for name in group.names()])

    @router.get("/stream", responses=streamed(CameraInfo) | refusals(503))
    def camera_stream(request: Request) -> Response:
        """Follow the states and poses of all cameras as server-sent events, 25 a second."""
        return Stream(streams, _Watching(group).next).events(request)

    @router.websocket("/socket")
    async def camera_socket(socket: WebSocket) -> None:
        await Stream(streams, _Watching(group).next).serve(socket)

    @router.get("/journal", responses=answer(list[Entry], [_ENTRY]) | refusals())
    def journal(
        camera: Annotated[str, Query(max_length=200)] = "",
        limit: Annotated[int, Query(ge=1, le=NEWEST_MAX)] = 100,
    ) -> Response:
        """Return the newest orders, moves by rules and failures, with their reasons."""
        return as_json(group.journal.newest(camera, limit))

    @router.get("/figures", responses=answer(dict[str, dict[str, float | str]], _FIGURES) | refusals())
    def figures() -> Response:
        """Return by camera the figures of its steering so far; `docs/cameras.md` explains each."""
        return as_json(group.figures())

    @router.get("/{name}", responses=answer(CameraInfo, _CAMERA) | refusals(404))
    def camera(name: CameraName) -> Response:
        """Show one camera."""
        return as_json(group.info(name))

    _add_orders(router, group)
    return router


def _add_orders(router: APIRouter, group: CameraGroup) -> None:
    orders, described = Orders(group), answer(CameraInfo, _CAMERA) | refusals(404)
    guarded = described | refusals(404, 409)

    @router.post("/{name}/hold", responses=guarded)
    def hold(name: CameraName, request: OperatorRequest) -> Response:
        """Brake and stand still until another order or `release`."""
        return orders.order(request, name, Hold(), "hold", force=True)

    @router.post("/{name}/release", responses=guarded)
    def release(name: CameraName, request: OperatorRequest, force: _Force = False) -> Response:
        """Hand the camera back; it goes on from here within the limits of its style."""
        return orders.order(request, name, None, "release", force=force)

    @router.post("/{name}/drive", responses=guarded)
    def drive(name: CameraName, request: OperatorRequest, speeds: Annotated[DriveIn, Body()]) -> Response:
        """Turn and zoom. The camera stops half a second after the last such message, and stands until `release`."""
        now_us = time.monotonic_ns() // 1000
        order = ManualDrive(speeds.pan, speeds.tilt, speeds.zoom, now_us)
        return orders.order(request, name, order, "drive", force=True)

    @router.post("/{name}/preset/{preset}", responses=guarded)
    def preset(name: CameraName, preset: str, request: OperatorRequest, force: _Force = False) -> Response:
        """Go to a preset of the cameras' file and stay there."""
        return orders.order(request, name, GoTo(group.preset(name, preset)), f"preset {preset}", force=force)

    @router.post("/{name}/player/{player}", responses=guarded)
    def player(name: CameraName, player: _Player, request: OperatorRequest, force: _Force = False) -> Response:
        """Follow a player, by object id."""
        return orders.order(request, name, group.player(player), f"player {player}", force=force)

    @router.post("/{name}/point", responses=guarded)
    def point(
        name: CameraName, request: OperatorRequest, x_m: _Metres, y_m: _Metres,
        width_m: Annotated[float, Query(gt=0, le=200)] = POINT_M, force: _Force = False,
    ) -> Response:  # fmt: skip
        """Show a point of the pitch."""
        pose = group.point(name, x_m, y_m, width_m)
        return orders.order(request, name, GoTo(pose), f"point {x_m:g} {y_m:g}", force=force)

    @router.post("/{name}/event/{event:path}", responses=guarded)
    def event(name: CameraName, event: _Event, request: OperatorRequest, force: _Force = False) -> Response:
        """Show the place of an event that may still change, by its id."""
        found = group.event(event)
        pose = group.point(name, found.x_m or 0.0, found.y_m or 0.0)
        return orders.order(request, name, GoTo(pose), f"event {event}", force=force)

    @router.post("/{name}/style/{style}", responses=described)
    def style(name: CameraName, style: str, request: OperatorRequest) -> Response:
        """Move in a style from now on: calm, normal or sport."""
        group.set_style(name, style)
        return orders.noted(request, name, f"style {style}")

    @router.post("/{name}/on-air", responses=described)
    def on_air(name: CameraName, request: OperatorRequest) -> Response:
        """Tally: the picture is on air. The camera moves in the calm style, and refuses another picture (409)."""
        group.set_on_air(name, on_air=True)
        return orders.noted(request, name, "on air")

    @router.post("/{name}/off-air", responses=described)
    def off_air(name: CameraName, request: OperatorRequest) -> Response:
        """Tally: the picture is off air."""
        group.set_on_air(name, on_air=False)
        return orders.noted(request, name, "off air")


def rule_routes(group: CameraGroup) -> APIRouter:
    """Create the routes of the rules.

    Args:
        group: the cameras of the run.
    """
    router, orders = APIRouter(prefix="/rules", tags=["rules"]), Orders(group)
    body = {"requestBody": {"required": True, "content": {"application/json": {
        "schema": {"$ref": "#/components/schemas/Rule"}}}}}  # fmt: skip

    @router.get("", responses=answer(list[Rule], [_RULE]) | refusals())
    def rules() -> Response:
        """List the rules."""
        return as_json(group.rules())

    @router.put("", responses=answer(Rule, _RULE) | refusals(413), openapi_extra=body)
    async def put(request: OperatorRequest) -> Response:
        """Add a rule, or replace the one of its name, until the run ends; the file stays as it is."""
        rule = decode_json(await request.body(), Rule)
        group.put_rule(rule)
        orders.note(request, rule.camera, f"rule {rule.name} is set")
        return as_json(rule)

    @router.delete("/{name}", status_code=204, response_class=Response, responses=refusals(404))
    def remove(name: Annotated[str, PathValue(max_length=200)], request: OperatorRequest) -> Response:
        """Remove a rule; a camera that it holds is handed back."""
        group.remove_rule(name)
        orders.note(request, "", f"rule {name} is removed")
        return Response(status_code=204)

    return router
