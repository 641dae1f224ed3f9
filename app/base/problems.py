"""Which errors are a person's to mend, and how they are told: in one line."""

from __future__ import annotations


class UserError(Exception):
    """Something that a person can mend; the message says what it is and what can be done."""


def is_problem(error: Exception) -> bool:
    """True if the error says what somebody can do, False if it is a bug of ours."""
    return isinstance(error, (UserError, *_problems_below()))


def one_line(error: Exception) -> str:
    """The error's message without line breaks."""
    return " ".join(str(error).split()) or type(error).__name__


def why(error: Exception) -> str:
    """In one line, why something else goes on without what raised this: a bug of ours with its type."""
    return one_line(error) if is_problem(error) else f"{type(error).__name__}: {one_line(error)}"


def _problems_below() -> tuple[type[Exception], ...]:
    """Those of the folders that do not know the app."""
    # Imported when something went wrong, so that `touchline --help` does not load the house.
    from camera.head_server import HeadServerError
    from camera.profile import ProfileError
    from dashboard.server import DashboardError
    from replay.capture import CaptureError
    from replay.channel import ChannelError
    from replay.errors import TrackingError
    from replay.official import OfficialError
    from replay.scoring.truth import ScoreError
    from replay.sim.scenario import ScenarioError
    from replay.simulator import SimulatorError
    from replay.store import StoreError

    return (
        HeadServerError, ProfileError, DashboardError, CaptureError, ChannelError, TrackingError, OfficialError,
        ScoreError, ScenarioError, SimulatorError, StoreError,
    )  # fmt: skip
