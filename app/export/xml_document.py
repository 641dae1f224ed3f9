"""XML documents by the standard library: texts of anybody become text, whatever they hold."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

#: What XML 1.0 has no way to write.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def add(parent: ElementTree.Element, tag: str, text: object = None, **attributes: object) -> ElementTree.Element:
    """Add an element with a text and attributes; characters that XML does not have are replaced."""
    element = ElementTree.SubElement(parent, tag, {name: clean(value) for name, value in attributes.items()})
    if text is not None:
        element.text = clean(text)
    return element


def clean(value: object) -> str:
    """A value as a text that XML can hold."""
    return _FORBIDDEN.sub("\ufffd", str(value))


def write_xml(root: ElementTree.Element, out: Path) -> None:
    """Write a document, indented.

    Raises:
        OSError: the file cannot be written.
    """
    ElementTree.indent(root)
    ElementTree.ElementTree(root).write(out, encoding="utf-8", xml_declaration=True)
