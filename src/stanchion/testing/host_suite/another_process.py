"""Another process, in which a host goes on after a pause: reads what it is given, plays, and writes
what was seen."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from stanchion.approvals.operators import Operator
from stanchion.kernel.autonomy import OPERATOR
from stanchion.testing.host_suite.behaviours import shield_at, turns
from stanchion.testing.host_suite.scene import Driver, Scene
from stanchion.testing.host_suite.table import played


def main(given: dict[str, Any]) -> str:
    """Play the rest of a scene that waited for a person."""
    module, _, name = given["driver"].partition(":")
    driver: Driver = getattr(importlib.import_module(module), name)
    folder = Path(given["folder"])
    with shield_at(folder, Operator(name="ann", key=given["key"], roles=(OPERATOR,))) as shield:
        scene = Scene(
            shield, turns(), given["way"], folder, state=given["state"], before=given["before"]
        )
        return msgspec.json.encode(played(driver, scene)).decode()


if __name__ == "__main__":
    said = main(json.load(sys.stdin))
    sys.stdout.write(f"\n{said}\n")
