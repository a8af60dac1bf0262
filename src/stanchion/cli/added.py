"""Commands that another distribution brings: found by their entry point when they are asked for."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from stanchion import __version__
from stanchion.cli.trouble import BadInput

GROUP: Final = "stanchion.commands"


def is_installed(command: str) -> bool:
    """Whether the distribution that brings a command is here."""
    return _found(command) is not None


def added(command: str, extra: str) -> Any:
    """The module of a command that another distribution brings; says what to install where it is
    missing."""
    found = _found(command)
    install = f"install the extra `{extra}`, or from a checkout `pip install . ./{extra}`"
    if found is None:
        raise BadInput(f"`stanchion {command}` is not installed: {install}")
    if found.dist is not None and found.dist.version != __version__:
        theirs = f"{found.dist.name} {found.dist.version}"
        raise BadInput(f"`{theirs}` does not match stanchion {__version__}: {install}")
    try:
        return found.load()
    except ImportError as error:
        raise BadInput(f"`stanchion {command}` cannot be loaded: {error}: {install}") from None


def _found(command: str) -> EntryPoint | None:
    return next(iter(entry_points(group=GROUP, name=command)), None)
