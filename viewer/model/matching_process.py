"""The process that matches a pattern which may take for ever: run as a file, by matching.py.

It reads one JSON object (`pattern`, `flags` of `re`, `texts`, `limit_s`) and writes a 0 or 1 for each
text. Where it would compute for longer than the limit it is ended by its own timer's signal, so that it
never outlives whoever started it by more. Needs nothing but Python's own library.
"""

import json
import re
import signal
import sys


def main() -> None:
    """Answers what is asked on standard input."""
    asked = json.load(sys.stdin)
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_VIRTUAL, asked["limit_s"])
    search = re.compile(asked["pattern"], asked["flags"]).search
    sys.stdout.write("".join("01"[search(text) is not None] for text in asked["texts"]))


if __name__ == "__main__":
    main()
