"""Imports point inward, and the pure rooms stay pure."""

from pathlib import Path, PurePosixPath

import pytest

from tests.architecture.import_rules import violations

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = [ROOT / "src" / "stanchion", ROOT / "lab" / "src" / "stanchion_lab"]


def test_every_source_file_keeps_the_import_rule() -> None:
    found = []
    for package in PACKAGES:
        for file in sorted(package.rglob("*.py")):
            path = PurePosixPath(file.relative_to(package.parent).as_posix())
            found += violations(path, file.read_text(encoding="utf-8"))
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("path", "source", "says"),
    [
        ("kernel/a.py", "from stanchion.guards import size", "may import only `typed`"),
        ("locks/a.py", "from stanchion.kernel import actions", "may import no other room"),
        ("typed.py", "from stanchion.kernel import actions", "may import only `locks`"),
        ("kernel/a.py", "def f():\n    import stanchion.policy", "kernel/a.py:2: "),
        ("kernel/a.py", "from stanchion import Shield", "imports `stanchion.Shield`"),
        ("kernel/a.py", "from .. import policy", "imports `stanchion.policy`"),
        ("kernel/a.py", "from ..policy.load import read", "imports `stanchion.policy.load.read`"),
        ("stores/a.py", "import stanchion.runtime", "room `stores`"),
        ("policy/a.py", "from stanchion.runtime.shield import Shield", "room `policy`"),
        (
            "policy/a.py",
            "import importlib\nimportlib.import_module('stanchion.cli')",
            "policy/a.py:2: ",
        ),
        ("runtime/a.py", "from stanchion.hosts import x", "turn the dependency round"),
        (
            "runtime/run.py",
            "from stanchion.hosts.http.opening import x",
            "turn the dependency round",
        ),
        (
            "runtime/run.py",
            "def f():\n    from stanchion.hosts.http import x",
            "turn the dependency round",
        ),
        (
            "runtime/a.py",
            "def f():\n    from stanchion.hosts.http.opening import x",
            "turn the dependency round",
        ),
        ("runtime/a.py", "from stanchion.hosts import Host", "turn the dependency round"),
        ("hosts/contract/a.py", "from stanchion.guards.shell import x", "room `hosts.contract`"),
        ("hosts/contract/a.py", "from stanchion.hosts.http import x", "room `hosts.contract`"),
        ("ops/demo/a.py", "from stanchion.ops.broker import x", "room `ops.demo`"),
        ("cli/a.py", "from stanchion_lab.bench import x", "is of the lab"),
        ("cli/a.py", "import importlib\nimportlib.import_module('stanchion_lab')", "cli/a.py:2: "),
        ("ops/views/a.py", "from stanchion.cli.printing import table", "room `ops.views`"),
        ("runtime/a.py", "from stanchion.ops.views import tools", "turn the dependency round"),
        ("hosts/a.py", "from stanchion.guards.shell import x", "room `hosts`"),
        ("cli/a.py", "from stanchion.testing import x", "`stanchion.testing` is for tests"),
        ("testing/a.py", "from stanchion.cli import x", "room `testing`"),
        ("__init__.py", "from stanchion.cli.main import main", "room `root`"),
        ("helper.py", "", "`helper` is no room"),
        ("odd/a.py", "", "`odd` is no room"),
        ("guards/a.py", "from stanchion.guards.b import x", "guards never import each other"),
        ("guards/a.py", "from stanchion.guards import b", "guards never import each other"),
        ("guards/a.py", "from . import b", "guards never import each other"),
        (
            "guards/shell/rm.py",
            "from stanchion.guards.secrets import x",
            "guards never import each other",
        ),
        ("guards/_shared.py", "from stanchion.guards.b import x", "guards never import each other"),
        ("kernel/a.py", "import time", "is pure but imports `time`"),
        ("kernel/a.py", "from os.path import join", "imports `os.path.join`"),
        ("guards/a.py", "from pathlib import Path", "imports `pathlib.Path`"),
        ("guards/a.py", "import urllib.request", "imports `urllib.request`"),
        ("guards/a.py", "from urllib import request", "imports `urllib.request`"),
        ("tutor/a.py", "def f():\n    from random import choice", "tutor/a.py:2: "),
        ("tutor/a.py", "async def f(): ...", "awaits"),
        ("kernel/a.py", "open('x')", "calls `open`"),
        ("kernel/a.py", "datetime.now()", "reads a clock"),
    ],
)
def test_a_broken_rule_is_named(path: str, source: str, says: str) -> None:
    (found,) = violations(PurePosixPath("stanchion") / path, source)
    assert says in found
    assert found.startswith(f"src/stanchion/{path}:")


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("kernel/a.py", "from stanchion.kernel.b import x\nimport msgspec\nimport re"),
        ("kernel/a.py", "from .b import x\nfrom . import c"),
        (
            "guards/a.py",
            "from stanchion.kernel.event import Event\nfrom pathlib import PurePosixPath",
        ),
        ("guards/a.py", "from stanchion.guards import _shared\nfrom urllib.parse import urlsplit"),
        ("guards/shell/__init__.py", "from stanchion.guards.shell.rm import RM"),
        ("guards/shell/rm.py", "from stanchion.guards.shell import rule"),
        ("guards/__init__.py", "from stanchion.guards.a import A"),
        (
            "policy/a.py",
            "import os\nfrom stanchion.guards.a import A\nfrom stanchion.tutor import law",
        ),
        (
            "runtime/a.py",
            "import asyncio\nimport time\nfrom stanchion.stores.memory import Memory\nopen('x')",
        ),
        (
            "hosts/contract/a.py",
            "from stanchion.runtime.run import Run\nfrom stanchion.kernel.stages import Stage",
        ),
        ("hosts/a.py", "from stanchion import Shield\nfrom stanchion.runtime import run"),
        (
            "hosts/a.py",
            "from stanchion.hosts import Host\nfrom stanchion.readings import logins",
        ),
        ("cli/a.py", "from stanchion.ops.demo import play\nfrom stanchion.ops.broker import app"),
        (
            "testing/a.py",
            "from stanchion.stores import memory\nfrom stanchion.testing.clock import Clock",
        ),
        ("__init__.py", "from stanchion.runtime.shield import Shield"),
        ("__main__.py", "from stanchion.cli.main import main"),
    ],
)
def test_what_the_design_allows_passes(path: str, source: str) -> None:
    assert violations(PurePosixPath("stanchion") / path, source) == []


def test_the_lab_uses_stanchion_and_its_command_line() -> None:
    source = (
        "from stanchion.cli.command import Parser\nfrom stanchion.runtime import run\nfrom "
        "stanchion_lab import bench"
    )
    assert violations(PurePosixPath("stanchion_lab/bench/a.py"), source) == []
    (found,) = violations(PurePosixPath("stanchion_lab/a.py"), "from stanchion.ops.broker import x")
    assert "room `stanchion_lab`" in found
