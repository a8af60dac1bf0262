"""Sequences: what may follow what in a run, as a policy's author writes it."""

from __future__ import annotations

from holdfast.policy.sequences.guard import Sequence
from holdfast.policy.sequences.step import Step

__all__ = ["Sequence", "Step"]
