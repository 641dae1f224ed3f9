"""Registry of the detectors of ``detectors.statistics``."""

from __future__ import annotations

from detectors.registry import DetectorEntry
from detectors.statistics.action_value import ActionValue
from detectors.statistics.fatigue import Fatigue
from detectors.statistics.heat_map import HeatMap
from detectors.statistics.load import PhysicalLoad
from detectors.statistics.passes import PassNetwork, PassStatistics, PpdaAndTilt
from detectors.statistics.reports import PossessionStatistics, RunningStatistics
from detectors.statistics.shots import SetPlayStatistics, ShotStatistics
from detectors.statistics.threat import Threat
from detectors.statistics.win_chance import WinChance

#: By number.
DETECTORS: tuple[DetectorEntry, ...] = (
    DetectorEntry(
        lambda s, p: RunningStatistics(p.running_report),
        groups=("running_report",),
        opt_in_name="running_statistics",
    ),
    DetectorEntry(
        lambda s, p: PossessionStatistics(p.possession_report),
        groups=("possession_report",),
        opt_in_name="possession_statistics",
    ),
    DetectorEntry(lambda s, p: HeatMap(s, p.heat_map), groups=("heat_map",), opt_in_name="heat_map"),
    DetectorEntry(lambda s, p: PassStatistics(s)),
    DetectorEntry(lambda s, p: ShotStatistics()),
    DetectorEntry(lambda s, p: SetPlayStatistics(p.set_play), ("set_play",)),
    DetectorEntry(lambda s, p: PassNetwork(p.pass_network), ("pass_network",)),
    DetectorEntry(lambda s, p: Threat(s)),
    DetectorEntry(lambda s, p: PpdaAndTilt(s, p.ppda), ("ppda",)),
    DetectorEntry(lambda s, p: PhysicalLoad(p.load), ("load",)),
    DetectorEntry(lambda s, p: Fatigue(p.fatigue), ("fatigue",)),
    DetectorEntry(lambda s, p: WinChance(p.win_chance), ("win_chance",)),
    DetectorEntry(lambda s, p: ActionValue(s, p.action_value), ("action_value",)),
)
