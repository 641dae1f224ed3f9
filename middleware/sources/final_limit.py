"""Final limit: how far final may advance now, and what holds it back.

Of the limits the least counts. Where final only trails the newest event, the allowed lateness and the live sources
limit it. Where it follows the sources, also those that fell silent, and the wait for new sources, do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from middleware.sources.idle import KindSources
from middleware.sources.source_state import SourceState

#: ``lateness``: final trails the newest event by the allowed lateness. ``distrust``: it does so because a source has
#: numbered its packets in another order than it dated them. ``new``: new sources are expected. ``source``: a live
#: source has reported no further. ``gap``: one has, but a packet before is missing. ``silent``: a source that is not
#: waited for any more may still send what it owes. ``none``: all have reported up to the newest event.
HoldReason = Literal["lateness", "distrust", "new", "source", "gap", "silent", "none"]


class FinalLimit(NamedTuple):
    """The event time up to which final may advance, and the reason; with the source, if one is the reason."""

    final_us: int
    reason: HoldReason
    kind: KindSources | None = None
    source: SourceState | None = None


class FinalHold(NamedTuple):
    """The reason for which final advances no further.

    Attributes:
        reason: see ``HoldReason``.
        source: name of the source that holds it back; empty if none does.
        since_us: how long (arrival time) that source has sent nothing, or its packet has been missing.
        patience_us: how long that is waited for.
    """

    reason: HoldReason
    source: str = ""
    since_us: int = 0
    patience_us: int = 0


NO_HOLD = FinalHold("none")


def trailing(kinds: Iterable[KindSources], limit: FinalLimit) -> FinalLimit:
    """Return the limit of a final that trails the newest event: ``limit``, or that of a live source if it is less."""
    for kind in kinds:
        source = kind.by_until.first()
        if source is not None and source.until_us < limit.final_us:
            limit = FinalLimit(source.until_us, "gap" if source.ahead else "source", kind, source)
    return limit


def following(
    kinds: Iterable[KindSources], oldest_us: int, newest_us: int, hold_us: int, patience_us: int, now_us: int
) -> FinalLimit:
    """Return the limit of a final that follows the sources.

    Args:
        kinds: sources by kind.
        oldest_us: newest event time less the allowed lateness. Silent sources and new ones hold no further back.
        newest_us: newest event time that was reported.
        hold_us: how long an event waits for new sources; 0 if none are expected.
        patience_us: how long a silent source is waited for at most.
        now_us: arrival time.
    """
    limit = FinalLimit(newest_us, "none")
    if now_us - hold_us < newest_us:
        limit = FinalLimit(now_us - hold_us, "new" if hold_us else "none")
    for kind in kinds:
        source = kind.first_silent(patience_us, now_us)
        if source is not None and source.until_us < limit.final_us:
            limit = FinalLimit(source.until_us, "silent", kind, source)
    return trailing(kinds, limit if limit.final_us > oldest_us else FinalLimit(oldest_us, "lateness"))


def describe(limit: FinalLimit, now_us: int, patience_us: int, lateness_us: int) -> FinalHold:
    """Return a limit with the name of its source.

    Args:
        limit: of now.
        now_us: arrival time.
        patience_us: how long a silent source or a missing packet is waited for.
        lateness_us: how long a source that is not live is.
    """
    kind, source = limit.kind, limit.source
    if kind is None or source is None:
        return FinalHold(limit.reason)
    name = next(name for name, one in kind.sources.items() if one is source)
    since_us = source.waited_since_us() if limit.reason == "gap" else source.last_arrival_us
    until_us = kind.deadline_us(source, patience_us, lateness_us, now_us)
    if limit.reason == "silent":
        until_us = since_us + (kind.silence_us(patience_us, now_us) or lateness_us)
    return FinalHold(limit.reason, name, now_us - since_us, until_us - since_us)
