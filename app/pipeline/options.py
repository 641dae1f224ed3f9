"""Options of a match's pipeline, derived from the settings of a run; the same for every host."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from app.pipeline.pipeline import PipelineOptions

if TYPE_CHECKING:
    from app.settings.model import LiveSettings

#: The pipeline of matches, as hosts and stages name it.
PIPELINE = "app.pipeline.pipeline:MatchPipeline"


def options_of(settings: LiveSettings) -> PipelineOptions:
    """Options of the pipeline. They lack initial costs, which a host measures (:meth:`MatchPipeline.warm_up`)."""
    return PipelineOptions(
        alpha=settings.alpha,
        retraction=settings.retraction,
        allowed_lateness_ms=round(settings.allowed_lateness_s * 1_000),
        available=settings.available,
        parameters=settings.parameters,
        extra=settings.detectors,
    )


def load_pipeline(name: str) -> Any:
    """Loads the pipeline class that ``module:class`` names."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)
