"""Recorded traffic of adapters: written where a framework is installed, judged again where it is
not.

`python -m tests.hosts.traffic NAME` records an adapter's traffic in its own environment.
"""

from __future__ import annotations

import importlib
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.hosts import Host
from stanchion.testing import shield_for
from stanchion.testing.host_suite.behaviours import Capped, recorded
from stanchion.testing.host_suite.table import ReportedEvent, Traffic
from tests.hosts.results import HERE, ROOT

REPLAYED: Final = ("allow", "block", "modify", "redact", "error", "handoff", "parallel")
"""Behaviours whose decisions follow from what is reported alone: nothing crashes or waits, and
nobody is paid."""
GUARDS: Final[dict[str, tuple[Any, ...]]] = {"modify": (Capped(),)}
"""The guards of behaviours that no policy can ask for."""
DRAWN: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
STARTS: Final = frozenset({"tool_call", "model_call", "handoff"})


def file_of(adapter: str) -> Path:
    """Where an adapter's traffic is kept."""
    return ROOT / HERE / adapter / "traffic.json"


def kept(adapter: str) -> list[Traffic]:
    """An adapter's traffic."""
    return msgspec.json.decode(file_of(adapter).read_bytes(), type=list[Traffic])


def record(adapter: str) -> None:
    """Play the scenes, and write down what was reported and decided."""
    driver = importlib.import_module(f"tests.hosts.{adapter}.driver").DRIVER
    found: list[Traffic] = []
    for behaviour in REPLAYED:
        with tempfile.TemporaryDirectory() as folder:
            found += recorded(driver, behaviour, driver.ways[0], Path(folder))
    text = msgspec.json.format(msgspec.json.encode(found, order="sorted"), indent=1)
    file_of(adapter).write_text(steady(text.decode()) + "\n", encoding="utf-8")


def steady(text: str) -> str:
    """The text with ids that were drawn at random numbered in their order, so that recording anew
    changes little."""
    known = {
        name: f"00000000-0000-0000-0000-{at:012}"
        for at, name in enumerate(dict.fromkeys(DRAWN.findall(text)))
    }
    return DRAWN.sub(lambda found: known[found[0]], text)


def judged_again(traffic: Traffic) -> list[tuple[str, str, str]]:
    """What is decided about recorded events now: stage, action and code of each."""
    host = Host("replay", can=traffic.can, refused=str, ended=str)
    guards = GUARDS.get(traffic.behaviour, ())
    with host.run(
        shield_for(traffic.policy, guards=guards), agent="helper", task="suite"
    ) as hosted:
        return [_again(hosted, one) for one in traffic.heard]


def _again(hosted: Any, heard: ReportedEvent) -> tuple[str, str, str]:
    told = hosted.report(
        heard.stage, key=heard.id if heard.stage in STARTS else heard.call, **heard.fields
    )
    findings = told.decision.findings
    return heard.stage, told.decision.action.name, findings[0].code if findings else ""


if __name__ == "__main__":
    record(sys.argv[1])
