"""What the settings of a run make of a match's pipeline; the same for every host."""

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
    """Options of the pipeline; one that adapts to load starts with costs that are measured here.

    Args:
        settings: of the run.
        sample: the match's own beginning, or a recording like it.
        goes_on: the pipeline goes on from a state, which has its costs in it: nothing need be measured.
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
    """The pipeline class that ``module:class`` names."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)
