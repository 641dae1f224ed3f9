"""Options of a match's pipeline, derived from the settings of a run; the same for every host."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from app.settings.slack import parse_slack
from app.sources.interface import Recording
from football.match_sheet import MatchSheet

if TYPE_CHECKING:
    from app.settings.model import LiveSettings

#: The pipeline of matches, as hosts and stages name it.
PIPELINE = f"{__package__}.pipeline:MatchPipeline"


def options_of(settings: LiveSettings) -> PipelineOptions:
    """Options of the pipeline. They lack initial costs; see :func:`with_costs`. Over nodes, nothing adapts to load."""
    adapts = settings.nodes == 1
    return PipelineOptions(
        alpha=settings.alpha if adapts or settings.alpha != "auto" else 0.0,
        retraction=settings.retraction if adapts or settings.retraction != "auto" else "on-demand",
        slack=parse_slack(settings.slack),
        allowed_lateness_ms=round(settings.allowed_lateness_s * 1_000),
        available=settings.available,
        parameters=settings.parameters,
        extra=settings.detectors,
        patterns=settings.patterns,
    )


def with_costs(options: PipelineOptions, sheet: MatchSheet, sample: Recording) -> PipelineOptions:
    """The options with initial costs, which are measured on a sample if they adapt to load and have none.

    Args:
        options: of the pipeline.
        sheet: of the match.
        sample: the match's own beginning, or a recording like it.
    """
    return MatchPipeline.warm_up(sheet, options, sample) if options.adapts and options.costs is None else options


def load_pipeline(name: str) -> Any:
    """Loads the pipeline class that ``module:class`` names."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)
