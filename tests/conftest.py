"""Settings every test shares: Hypothesis profiles, and a world apart from the developer's own."""

import gc
import os
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from stanchion.approvals import new_key as key_making

# What is made while tests are collected keeps out of the developer's own folders, too.
os.environ["STANCHION_STATE_DIR"] = tempfile.mkdtemp(prefix="stanchion-tests-")

# Started in the background, a program ignores Ctrl-C, and so would every program that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The wall clock decides nothing here: no deadlines, no complaint about a slow machine.
settings.register_profile(
    "ci",
    derandomize=True,
    database=None,
    max_examples=100,
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
settings.load_profile("soak" if os.environ.get("STANCHION_SOAK") else "ci")


def pytest_collection_finish() -> None:
    """Keep what was collected out of the collector's way: it is much, and stays until the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def own_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep state in the test's own folder, and keep the developer's settings out."""
    for name in os.environ:
        if name.startswith(("STANCHION_", "VERONICA_")) and not name.startswith("STANCHION_SOAK"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("STANCHION_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("STANCHION_STORE", "memory:")
    monkeypatch.setenv("STANCHION_AUDIT", "memory:")
    monkeypatch.setattr(key_making, "ROUNDS", 1)  # what each guess at a passphrase costs, tests would pay all the time
