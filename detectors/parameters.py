"""All parameters of all detectors in one typed tree, with the unit and the range of each.

A parameter belongs to a *group*, the typed numbers of one detector or of several that must agree (passes and shots
judge the same kicks). Its name ends in its unit, which gives the range of possible values. The docstring of the group
explains each number; the metadata of its field has the reason of its default (:mod:`detectors.reasons`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from detectors.actions.aerials import AerialParameters
from detectors.actions.carries import CarryParameters
from detectors.actions.duel_parameters import DuelParameters
from detectors.actions.flight import ShotParameters
from detectors.actions.loose import LooseParameters
from detectors.actions.possession import TeamPossessionParameters
from detectors.actions.strike_parameters import StrikeParameters
from detectors.ball.bands import HeightParameters, SpeedParameters
from detectors.ball.changes import BendParameters, PeakParameters
from detectors.ball.lines import LineParameters
from detectors.ball.motion import MotionParameters
from detectors.ball.predictor import PredictorParameters
from detectors.ball.rebounds import BounceParameters, WoodworkParameters
from detectors.bodies.area_watch import AreaParameters
from detectors.bodies.efforts import DistanceParameters, EffortParameters, SprintParameters
from detectors.bodies.limbs import DownParameters, JumpParameters, SwingParameters
from detectors.bodies.running import RunningParameters
from detectors.bodies.sides import SidesParameters
from detectors.chains.attacks import AttackParameters, RecoveryTimeParameters
from detectors.chains.combinations import OverlapUsedParameters, ThirdManParameters
from detectors.chains.formations import FormationParameters
from detectors.chains.possession_chain import ChainParameters
from detectors.chains.roles import RoleSwapParameters
from detectors.chains.sequences import SequenceParameters
from detectors.contacts.body_parts import BodyPartParameters, HeaderParameters
from detectors.contacts.contested_contacts import ContestParameters, DeflectionParameters
from detectors.contacts.hits import HitParameters, TouchParameters
from detectors.contacts.releases import ReleaseParameters
from detectors.control.access import AccessParameters
from detectors.control.dominance import DominanceParameters
from detectors.control.encroachment import EncroachmentParameters
from detectors.control.fouls import FoulParameters
from detectors.control.pass_difficulty import DifficultyParameters
from detectors.control.pressure import IntensityParameters, PressingParameters, PressureParameters
from detectors.control.scene import SceneParameters
from detectors.control.shape import ShapeParameters, TeamAreaParameters
from detectors.control.space import ControlParameters, OptionParameters
from detectors.laws.back_pass import BackPassParameters
from detectors.laws.clock import ClockParameters
from detectors.laws.numbers import NumbersParameters
from detectors.laws.offences import HoldParameters, OffenceParameters
from detectors.laws.overruled import OverruleParameters
from detectors.laws.restarts import RestartParameters
from detectors.laws.shoot_out import ShootOutParameters
from detectors.outcomes.claims import ClaimParameters
from detectors.outcomes.clearances import ClearanceParameters
from detectors.outcomes.contests import TackleParameters, TakeOnParameters
from detectors.outcomes.goal_parameters import GoalParameters
from detectors.outcomes.interceptions import InterceptionParameters
from detectors.outcomes.miscontrols import MiscontrolParameters
from detectors.outcomes.offside import OffsideParameters
from detectors.outcomes.receptions import OutcomeParameters
from detectors.outcomes.recoveries import RecoveryParameters
from detectors.outcomes.saves import SaveParameters
from detectors.outcomes.shots import ShotOutcomeParameters
from detectors.play.goalkeeper_hands import KeeperParameters
from detectors.play.last_touch import LastTouchParameters
from detectors.play.phase_parameters import PhaseParameters
from detectors.play.restart_kicks import RestartKickParameters
from detectors.play.spots import SpotParameters
from detectors.play.walls import WallParameters
from detectors.proximity.first_reach import FlightParameters
from detectors.proximity.marking import MarkingParameters
from detectors.proximity.near import NearestParameters, NearParameters, ZoneParameters
from detectors.proximity.opponents import OpponentsParameters
from detectors.proximity.rings import RingParameters
from detectors.proximity.unit_lines import UnitLineParameters
from detectors.qualifiers.chances import KeyPassParameters, ShotValueParameters
from detectors.qualifiers.gains import ProgressParameters
from detectors.qualifiers.heights import PassHeightParameters
from detectors.qualifiers.linebreaks import LineBreakParameters
from detectors.qualifiers.lines import ThroughParameters
from detectors.qualifiers.passes import CrossParameters, PassDirectionParameters, PassLengthParameters, SwitchParameters
from detectors.signals.conditioning import ConditioningParameters
from detectors.signals.exchanges import ExchangeParameters
from detectors.signals.frames import FrameParameters
from detectors.signals.fusion import BallParameters, FusionParameters
from detectors.signals.health import HealthParameters
from detectors.signals.playing import PlayingParameters
from detectors.statistics.action_value import ActionValueParameters
from detectors.statistics.fatigue import FatigueParameters
from detectors.statistics.heat_map import HeatMapParameters
from detectors.statistics.load import LoadParameters
from detectors.statistics.passes import NetworkParameters, PpdaParameters
from detectors.statistics.reports import ReportParameters
from detectors.statistics.shots import SetPlayParameters
from detectors.statistics.win_chance import WinParameters
from detectors.stories.clips import ClipParameters
from detectors.stories.officials import ReviewableParameters
from detectors.stories.ratings import RatingParameters
from detectors.tactics.momentum import MomentumParameters
from detectors.tactics.offside_trap import OffsideTrapParameters
from detectors.tactics.overload import OverloadParameters
from detectors.tactics.phases import PhaseOfPlayParameters
from detectors.tactics.press import TeamPressParameters, TriggerParameters
from detectors.tactics.runs import RunParameters
from detectors.tactics.second_ball import SecondBallParameters
from detectors.tactics.set_pieces import SetPieceShapeParameters
from detectors.tactics.turnovers import CounterPressParameters, RecoveryRunParameters


class Parameters(msgspec.Struct, frozen=True, kw_only=True):
    """One field a group; the name is that of its section in a settings file."""

    conditioning: ConditioningParameters = ConditioningParameters()
    player_fusion: FusionParameters = FusionParameters()
    active_ball: BallParameters = BallParameters()
    frame_fusion: FrameParameters = FrameParameters()
    playing: PlayingParameters = PlayingParameters()
    exchange: ExchangeParameters = ExchangeParameters()
    transmitter_health: HealthParameters = HealthParameters()
    ball_peak: PeakParameters = PeakParameters()
    ball_bend: BendParameters = BendParameters()
    ball_motion: MotionParameters = MotionParameters()
    ball_height: HeightParameters = HeightParameters()
    ball_bounce: BounceParameters = BounceParameters()
    ball_speed: SpeedParameters = SpeedParameters()
    lines: LineParameters = LineParameters()
    predictor: PredictorParameters = PredictorParameters()
    woodwork: WoodworkParameters = WoodworkParameters()
    areas: AreaParameters = AreaParameters()
    direction: SidesParameters = SidesParameters()
    sprint: SprintParameters = SprintParameters()
    effort: EffortParameters = EffortParameters()
    distance: DistanceParameters = DistanceParameters()
    jump: JumpParameters = JumpParameters()
    player_down: DownParameters = DownParameters()
    leg_swing: SwingParameters = SwingParameters()
    near: NearParameters = NearParameters()
    possession_zone: ZoneParameters = ZoneParameters()
    nearest: NearestParameters = NearestParameters()
    opponents: OpponentsParameters = OpponentsParameters()
    marking: MarkingParameters = MarkingParameters()
    goal_ring: RingParameters = RingParameters()
    unit_lines: UnitLineParameters = UnitLineParameters()
    spots: SpotParameters = SpotParameters()
    hit: HitParameters = HitParameters()
    touch: TouchParameters = TouchParameters()
    body_part: BodyPartParameters = BodyPartParameters()
    header: HeaderParameters = HeaderParameters()
    deflection: DeflectionParameters = DeflectionParameters()
    contest: ContestParameters = ContestParameters()
    keeper: KeeperParameters = KeeperParameters()
    release: ReleaseParameters = ReleaseParameters()
    phase: PhaseParameters = PhaseParameters()
    restart_kick: RestartKickParameters = RestartKickParameters()
    last_touch: LastTouchParameters = LastTouchParameters()
    team_possession: TeamPossessionParameters = TeamPossessionParameters()
    strike: StrikeParameters = StrikeParameters()
    flight: FlightParameters = FlightParameters()
    shot: ShotParameters = ShotParameters()
    shot_outcome: ShotOutcomeParameters = ShotOutcomeParameters()
    pass_outcome: OutcomeParameters = OutcomeParameters()
    interception: InterceptionParameters = InterceptionParameters()
    recovery: RecoveryParameters = RecoveryParameters()
    goal: GoalParameters = GoalParameters()
    pass_direction: PassDirectionParameters = PassDirectionParameters()
    pass_length: PassLengthParameters = PassLengthParameters()
    cross: CrossParameters = CrossParameters()
    switch: SwitchParameters = SwitchParameters()
    carry: CarryParameters = CarryParameters()
    loose_ball: LooseParameters = LooseParameters()
    offside: OffsideParameters = OffsideParameters()
    progress: ProgressParameters = ProgressParameters()
    shot_value: ShotValueParameters = ShotValueParameters()
    key_pass: KeyPassParameters = KeyPassParameters()
    pass_height: PassHeightParameters = PassHeightParameters()
    through_ball: ThroughParameters = ThroughParameters()
    duel: DuelParameters = DuelParameters()
    miscontrol: MiscontrolParameters = MiscontrolParameters()
    take_on: TakeOnParameters = TakeOnParameters()
    tackle: TackleParameters = TackleParameters()
    clearance: ClearanceParameters = ClearanceParameters()
    goalkeeper_claim: ClaimParameters = ClaimParameters()
    aerial_duel: AerialParameters = AerialParameters()
    save: SaveParameters = SaveParameters()
    line_break: LineBreakParameters = LineBreakParameters()
    restart: RestartParameters = RestartParameters()
    match_clock: ClockParameters = ClockParameters()
    offside_offence: OffenceParameters = OffenceParameters()
    keeper_holding: HoldParameters = HoldParameters()
    foul: FoulParameters = FoulParameters()
    players_on_pitch: NumbersParameters = NumbersParameters()
    back_pass: BackPassParameters = BackPassParameters()
    shoot_out: ShootOutParameters = ShootOutParameters()
    overruled: OverruleParameters = OverruleParameters()
    pass_difficulty: DifficultyParameters = DifficultyParameters()
    scene: SceneParameters = SceneParameters()
    pressing_index: PressingParameters = PressingParameters()
    pressure: PressureParameters = PressureParameters()
    pressing_intensity: IntensityParameters = IntensityParameters()
    team_area: TeamAreaParameters = TeamAreaParameters()
    team_shape: ShapeParameters = ShapeParameters()
    pitch_control: ControlParameters = ControlParameters()
    voronoi_share: DominanceParameters = DominanceParameters()
    dangerous_space: AccessParameters = AccessParameters()
    passing_options: OptionParameters = OptionParameters()
    encroachment: EncroachmentParameters = EncroachmentParameters()
    sequence: SequenceParameters = SequenceParameters()
    third_man: ThirdManParameters = ThirdManParameters()
    overlap_used: OverlapUsedParameters = OverlapUsedParameters()
    chain: ChainParameters = ChainParameters()
    attack: AttackParameters = AttackParameters()
    recovery_time: RecoveryTimeParameters = RecoveryTimeParameters()
    formation: FormationParameters = FormationParameters()
    role_swap: RoleSwapParameters = RoleSwapParameters()
    counter_press: CounterPressParameters = CounterPressParameters()
    second_ball: SecondBallParameters = SecondBallParameters()
    off_ball_run: RunParameters = RunParameters()
    recovery_run: RecoveryRunParameters = RecoveryRunParameters()
    press_trigger: TriggerParameters = TriggerParameters()
    team_press: TeamPressParameters = TeamPressParameters()
    offside_trap: OffsideTrapParameters = OffsideTrapParameters()
    overload: OverloadParameters = OverloadParameters()
    set_piece_shape: SetPieceShapeParameters = SetPieceShapeParameters()
    wall: WallParameters = WallParameters()
    phases: PhaseOfPlayParameters = PhaseOfPlayParameters()
    momentum: MomentumParameters = MomentumParameters()
    clips: ClipParameters = ClipParameters()
    reviewable: ReviewableParameters = ReviewableParameters()
    player_rating: RatingParameters = RatingParameters()
    running: RunningParameters = RunningParameters()
    running_report: ReportParameters = ReportParameters()
    possession_report: ReportParameters = ReportParameters()
    heat_map: HeatMapParameters = HeatMapParameters()
    set_play: SetPlayParameters = SetPlayParameters()
    pass_network: NetworkParameters = NetworkParameters()
    ppda: PpdaParameters = PpdaParameters()
    load: LoadParameters = LoadParameters()
    fatigue: FatigueParameters = FatigueParameters()
    win_chance: WinParameters = WinParameters()
    action_value: ActionValueParameters = ActionValueParameters()


class Unit(NamedTuple):
    """A unit as text (``1`` for a share), and the least and greatest possible value in it."""

    text: str
    least: float
    most: float

    @property
    def span(self) -> str:
        """The range as people read it."""
        return f"{self.least:,.10g} to {self.most:,.10g}"


class Parameter(NamedTuple):
    """A parameter: where it stands (``near.enter_m``), its value, its unit and range."""

    path: str
    value: int | float
    unit: Unit


#: By ending, the longest first. A length up to a pitch's, a speed up to twice a shot's, a time up to ten minutes.
_UNITS = (
    ("_m_s2", Unit("m/s²", 0.0, 2_000.0)),
    ("_m_s", Unit("m/s", 0.0, 80.0)),
    ("_rad", Unit("rad", 0.01, 3.1416)),
    ("_us", Unit("µs", 1.0, 600e6)),
    ("_hz", Unit("Hz", 0.1, 10_000.0)),
    ("_m", Unit("m", 0.0, 130.0)),
    ("_per_s", Unit("1/s", 0.0, 100.0)),
    ("_s", Unit("s", 0.001, 600.0)),
    ("_factor", Unit("1", 0.0, 100.0)),
    ("exponent", Unit("1", 0.0, 10.0)),
    ("_minutes", Unit("min", 1.0, 60.0)),
    ("_goals", Unit("goals in 90 min", 0.0, 20.0)),
    ("_m2", Unit("m²", 0.0, 10_000.0)),
    ("_sigmas", Unit("standard deviations", 0.0, 20.0)),
)
_SHARE = Unit("1", 0.0, 1.0)
_COUNT = Unit("count", 1.0, 10_000.0)

#: Pairs of parameters of which the first must not be greater than the second: else a state would flicker.
ORDERED = (
    ("near.contact_m", "near.enter_m"),
    ("near.enter_m", "near.leave_m"),
    ("possession_zone.enter_m", "possession_zone.leave_m"),
    ("ball_peak.touch_m_s2", "ball_peak.hit_m_s2"),
    ("ball_peak.hit_m_s2", "ball_peak.hard_m_s2"),
    ("ball_motion.static_speed_m_s", "ball_motion.moving_speed_m_s"),
    ("phase.stall.hand_low_m", "phase.stall.hand_high_m"),
    ("phase.travel_touch_m", "phase.travel_stop_m"),
    ("keeper_holding.warn_us", "keeper_holding.offence_us"),
    ("pressing_index.released_per_s", "pressing_index.under_per_s"),
    ("pressure.back_m", "pressure.front_m"),
    ("pressure.mid_share", "pressure.high_share"),
    ("team_shape.short_m", "team_shape.long_m"),
    ("team_shape.narrow_m", "team_shape.wide_m"),
    ("team_shape.low_m", "team_shape.high_m"),
    ("passing_options.some", "passing_options.many"),
    ("running.standing_m_s", "running.trot_m_s"),
    ("running.trot_m_s", "running.low_m_s"),
    ("running.low_m_s", "running.medium_m_s"),
    ("running.medium_m_s", "running.high_m_s"),
    ("opponents.enter_m", "opponents.leave_m"),
    ("keeper.contact_m", "keeper.leave_m"),
    ("keeper.drop_us", "keeper.hold_us"),
    ("body_part.limb_m", "body_part.clear_m"),
    ("body_part.chest_m", "body_part.head_m"),
    ("body_part.head_m", "body_part.head_most_m"),
    ("ball_height.low_m", "ball_height.head_m"),
    ("ball_height.head_m", "ball_height.high_m"),
    ("ball_speed.pass_m_s", "ball_speed.drive_m_s"),
    ("ball_speed.drive_m_s", "ball_speed.rocket_m_s"),
    ("player_down.low_m", "player_down.up_m"),
    ("leg_swing.rearm_m_s", "leg_swing.speed_m_s"),
    ("deflection.least_factor", "deflection.most_factor"),
    ("goal_ring.mark_m", "goal_ring.area_m"),
    ("goal_ring.area_m", "goal_ring.far_m"),
    ("goal_ring.far_m", "goal_ring.widest_m"),
    ("effort.high_m_s2", "effort.higher_m_s2"),
    ("distance.chord_us", "distance.tick_us"),
    ("load.fast_m_s", "load.sprint_m_s"),
    ("recovery_time.quick_us", "recovery_time.slow_us"),
    ("phases.low_m", "phases.high_m"),
    ("press_trigger.answer_us", "press_trigger.within_us"),
    ("counter_press.within_us", "counter_press.won_us"),
)


def unit_of(name: str, default: float) -> Unit:
    """Unit and range by a parameter's name.

    >>> unit_of("enter_m", 1.0).text, unit_of("far_delta_v_m_s", 4.4).text, unit_of("relock", 3).text
    ('m', 'm/s', 'count')
    """
    for ending, unit in _UNITS:
        if name.endswith(ending):
            return unit
    return _COUNT if isinstance(default, int) else _SHARE


def parameters_of(group: msgspec.Struct, path: str) -> Iterator[Parameter]:
    """Every parameter of a group and of the groups within it."""
    for name in group.__struct_fields__:
        value = getattr(group, name)
        if isinstance(value, msgspec.Struct):
            yield from parameters_of(value, f"{path}.{name}")
        else:
            yield Parameter(f"{path}.{name}", value, unit_of(name, value))


def all_parameters(tree: Parameters | None = None) -> tuple[Parameter, ...]:
    """Every parameter with its value in a tree; the defaults without one."""
    tree = tree or Parameters()
    return tuple(p for name in tree.__struct_fields__ for p in parameters_of(getattr(tree, name), name))


def out_of_order(tree: Parameters) -> list[str]:
    """Pairs of ``ORDERED`` that a tree breaks, as sentences."""
    values = {p.path: p.value for p in all_parameters(tree)}
    return [
        f"{low} = {values[low]} is greater than {high} = {values[high]}"
        for low, high in ORDERED
        if values[low] > values[high]
    ]
