"""Which errors are a person's to mend, and how they are told: in one line."""

from __future__ import annotations


def is_problem(error: Exception) -> bool:
    """True if the error says what somebody can do, False if it is a bug of ours."""
    return isinstance(error, _problems())


def one_line(error: Exception) -> str:
    """The error's message without line breaks."""
    return " ".join(str(error).split()) or type(error).__name__


def _problems() -> tuple[type[Exception], ...]:
    # Imported when something went wrong, so that `touchline --help` does not load the house.
    from app.batch.inputs import BatchError
    from app.catalogue.command import DetectorsError
    from app.commands.annotate import AnnotateError
    from app.commands.export import ExportError
    from app.commands.simulate import SimulateError
    from app.commands.trace import TraceError
    from app.explain.reasons import ExplainError
    from app.history.layout import HistoryError
    from app.hub.server import HubError
    from app.kafka.address import KafkaError
    from app.kafka.broker import BrokerError
    from app.kafka.updates import GapError
    from app.live import LiveError
    from app.many.wishes import ListError
    from app.match.commits import HostError
    from app.match.state_store import StateError
    from app.operation.layers import LayerError
    from app.operation.serve import OperationError
    from app.order.command import OrderError
    from app.parameters import ParametersError
    from app.settings import SettingsError
    from app.spark.java import JavaNotFoundError
    from app.spark.session import SparkStartError
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
        BrokerError, ExportError, HostError, HubError, JavaNotFoundError, LiveError, SettingsError, StateError,
        HeadServerError, ProfileError, DashboardError, CaptureError, ChannelError, TrackingError, ScoreError,
        SimulatorError, StoreError, SimulateError, ScenarioError, DetectorsError, ParametersError,
        AnnotateError, OfficialError, OrderError, TraceError, ExplainError, KafkaError, GapError, LayerError,
        BatchError, SparkStartError, HistoryError, ListError, OperationError,
    )  # fmt: skip
