"""Scripted conversations: what a controller sends, what a device says, what comes of it.

A script is a list of (milliseconds, action, argument):
    submit MESSAGE      cancel N (the N-th submitted)
    out "KIND SEQ BYTES" exactly this is sent now ("" for nothing); several joined by " | "
    in  "KIND SEQ BYTES" this arrives
    look                what is sent now, whatever it is
    gave up N           of all that happened, this message alone was given up
    did "N SIGNAL"      the N-th submitted message took this step ("connected", "reconnected" for the link)
"""

from __future__ import annotations

import pytest

from camera.profile import load_profile
from camera.protocols import visca_codec as codec
from camera.protocols.messages import (
    Absolute,
    Connected,
    Drive,
    Home,
    Outcome,
    PositionInquiry,
    Report,
    Signal,
    ZoomDirect,
)
from camera.protocols.visca_udp import STEPS, Session, State

X400 = load_profile()
KINDS = {
    "cmd": codec.COMMAND,
    "inq": codec.INQUIRY,
    "rep": codec.REPLY,
    "ctl": codec.CONTROL,
    "cre": codec.CONTROL_REPLY,
}
NAMES = {number: name for name, number in KINDS.items()}
RIGHT, RIGHT_HEX = Drive(3, 0), "81 01 06 01 03 01 02 03 ff"
LEFT, LEFT_HEX = Drive(-3, 0), "81 01 06 01 03 01 01 03 ff"
STOP_HEX = "81 01 06 01 01 01 03 03 ff"
AWAY, AWAY_HEX = Absolute(512, 0, 5, 5), "81 01 06 02 05 05 00 02 00 00 00 00 00 00 ff"
TELE, TELE_HEX = ZoomDirect(0x4000), "81 01 04 47 04 00 00 00 ff"
WHERE, WHERE_HEX = PositionInquiry(), "81 09 06 12 ff"

START = [(0, "out", "ctl 1 01"), (1, "in", "cre 1 01"), (1, "did", "connected")]

SCRIPTS: dict[str, list[tuple[int, str, object]]] = {
    "nothing is sent before the device has answered the reset": [
        (0, "submit", RIGHT),
        (0, "out", "ctl 1 01"),
        (100, "out", ""),
        (200, "out", "ctl 2 01"),
        (599, "out", ""),
        (600, "out", "ctl 3 01"),
        (610, "in", "cre 3 01"),
        (610, "did", "connected"),
        (610, "out", f"cmd 4 {RIGHT_HEX}"),
    ],
    "a command is acknowledged and completed": [
        *START,
        (2, "submit", RIGHT),
        (2, "out", f"cmd 2 {RIGHT_HEX}"),
        (3, "in", "rep 2 90 41 ff"),
        (3, "did", "1 ACKED"),
        (4, "in", "rep 2 90 51 ff"),
        (4, "did", "1 COMPLETED"),
    ],
    "two commands fly at once and complete in the other order": [
        *START,
        (2, "submit", AWAY),
        (2, "submit", TELE),
        (2, "out", f"cmd 2 {AWAY_HEX} | cmd 3 {TELE_HEX}"),
        (3, "in", "rep 3 90 42 ff"),
        (3, "in", "rep 2 90 41 ff"),
        (3, "did", "2 ACKED | 1 ACKED"),
        (9, "in", "rep 3 90 52 ff"),
        (10, "in", "rep 2 90 51 ff"),
        (10, "did", "2 COMPLETED | 1 COMPLETED"),
    ],
    "a completion that overtakes its acknowledgement counts, the late one does not": [
        *START,
        (2, "submit", AWAY),
        (2, "out", f"cmd 2 {AWAY_HEX}"),
        (3, "in", "rep 2 90 51 ff"),
        (4, "in", "rep 2 90 41 ff"),
        (4, "did", "1 COMPLETED"),
    ],
    "doubled replies change nothing": [
        *START,
        (2, "submit", AWAY),
        (2, "out", f"cmd 2 {AWAY_HEX}"),
        (3, "in", "rep 2 90 41 ff"),
        (3, "in", "rep 2 90 41 ff"),
        (4, "in", "rep 2 90 51 ff"),
        (4, "in", "rep 2 90 51 ff"),
        (4, "did", "1 ACKED | 1 COMPLETED"),
    ],
    "an unanswered command is sent again under its number": [
        *START,
        (2, "submit", RIGHT),
        (2, "out", f"cmd 2 {RIGHT_HEX}"),
        (101, "out", ""),
        (102, "out", f"cmd 2 {RIGHT_HEX}"),
        (301, "out", ""),
        (302, "out", f"cmd 2 {RIGHT_HEX}"),
        (303, "in", "rep 2 90 41 ff"),
        (303, "did", "1 ACKED"),
    ],
    "the newest waiting command wins, and goes in place of an overdue one": [
        *START,
        (2, "submit", RIGHT),
        (2, "out", f"cmd 2 {RIGHT_HEX}"),
        (3, "submit", AWAY),
        (4, "submit", LEFT),
        (4, "did", "2 REPLACED"),
        (4, "out", ""),
        (102, "out", f"cmd 3 {LEFT_HEX}"),
        (102, "did", "1 REPLACED"),
    ],
    "a full buffer is tried again a little later under a new number": [
        *START,
        (2, "submit", AWAY),
        (2, "out", f"cmd 2 {AWAY_HEX}"),
        (3, "in", "rep 2 90 60 03 ff"),
        (3, "out", ""),
        (23, "out", f"cmd 3 {AWAY_HEX}"),
    ],
    "errors end a command and carry their code": [
        *START,
        (2, "submit", AWAY),
        (2, "out", f"cmd 2 {AWAY_HEX}"),
        (3, "in", "rep 2 90 60 41 ff"),
        (3, "did", "1 REFUSED 41"),
    ],
    "an overtaken command is sent again under a new number, without a reset": [
        *START,
        (2, "submit", AWAY),
        (2, "submit", TELE),
        (2, "out", f"cmd 2 {AWAY_HEX} | cmd 3 {TELE_HEX}"),
        (3, "in", "rep 3 90 41 ff"),
        (3, "did", "2 ACKED"),
        (4, "in", "cre 2 0f 01"),
        (4, "out", f"cmd 4 {AWAY_HEX}"),
    ],
    "a refused newest number resets; a device that counts from 1 is given 1": [
        *START,
        (2, "submit", RIGHT),
        (2, "out", f"cmd 2 {RIGHT_HEX}"),
        (3, "in", "cre 2 0f 01"),
        (3, "out", "ctl 0 01"),
        (4, "in", "cre 0 01"),
        (4, "did", "connected"),
        (4, "out", f"cmd 1 {RIGHT_HEX}"),
        (5, "in", "rep 1 90 41 ff"),
        (5, "did", "1 ACKED"),
    ],
    "silence loses the link, and the first word after it is stop": [
        *START,
        (2, "submit", RIGHT),
        (2, "out", f"cmd 2 {RIGHT_HEX}"),
        (102, "out", f"cmd 2 {RIGHT_HEX}"),
        (1003, "out", f"ctl 3 01 | cmd 4 {STOP_HEX}"),
        (1003, "did", "1 LOST"),
        (1004, "submit", LEFT),
        (1203, "out", f"ctl 5 01 | cmd 6 {STOP_HEX}"),
        (1204, "in", "rep 4 90 41 ff"),
        (1205, "in", "cre 5 01"),
        (1205, "did", "reconnected"),
        (1205, "out", f"cmd 7 {STOP_HEX}"),
        (1206, "in", "rep 7 90 41 ff"),
        (1206, "out", f"cmd 8 {LEFT_HEX}"),
    ],
    "an acknowledgement that comes after the command was given up changes nothing": [
        *START,
        (2, "submit", RIGHT),
        (2, "out", f"cmd 2 {RIGHT_HEX}"),
        (50, "submit", LEFT),
        (102, "out", f"cmd 3 {LEFT_HEX}"),
        (102, "did", "1 REPLACED"),
        (110, "in", "rep 2 90 41 ff"),
        (110, "did", ""),
        (112, "in", "rep 3 90 41 ff"),
        (112, "did", "2 ACKED"),
    ],
    "a completion in an empty socket ends no command that runs": [
        *START,
        (2, "submit", AWAY),
        (2, "out", f"cmd 2 {AWAY_HEX}"),
        (3, "in", "rep 2 90 41 ff"),
        (3, "did", "1 ACKED"),
        (4, "in", "rep 9 90 50 ff"),
        (4, "in", "rep 0 90 52 ff"),
        (4, "did", ""),
        (9, "in", "rep 2 90 51 ff"),
        (9, "did", "1 COMPLETED"),
    ],
    "a home that is never answered is given up, while the head answers all else": [
        *START,
        (2, "submit", Home()),
        (2, "out", "cmd 2 81 01 06 04 ff"),
        *[
            step
            for number in range(9)
            for step in (
                (10 + 400 * number, "submit", WHERE),
                (10 + 400 * number, "look", ""),
                (11 + 400 * number, "in", f"rep {3 + number} 90 50 00 02 00 00 0f 0e 00 00 ff"),
            )
        ],
        (3600, "look", ""),
        (3600, "gave up", 1),
    ],
    "a reboot in mid-move loses the numbers: the head is reset, and the move sent again": [
        *START,
        (2, "submit", RIGHT),
        (2, "out", f"cmd 2 {RIGHT_HEX}"),
        (3, "in", "rep 2 90 41 ff"),
        (3, "did", "1 ACKED"),
        (500, "submit", AWAY),
        (500, "out", f"cmd 3 {AWAY_HEX}"),
        (501, "in", "cre 3 0f 01"),
        (501, "out", "ctl 4 01"),
        (502, "in", "cre 4 01"),
        (502, "did", "connected"),
        (502, "out", f"cmd 5 {AWAY_HEX}"),
    ],
    "a position of the wrong number of half bytes is no position": [
        *START,
        (2, "submit", WHERE),
        (2, "out", f"inq 2 {WHERE_HEX}"),
        (3, "in", "rep 2 90 50 0f 0a 03 05 09 0e 04 05 0b ff"),
        (3, "did", "1 ANSWERED"),
    ],
    "a cancel waits 200 ms after the move and the next move 200 ms after the cancel": [
        *START,
        (2, "submit", AWAY),
        (2, "out", f"cmd 2 {AWAY_HEX}"),
        (10, "in", "rep 2 90 41 ff"),
        (10, "did", "1 ACKED"),
        (11, "cancel", 1),
        (209, "out", ""),
        (210, "out", "cmd 3 81 21 ff"),
        (212, "in", "rep 3 90 61 04 ff"),
        (212, "did", "2 COMPLETED 04 | 1 CANCELLED"),
        (213, "submit", RIGHT),
        (411, "out", ""),
        (412, "out", f"cmd 4 {RIGHT_HEX}"),
    ],
    "a cancel that comes too late finds the command completed": [
        *START,
        (2, "submit", AWAY),
        (2, "out", f"cmd 2 {AWAY_HEX}"),
        (10, "in", "rep 2 90 41 ff"),
        (10, "did", "1 ACKED"),
        (11, "cancel", 1),
        (212, "out", "cmd 3 81 21 ff"),
        (213, "in", "rep 3 90 61 05 ff"),
        (213, "did", "2 COMPLETED 05 | 1 COMPLETED"),
    ],
    "an inquiry is answered with its data and uses no socket": [
        *START,
        (2, "submit", WHERE),
        (2, "out", f"inq 2 {WHERE_HEX}"),
        (3, "in", "rep 2 90 50 00 02 00 00 0f 0e 00 00 ff"),
        (3, "did", "1 ANSWERED 00 02 00 00 0f 0e 00 00"),
    ],
    "garbage and replies to nobody are passed over": [
        *START,
        (2, "in", "rep 77 90 41 ff"),
        (2, "in", "rep 77 12 34 ff"),
        (2, "in", "cmd 2 81 01 06 04 ff"),
        (2, "did", ""),
    ],
}


def _wire(text: str) -> bytes:
    kind, sequence, payload = text.split(" ", 2)
    return codec.pack(KINDS[kind], int(sequence), bytes.fromhex(payload))


def _fields(data: bytes) -> str:
    datagram = codec.unpack(data)
    return f"{NAMES[datagram.kind]} {datagram.sequence} {datagram.payload.hex(' ')}"


def _report(report: Report | None) -> str:
    return codec.encode_report(report, X400).hex(" ") if report else ""


def _steps(session: Session) -> str:
    steps: list[str] = []
    while (session_event := session.next_event()) is not None:
        if isinstance(session_event, Connected):
            steps.append("reconnected" if session_event.again else "connected")
        else:
            tail = f"{session_event.code:02x}" if session_event.code else _report(session_event.report)
            steps.append(f"{session_event.ticket} {session_event.signal.name} {tail}".rstrip())
    return " | ".join(steps)


def play(script: list[tuple[int, str, object]]) -> None:
    """Plays a script against a fresh session; raises AssertionError where they part."""
    session = Session(X400)
    for at_ms, action, argument in script:
        now_us = at_ms * 1000
        if action == "submit":
            session.submit(argument)  # type: ignore[arg-type]
        elif action == "cancel":
            assert session.cancel(argument)  # type: ignore[arg-type]
        elif action == "in":
            session.receive(_wire(str(argument)), now_us)
        elif action == "look":
            session.to_send(now_us)
        elif action == "gave up":
            events = iter(session.next_event, None)
            given_up = [one.ticket for one in events if isinstance(one, Outcome) and one.signal is Signal.GIVEN_UP]
            assert given_up == [argument]
        elif action == "out":
            assert " | ".join(_fields(d) for d in session.to_send(now_us)) == argument, f"at {at_ms} ms"
        else:
            assert action == "did"
            assert _steps(session) == argument, f"at {at_ms} ms"


@pytest.mark.parametrize("name", SCRIPTS)
def test_transcript(name: str) -> None:
    play(SCRIPTS[name])


def test_a_script_that_expects_the_wrong_thing_fails() -> None:
    with pytest.raises(AssertionError):
        play([*START, (2, "submit", RIGHT), (2, "out", f"cmd 2 {LEFT_HEX}")])


def test_nothing_happens_to_a_message_that_is_gone_and_every_other_state_can_end() -> None:
    assert not [step for step in STEPS if step[0] is State.CLOSED]
    for state in (State.WAITING, State.FLYING, State.RUNNING):
        assert STEPS[state, Signal.LOST] is State.CLOSED
