"""Settings every test shares: Hypothesis profiles, and a world apart from the developer's own."""

import gc
import itertools
import os
import shutil
import signal
import tempfile
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from stanchion.approvals import keys as key_making
from stanchion.telemetry import lines
from tests import heavy
from tests.sampling import SOAK
from tests.workers import (  # noqa: F401 - pytest finds them here
    pytest_addoption,
    pytest_runtest_protocol,
    pytest_runtestloop,
)

# What is made while tests are collected keeps out of the developer's own folders, too.
WORLDS: Final = Path(tempfile.mkdtemp(prefix="stanchion-tests-"))
NUMBERS: Final = itertools.count()
BEGUN: Final = itertools.count(1)
SETTLED: Final = 250
"""After so many tests what is left of them is taken to stay."""
os.environ["STANCHION_STATE_DIR"] = str(WORLDS / "collecting")

LONG: Final = frozenset(
    {"test_wheels.py", "test_add_a_guard.py", "test_comparing.py", "test_examples.py"}
)
"""Files with tests that take as long as hundreds of others."""

# Started in the background, a program ignores Ctrl-C, and so would every program that a test
# starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The wall clock decides nothing here: no deadlines, no complaint about a slow machine.
settings.register_profile(
    "ci",
    derandomize=True,
    database=None,
    max_examples=50,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "soak",
    max_examples=int(os.environ.get("STANCHION_SOAK_EXAMPLES", "100000")),
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("soak" if SOAK else "ci")
if not SOAK:
    # What is drawn would depend on the modules that other tests have loaded in the same worker.
    vars(providers)["_get_local_constants"] = lambda: providers._local_constants


def pytest_collectstart() -> None:
    """Search for nothing that could be thrown away while tests are collected: they stay, and
    searches took 15 % of the time."""
    gc.disable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave to a soak what is long and was not asked for by its name, and begin with what takes
    long by itself: begun last, it would keep one worker busy while others have nothing left."""
    named = any("::" in each for each in config.args) and "STANCHION_GATE" not in os.environ
    if not SOAK and not named:
        items[:], left = heavy.divide(items, heavy.read(heavy.FILE.read_text("utf-8")))
        config.hook.pytest_deselected(items=left)
    items.sort(key=lambda item: item.path.name not in LONG)


def pytest_collection_finish() -> None:
    """Keep what was collected out of the collector's way: it is much, and stays until the end.
    Search less often for what tests leave: the usual 700 new objects are one small test, and a
    tenth of the time went into searches."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()


def pytest_runtest_setup() -> None:
    """Keep what tests have left for good out of the collector's way, too, from time to time: tests
    that search for what is thrown away would search all of it, each time."""
    if next(BEGUN) % SETTLED == 0:
        gc.collect()
        gc.freeze()


def pytest_unconfigure() -> None:
    """Leave nothing behind."""
    shutil.rmtree(WORLDS, ignore_errors=True)


def own_folder(request: pytest.FixtureRequest) -> Path:
    """The test's own folder where it asks for one; otherwise one that is made by whoever first
    writes there. To make and to number a folder costs more than most tests."""
    if "tmp_path" in request.fixturenames:
        folder: Path = request.getfixturevalue("tmp_path")
        return folder
    return WORLDS / str(os.getpid()) / str(next(NUMBERS))


@pytest.fixture(autouse=True)
def own_world(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep state in the test's own folder, and keep the developer's settings out."""
    folder = own_folder(request)
    for name in os.environ:
        if name.startswith(("STANCHION_", "VERONICA_")) and not name.startswith("STANCHION_SOAK"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("STANCHION_STATE_DIR", str(folder / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    monkeypatch.setenv("STANCHION_STORE", "memory:")
    monkeypatch.setenv("STANCHION_AUDIT", "memory:")
    # A busy machine may not get to a line of the log for long.
    monkeypatch.setattr(lines, "PATIENCE_S", 20.0)
    # What each guess at a passphrase costs, tests would pay all the time.
    monkeypatch.setattr(key_making, "ROUNDS", 1)
