"""The kinds of sources. A further one is a class that meets :class:`app.sources.interface.Source`, and a line here."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.sources.interface import Source

#: ``module:class`` of each kind. The first one that recognises a name has it; the last one takes any.
SOURCES = [
    "app.sources.topic:TopicSource",
    "app.sources.captured:CaptureSource",
    "app.sources.captured:ProducedSource",
    "app.sources.captured:FileSource",
]


def kind_of(source: str, rate: str = "") -> str:
    """The kind of a ``--source`` with a ``--rate``, as :data:`SOURCES` has it."""
    return next(kind for kind in SOURCES if load_source(kind).recognises(source, rate))


def source_of(source: str, rate: str = "") -> Source:
    """What knows how to read a ``--source`` with a ``--rate``."""
    return load_source(kind_of(source, rate))


@cache
def load_source(kind: str) -> Source:
    """The source of a kind."""
    module, _, name = kind.partition(":")
    made: Source = getattr(import_module(module), name)()
    return made
