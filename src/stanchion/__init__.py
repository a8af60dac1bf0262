"""Stanchion: a runtime safety layer for LLM agents."""

from stanchion.kernel.actions import Action, Category, Risk
from stanchion.kernel.decision import Decision
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.stages import Stage
from stanchion.policy.errors import PolicyError, PolicyLoosens
from stanchion.runtime.errors import DeadlineExceeded, NoRun, NoTenant, Refused, StanchionError, StateError, ToolFailed
from stanchion.runtime.holding import Piece
from stanchion.runtime.run import Run, current_run
from stanchion.runtime.shield import Shield
from stanchion.runtime.tool import NothingDone, Tool

__version__ = "0.1.0"

__all__ = [
    "Action",
    "Category",
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
    "__version__",
    "current_run",
]
