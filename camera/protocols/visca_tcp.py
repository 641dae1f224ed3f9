"""Raw VISCA over TCP: payloads without a header, each ended by FF (PTZOptics and others, port 5678)."""

from __future__ import annotations

from camera.profile import Profile
from camera.protocols import visca_codec as codec
from camera.protocols.messages import Inquiry, Message
from camera.protocols.turns import Done, GarbledError, Refused, Reply


class ViscaTcp:
    """The dialect of raw VISCA. A piece of the stream may hold half a reply, or several.

    The ACK is the reply to a command. Completions are passed over: they may be of any command before. Bytes that follow
    the reply are read with the next message: so an inquiry never takes the data of a late answer for its own, because
    answers of one connection come in order.
    """

    interval_us = 20_000
    answer_us = 1_000_000
    drive_repeat_us = 0
    closes_idle = False
    closes = False
    shows_tally = True

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._buffer = b""

    def encode(self, message: Message, continued: bool = False) -> bytes:
        """Return the payload of a message."""
        return codec.encode(message, self.profile)

    def forget(self) -> None:
        """Forget a partial reply."""
        self._buffer = b""

    def replies(self, data: bytes, message: Message | None) -> list[Reply]:
        """Take a piece of the stream; return the reply to ``message`` if it is there.

        Raises:
            GarbledError: more bytes than a payload has without FF.
        """
        out: list[Reply] = []
        self._buffer += data
        while not out and (end := self._buffer.find(b"\xff")) >= 0:
            payload, self._buffer = self._buffer[: end + 1], self._buffer[end + 1 :]
            reply = self._reply(payload, message)
            if reply is not None:
                out.append(reply)
        if len(self._buffer) > codec.MAX_PAYLOAD and b"\xff" not in self._buffer:
            raise GarbledError(f"{len(self._buffer)} bytes without an end")
        return out

    def _reply(self, payload: bytes, message: Message | None) -> Reply | None:
        try:
            reply = codec.decode_reply(payload)
        except codec.ViscaError:
            return None  # a notice that the head sends by itself, or noise
        match reply:
            case codec.Refusal(_, code) if code not in (codec.CANCELLED, codec.NO_SOCKET):
                return Refused(code)
            case codec.Ack() if not isinstance(message, Inquiry):
                return Done()
            case codec.Answer(data) if isinstance(message, Inquiry):
                try:
                    return Done(codec.decode_report(message, data, self.profile))
                except codec.ViscaError:
                    return Done()
        return None
