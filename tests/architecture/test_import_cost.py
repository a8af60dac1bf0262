"""`import stanchion` is light and leaves no trace."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HEAVY = (
    "argparse", "asyncio", "http", "logging", "platformdirs", "socket", "sqlite3", "ssl",
    "subprocess", "urllib.request", "yaml",
)  # fmt: skip

OWN = {"can_ada", "jsonschema_rs", "msgspec", "platformdirs", "re2", "typing_extensions", "yaml"}
"""What Stanchion depends on, with no extra; msgspec takes `typing_extensions` where it is there."""

PROBE = """
import json, signal, sys
handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
before = set(sys.modules)
import MODULE
loaded = sorted(set(sys.modules) - before)
changed = [number for number, handler in handlers.items() if signal.getsignal(number) is not handler]
print(json.dumps({"loaded": loaded, "changed": changed}))
"""  # noqa: E501


def probe(module: str, home: Path) -> dict[str, Any]:
    """Import a module in a fresh interpreter whose home and working directory are `home`; say what
    it did."""
    places = {
        "HOME": str(home),
        "XDG_STATE_HOME": str(home),
        "STANCHION_STATE_DIR": str(home / "state"),
    }
    environment = {**os.environ, **places, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", PROBE.replace("MODULE", module)]
    done = subprocess.run(
        command, cwd=home, env=environment, capture_output=True, text=True, check=True
    )
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty directory."""
    empty = tmp_path / "home"
    empty.mkdir()
    return empty


def test_nothing_heavy_is_loaded(home: Path) -> None:
    loaded = probe("stanchion", home)["loaded"]
    assert "stanchion" in loaded
    heavy = [name for name in loaded if name in HEAVY]
    assert not heavy, (
        f"`import stanchion` loads {heavy}; import them inside the function that needs them"
    )


def test_no_file_is_written(home: Path) -> None:
    probe("stanchion", home)
    assert list(home.rglob("*")) == [], "`import stanchion` writes files; write them on first use"


def test_no_signal_handler_is_installed(home: Path) -> None:
    assert probe("stanchion", home)["changed"] == [], (
        "`import stanchion` installs signal handlers; leave them alone"
    )


def test_the_probe_sees_all_three(home: Path) -> None:
    (home / "greedy.py").write_text(
        "import argparse, signal\nopen('x', 'w').close()\nsignal.signal(signal.SIGTERM, lambda *_: "
        "None)\n",
        encoding="utf-8",
    )
    seen = probe("greedy", home)
    assert "argparse" in seen["loaded"]
    assert seen["changed"]
    assert (home / "x").exists()


@pytest.mark.parametrize("module", ["stanchion", "stanchion.hosts"])
def test_no_framework_is_loaded_however_many_are_installed(module: str, home: Path) -> None:
    loaded = probe(module, home)["loaded"]
    beside = [name for name in loaded if name.startswith("stanchion.hosts.")]
    ours = ("stanchion.hosts.contract", "stanchion.hosts.versions")
    assert [name for name in beside if not name.startswith(ours)] == []
    foreign = {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names - {"stanchion"}
    assert foreign <= OWN
