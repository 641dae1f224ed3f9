"""The form in which users and stores see a published event: flat, with its level and its calibrated confidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from detectors.confidence import calibration, input_of
from football.match_sheet import MatchSheet
from football.payloads import payload_of
from football.update_stream import EventRecord
from middleware.detector import Detector
from middleware.events import Event


class RecordMaker:
    """Makes the records of one match. A record is a pure function of its event: an event has the same one at any time.

    Args:
        detectors: of the match; they decide the level of a kind.
        sheet: of the match; its input decides which calibration of the confidence applies.
        lag_us: how far the frontier of each kind trails that of the inputs; none where nothing is tentative.
    """

    def __init__(
        self, detectors: Iterable[Detector[Any]], sheet: MatchSheet, lag_us: Mapping[str, int] | None = None
    ) -> None:
        self.levels = {kind: detector.spec.level for detector in detectors for kind in detector.spec.outputs}
        self._lag_us = lag_us or {}
        self.calibration = calibration().of(input_of(sheet.quality))

    def record(self, event: Event) -> EventRecord:
        """A published event as users and stores see it.

        Raises:
            PayloadError: its payload is not an ``EventPayload``.
        """
        payload = payload_of(event)
        detail = {**payload.detail, "annuls": event.annuls} if event.annuls else payload.detail
        return EventRecord(
            event.id,
            event.kind,
            payload.variant,
            self.levels[event.kind],
            event.ts_us,
            payload.team,
            payload.player,
            payload.x_m,
            payload.y_m,
            payload.z_m,
            self.calibration.confidence(event.kind, payload),
            event.causes,
            detail,
            self._lag_us.get(event.kind, 0),
        )
