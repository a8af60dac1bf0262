"""Why a system lets nobody build walls, and how to have it let one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from stanchion.runtime.sandbox.sandbox import WallKind

SETTINGS: Final = (
    ("kernel/unprivileged_userns_clone", "0", "1"),
    ("kernel/apparmor_restrict_unprivileged_userns", "1", "0"),
    ("user/max_user_namespaces", "0", "10000"),
)
"""Settings of the kernel that forbid namespaces, by which value, and which allows them."""
IN_CONTAINER: Final = ("/.dockerenv", "/run/.containerenv")


def how_to_allow(
    reason: str, read: Callable[[str], str] = lambda path: Path(path).read_text(encoding="ascii")
) -> str:
    """What to do about a refusal to make namespaces, to be said after it; empty where it is not
    that, or nobody knows."""
    if not reason.startswith(f"{WallKind.NAMESPACES}: ") or "Operation not permitted" not in reason:
        return ""
    for name, forbids, allows in SETTINGS:
        try:
            if read(f"/proc/sys/{name}").strip() == forbids:
                return f": `sysctl {name.replace('/', '.')}={allows}` allows it"
        except OSError:
            continue
    if any(Path(one).exists() for one in IN_CONTAINER):
        return (
            ": start the container with `--security-opt seccomp=unconfined --security-opt "
            "apparmor=unconfined`, or install `bubblewrap` where that may"
        )
    return ": a filter on calls of the kernel forbids it"
