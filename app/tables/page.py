"""The dictionary of the analyst's tables, ``docs/tables.md``; ``python -m app.cli.docs`` writes it."""

from __future__ import annotations

import pyarrow as pa

from app.base.program import with_version
from app.tables.columns import TABLES, FlatTable

_HEAD = """# The analyst's tables

Every column of every table, made by `python -m app.cli.docs`; do not edit.

```python
import touchline

passes = touchline.Match("matches/demo").table("passes")  # or form="arrow", form="polars"
```

`touchline export matches/demo --to parquet --out tables` writes all of them ([export](export.md)). `touchline query`
knows them by these names, with the name of the match in a further column `match` ([history](history.md)).

* A row is what stands at the moment. In a match that is still being played, the last seconds may change.
* Lengths are metres from the centre spot, +x to the right, +y to the left for who attacks to the right. `attacks_x`
  times a position gives it as the team attacks. Times are microseconds of event time, as in `touchline events`.
* A value that the input does not show is null: no height without ball height, no left foot without limbs.
* A clip without a kick-off (`period.start`) counts as a first half that begins with the stream.
* Numbers in brackets name the detector: [detectors](detectors.md).
"""

_TYPES = {pa.string(): "text", pa.float64(): "number", pa.bool_(): "yes or no"}


def markdown() -> str:
    """The page: a list of the tables, then a section a table."""
    listed = ["", "| table | a row for each |", "|---|---|"]
    listed += [f"| [`{table.name}`](#{table.name}) | {table.row} |" for table in TABLES.values()]
    return with_version(_HEAD + "\n".join(listed) + "\n" + "".join(map(_section, TABLES.values())))


def _section(table: FlatTable) -> str:
    rows = [f"| `{c.name}` | {_TYPES.get(c.type, 'whole number')} | {c.text} |" for c in table.columns]
    return "\n".join(["", f"## {table.name}", "", "| column | type | what it is |", "|---|---|---|", *rows, ""])
