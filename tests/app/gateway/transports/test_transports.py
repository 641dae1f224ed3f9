"""Transports with real parts: sockets, WebSockets, a file, and mosquitto as the broker of MQTT."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from app.gateway.address import FeedAddress, FeedError, FeedSettings, parse_feed, read_settings
from app.gateway.feed import Feed
from app.gateway.framing import Cutter, framed
from app.gateway.message_tree import MESSAGE_BYTES_MAX
from app.gateway.profile import Framing, Profile, Subscription, read_profile
from app.gateway.transports.interface import Transport
from app.gateway.transports.registry import sender_of, transport_of
from app.gateway.transports.udp import BUFFER_BYTES
from football.match_sheet import MatchSheet

PROFILE = read_profile("json-lines")
MESSAGES = [b'{"n":%d}' % number for number in range(500)]
NOTHING = FeedSettings()


class Inbox:
    def __init__(self) -> None:
        self.messages: list[bytes] = []
        self.topics: list[str] = []

    def deliver(self, message: bytes, topic: str) -> None:
        self.messages.append(message)
        self.topics.append(topic)

    async def has(self, number: int, within_s: float = 60.0) -> list[bytes]:
        return await until(lambda: len(self.messages) >= number and self.messages, within_s)


async def until(found: Callable[[], object], within_s: float = 60.0):
    end_s = asyncio.get_running_loop().time() + within_s
    while not (value := found()):
        assert asyncio.get_running_loop().time() < end_s, f"did not happen within {within_s:g} s"
        await asyncio.sleep(0.005)
    return value


@asynccontextmanager
async def receiving(transport: Transport, inbox: Inbox) -> AsyncIterator[Transport]:
    task = asyncio.create_task(transport.run(inbox.deliver))
    try:
        yield transport
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def receiver(url: str, profile: Profile = PROFILE, settings: FeedSettings = NOTHING) -> Transport:
    return transport_of(parse_feed(url), profile, settings)


def at(url: str, port: int) -> FeedAddress:
    return msgspec.structs.replace(parse_feed(url), port=port)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.mark.parametrize(
    ("listener", "client"),
    [("tcp-listen://127.0.0.1:0", "tcp://127.0.0.1:1"), ("ws-listen://127.0.0.1:0", "ws://127.0.0.1:1"),
     ("udp://127.0.0.1:0", "udp://127.0.0.1:1")],
)  # fmt: skip
def test_a_gateway_that_listens_gets_all_messages_in_order(listener: str, client: str):
    async def run() -> None:
        inbox = Inbox()
        async with receiving(receiver(listener), inbox) as transport:
            port = await until(lambda: transport.port)
            async with sender_of(at(client, port), PROFILE, NOTHING) as sender:
                await sender.ready()
                for message in MESSAGES:
                    await sender.send(message, "")
                assert await inbox.has(len(MESSAGES)) == MESSAGES

    asyncio.run(run())


@pytest.mark.parametrize("scheme", ["tcp", "ws"])
def test_a_gateway_that_connects_comes_back_after_the_server_was_away(scheme: str):
    async def run() -> None:
        inbox, port = Inbox(), free_port()
        async with receiving(receiver(f"{scheme}://127.0.0.1:{port}"), inbox) as transport:
            await until(lambda: transport.figures.failures)
            for number in (1, 2):
                async with sender_of(parse_feed(f"{scheme}-listen://127.0.0.1:{port}"), PROFILE, NOTHING) as sender:
                    await sender.ready()
                    await sender.send(b"%d" % number, "")
                    await inbox.has(number)
                await until(lambda: not transport.figures.connected)
            assert inbox.messages == [b"1", b"2"]
            assert transport.figures.connects == 2
            assert transport.figures.trouble

    asyncio.run(run())


def test_a_websocket_subscribes_with_the_secret_of_the_settings_file():
    from websockets.asyncio.server import serve

    profile = msgspec.structs.replace(PROFILE, subscription=Subscription(text='{"key": "{secret}"}'))

    async def run() -> list[str]:
        heard: list[str] = []

        async def vendor(connection) -> None:
            heard.append(await connection.recv())
            await connection.send(b"ok")

        async with serve(vendor, "127.0.0.1", 0) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            inbox = Inbox()
            async with receiving(receiver(f"ws://127.0.0.1:{port}", profile, FeedSettings(secret="s3")), inbox):
                await inbox.has(1)
        return heard

    assert asyncio.run(run())[0] == '{"key": "s3"}'


def test_reordered_and_doubled_datagrams_give_each_position_once():
    order = [0, 2, 1, 1, 3, 3, 3, 6, 5, 4, 0, 7]
    lines = [b'{"id":"home_1","t_us":%d,"x_m":%d,"y_m":0}' % (n * 20_000, n) for n in range(8)]
    utc = msgspec.structs.replace(PROFILE, time=msgspec.structs.replace(PROFILE.time, clock="utc"))
    feed = Feed("udp", utc, MatchSheet(), 0)

    async def run() -> None:
        inbox = Inbox()
        async with receiving(receiver("udp://127.0.0.1:0"), inbox) as transport:
            await until(lambda: transport.port)
            async with sender_of(at("udp://127.0.0.1:1", transport.port), PROFILE, NOTHING) as sender:
                for number in order:
                    await sender.send(lines[number], "")
                await inbox.has(len(order))
        for number, message in enumerate(inbox.messages):
            feed.receive(message, "", 1_000_000 + number)

    asyncio.run(run())
    (packets,) = feed.take()
    assert [(ts_us // 20_000, x_m) for p in packets for ts_us, x_m in zip(p.ts_us, p.x_m, strict=True)] == [
        (number, float(number)) for number in range(8)
    ]
    figures = feed.figures()
    assert (figures.positions, figures.copies, figures.disordered) == (8, 4, 3)


def test_datagrams_that_the_kernel_drops_are_counted():
    async def run() -> None:
        inbox = Inbox()
        async with receiving(receiver("udp://127.0.0.1:0"), inbox) as transport:
            await until(lambda: transport.port)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                sender.connect(("127.0.0.1", transport.port))
                sent = 0
                while sent * 1_400 < 2 * BUFFER_BYTES:  # the gateway gets no turn meanwhile
                    sender.send(b"x" * 1_400)
                    sent += 1
            await until(lambda: len(inbox.messages) + transport.figures.dropped == sent)
            assert transport.figures.dropped

    asyncio.run(run())


def test_a_multicast_group_is_joined():
    async def run() -> None:
        inbox, port = Inbox(), free_port()
        url = f"udp://239.255.17.9:{port}?interface=127.0.0.1"
        async with receiving(receiver(url), inbox) as transport:
            await until(lambda: transport.port)
            async with sender_of(parse_feed(url), PROFILE, NOTHING) as sender:
                await sender.send(b"group", "")
            assert await inbox.has(1) == [b"group"]

    try:
        asyncio.run(run())
    except FeedError as error:
        pytest.skip(f"no multicast on the loopback of this machine: {error}")


def test_a_file_that_grows_is_followed_and_one_that_replaces_it_too(tmp_path: Path):
    async def run() -> None:
        inbox, path = Inbox(), tmp_path / "feed.jsonl"
        async with receiving(receiver(f"file:{path}"), inbox):
            async with sender_of(parse_feed(f"file:{path}"), PROFILE, NOTHING) as sender:
                await sender.send(b"one", "")
                await inbox.has(1)
                await sender.send(b"two", "")
                await inbox.has(2)
            (tmp_path / "new").write_bytes(b"three\n")
            (tmp_path / "new").replace(path)
            assert await inbox.has(3) == [b"one", b"two", b"three"]

    asyncio.run(run())


def test_a_port_that_is_taken_is_an_error_that_names_it():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(FeedError, match=f"tcp-listen://127.0.0.1:{port}: "):
            asyncio.run(receiver(f"tcp-listen://127.0.0.1:{port}").run(Inbox().deliver))


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A test authority and a certificate for 127.0.0.1."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl on this machine")
    folder = tmp_path_factory.mktemp("tls")
    request = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=touchline test",
               "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "ca.pem")  # fmt: skip
    subprocess.run(["openssl", *request], cwd=folder, check=True, capture_output=True)
    return folder


def test_tls_is_spoken_with_a_known_authority_and_refused_without(authority: Path):
    server = FeedSettings(certfile=str(authority / "ca.pem"), keyfile=str(authority / "key.pem"))
    known = FeedSettings(cafile=str(authority / "ca.pem"))

    async def run() -> None:
        inbox, stranger = Inbox(), Inbox()
        async with sender_of(parse_feed("ws-listen://127.0.0.1:0"), PROFILE, server) as sender:
            url = f"wss://127.0.0.1:{sender.port}"
            async with receiving(receiver(url, settings=known), inbox):
                await sender.ready()
                await sender.send(b"sealed", "")
                await inbox.has(1)
            async with receiving(receiver(url), stranger) as transport:
                await until(lambda: transport.figures.failures)
                assert "certificate" in transport.figures.trouble.lower()
        assert inbox.messages == [b"sealed"]

    asyncio.run(run())


@pytest.fixture(scope="module")
def mosquitto(tmp_path_factory: pytest.TempPathFactory, authority: Path) -> Iterator[tuple[int, int, Path]]:
    """A broker with a plain port and one with TLS and a user; (port, TLS port, settings file)."""
    program = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")
    if program is None:
        pytest.skip("no mosquitto on this machine: apt-get install mosquitto")
    folder, plain, secured = tmp_path_factory.mktemp("mqtt"), free_port(), free_port()
    passwords = folder / "passwords"
    subprocess.run(["mosquitto_passwd", "-b", "-c", str(passwords), "touch", "line"], check=True, capture_output=True)
    passwords.chmod(0o644)
    for name in ("ca.pem", "key.pem"):
        shutil.copy(authority / name, folder / name)
        (folder / name).chmod(0o644)
    (folder / "mosquitto.conf").write_text(
        f"per_listener_settings true\nuser root\nlistener {plain} 127.0.0.1\nallow_anonymous true\n"
        f"listener {secured} 127.0.0.1\nallow_anonymous false\npassword_file {passwords}\n"
        f"certfile {folder / 'ca.pem'}\nkeyfile {folder / 'key.pem'}\n"
    )
    (folder / "feed.toml").write_text('user = "touch"\npassword_env = "FEED_PASSWORD"\ncafile = "ca.pem"\n')
    broker = subprocess.Popen([program, "-c", folder / "mosquitto.conf"], stderr=subprocess.PIPE)
    try:
        yield plain, secured, folder / "feed.toml"
    finally:
        broker.terminate()
        broker.wait()


@pytest.mark.parametrize("version", [3, 5])
def test_mqtt_of_both_versions_brings_messages_with_their_topics(mosquitto: tuple[int, int, Path], version: int):
    async def run() -> None:
        inbox, url = Inbox(), f"mqtt://127.0.0.1:{mosquitto[0]}?version={version}&topic=v{version}/%2B"
        async with receiving(receiver(url), inbox) as transport:
            await until(lambda: transport.figures.connected)
            async with sender_of(parse_feed(url), PROFILE, NOTHING) as sender:
                for number in range(200):
                    await sender.send(b"%d" % number, f"v{version}/{number % 3}")
                await inbox.has(200)
        assert inbox.messages == [b"%d" % number for number in range(200)]
        assert inbox.topics[:3] == [f"v{version}/{number}" for number in range(3)]

    asyncio.run(run())


def test_mqtt_with_tls_and_user_and_a_wrong_password_is_trouble(mosquitto: tuple[int, int, Path]):
    address = parse_feed(f"mqtts://127.0.0.1:{mosquitto[1]}?topic=t&settings={mosquitto[2]}")

    async def run() -> str:
        inbox, settings = Inbox(), read_settings(address, {"FEED_PASSWORD": "line"})
        async with receiving(transport_of(address, PROFILE, settings), inbox) as transport:
            await until(lambda: transport.figures.connected)
            async with sender_of(address, PROFILE, settings) as sender:
                await sender.send(b"sealed", "t")
            await inbox.has(1)
        wrong = transport_of(address, PROFILE, read_settings(address, {"FEED_PASSWORD": "wrong"}))
        async with receiving(wrong, inbox):
            await until(lambda: wrong.figures.failures)
        return wrong.figures.trouble

    trouble = asyncio.run(run())
    assert "Not authorized" in trouble
    assert "wrong" not in trouble


def test_a_shared_subscription_divides_the_messages(mosquitto: tuple[int, int, Path]):
    async def run() -> None:
        one, two = Inbox(), Inbox()
        url = f"mqtt://127.0.0.1:{mosquitto[0]}?topic=shared&group=spare"
        async with receiving(receiver(url), one) as first, receiving(receiver(url), two) as second:
            await until(lambda: first.figures.connected and second.figures.connected)
            async with sender_of(parse_feed(url), PROFILE, NOTHING) as sender:
                for message in MESSAGES[:100]:
                    await sender.send(message, "shared")
                await until(lambda: len(one.messages) + len(two.messages) >= 100)
        assert sorted(one.messages + two.messages) == sorted(MESSAGES[:100])
        assert one.messages
        assert two.messages

    asyncio.run(run())


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10_000])
@pytest.mark.parametrize(
    "framing", [Framing(), Framing(cut="length", length_bytes=2), Framing(cut="length", length_covers="all"),
                Framing(cut="fixed", fixed_bytes=8)],
)  # fmt: skip
def test_a_stream_is_cut_into_messages_however_it_was_split(framing: Framing, size: int):
    messages = [b"message" + bytes([65 + number]) for number in range(20)]
    stream = b"".join(framed(message, framing) for message in messages)
    cutter = Cutter(framing)
    found = [m for first in range(0, len(stream), size) for m in cutter.feed(stream[first : first + size])]
    assert found == messages
    assert not cutter.rest()


def test_an_endless_line_is_left_out_and_the_next_one_is_not():
    cutter = Cutter(Framing())
    found = [m for _ in range(5) for m in cutter.feed(b"x" * MESSAGE_BYTES_MAX)]
    found += list(cutter.feed(b"end\nnext\n"))
    assert found == [b"next"]
    assert cutter.overlong == 1


def test_a_length_that_cannot_be_ends_the_connection():
    cutter = Cutter(Framing(cut="length"))
    assert not list(cutter.feed(b"\xff\xff\xff\xffabc"))
    assert cutter.is_broken


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("tcp://user:secret@host:1", "holds no user or password"),
        ("ftp://host:1", "must begin with one of"),
        ("tcp://host", "must be tcp://host:port"),
        ("tcp://host:99999", "not an address"),
        ("tcp://host:1?speed=2", "there is no option speed"),
        ("mqtt://host?version=4", "version"),
        ("file:", "no path"),
        ("tcp://host:1\x07", "characters that cannot be seen"),
    ],
)
def test_a_wrong_address_is_refused_without_its_secrets(url: str, reason: str):
    with pytest.raises(FeedError, match=reason) as caught:
        parse_feed(url)
    assert "secret" not in str(caught.value)


def test_an_address_is_the_same_after_a_round_trip():
    for url in (
        "tcp://h:1?profile=p.toml",
        "udp://[::1]:5?name=a+b&priority=2",
        "file:/a/b?start=end",
        "mqtt://h:1883?version=3",
    ):
        assert parse_feed(parse_feed(url).url) == parse_feed(url)
