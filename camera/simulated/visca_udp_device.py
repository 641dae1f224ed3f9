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

from camera.protocols import messages
from camera.protocols import visca_codec as codec
from camera.protocols.messages import Action, Inquiry, slot_of
from camera.simulated.body import Body

PEERS_MAX = 5
REMEMBERED_MAX = 64

Out = list[tuple[Hashable, bytes]]


#: Messages that are completed at once.
_IMMEDIATE = messages.Drive | messages.ZoomDrive | messages.Tally | messages.SpeedMode


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


class ViscaUdpDevice:
    """A device that speaks VISCA over IP.

    Args:
        body: the head that it moves.
    """

    def __init__(self, body: Body) -> None:
        self._body = body
        self._peers: OrderedDict[Hashable, _Peer] = OrderedDict()
        self._jobs: dict[int, _Job] = {}

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
        self._body.advance(now_us)
        out: Out = []
        for socket, job in list(self._jobs.items()):
            if self._body.is_still(job.slot):
                del self._jobs[socket]
                out += self._answer(job.peer, job.sequence, codec.Completion(socket))
        return out

    def disconnected(self, peer: Hashable) -> None:
        """Forget a peer; datagrams never call it, because nobody closes them."""
        self._peers.pop(peer, None)

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
            message = codec.decode(datagram.payload, self._body.profile)
        except codec.ViscaError:
            return self._answer(peer, sequence, codec.Refusal(0, codec.SYNTAX))
        if isinstance(message, Inquiry):
            return self._answer(
                peer, sequence, codec.Answer(codec.encode_report(self._body.report(message), self._body.profile))
            )
        if datagram.kind == codec.INQUIRY:
            return self._answer(peer, sequence, codec.Refusal(0, codec.SYNTAX))
        if isinstance(message, messages.Cancel):
            return self._cancel(message.socket, peer, sequence)
        if isinstance(message, messages.InterfaceClear):
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
        if self._body.refuses(message):
            return self._answer(peer, sequence, codec.Refusal(0, codec.SYNTAX))
        slot = slot_of(message)
        out: Out = []
        for socket, job in list(self._jobs.items()):
            if job.slot == slot:
                del self._jobs[socket]
                out += self._answer(job.peer, job.sequence, codec.Refusal(socket, codec.CANCELLED))
        free = next((n for n in range(1, self._body.profile.link.sockets + 1) if n not in self._jobs), None)
        if free is None:
            return out + self._answer(peer, sequence, codec.Refusal(0, codec.BUFFER_FULL))
        self._body.order(message)
        out += self._answer(peer, sequence, codec.Ack(free))
        if isinstance(message, _IMMEDIATE) or self._body.is_still(slot):
            return out + self._answer(peer, sequence, codec.Completion(free))
        self._jobs[free] = _Job(peer, sequence, slot)
        return out

    def _cancel(self, socket: int, peer: Hashable, sequence: int) -> Out:
        job = self._jobs.pop(socket, None)
        if job is None:
            return self._answer(peer, sequence, codec.Refusal(socket, codec.NO_SOCKET))
        self._body.order(messages.ZoomDrive(0) if job.slot == "zoom" else messages.Drive(0, 0))
        return self._answer(peer, sequence, codec.Refusal(socket, codec.CANCELLED))
