"""Routes of the calibration of a camera, ``/api/v1/cameras/NAME/calibration``: start, centre marks, finish."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter
from fastapi import Path as PathValue
from starlette.responses import Response

from app.api.orders import CameraName, OperatorRequest, Orders
from app.api.schemas import answer, as_json, refusals
from app.cameras.calibrations import CalibrationState, CentredMarkRow
from app.cameras.group import CameraGroup
from camera.operator import Hold

STRUCTS: Final[tuple[Any, ...]] = (CalibrationState,)

_STATE: Final = CalibrationState(
    "main", True, [CentredMarkRow("corner-left-up", -41.2, -7.9, 0.021, 0.03)], "corner-right-up",
    {"x_m": 0.1, "y_m": -58.2, "z_m": 12.1, "heading_deg": 90.3, "tilt_offset_deg": 0.1, "roll_deg": -0.2},
    0.02, 0.4,
)  # fmt: skip


def calibration_routes(group: CameraGroup) -> APIRouter:
    """Create the routes.

    Args:
        group: the cameras of the run.
    """
    router = APIRouter(prefix="/cameras", tags=["calibration"])
    orders, described = Orders(group), answer(CalibrationState, _STATE) | refusals(404)
    guarded = described | refusals(404, 409)

    @router.get("/{name}/calibration", responses=described)
    def state(name: CameraName) -> Response:
        """Return the marks of a calibration, and the mount that they give."""
        return as_json(group.calibration(name).state(name))

    @router.post("/{name}/calibration", responses=guarded)
    def start(name: CameraName, request: OperatorRequest) -> Response:
        """Hold the camera, and begin to calibrate its mount. Drive it to each mark, let go, and record the mark."""
        found = group.calibration(name)
        group.order(name, Hold(), force=True)
        orders.note(request, name, "calibration begins")
        return as_json(found.start(name))

    @router.post("/{name}/calibration/marks/{mark}", responses=guarded)
    def mark(name: CameraName, mark: Annotated[str, PathValue(max_length=100)], request: OperatorRequest) -> Response:
        """Record that a mark of the pitch is in the middle of the picture now. The camera must stand still."""
        found = group.calibration(name).mark(name, mark)
        orders.note(request, name, f"mark {mark}")
        return as_json(found)

    @router.post("/{name}/calibration/finish", responses=guarded)
    def finish(name: CameraName, request: OperatorRequest) -> Response:
        """Steer with the mount that the marks give from now on, and write it into the file of the cameras."""
        found = group.calibration(name).finish(name)
        orders.note(request, name, "calibration ends")
        return as_json(found)

    @router.delete("/{name}/calibration", responses=described)
    def cancel(name: CameraName, request: OperatorRequest) -> Response:
        """Forget the marks; the mount stays as it was."""
        found = group.calibration(name).cancel(name)
        orders.note(request, name, "calibration is cancelled")
        return as_json(found)

    return router
