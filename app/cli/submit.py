"""Entry file for ``spark-submit``: ``spark-submit --master spark://... app/cli/submit.py batch matches/ --out again``.

The arguments are a command of ``touchline``; the master, memory and other settings of Spark are those of
``spark-submit``. The repository must be on the workers at the same path, or installed there.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    # spark-submit puts the folder of this file on the path, where commands have the names of Python's own modules, and
    # not the one above it. An installed wheel is found without that.
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != here]
    program = os.path.dirname(os.path.dirname(here))
    if not os.path.exists(os.path.join(program, "__init__.py")):
        sys.path.insert(0, program)
    from app.cli.main import main

    main()
