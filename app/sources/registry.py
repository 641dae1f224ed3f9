"""Registry of sources. A new kind is a class that meets :class:`app.sources.interface.Source`, and a line here."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.sources.interface import Source

#: ``module:class`` of each kind. The first kind that recognises a name reads it; the last one accepts any name.
SOURCES = [
    f"{__package__}.topic:TopicSource",
    f"{__package__}.gateway:GatewaySource",
    f"{__package__}.captured:CaptureSource",
    f"{__package__}.captured:ProducedSource",
    f"{__package__}.captured:FileSource",
]


def kind_of(source: str, rate: str = "") -> str:
    """The kind of a ``--source`` with a ``--rate``, as in :data:`SOURCES`."""
    return next(kind for kind in SOURCES if load_source(kind).recognises(source, rate))


def source_of(source: str, rate: str = "") -> Source:
    """The source that reads a ``--source`` with a ``--rate``."""
    return load_source(kind_of(source, rate))


def source_of_store(folder: Path) -> Source:
    """The source from which the match in a store was read.

    Raises:
        StoreError: not a match store.
    """
    from replay.match_store import read_run

    stored = read_run(folder).get("settings")
    options = stored if isinstance(stored, dict) else {}
    return source_of(str(options.get("source") or ""), str(options.get("rate") or ""))


@cache
def load_source(kind: str) -> Source:
    """Creates the source of a kind."""
    module, _, name = kind.partition(":")
    made: Source = getattr(import_module(module), name)()
    return made
