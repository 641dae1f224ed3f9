"""Entry file for ``spark-submit``: ``spark-submit --master spark://... app/cli/submit.py batch matches/ --out again``.

The arguments are a command of ``touchline``; the master, memory and other settings of Spark are those of
``spark-submit``. The repository must be on the workers at the same path, or installed there.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    # spark-submit puts the folder of this file on the path, and not the one above it.
    # An installed wheel is found without that.
    if not (Path(__file__).resolve().parents[2] / "__init__.py").exists():
        sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from app.cli.main import main

    main()
