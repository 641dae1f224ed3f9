"""Costs are measured for options that adapt to load and have none, and for no others."""

from __future__ import annotations

import pytest

from app.pipeline.options import with_costs
from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from football.match_sheet import MatchSheet
from middleware.load_accounting import Costs

MEASURED = PipelineOptions(alpha="auto", costs=Costs())


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (PipelineOptions(alpha="auto"), MEASURED),
        (PipelineOptions(alpha=0.0, retraction="auto"), MEASURED),
        (PipelineOptions(alpha=0.0, retraction="full"), PipelineOptions(alpha=0.0, retraction="full")),
        (PipelineOptions(alpha="auto", costs=Costs(arrival_us=7.0)),) * 2,
    ],
)
def test_options_that_adapt_are_measured_once(options, expected, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(MatchPipeline, "warm_up", lambda sheet, options, sample: MEASURED)
    assert with_costs(options, MatchSheet(), None) == expected
