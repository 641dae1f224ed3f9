"""The device's side of VISCA over IP, moving a simulated head. No socket, no clock.

Theory of operation
-------------------
Each controller (``peer``) has its own sequence. A number higher than the last is new; gaps are losses and are allowed.
A number that the device has received before is a repetition: it gets the same replies, and nothing is executed twice.
A lower number that the device has not received was overtaken in the network: it is refused with 0F01, not executed.

A command gets the lowest free socket, an ACK, and a completion when its motion has ended. A newer pan-tilt
command ends the motion of the one before (which gets the error "cancelled"); so does a newer zoom command. Drives and
stops complete at once. Inquiries use no socket; those sent as commands (type 0100), as some clients do, are
answered too.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

import msgspec

from camera import codec
from camera.codec import Action, Inquiry, Message
from camera.head import Axis, Head, Pose
from camera.profile import Profile
from camera.visca import slot_of

PEERS_MAX = 5
REMEMBERED_MAX = 64

Out = list[tuple[Hashable, bytes]]


class _Peer:
    """The state of one controller."""

    def __init__(self) -> None:
        self.last = 0
        self.replies: OrderedDict[int, list[bytes]] = OrderedDict()

    def reset(self) -> None:
        """Forget all sequence numbers."""
        self.last = 0
        self.replies.clear()


class _Job(msgspec.Struct, frozen=True):
    """A command whose motion has not ended."""

    peer: Hashable
    sequence: int
    slot: str


class Device:
    """A VISCA device around a head.

    Args:
        head: the head at ``now_us``.
        now_us: any monotonic time; all later calls use the same clock.
    """

    def __init__(self, head: Head, now_us: int = 0) -> None:
        self._head = head
        self._now_us = now_us
        self._peers: OrderedDict[Hashable, _Peer] = OrderedDict()
        self._jobs: dict[int, _Job] = {}
        self.executed = 0

    @property
    def profile(self) -> Profile:
        """The profile of the simulated head."""
        return self._head.profile

    def head_at(self, now_us: int) -> Head:
        """Return the head at a time not before the last call."""
        return self._head.advance(max(0, now_us - self._now_us) / 1e6)

    def pose_at(self, now_us: int) -> Pose:
        """Return the exact pose, without the rounding of a report."""
        return self.head_at(now_us).pose

    def receive(self, data: bytes, peer: Hashable, now_us: int) -> Out:
        """Take a datagram; return (peer, datagram) to send. An unreadable datagram gets no reply, an unreadable control
        message gets 0F02."""
        out = self.poll(now_us)
        try:
            datagram = codec.unpack(data)
        except codec.ViscaError:
            return out
        memory = self._peer(peer)
        if datagram.kind == codec.CONTROL:
            return out + self._control(datagram, peer, memory)
        if datagram.kind not in (codec.COMMAND, codec.INQUIRY):
            return out
        sequence = datagram.sequence
        if sequence in memory.replies:
            return out + [(peer, packed) for packed in memory.replies[sequence]]
        if sequence <= memory.last:
            return [*out, (peer, codec.pack(codec.CONTROL_REPLY, sequence, codec.WRONG_SEQUENCE))]
        memory.last = sequence
        memory.replies[sequence] = []
        while len(memory.replies) > REMEMBERED_MAX:
            memory.replies.popitem(last=False)
        return out + self._message(datagram, peer, sequence)

    def poll(self, now_us: int) -> Out:
        """Advance the head to ``now_us``; return the completions that are due."""
        self._head = self.head_at(now_us)
        self._now_us = max(self._now_us, now_us)
        out: Out = []
        for socket, job in list(self._jobs.items()):
            if self._still(job.slot):
                del self._jobs[socket]
                out += self._answer(job.peer, job.sequence, codec.Completion(socket))
        return out

    def _peer(self, peer: Hashable) -> _Peer:
        memory = self._peers.pop(peer, None) or _Peer()
        self._peers[peer] = memory
        while len(self._peers) > PEERS_MAX:
            self._peers.popitem(last=False)
        return memory

    def _control(self, datagram: codec.Datagram, peer: Hashable, memory: _Peer) -> Out:
        if datagram.payload != codec.RESET:
            return [(peer, codec.pack(codec.CONTROL_REPLY, datagram.sequence, codec.WRONG_MESSAGE))]
        memory.reset()
        return [(peer, codec.pack(codec.CONTROL_REPLY, datagram.sequence, codec.RESET_DONE))]

    def _message(self, datagram: codec.Datagram, peer: Hashable, sequence: int) -> Out:
        try:
            message = codec.decode(datagram.payload, self.profile)
        except codec.ViscaError:
            return self._answer(peer, sequence, codec.Refusal(0, codec.SYNTAX))
        if isinstance(message, Inquiry):
            return self._answer(peer, sequence, codec.Answer(self._inquire(message)))
        if datagram.kind == codec.INQUIRY:
            return self._answer(peer, sequence, codec.Refusal(0, codec.SYNTAX))
        if isinstance(message, codec.Cancel):
            return self._cancel(message.socket, peer, sequence)
        if isinstance(message, codec.InterfaceClear):
            self._jobs.clear()
            return self._answer(peer, sequence, codec.Completion(0))
        return self._execute(message, peer, sequence)

    def _answer(self, peer: Hashable, sequence: int, reply: codec.Reply) -> Out:
        packed = codec.pack(codec.REPLY, sequence, codec.encode_reply(reply))
        memory = self._peers.get(peer)
        if memory and sequence in memory.replies:
            memory.replies[sequence].append(packed)
        return [(peer, packed)]

    def _execute(self, message: Action, peer: Hashable, sequence: int) -> Out:
        slot = slot_of(message)
        out: Out = []
        for socket, job in list(self._jobs.items()):
            if job.slot == slot:
                del self._jobs[socket]
                out += self._answer(job.peer, job.sequence, codec.Refusal(socket, codec.CANCELLED))
        free = next((n for n in range(1, self.profile.link.sockets + 1) if n not in self._jobs), None)
        if free is None:
            return out + self._answer(peer, sequence, codec.Refusal(0, codec.BUFFER_FULL))
        self._head = ordered(self._head, message)
        self.executed += 1
        out += self._answer(peer, sequence, codec.Ack(free))
        if isinstance(message, codec.Drive | codec.ZoomDrive) or self._still(slot):
            return out + self._answer(peer, sequence, codec.Completion(free))
        self._jobs[free] = _Job(peer, sequence, slot)
        return out

    def _cancel(self, socket: int, peer: Hashable, sequence: int) -> Out:
        job = self._jobs.pop(socket, None)
        if job is None:
            return self._answer(peer, sequence, codec.Refusal(socket, codec.NO_SOCKET))
        self._head = _halted(self._head, job.slot)
        return self._answer(peer, sequence, codec.Refusal(socket, codec.CANCELLED))

    def _still(self, slot: str) -> bool:
        head = self._head
        return head.zoom.still if slot == "zoom" else head.pan.still and head.tilt.still

    def _inquire(self, message: Inquiry) -> bytes:
        profile, pose = self.profile, self._head.pose
        match message:
            case codec.PositionInquiry():
                pan, tilt = profile.pan.units(pose.pan_deg), profile.tilt.units(pose.tilt_deg)
                return codec.encode_position(pan, tilt, profile)
            case codec.ZoomInquiry():
                return codec.to_nibbles(round(self._head.zoom.position), profile.zoom.nibbles)
            case codec.MaxSpeedInquiry():
                return bytes((len(profile.pan.speeds_deg_s), len(profile.tilt.speeds_deg_s)))
            case codec.StatusInquiry():
                # Of Sony's status word the simulation has one bit: 0x40, pan and tilt stand still.
                return bytes((0, 0 if not self._still("pan_tilt") else 0x40))


def ordered(head: Head, message: Message) -> Head:
    """Return the head after a command that moves it.

    Raises:
        AssertionError: the message is not one that moves a head.
    """
    replace, profile = msgspec.structs.replace, head.profile
    match message:
        case codec.Drive(pan_step, tilt_step):
            pan = head.pan.drive(profile.pan.speed_deg_s(pan_step))
            return replace(head, pan=pan, tilt=head.tilt.drive(profile.tilt.speed_deg_s(tilt_step)))
        case codec.Absolute(pan_units, tilt_units, pan_step, tilt_step):
            return _moved(head, profile.pan.deg(pan_units), profile.tilt.deg(tilt_units), pan_step, tilt_step)
        case codec.Relative(pan_units, tilt_units, pan_step, tilt_step):
            pan_deg = head.pan.position + profile.pan.deg(pan_units)
            tilt_deg = head.tilt.position + profile.tilt.deg(tilt_units)
            return _moved(head, pan_deg, tilt_deg, pan_step, tilt_step)
        case codec.Home() | codec.Recalibrate():
            return _moved(head, 0.0, 0.0, len(profile.pan.speeds_deg_s), len(profile.tilt.speeds_deg_s))
        case codec.ZoomDrive(step):
            speed = profile.zoom.speeds_units_s[abs(step) - 1] if step else 0.0
            return replace(head, zoom=head.zoom.drive(speed if step > 0 else -speed))
        case codec.ZoomDirect(units):
            return replace(head, zoom=head.zoom.go_to(float(units), profile.zoom.speeds_units_s[-1]))
    raise AssertionError(f"{message} does not move a head")


def _moved(head: Head, pan_deg: float, tilt_deg: float, pan_step: int, tilt_step: int) -> Head:
    pan: Axis = head.pan.go_to(pan_deg, head.profile.pan.speed_deg_s(pan_step))
    tilt: Axis = head.tilt.go_to(tilt_deg, head.profile.tilt.speed_deg_s(tilt_step))
    return msgspec.structs.replace(head, pan=pan, tilt=tilt)


def _halted(head: Head, slot: str) -> Head:
    if slot == "zoom":
        return msgspec.structs.replace(head, zoom=head.zoom.stop())
    return msgspec.structs.replace(head, pan=head.pan.stop(), tilt=head.tilt.stop())
