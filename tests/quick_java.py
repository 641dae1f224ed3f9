"""Java that starts sooner and computes slower: of what tests ask of Spark and Kafka most is their start."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

#: As Touchline's own Spark has it where rows only pass through.
OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@contextmanager
def quick_java() -> Iterator[None]:
    """Within, every Java that starts compiles quickly and collects garbage without extra threads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", OPTIONS)
        yield
