"""Arrow without pandas: arrays of Python values do not import it, data frames do."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
import pyarrow as pa
from app.base.arrow import without_pandas
if sys.argv[1] == "without":
    without_pandas()
table = pa.table({"one": pa.array([1, None], pa.int64()), "other": pa.array(["a", "b"], pa.string())})
table["one"].chunk(0).slice(0, 1).to_numpy()
print("pandas" in sys.modules, table.to_pylist()[0], list(table.to_pandas().other))
"""


def answer(how: str) -> str:
    return subprocess.run([sys.executable, "-c", CODE, how], capture_output=True, text=True, check=True).stdout.strip()


def test_arrays_import_no_pandas_and_data_frames_still_can():
    assert answer("without") == "False {'one': 1, 'other': 'a'} ['a', 'b']"
    assert answer("with").startswith("True"), "Arrow imports it by itself: else this module is not needed"
