"""Every place that decodes bytes: ``football/untrusted.py``, and those that are listed here with their reasons."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_house import FILES, ROOT, statements

#: What decodes bytes or text, by its full name. What only builds a document or a data set in memory is none.
DECODERS = re.compile(
    r"msgspec\.(json|msgpack|yaml|toml)\.(decode|Decoder)|json\.loads?|json\.JSONDecoder|orjson\.\w+|yaml\.\w*([Ll]oad|compose|parse)\w*"
    r"|tomllib\.loads?|pickle\.(loads?|Unpickler)|cloudpickle\.loads?|marshal\.loads?|shelve\.open|eval|exec|ast\.literal_eval"
    r"|pyarrow\.parquet\.(read_\w+|ParquetFile|ParquetDataset)|pyarrow\.dataset\.\w+|pyarrow\.(ipc|feather|json|orc)\.(open|read)\w*"
    r"|pyarrow\.csv\.(open|read)_csv|pandas\.read_\w+|numpy\.(load|loadtxt|genfromtxt|fromfile|fromregex)"
    r"|csv\.(DictReader|reader)|gzip\.(open|decompress)|(zlib|bz2|lzma|zstandard)\.(decompress\w*|open)|zipfile\.ZipFile|tarfile\.\w*open"
    r"|xml\.(?!etree\.ElementTree(\.(Element|SubElement|indent|tostring))?$).+|lxml\..+|defusedxml\..+|struct\.(unpack\w*|iter_unpack|Struct)|duckdb\.connect|kloppy(?!\.domain).*"
)

#: Module -> what it decodes there, and why it does not go through the one decoder.
LISTED = {
    "football/untrusted.py": ({"xml.etree.ElementTree.XMLPullParser", "msgspec.json.Decoder", "tomllib.loads",
                               "msgspec.msgpack.Decoder", "pyarrow.parquet.ParquetFile", "pyarrow.ipc.open_stream"},
                              "the one decoder"),
    "football/untrusted_files.py": ({"gzip.open", "bz2.open"}, "the one decoder: what is compressed, as a stream"),
    "football/untrusted_csv.py": ({"pyarrow.csv.open_csv"}, "the one decoder: tables as CSV; texts, line by line"),
    "app/spark/fork_server.py": ({"json.loads"}, "requests of the run's own launchers, over a socket of this user"),
    "app/spark/launcher.py": ({"struct.Struct"}, "lengths and numbers between launcher and fork server"),
    "app/spark/stage.py": ({"pyarrow.ipc.open_stream"}, "tables of the run's own stages"),
    "app/pipeline/seal.py": ({"struct.Struct"}, "the lengths before a seal; of states and of the run's own files"),
    "app/base/machine_clock.py": ({"struct.Struct"}, "fields of the kernel's own structure"),
    "detectors/signals/kernels/filter_kernel.py": ({"struct.Struct"}, "writes the memory of a kernel"),
    "middleware/engine.py": ({"pickle.loads"}, "a snapshot, whose seal app/pipeline/state_store.py has checked"),
    "middleware/nodes/node.py": ({"pickle.loads"}, "a node's state in a share of a commit, see app/nodes/host.py"),
    "middleware/nodes/moves.py": ({"pickle.loads"}, "a part's state in a record that app/nodes/mesh.py has checked"),
    "middleware/nodes/frames.py": ({"msgspec.msgpack.decode"}, "frames in records that app/nodes/mesh.py has checked"),
    "app/nodes/host.py": ({"pickle.loads"}, "a share of a commit: of the sealed state, by a record that is checked"),
    "app/nodes/engine.py": ({"pickle.loads"}, "a snapshot, whose seal app/pipeline/state_store.py has checked"),
    "app/pipeline/pipeline.py": ({"pickle.loads"}, "a snapshot, whose seal app/pipeline/state_store.py has checked"),
    "app/spark/seat.py": ({"pickle.loads", "msgspec.json.decode"}, "files of the run's own driver; sealed"),
    "app/spark/results.py": ({"msgspec.msgpack.decode"}, "files of the run's own stages"),
    "app/gateway/transports/udp.py": ({"struct.Struct"}, "a count of the kernel, beside a datagram"),
    "app/gateway/message_tree.py": ({"struct.Struct"}, "rows of numbers, whose lengths are checked before"),
    "app/sources/producer.py": ({"json.loads"}, "the arguments that the run gives its own child"),
    "simulator/yaml_document.py": ({"yaml.SafeLoader"}, "YAML with lines; limits size, depth and count itself"),
    "replay/formats/debs.py": ({"pyarrow.csv.open_csv"}, "a stream within the limits; whole numbers, by parts"),
    "replay/formats/csv_rows.py": ({"csv.DictReader"}, "text within the limits; the csv module bounds its fields"),
    "replay/formats/pattern_events.py": ({"csv.reader"}, "lines within the limits, each alone"),
    "replay/formats/ooo_dataset.py": ({"csv.DictReader"}, "lines within the limits, read row by row"),
    "replay/formats/kloppy_reader.py": (set(), "kloppy, by name: sizes are checked before it, rows after it"),
    "app/history/engines.py": ({"duckdb.connect"}, "parts that manifests name, by streaming; DuckDB bounds its memory"),
    "app/pipeline/framing.py": ({"struct.Struct"}, "rows of the run's own source"),
    "app/hub/client.py": ({"struct.Struct"}, "the length of a frame, four bytes"),
    "football/lifecycle.py": ({"msgspec.msgpack.Decoder"}, "records that the list itself has packed"),
    "detectors/confidence.py": ({"msgspec.toml.decode"}, "the table of the package, which no user names"),
    "app/export/xml_document.py": ({"xml.etree.ElementTree.ElementTree"}, "writes a document, reads none"),
    "app/cameras/joystick.py": ({"struct.Struct"}, "records of fixed length, of the kernel's input devices"),
    "app/cli/bundle.py": ({"tarfile.open"}, "writes an archive, reads none"),
    "camera/protocols/visca_codec.py": ({"struct.unpack_from"}, "the head of a datagram, eight bytes"),
}  # fmt: skip


def dotted_names(tree: ast.Module) -> Iterator[str]:
    """The full names of all that a module refers to."""
    aliases: dict[str, str] = {}
    for node in statements(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                first = name.name.partition(".")[0]
                aliases[name.asname or first] = name.name if name.asname else first
        elif isinstance(node, ast.ImportFrom) and node.module:
            aliases |= {name.asname or name.name: f"{node.module}.{name.name}" for name in node.names}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute | ast.Name):
            continue
        parts: list[str] = []
        inner: ast.expr | ast.AST = node
        while isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name) and (parts or inner.id in aliases or inner.id in ("eval", "exec")):
            yield ".".join([aliases.get(inner.id, inner.id), *reversed(parts)])


def decoders_of(text: str) -> set[str]:
    """Calls in the text of a module that decode bytes."""
    return {name for name in dotted_names(ast.parse(text)) if DECODERS.fullmatch(name)}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import msgspec\nmsgspec.json.decode(b'')", "msgspec.json.decode"),
        ("from msgspec import json as j\nread = j.Decoder(int)", "msgspec.json.Decoder"),
        ("import pyarrow.parquet as pq\npq.read_table('x')", "pyarrow.parquet.read_table"),
        ("from pickle import loads\nloads(b'')", "pickle.loads"),
        ("def f():\n    import yaml\n    return yaml.safe_load('')", "yaml.safe_load"),
        ("from xml.etree import ElementTree as ET\nET.parse('x')", "xml.etree.ElementTree.parse"),
        ("import numpy as np\nnp.load('x')", "numpy.load"),
        ("eval('1')", "eval"),
    ],
)
def test_the_inventory_sees_a_decoder_under_any_name(text: str, found: str):
    assert found in decoders_of(text)


def test_no_module_decodes_bytes_around_the_one_decoder():
    found = {str(path.relative_to(ROOT)): decoders_of(path.read_text(encoding="utf-8")) for path in FILES}
    around = {file: sorted(names - LISTED.get(file, (set(), ""))[0]) for file, names in found.items()}
    around = {file: names for file, names in around.items() if names}
    assert not around, f"decode by football/untrusted.py, or list it with its reason: {around}"
    stale = {file: sorted(names - found.get(file, set())) for file, (names, _) in LISTED.items()}
    assert not {file: names for file, names in stale.items() if names}, "listed, and there no more"
    assert all(reason and Path(ROOT / file).is_file() for file, (_, reason) in LISTED.items())


def test_only_snapshots_with_a_seal_are_unpickled():
    unpickling = {file for file, (names, _) in LISTED.items() if any(name.startswith("pickle") for name in names)}
    nodes = {"middleware/nodes/node.py", "middleware/nodes/moves.py", "app/nodes/host.py", "app/nodes/engine.py"}
    assert unpickling == {"middleware/engine.py", "app/pipeline/pipeline.py", "app/spark/seat.py"} | nodes
    for path in FILES:  # nodes get bytes by records whose keyed hashes are checked, or in one process
        if "middleware.nodes.node" in path.read_text(encoding="utf-8"):
            rooms = (ROOT / "middleware" / "nodes", ROOT / "app" / "nodes")
            assert any(map(path.is_relative_to, rooms)), f"{path.name}: give nodes records of app/nodes/mesh.py only"
