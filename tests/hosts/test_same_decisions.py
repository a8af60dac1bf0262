"""One agent, played by each framework that is installed: the same decisions, byte for byte but for
ids and times."""

from __future__ import annotations

import contextlib
import importlib
import tomllib
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from stanchion.testing import FakeClock, shield_for
from stanchion.testing.host_suite import Driver, Scene
from stanchion.testing.host_suite.behaviours import NO_ROOT, Capped
from stanchion.testing.host_suite.scene import script
from stanchion.testing.host_suite.table import played
from tests.hosts.results import HERE, ROOT, adapters, pins

POLICY: Final[dict[str, Any]] = {
    "name": "one-agent",
    "tools": {"look": {"risk": "low"}, "send": {"risk": "high"}},
    "guards": [
        NO_ROOT,
        {"use": "secrets"},
        {"id": "letters", "use": "tool_denylist", "tools": ["send"], "action": "escalate"},
        {
            "id": "rows",
            "use": "budget",
            "calls": 1,
            "per": "task",
            "stages": ["tool_call"],
            "applies_to": {"tools": ["take"]},
        },
    ],
}
CALLS: Final = (
    ("look", {"name": "bob"}),
    ("look", {"name": "root"}),
    ("take", {"name": "t", "limit": 999}),
    ("take", {"name": "u", "limit": 1}),
    ("look", {"name": "ann"}),
)
ENDINGS: Final = {"a failure": ("look", {"name": "nobody"}), "a pause": ("send", {"to": "bob"})}
"""At each of these some frameworks end or pause, so it comes last."""
COMPARED: Final = frozenset({"tool_call", "tool_result", "error"})
"""What an agent does. What a framework adds to its requests to a model is its own."""
OWN: Final = frozenset(
    {"id", "run", "call", "at", "now", "notes", "prev", "seq", "chain", "settles", "can", "settled"}
)
"""What names a record, its run and its call, when it was and how long it took, and what its host
can."""


def drivers() -> dict[str, Driver]:
    """The drivers whose frameworks are installed, and the one that needs none."""
    found = {}
    for name in ("loop", *adapters()):
        if (ROOT / HERE / name / "driver.py").exists():
            with contextlib.suppress(ImportError), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a framework's own
                found[name] = importlib.import_module(f"tests.hosts.{name}.driver").DRIVER
    return found


def decisions(driver: Driver, way: str, ending: str, folder: Path) -> bytes:
    """Everything that was decided about the agent's actions, written down."""
    shield = shield_for(POLICY, clock=FakeClock(), guards=[Capped()])
    turns = script(*CALLS, ENDINGS[ending], "that is all")
    folder.mkdir()
    seen = played(driver, Scene(shield, turns, way, folder))
    assert len(seen.asked) > len(CALLS), seen.raised
    kept = [msgspec.to_builtins(entry.read()) for entry in shield.journal.kept()]
    told = [
        {k: v for k, v in one.items() if k not in OWN} for one in kept if one["stage"] in COMPARED
    ]
    return msgspec.json.encode(told, order="deterministic")


DRIVERS: Final = drivers()
WHOLE: Final = {
    name: one
    for name, one in DRIVERS.items()
    if not one.beyond.keys() & {"modify", "redact", "error"}
}
"""Those that can carry out all that is decided here."""


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    ("name", "way"), [(name, way) for name, one in WHOLE.items() for way in one.ways]
)
def test_one_agent_gets_the_same_decisions_in_every_framework(
    name: str, way: str, ending: str, tmp_path: Path
) -> None:
    own = decisions(DRIVERS["loop"], "sync", ending, tmp_path / "loop")
    assert own.count(b'"stage"') == (10 if ending == "a failure" else 9)
    assert decisions(DRIVERS[name], way, ending, tmp_path / "own") == own


def test_the_frameworks_of_the_development_environment_are_played() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    here = {pin.partition("==")[0] for pin in extras["dev"]}
    wanted = {
        name for name, pinned in pins().items() if here & {pin.partition("==")[0] for pin in pinned}
    }
    absent = [
        pin.partition("==")[0] for name in wanted for pin in pins()[name] if not installed(pin)
    ]
    if absent:
        pytest.skip(f"`{absent[0]}` is not installed here: `make test` installs it")
    assert wanted
    assert wanted <= DRIVERS.keys()


def installed(pin: str) -> bool:
    """Whether something is installed, in whatever version."""
    try:
        return bool(version(pin.partition("==")[0]))
    except PackageNotFoundError:
        return False
