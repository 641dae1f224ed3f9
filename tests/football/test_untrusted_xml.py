"""XML from outside: within the limits, and without a document type."""

from __future__ import annotations

import pytest

from football.untrusted import DEPTH_MAX, VALUES_MAX, UntrustedError, decode_xml


def test_elements_up_to_the_limit_of_depth_are_decoded() -> None:
    depth = DEPTH_MAX
    assert decode_xml(b"<a>" * depth + b"</a>" * depth).tag == "a"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"<a>" * (DEPTH_MAX + 1) + b"</a>" * (DEPTH_MAX + 1), "deep"),
        (b"<a>" * 100_000, "deep"),
        (b"<a>" + b"<b/>" * VALUES_MAX + b"</a>", "elements"),
        (b'<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>', "document type"),
        (b"<a><b></a>", "not XML"),
        (b"", "not XML"),
        (b"\xff\xfe\x00", "not XML"),
    ],
    ids=["deeper", "much deeper", "too many", "entities", "crossed", "empty", "noise"],
)
def test_what_is_too_deep_too_much_or_no_xml_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(UntrustedError, match=reason):
        decode_xml(data)
