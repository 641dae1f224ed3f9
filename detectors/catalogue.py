"""The catalogue: which detectors a match gets, and how their events look to users."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from detectors import match
from detectors.ball import AccelerationPeak, BallTurn, SpeedStep
from detectors.conditioning import Conditioning
from detectors.facts import Fact
from detectors.frames import FrameFusion
from detectors.fusion import ActiveBall, PlayerFusion
from detectors.health import TransmitterHealth
from detectors.inputs import MatchSheet
from detectors.lane import EventRecord
from detectors.optical import OpticalAdapter
from detectors.passes import PassAttempt
from detectors.possession import IndividualPossession, TeamPossession
from detectors.proximity import Near, NearestPlayer, PossessionZone
from detectors.receptions import Interception, PassOutcome
from detectors.shots import ShotAttempt, ShotOutcome
from detectors.touches import KickReleased, PlayerHitsBall, SoftTouch
from middleware.detector import Detector
from middleware.events import Event


def build_detectors(sheet: MatchSheet) -> tuple[Detector[Any], ...]:
    """All detectors for a match, parameterised from its sheet. ``middleware.hierarchy.Hierarchy`` sorts them."""
    return (
        *signal_detectors(sheet),
        *contact_detectors(sheet),
        *match.build(sheet),
        *action_detectors(sheet),
    )


def signal_detectors(sheet: MatchSheet) -> tuple[Detector[Any], ...]:
    """Level 1. A framed input is conditioned by instants; players are fused from limbs where limbs are declared."""
    if sheet.quality.framed:
        return (OpticalAdapter(sheet), TransmitterHealth(sheet))
    fusion: tuple[Detector[Any], ...] = (PlayerFusion(),) if sheet.quality.limbs else ()
    return (Conditioning(sheet), *fusion, ActiveBall(sheet), FrameFusion(sheet), TransmitterHealth(sheet))


def contact_detectors(sheet: MatchSheet) -> tuple[Detector[Any], ...]:
    """Levels 2 to 5: from the ball's bends to who touched it."""
    return (
        AccelerationPeak(sheet),
        BallTurn(sheet),
        SpeedStep(sheet),
        Near(sheet),
        PossessionZone(),
        NearestPlayer(),
        PlayerHitsBall(sheet),
        SoftTouch(sheet),
        KickReleased(sheet),
    )


def action_detectors(sheet: MatchSheet) -> tuple[Detector[Any], ...]:
    """Levels 6 and 7: possession, passes and shots."""
    return (
        IndividualPossession(),
        TeamPossession(),
        ShotAttempt(sheet),
        PassAttempt(sheet),
        ShotOutcome(sheet),
        PassOutcome(),
        Interception(),
    )


def level_of_kinds(detectors: Iterable[Detector[Any]]) -> Mapping[str, int]:
    """Level of each kind that the detectors give."""
    return {kind: detector.spec.level for detector in detectors for kind in detector.spec.outputs}


def to_record(event: Event, level: int) -> EventRecord:
    """A sparse event as users and stores see it.

    Args:
        event: its payload must be a ``Fact``.
        level: of its kind, see ``level_of_kinds``.
    """
    fact = event.payload
    assert isinstance(fact, Fact), f"{event.kind} is not a sparse kind"
    detail = {**fact.detail, "annuls": event.annuls} if event.annuls else fact.detail
    return EventRecord(
        event.id,
        event.kind,
        fact.variant,
        level,
        event.ts_us,
        fact.team,
        fact.player,
        fact.x_m,
        fact.y_m,
        fact.z_m,
        fact.confidence,
        event.causes,
        detail,
    )
