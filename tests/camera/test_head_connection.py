"""A network that is lost in mid-drive, in virtual time: what the head does, and what the connection says of it."""

from __future__ import annotations

import msgspec
import pytest

from camera.head_connection import SILENT_US, State
from camera.profile import load_profile
from camera.protocols.messages import Drive
from camera.protocols.registry import PROTOCOLS
from camera.simulated.server import Quirks
from tests.camera.test_protocols import PROFILES
from tests.camera.virtual_head import VirtualHead

#: Step of a drive of about eight degrees a second, by protocol.
STEPS = {"visca": 6, "visca-tcp": 13, "onvif": 61, "aw": 31}


def steered(name: str, quirks: Quirks | None = None, **options: float) -> VirtualHead:
    """Return a head that is online and turns to the right."""
    head = VirtualHead(load_profile(PROFILES[name]), name, quirks=quirks, **options)  # type: ignore[arg-type]
    head.run(3.0)
    assert head.connection.online, head.connection.problem
    head.connection.drive(Drive(STEPS[name], 0), head.now_us)
    head.run(1.0)
    assert head.moving
    return head


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_lost_network_is_named_within_a_second_and_never_taken_for_a_standstill(name: str) -> None:
    head = steered(name)
    assert head.connection.problem == ""
    head.up = head.down = False
    head.run(0.95)
    assert not head.connection.online
    assert "does not answer" in head.connection.problem
    assert "may be turning" in head.connection.problem
    assert head.connection.observer.may_turn
    assert not head.connection.observer.known


@pytest.mark.parametrize("name", ["visca", "visca-tcp", "aw"])
def test_a_head_without_time_outs_turns_on_and_the_model_with_it(name: str) -> None:
    head = steered(name)
    head.up = head.down = False
    head.run(4.0)
    assert head.moving
    model = head.connection.observer.at(head.now_us)
    assert model.pan_deg == pytest.approx(head.pose.pan_deg, abs=0.5)
    head.run(60.0)
    assert not head.moving  # the end of its travel
    assert head.connection.observer.may_turn, "nothing has answered: only the model is at its end of travel"
    assert "may be turning" in head.connection.problem
    head.up = head.down = True
    head.run(3.0)
    assert head.connection.online
    assert not head.connection.observer.may_turn


def test_an_onvif_head_stops_by_its_own_time_out() -> None:
    head = steered("onvif")
    head.run(5.0)
    assert head.moving, "the drive is repeated while the network lives"
    head.up = head.down = False
    head.run(1.5)
    assert not head.moving


@pytest.mark.parametrize("time_outs", ["ignored", "refused"])
def test_an_onvif_head_that_does_not_like_time_outs_is_steered_all_the_same(time_outs: str) -> None:
    head = steered("onvif", Quirks(drive_time_outs=time_outs))  # type: ignore[arg-type]
    head.run(5.0)
    assert head.moving
    assert head.connection.counts["commands_refused"] == 0
    head.connection.drive(Drive(0, 0), head.now_us)
    head.run(0.5)
    assert not head.moving


@pytest.mark.parametrize("name", PROTOCOLS)
def test_once_the_network_is_back_the_head_is_stopped_and_checked_before_it_is_steered(name: str) -> None:
    head = steered(name)
    head.up = head.down = False
    head.run(3.0)
    head.up = head.down = True
    states = set()
    for _ in range(400):
        head.run(0.01)
        states.add(head.connection.state)
        if head.connection.online:
            break
    assert State.SETTLING in states
    assert head.connection.online
    assert not head.moving
    assert head.connection.observer.at(head.now_us).pan_deg == pytest.approx(head.pose.pan_deg, abs=0.1)
    assert head.connection.counts["reconnects"] == 1
    head.run(5.0)
    assert not head.moving, "the drive of before the outage does not come back"


def test_a_head_that_hears_and_cannot_answer_is_stopped_at_once() -> None:
    head = steered("visca")
    head.down = False
    head.run(SILENT_US / 1e6 + 0.3)
    assert not head.moving


def test_a_head_that_hears_nothing_at_first_is_stopped_while_its_answers_are_lost() -> None:
    head = steered("visca")
    head.up = head.down = False
    head.run(3.0)
    head.up = True
    head.run(2.5)
    assert head.connection.state is State.LOST
    assert not head.moving


def test_a_head_that_an_earlier_controller_left_turning_is_stopped_before_it_is_steered() -> None:
    head = VirtualHead(load_profile())
    head.body.order(Drive(8, 0))
    head.run(1.0)
    assert head.connection.online
    assert not head.moving


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_reboot_in_mid_move_leads_to_a_standstill_and_back_to_steering(name: str) -> None:
    head = steered(name)
    head.reboot()
    head.up = head.down = False
    head.run(2.0)
    head.up = head.down = True
    head.run(4.0)
    assert head.connection.online
    assert not head.moving
    head.connection.drive(Drive(STEPS[name], 0), head.now_us)
    head.run(1.0)
    assert head.moving


def test_rest_says_if_the_head_stands_still() -> None:
    head = steered("visca")
    assert head.connection.rest(1_500_000, head.clock, head.pause)
    assert not head.moving
    head.up = head.down = False
    assert not head.connection.rest(1_500_000, head.clock, head.pause)


def test_two_percent_loss_is_no_lost_network() -> None:
    head = steered("visca", loss=0.02)
    for _ in range(3_000):
        head.run(0.02)
        assert head.connection.state is State.OBEYING


def test_the_model_follows_the_dead_time_of_the_profile() -> None:
    profile = load_profile()
    slow = msgspec.structs.replace(
        profile, motion=msgspec.structs.replace(profile.motion, dead_time_ms=150.0, accel_deg_s2=80.0)
    )
    head = VirtualHead(slow, quirks=Quirks(dead_ms=150, accel_deg_s2=80))
    head.run(1.0)
    head.connection.drive(Drive(8, 0), head.now_us)
    for _ in range(60):
        head.run(0.02)
        model = head.connection.observer.at(head.now_us)
        assert model.pan_deg == pytest.approx(head.pose.pan_deg, abs=0.6)


def lit_for(head: VirtualHead, seconds: float, on: bool) -> None:
    """Let the connection work for a time, while the lamp should be lit or not."""
    for _ in range(round(seconds / 0.02)):
        head.connection.tally(on, head.now_us)
        head.run(0.02)


@pytest.mark.parametrize("name", ["visca", "visca-tcp", "aw"])
def test_a_head_shows_the_tally_while_it_turns_and_again_after_a_reboot(name: str) -> None:
    head = steered(name)
    lit_for(head, 1.0, True)
    assert head.body.tally
    assert head.moving
    head.reboot()
    head.up = head.down = False
    lit_for(head, 3.0, True)
    assert not head.body.tally
    head.up = head.down = True
    lit_for(head, 4.0, True)
    assert head.body.tally
    lit_for(head, 1.0, False)
    assert not head.body.tally


@pytest.mark.parametrize("name", ["visca", "visca-tcp", "aw"])
def test_a_lamp_that_the_head_puts_out_by_itself_is_lit_again(name: str) -> None:
    head = steered(name)
    lit_for(head, 1.0, True)
    head.body.tally = False
    lit_for(head, 6.0, True)
    assert head.body.tally


def test_a_protocol_without_a_tally_is_steered_as_before() -> None:
    head = steered("onvif")
    sent = head.connection.counts["commands_sent"]
    lit_for(head, 1.0, True)
    assert not head.body.tally
    assert head.moving
    assert head.connection.counts["commands_sent"] - sent <= 4  # the repeated drive


def test_the_tally_survives_lost_datagrams_and_costs_no_link() -> None:
    head = steered("visca", loss=0.1)
    for turn in range(40):
        lit_for(head, 1.0, turn % 2 == 0)
        assert head.connection.state is State.OBEYING
    lit_for(head, 2.0, True)
    assert head.body.tally
