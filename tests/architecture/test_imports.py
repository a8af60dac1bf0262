"""Imports point inward, and the pure rooms stay pure."""

from pathlib import Path, PurePosixPath

import pytest

from tests.architecture.import_rules import violations

SRC = Path(__file__).resolve().parents[2] / "src"


def test_every_source_file_keeps_the_import_rule() -> None:
    found = []
    for file in sorted((SRC / "holdfast").rglob("*.py")):
        path = PurePosixPath(file.relative_to(SRC).as_posix())
        found += violations(path, file.read_text(encoding="utf-8"))
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("path", "source", "says"),
    [
        ("kernel/a.py", "from holdfast.guards import size", "may import no other room"),
        ("kernel/a.py", "def f():\n    import holdfast.policy", "kernel/a.py:2: "),
        ("kernel/a.py", "from holdfast import Shield", "imports `holdfast.Shield`"),
        ("kernel/a.py", "from .. import policy", "imports `holdfast.policy`"),
        ("kernel/a.py", "from ..policy.load import read", "imports `holdfast.policy.load.read`"),
        ("stores/a.py", "import holdfast.runtime", "only `kernel`"),
        ("policy/a.py", "from holdfast.runtime.shield import Shield", "room `policy`"),
        ("policy/a.py", "import importlib\nimportlib.import_module('holdfast.cli')", "policy/a.py:2: "),
        ("runtime/a.py", "from holdfast.adapters import x", "turn the dependency round"),
        ("lab/a.py", "from holdfast.service import x", "room `lab`"),
        ("adapters/a.py", "from holdfast.guards.shell import x", "room `adapters`"),
        ("cli/a.py", "from holdfast.testing import x", "`holdfast.testing` is for tests"),
        ("testing/a.py", "from holdfast.cli import x", "room `testing`"),
        ("__init__.py", "from holdfast.cli.main import main", "room `root`"),
        ("helper.py", "", "`helper` is no room"),
        ("odd/a.py", "", "`odd` is no room"),
        ("guards/a.py", "from holdfast.guards.b import x", "guards never import each other"),
        ("guards/a.py", "from holdfast.guards import b", "guards never import each other"),
        ("guards/a.py", "from . import b", "guards never import each other"),
        ("guards/shell/rm.py", "from holdfast.guards.secrets import x", "guards never import each other"),
        ("guards/_shared.py", "from holdfast.guards.b import x", "guards never import each other"),
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
    (found,) = violations(PurePosixPath("holdfast") / path, source)
    assert says in found
    assert found.startswith(f"src/holdfast/{path}:")


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("kernel/a.py", "from holdfast.kernel.b import x\nimport msgspec\nimport re"),
        ("kernel/a.py", "from .b import x\nfrom . import c"),
        ("guards/a.py", "from holdfast.kernel.event import Event\nfrom pathlib import PurePosixPath"),
        ("guards/a.py", "from holdfast.guards import _shared\nfrom urllib.parse import urlsplit"),
        ("guards/shell/__init__.py", "from holdfast.guards.shell.rm import RM"),
        ("guards/shell/rm.py", "from holdfast.guards.shell import rule"),
        ("guards/__init__.py", "from holdfast.guards.a import A"),
        ("policy/a.py", "import os\nfrom holdfast.guards.a import A\nfrom holdfast.tutor import law"),
        ("runtime/a.py", "import asyncio\nimport time\nfrom holdfast.stores.memory import Memory\nopen('x')"),
        ("adapters/a.py", "from holdfast import Shield\nfrom holdfast.runtime import run"),
        ("cli/a.py", "from holdfast.lab import bench\nfrom holdfast.service import app"),
        ("testing/a.py", "from holdfast.stores import memory\nfrom holdfast.testing.clock import Clock"),
        ("__init__.py", "from holdfast.runtime.shield import Shield"),
        ("__main__.py", "from holdfast.cli.main import main"),
    ],
)
def test_what_the_design_allows_passes(path: str, source: str) -> None:
    assert violations(PurePosixPath("holdfast") / path, source) == []
