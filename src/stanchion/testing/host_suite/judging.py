"""The suite itself: a behaviour by its name, played and judged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from stanchion.testing.host_suite import calls, handing_over, streams, trouble, waiting
from stanchion.testing.host_suite.driver import Driver
from stanchion.testing.host_suite.table import Table
from stanchion.testing.host_suite.traffic import Traffic

_JUDGES: Final = {
    "allow": calls.allow,
    "block": calls.block,
    "modify": calls.modify,
    "redact": calls.redact,
    "pause": waiting.pause,
    "stream": streams.stream,
    "error": trouble.error,
    "usage": calls.usage,
    "handoff": handing_over.handoff,
    "parallel": calls.parallel,
    "crash": trouble.crash,
    "timeout": trouble.timeout,
}

BEHAVIOURS: Final = tuple(_JUDGES)
"""Every behaviour by its name."""


def check(driver: Driver, behaviour: str, way: str, folder: Path) -> None:
    """Play a behaviour's scenes and judge what was seen; raises `AssertionError` where the host
    does something else. What is declared out of the host's reach is left to its probe."""
    judge = _JUDGES[behaviour]
    if behaviour not in driver.beyond:
        judge(Table(driver, way, folder))


def recorded(driver: Driver, behaviour: str, way: str, folder: Path) -> list[Traffic]:
    """Check a behaviour, and give what the host has reported in its scenes."""
    if behaviour in driver.beyond:
        return []
    table = Table(driver, way, folder, behaviour, records=True)
    _JUDGES[behaviour](table)
    return table.recorded


def check_probes(driver: Driver, tests: Mapping[str, Any]) -> None:
    """Check that whatever is declared out of reach is a behaviour, and that its probe is among the
    tests."""
    for behaviour, probe in driver.beyond.items():
        assert behaviour in _JUDGES, f"`{behaviour}` is no behaviour of the suite"
        assert probe.startswith("test_"), f"`{probe}` is not the name of a test"
        assert callable(tests.get(probe)), (
            f"`{probe}` should show that `{behaviour}` is out of reach, and is no test"
        )
