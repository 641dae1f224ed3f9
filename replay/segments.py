"""Segments of a capture: some packets as one Arrow IPC file.

One row a packet: ``arrival_us``, ``transmitter`` (dictionary), ``sequence``, and ``positions``, a list of structs:
event time ``ts_us``, position ``x_mm, y_mm, z_mm``, ``quality`` of location in percent and, where the source gives
them, velocity ``vx_mm_s ...`` and acceleration ``ax_mm_s2 ...``. A missing value is null.
"""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

import numpy as np
import pyarrow as pa

from football.errors import CaptureError
from football.packet_table import MISSING, MOTION, QUALITY, WIDTH_WITH_MOTION, Packets, concat
from football.untrusted import read_arrow

#: Measured (``bench/simulator.py``): less than half of the plain columns' bytes, two thirds of lz4's, for the same
#: time of writing; read as arrays it is slower than lz4, but still hundreds of times faster than the match goes.
COMPRESSION = "zstd"

_POSITION_FIELDS = ("x_mm", "y_mm", "z_mm")
_MOTION_FIELDS = ("vx_mm_s", "vy_mm_s", "vz_mm_s", "ax_mm_s2", "ay_mm_s2", "az_mm_s2")

#: What Arrow, or the lack of what should be there, raises over a damaged segment.
_DAMAGED = (OSError, pa.ArrowException, KeyError, ValueError, TypeError, AssertionError, AttributeError, IndexError)


def write_segment(path: Path, packets: Packets) -> None:
    """Write one Arrow IPC file; see the module."""
    values = packets.values
    columns: list[pa.Array] = [pa.array(packets.ts_us), *(_column(values[:, i]) for i in range(3))]
    fields = ["ts_us", *_POSITION_FIELDS, "quality"]
    columns.append(_column(values[:, QUALITY], pa.uint8()))
    if values.shape[1] == WIDTH_WITH_MOTION:
        columns += [_column(column) for column in values[:, MOTION].T]
        fields += _MOTION_FIELDS
    positions = pa.ListArray.from_arrays(
        pa.array(packets.bounds.astype(np.int32)), pa.StructArray.from_arrays(columns, fields)
    )
    transmitters = pa.DictionaryArray.from_arrays(packets.tag.astype(np.int16), pa.array(packets.names, pa.string()))
    batch = pa.record_batch(
        [pa.array(packets.arrival_us), transmitters, pa.array(packets.sequence), positions],
        names=["arrival_us", "transmitter", "sequence", "positions"],
    ).replace_schema_metadata({"touchline.crc32": str(_checksum(packets))})
    options = pa.ipc.IpcWriteOptions(compression=COMPRESSION)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)


def _column(values: np.ndarray, kind: pa.DataType | None = None) -> pa.Array:
    missing = values == MISSING
    mask = missing if missing.any() else None
    if kind is not None:
        values = np.where(missing, 0, values).astype(kind.to_pandas_dtype())
    return pa.array(np.ascontiguousarray(values), mask=mask)


def merge(parts: list[Packets]) -> Packets:
    """Return packets in one batch, under one list of transmitters and one width."""
    width = max(part.values.shape[1] for part in parts)
    if all(part.names == parts[0].names and part.values.shape[1] == width for part in parts):
        return concat(parts)
    codes: dict[str, int] = {}
    for part in parts:
        for name in part.names:
            codes.setdefault(name, len(codes))
    names = tuple(codes)
    same: list[Packets] = []
    for part in parts:
        values = np.full((len(part.values), width), MISSING, np.int32)
        values[:, : part.values.shape[1]] = part.values
        tag = np.array([codes[name] for name in part.names], np.int64)[part.tag]
        same.append(Packets(names, part.arrival_us, tag, part.sequence, part.bounds, part.ts_us, values))
    return concat(same)


def read_segment(path: Path) -> Packets:
    """Read the packets of a segment.

    Raises:
        CaptureError: it is damaged, or not a segment.
    """
    try:
        batch = read_arrow(path)
        transmitters, positions = batch.column("transmitter"), batch.column("positions")
        table = positions.values
        fields = [table.field(name) for name in (*_POSITION_FIELDS, "quality")]
        if table.type.num_fields > len(fields) + 1:
            fields += [table.field(name) for name in _MOTION_FIELDS]
        values = np.empty((len(table), len(fields)), np.int32)
        for index, field in enumerate(fields):
            values[:, index] = _filled(field)
        packets = Packets(
            tuple(transmitters.dictionary.to_pylist()),
            batch.column("arrival_us").to_numpy(),
            transmitters.indices.to_numpy().astype(np.int64),
            batch.column("sequence").to_numpy(),
            positions.offsets.to_numpy().astype(np.int64),
            table.field("ts_us").to_numpy(),
            values,
        )
        if int(batch.schema.metadata[b"touchline.crc32"]) != _checksum(packets):
            raise CaptureError(f"{path}: damaged: its content is not what was written")
    except CaptureError:
        raise
    except _DAMAGED as error:
        raise CaptureError(f"{path}: damaged, or not a segment of a capture: {error}") from error
    return packets


def _checksum(packets: Packets) -> int:
    """Return a checksum over all content of a segment: Arrow itself would read changed numbers silently."""
    checksum = crc32("\0".join(packets.names).encode())
    for column in (packets.arrival_us, packets.tag, packets.sequence, packets.bounds, packets.ts_us, packets.values):
        checksum = crc32(np.ascontiguousarray(column), checksum)
    return checksum


def _filled(field: pa.Array) -> np.ndarray:
    if field.null_count == 0:
        return field.to_numpy()
    return field.cast(pa.int32()).fill_null(MISSING).to_numpy()
