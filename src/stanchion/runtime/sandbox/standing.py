"""Which kinds of walls stand on this machine: each is tried with a command that does nothing."""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory

import msgspec

from stanchion.runtime.sandbox.sandbox import Sandbox, SandboxError
from stanchion.runtime.sandbox.walls import Kind, Wall


class Standing(msgspec.Struct, frozen=True):
    """A kind of walls here: what holds and what does not, or why nothing of it stands."""

    kind: Kind
    walls: tuple[Wall, ...] = ()
    missing: tuple[Wall, ...] = ()
    why: str = ""


def standing(user: int | None = None) -> tuple[Standing, ...]:
    """Every kind of walls, the strongest first, as it stands for this user or for another one."""
    with TemporaryDirectory(prefix="stanchion-walls-") as folder:
        os.chmod(folder, 0o755)  # the other user has to get in
        return tuple(_tried(kind, folder, user) for kind in Kind)


def _tried(kind: Kind, folder: str, user: int | None) -> Standing:
    with Sandbox(folder, user=user, kind=kind, required=()) as sandbox:
        try:
            came = sandbox.run(["true"])
        except SandboxError as error:
            return Standing(kind, missing=tuple(Wall), why=str(error).partition(f"{kind}: ")[2])
    if not came.ended:
        return Standing(kind, missing=tuple(Wall), why=came.why)
    return Standing(kind, came.walls, tuple(wall for wall in Wall if wall not in came.walls))
