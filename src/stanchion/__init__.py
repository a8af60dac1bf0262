"""Stanchion: a runtime safety layer for LLM agents.

The names below are found when they are asked for, so that a program pays for those it uses.
"""

from __future__ import annotations

# What type checkers take for true; importing `typing` for it would cost most of this import
TYPE_CHECKING = False

if TYPE_CHECKING:
    from stanchion.kernel.actions import Action, Category, Risk
    from stanchion.kernel.context import Context
    from stanchion.kernel.decision import Decision
    from stanchion.kernel.findings import Finding, Patch
    from stanchion.kernel.shown import StanchionError
    from stanchion.kernel.stages import Stage
    from stanchion.policy.errors import PolicyError
    from stanchion.policy.loosens import PolicyLoosens
    from stanchion.runtime.calling.tool import NothingDone, Tool
    from stanchion.runtime.errors import (
        DeadlineExceeded,
        NoRun,
        NoTenant,
        Refused,
        StateError,
        ToolFailed,
        Ungoverned,
    )
    from stanchion.runtime.run import Run, current_run
    from stanchion.runtime.shield import Shield
    from stanchion.runtime.streams.holdback import Piece

__version__ = "0.1.0"

__all__ = [
    "Action",
    "Category",
    "Context",
    "DeadlineExceeded",
    "Decision",
    "Finding",
    "NoRun",
    "NoTenant",
    "NothingDone",
    "Patch",
    "Piece",
    "PolicyError",
    "PolicyLoosens",
    "Refused",
    "Risk",
    "Run",
    "Shield",
    "Stage",
    "StanchionError",
    "StateError",
    "Tool",
    "ToolFailed",
    "Ungoverned",
    "__version__",
    "current_run",
]

_HOMES = {
    "kernel.actions": ("Action", "Category", "Risk"),
    "kernel.context": ("Context",),
    "kernel.decision": ("Decision",),
    "kernel.findings": ("Finding", "Patch"),
    "kernel.shown": ("StanchionError",),
    "kernel.stages": ("Stage",),
    "policy.errors": ("PolicyError",),
    "policy.loosens": ("PolicyLoosens",),
    "runtime.calling.tool": ("NothingDone", "Tool"),
    "runtime.errors": (
        "DeadlineExceeded",
        "NoRun",
        "NoTenant",
        "Refused",
        "StateError",
        "ToolFailed",
        "Ungoverned",
    ),
    "runtime.run": ("Run", "current_run"),
    "runtime.shield": ("Shield",),
    "runtime.streams.holdback": ("Piece",),
}
"""Where each public name lives."""


if not TYPE_CHECKING:  # a checker that saw it would take every name for one of ours

    def __getattr__(name: str) -> object:
        for home, names in _HOMES.items():
            if name in names:
                from importlib import import_module

                found = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
                return found
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
