"""Skip till any match with every repetition, of a simple branch: picks grow in one pass over the window of an end."""

from __future__ import annotations

from bisect import bisect_left

from detectors.patterns.search import Match, Search
from detectors.patterns.syntax import PatternEvent


def every_pick_up_to(search: Search, last: PatternEvent) -> list[Match]:
    """The matches of :meth:`Search.picks` that end with an event, of a simple branch that ends with a single step.

    Each event extends the runs that have come to the step before it, and those of its own step if that repeats. An
    event extends only runs that stood before its instant, unless the query says ``TIES``. Events behind which a step
    finds nothing more are left out. So each run comes to a match, and no step has more runs than there are matches.

    Args:
        search: of the branch.
        last: the event that the last step takes.
    """
    steps, begin, bound = search.branch.steps[:-1], (search.begin_us(last),), last
    entries: list[tuple[PatternEvent, int]] = []
    for at in reversed(range(len(steps))):
        candidates = search.lists[at]
        low, high = bisect_left(candidates, begin), search.until(candidates, bound)
        if low >= high:
            return []
        # Of steps that take the same event, the later one comes first: an event does not follow itself.
        entries += [(event, -at) for event in candidates[low:high]]
        bound = candidates[high - 1]
    runs: list[list[Match]] = [[()], *([] for _ in steps)]
    waiting: list[tuple[int, list[Match]]] = []
    instant_us = 0
    for event, negative in sorted(entries):
        at = -negative
        if search.ties or event[0] != instant_us:
            _let_in(runs, waiting)
            instant_us = event[0]
        grown = [(*run, event) for run in runs[at]]
        if steps[at].most is None:
            grown += [(*run, event) for run in runs[at + 1]]
        waiting.append((at + 1, grown))
    _let_in(runs, waiting)
    return [(*run, last) for run in runs[-1]]


def _let_in(runs: list[list[Match]], waiting: list[tuple[int, list[Match]]]) -> None:
    for place, some in waiting:
        runs[place] += some
    waiting.clear()
