"""Builds the source distribution through setuptools' build backend, silently unless it fails.

Usage: build_sdist.py FOLDER, from the root of the checkout. Raises what the backend raises, after
showing what it said.
"""

import contextlib
import io
import sys

from setuptools import build_meta

said = io.StringIO()
built = False
try:
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        build_meta.build_sdist(sys.argv[1])
    built = True
finally:
    if not built:
        sys.stderr.write(said.getvalue())
