"""A simulated head that speaks raw VISCA over TCP. No socket, no clock."""

from __future__ import annotations

from collections.abc import Hashable

from camera.protocols import messages
from camera.protocols import visca_codec as codec
from camera.protocols.messages import Drive, Inquiry, slot_of
from camera.simulated.body import Body

Out = list[tuple[Hashable, bytes]]

#: Limit of the bytes of a payload without an end that are held.
BUFFER_BYTES_MAX = 64


class ViscaTcpDevice:
    """A device that speaks raw VISCA. Each command gets an ACK, and a completion when its motion has ended.

    Args:
        body: the head that it moves.
    """

    def __init__(self, body: Body) -> None:
        self._body = body
        self._buffers: dict[Hashable, bytes] = {}
        self._jobs: dict[str, Hashable] = {}

    def receive(self, data: bytes, peer: Hashable, now_us: int) -> Out:
        """Take a piece of a peer's stream; return (peer, piece) to send."""
        out = self.poll(now_us)
        buffer = self._buffers.get(peer, b"") + data
        while (end := buffer.find(b"\xff")) >= 0:
            payload, buffer = buffer[: end + 1], buffer[end + 1 :]
            out += [(peer, codec.encode_reply(reply)) for reply in self._replies(payload, peer)]
        self._buffers[peer] = buffer[-BUFFER_BYTES_MAX:]
        return out

    def poll(self, now_us: int) -> Out:
        """Advance the head; return the completions that are due."""
        self._body.advance(now_us)
        done = [slot for slot in self._jobs if self._body.is_still(slot)]
        return [(self._jobs.pop(slot), codec.encode_reply(codec.Completion(_SOCKETS[slot]))) for slot in done]

    def disconnected(self, peer: Hashable) -> None:
        """Forget a peer that has closed its connection."""
        self._buffers.pop(peer, None)
        self._jobs = {slot: owner for slot, owner in self._jobs.items() if owner != peer}

    def _replies(self, payload: bytes, peer: Hashable) -> list[codec.Reply]:
        try:
            message = codec.decode(payload, self._body.profile)
        except codec.ViscaError:
            return [codec.Refusal(0, codec.SYNTAX)]
        if isinstance(message, Inquiry):
            return [codec.Answer(codec.encode_report(self._body.report(message), self._body.profile))]
        if isinstance(message, messages.Cancel):
            return [codec.Refusal(message.socket, codec.NO_SOCKET)]
        if isinstance(message, messages.InterfaceClear):
            return [codec.Completion(0)]
        if self._body.refuses(message):
            return [codec.Refusal(0, codec.SYNTAX)]
        self._body.order(message)
        slot = slot_of(message)
        if isinstance(message, _IMMEDIATE) or self._body.is_still(slot):
            self._jobs.pop(slot, None)
            return [codec.Ack(_SOCKETS[slot]), codec.Completion(_SOCKETS[slot])]
        self._jobs[slot] = peer
        return [codec.Ack(_SOCKETS[slot])]


#: Messages that are completed at once.
_IMMEDIATE = Drive | messages.ZoomDrive | messages.Tally | messages.SpeedMode
_SOCKETS = {"pan_tilt": 1, "zoom": 2, "Tally": 2, "SpeedMode": 2}
