"""Health and readiness of a run's matches, as a status code and a JSON body."""

from __future__ import annotations

from collections.abc import Sequence

from app.operations.match_monitor import MatchMonitor

Verdict = tuple[int, dict[str, object]]


def health_of(monitors: Sequence[MatchMonitor]) -> Verdict:
    """Return 200 if every match is live or has ended, else 503, with the problems of each match."""
    problems = {monitor.match: monitor.problems() for monitor in monitors}
    states = {
        monitor.match: "troubled" if problems[monitor.match] else "ended" if monitor.feed.ended() else "live"
        for monitor in monitors
    }
    reasons = [f"{match}: {problem}" for match, of_match in problems.items() for problem in of_match]
    return 503 if reasons else 200, {"status": "troubled" if reasons else "live", "reasons": reasons, "matches": states}


def readiness_of(monitors: Sequence[MatchMonitor]) -> Verdict:
    """Return 200 once the engine of every match has sent its first message, else 503 with what is missing.

    A run begins to serve before its matches are prepared, so without a match it is not ready. A further match that is
    added later is not ready at first.
    """
    ready = {monitor.match: monitor.has_started() for monitor in monitors}
    reasons = [f"{match}: the engine has sent no message yet" for match, started in ready.items() if not started]
    if not ready:
        reasons = ["no match is registered yet"]
    status = "starting" if reasons else "ready"
    return 503 if reasons else 200, {"status": status, "reasons": reasons, "matches": ready}
