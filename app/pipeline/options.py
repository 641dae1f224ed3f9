"""Options of a match's pipeline, derived from the settings of a run; the same for every host."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from app.pipeline.pipeline import PipelineOptions, measured_costs
from app.sources.interface import Recording

if TYPE_CHECKING:
    from app.settings.model import LiveSettings

#: The pipeline of matches, as hosts and stages name it.
PIPELINE = "app.pipeline.pipeline:MatchPipeline"


def options_of(settings: LiveSettings, sample: Recording, *, goes_on: bool = False) -> PipelineOptions:
    """Options of the pipeline; if they adapt to load, with initial costs that are measured here.

    Args:
        settings: of the run.
        sample: the match's own beginning, or a recording like it.
        goes_on: whether the pipeline resumes from a state; the state holds its costs, so none are measured.
    """
    options = PipelineOptions(
        alpha=settings.alpha,
        retraction=settings.retraction,
        available=settings.available,
        parameters=settings.parameters,
        extra=settings.detectors,
    )
    if goes_on or not options.adapts:
        return options
    return replace(options, costs=measured_costs(sample, options))


def load_pipeline(name: str) -> Any:
    """Loads the pipeline class that ``module:class`` names."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)
