"""Addresses of topics, and that no secret leaves through one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.kafka.address import SETTINGS_VARIABLE, Address, KafkaError, connection, is_kafka, parse


def test_an_address_says_brokers_topic_match_and_start():
    address = parse("kafka://a:9093,b/positions.v1?match=Cup+final&start=2026-11-21T15:00:00Z")
    assert address == Address(("a:9093", "b:9092"), "positions.v1", "Cup final", "2026-11-21T15:00:00Z")
    assert address.start_ms == 1_795_273_200_000
    assert parse(address.url) == address
    assert address.sibling(".rejected").topic == "positions.v1.rejected"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("kafka://a:9092", "must be kafka://host:port/topic"),
        ("kafka://a:9092/", "must be kafka://host:port/topic"),
        ("kafka://a:9092/..", "must be kafka://host:port/topic"),
        ("http://a:9092/t", "must be kafka://host:port/topic"),
        ("kafka://a:99999/t", "is not host:port"),
        ("kafka://a:x/t", "is not host:port"),
        ("kafka:///t", "is not host:port"),
        ("kafka://a:1/t?from=latest", "there is no from to ask for"),
        ("kafka://a:1/t?start=noon", "start must be earliest, latest or a time"),
        ("kafka://a:1/t?start", "not an address of a topic"),
        ("\nkafka://a:1/t", "white space at an end"),
        ("Kafka://a:1/t", "must be kafka://host:port/topic"),
    ],
)
def test_what_is_wrong_with_an_address_is_said(url, message):
    with pytest.raises(KafkaError, match=message):
        parse(url)


@pytest.mark.parametrize(
    "url",
    [
        "kafka://joe:hunter2@a:1/t", "kafka://a:1/t?password=hunter2", "kafka://a:1/t?hunter2=x&start=hunter2",
        "kafka://a:1/no topic?sasl_plain_password=hunter2", "kafka://a:x/t?password=hunter2",
        "kafka://a:1/t?start=hunter2",
    ],
)  # fmt: skip
def test_what_may_be_a_secret_in_an_address_is_not_repeated(url):
    with pytest.raises(KafkaError) as error:
        parse(url)
    assert "=hunter2" not in str(error.value)
    assert "hunter2@" not in str(error.value)


def test_a_password_in_an_address_is_refused_and_not_repeated():
    with pytest.raises(KafkaError) as error:
        parse("kafka://me:hunter2@a:9092/t")
    assert "hunter2" not in str(error.value)


def test_secrets_come_from_a_file_named_by_the_address_or_the_environment(tmp_path: Path):
    file = tmp_path / "kafka.toml"
    file.write_text('security_protocol = "SASL_SSL"\nsasl_plain_password = "hunter2"\n')
    named = connection(parse(f"kafka://a:1/t?settings={file}"), {})
    assert named == {"bootstrap_servers": ["a:1"], "security_protocol": "SASL_SSL", "sasl_plain_password": "hunter2"}
    assert connection(parse("kafka://a:1/t"), {SETTINGS_VARIABLE: str(file)}) == named
    assert connection(parse("kafka://a:1/t"), {}) == {"bootstrap_servers": ["a:1"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [(None, "cannot be read"), ("a = ", "is not TOML"), ('group_id = "hunter2"', "group_id: unknown")],
)
def test_a_bad_settings_file_is_named_without_its_values(tmp_path: Path, text: str | None, message: str):
    file = tmp_path / "kafka.toml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(KafkaError, match=message) as error:
        connection(parse(f"kafka://a:1/t?settings={file}"), {})
    assert "hunter2" not in str(error.value)
    assert str(file) in str(error.value)


def test_a_password_may_stand_in_a_file_or_a_variable_of_its_own_and_files_are_beside_the_settings(tmp_path: Path):
    (tmp_path / "ca.pem").touch()
    (tmp_path / "word").write_text("hunter2\n")
    file = tmp_path / "kafka.toml"
    file.write_text('ssl_cafile = "ca.pem"\nsasl_plain_password_file = "word"\nssl_password_env = "KEY_WORD"\n')
    settings = connection(parse(f"kafka://a:1/t?settings={file}"), {"KEY_WORD": "swordfish"})
    assert settings["sasl_plain_password"] == "hunter2"
    assert settings["ssl_password"] == "swordfish"
    assert settings["ssl_cafile"] == str(tmp_path / "ca.pem")
    assert set(settings) == {"bootstrap_servers", "sasl_plain_password", "ssl_password", "ssl_cafile"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('sasl_plain_password_file = "gone"', "gone cannot be read"),
        ('sasl_plain_password_env = "GONE"', "there is no variable GONE"),
        ('sasl_plain_password = "hunter2"\nsasl_plain_password_env = "X"', "one is enough"),
        ('ssl_cafile = "gone.pem"', "ssl_cafile: there is no file"),
        ('security_protocol = "hunter2"', "security_protocol: must be one of PLAINTEXT"),
        ('sasl_mechanism = "hunter2"', "sasl_mechanism: must be one of PLAIN"),
    ],
)
def test_a_secret_that_is_not_there_is_said_by_name(tmp_path: Path, text: str, message: str):
    file = tmp_path / "kafka.toml"
    file.write_text(text)
    with pytest.raises(KafkaError, match=message) as error:
        connection(parse(f"kafka://a:1/t?settings={file}"), {"X": "swordfish"})
    assert "hunter2" not in str(error.value)


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_an_error(text: str):
    for url in (text, f"kafka://{text}", f"kafka://a:1/{text}"):
        try:
            address = parse(url)
        except KafkaError:
            continue
        assert is_kafka(url)
        assert parse(address.url) == address
