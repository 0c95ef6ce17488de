"""Runs the checks of a script, each reported on a line of JSON of its own."""
import json
import os
import sys
import time
import traceback

URL = os.environ["SLUICE_URL"]
ORIGIN = URL.removesuffix("/v1")
KEY = os.environ["SLUICE_KEY"]

_checks = []


def check(name):
    """Marks a function as a check."""

    def register(function):
        _checks.append((name, function))
        return function

    return register


def equal(found, wanted):
    assert found == wanted, f"found {found!r}, wanted {wanted!r}"


def main():
    for name, function in _checks:
        begun = time.monotonic()
        problem = None
        try:
            function()
        except Exception:
            problem = traceback.format_exc(limit=-8)[-4000:]
        result = {"check": name, "seconds": time.monotonic() - begun, "problem": problem}
        print(json.dumps(result), flush=True)
    sys.exit(0)
