"""Holdfast: a runtime safety layer for LLM agents."""

from holdfast.kernel.actions import Action, Category, Risk
from holdfast.kernel.decision import Decision
from holdfast.kernel.findings import Finding, Patch
from holdfast.kernel.stages import Stage
from holdfast.policy.errors import PolicyError
from holdfast.runtime.errors import DeadlineExceeded, HoldfastError, NoRun, Refused, StateError, ToolFailed
from holdfast.runtime.holding import Piece
from holdfast.runtime.run import Run, current_run
from holdfast.runtime.shield import Shield
from holdfast.runtime.tool import NothingDone

__version__ = "0.1.0"

__all__ = [
    "Action",
    "Category",
    "DeadlineExceeded",
    "Decision",
    "Finding",
    "HoldfastError",
    "NoRun",
    "NothingDone",
    "Patch",
    "Piece",
    "PolicyError",
    "Refused",
    "Risk",
    "Run",
    "Shield",
    "Stage",
    "StateError",
    "ToolFailed",
    "__version__",
    "current_run",
]
