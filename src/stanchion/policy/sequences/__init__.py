"""Sequences: what may follow what in a run, as a policy's author writes it."""

from __future__ import annotations

from stanchion.policy.sequences.guard import Sequence
from stanchion.policy.sequences.step import SequenceStep

__all__ = ["Sequence", "SequenceStep"]
