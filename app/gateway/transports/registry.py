"""Registry of transports: a new one is two classes and a line here. Their libraries are imported when they are used."""

from __future__ import annotations

from importlib import import_module

from app.gateway.address import FeedAddress, FeedSettings
from app.gateway.profile import Profile
from app.gateway.transports.interface import Sender, Transport

#: By scheme, ``module:class`` of the receiver and of the sender.
TRANSPORTS = {
    "tcp": (f"{__package__}.tcp:TcpClient", f"{__package__}.tcp:TcpSender"),
    "tcp-listen": (f"{__package__}.tcp:TcpListener", f"{__package__}.tcp:TcpSender"),
    "udp": (f"{__package__}.udp:UdpReceiver", f"{__package__}.udp:UdpSender"),
    "ws": (f"{__package__}.websocket:WebSocketClient", f"{__package__}.websocket:WebSocketSender"),
    "wss": (f"{__package__}.websocket:WebSocketClient", f"{__package__}.websocket:WebSocketSender"),
    "ws-listen": (f"{__package__}.websocket:WebSocketListener", f"{__package__}.websocket:WebSocketSender"),
    "mqtt": (f"{__package__}.mqtt:MqttSubscriber", f"{__package__}.mqtt:MqttSender"),
    "mqtts": (f"{__package__}.mqtt:MqttSubscriber", f"{__package__}.mqtt:MqttSender"),
    "file": (f"{__package__}.growing_file:FileFollower", f"{__package__}.growing_file:FileSender"),
}


def transport_of(address: FeedAddress, profile: Profile, settings: FeedSettings) -> Transport:
    """Return the receiver of a feed.

    Raises:
        FeedError: address and settings do not fit.
    """
    made: Transport = _load(TRANSPORTS[address.scheme][0])(address, profile, settings)
    return made


def sender_of(address: FeedAddress, profile: Profile, settings: FeedSettings) -> Sender:
    """Return the sender to an address, as a vendor's server would send."""
    made: Sender = _load(TRANSPORTS[address.scheme][1])(address, profile, settings)
    return made


def _load(name: str) -> type:
    module, _, kind = name.partition(":")
    found: type = getattr(import_module(module), kind)
    return found
