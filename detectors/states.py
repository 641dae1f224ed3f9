"""Payloads of the dense kinds: conditioned positions and fused frames. They stay inside the engine."""

from __future__ import annotations

import msgspec

from detectors.inputs import Team


class BallState(msgspec.Struct, frozen=True, gc=False):
    """One conditioned ball position. Metres, metres a second. ``gap_us``: time since the sample before it."""

    x_m: float
    y_m: float
    z_m: float
    vx_m_s: float
    vy_m_s: float
    vz_m_s: float
    gap_us: int
    quality: float = 1.0


class BodyState(msgspec.Struct, frozen=True, gc=False):
    """One conditioned position of a player (``limb`` empty) or of one of his limbs. Metres, metres a second."""

    object_id: str
    team: Team
    limb: str
    x_m: float
    y_m: float
    z_m: float
    vx_m_s: float
    vy_m_s: float
    quality: float = 1.0


class Frame(msgspec.Struct, frozen=True, gc=False):
    """Everybody at one instant: ``players`` sorted by object id; ``ball`` None while it is lost."""

    ball: BallState | None
    players: tuple[BodyState, ...]
