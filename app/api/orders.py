"""Orders to cameras: who may give them, and how they are noted."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, HTTPException, Request
from fastapi import Path as PathValue
from starlette.responses import Response

from app.api.schemas import as_json
from app.cameras.group import CameraGroup
from app.cameras.refusals import OrderRefusedError
from camera.operator import Order, Track
from dashboard.access import audit, grant_of, permits
from dashboard.roles import Role

CameraName = Annotated[str, PathValue(description="Name of the camera.", max_length=200)]


def _operator(request: Request) -> Request:
    if not permits(request, Role.OPERATOR):
        raise HTTPException(403, "this needs the token of an operator")
    return request


#: A request with the token of an operator; any other is refused.
OperatorRequest = Annotated[Request, Depends(_operator)]


class Orders:
    """Gives the orders of a request to a camera, and notes them."""

    def __init__(self, group: CameraGroup) -> None:
        self._group = group

    def order(self, request: Request, name: str, order: Order | Track | None, what: str, *, force: bool) -> Response:
        """Give an order; answer with the state of the camera. The journal gets a refused one, too."""
        try:
            self._group.order(name, order, force=force)
        except OrderRefusedError as refusal:
            self.note(request, name, what, f"refused: {refusal}")
            raise
        return self.noted(request, name, what)

    def noted(self, request: Request, name: str, what: str) -> Response:
        """Note what was done; answer with the state of the camera."""
        self.note(request, name, what)
        return as_json(self._group.info(name))

    def note(self, request: Request, name: str, what: str, reason: str = "") -> None:
        """Note what was done, or why not, in the log of the run and in the journal of the match."""
        grant = grant_of(request)
        audit("camera refused an order" if reason else "camera ordered", grant, request, camera=name, order=what)
        self._group.journal.note(name, what, grant.name or "none", reason)
