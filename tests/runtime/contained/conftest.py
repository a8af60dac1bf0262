"""Contained runs to try: a project of somebody, and walls of each kind that can hold one."""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stanchion.runtime.sandbox.contained import Contained
from stanchion.runtime.sandbox.inside import Inside
from stanchion.runtime.sandbox.sandbox import WallKind
from tests.runtime.sandbox.conftest import lacking

Runs = Callable[..., tuple[int, str]]


@pytest.fixture
def project() -> Iterator[Path]:
    """A project, which is not below a home."""
    with tempfile.TemporaryDirectory(prefix="stanchion-contained-") as made:
        folder = Path(made).resolve() / "project"
        folder.mkdir()
        yield folder


@pytest.fixture(params=[WallKind.NAMESPACES, WallKind.BUBBLEWRAP])
def kind(request: pytest.FixtureRequest) -> WallKind:
    """Each kind of walls that holds a network."""
    found: WallKind = request.param
    if why := lacking(found):
        pytest.skip(why)
    return found


@pytest.fixture
def runs(project: Path, kind: WallKind) -> Runs:
    """Runs a script in a shell in the project, and gives its status and what it writes to `out`."""

    def run(script: str, environ: dict[str, str] | None = None, **inside: Any) -> tuple[int, str]:
        made = Inside(project, **inside)
        with Contained() as contained:
            contained.build(made, project, [(3128, True)], "hello", [kind])
            _, numbers, _, _ = socket.recv_fds(contained.line, 16, 1)
            with socket.socket(fileno=numbers[0]):
                contained.go(["sh", "-c", f"({script}) >out 2>&1"], made.environment(environ or {}))
                status = contained.wait()
        return status, (project / "out").read_text()

    return run
