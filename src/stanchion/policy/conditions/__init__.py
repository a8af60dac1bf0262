"""Conditions: a small, total language over what an event says; a subset of CEL with `and`, `or`,
`not`."""

from __future__ import annotations

from stanchion.policy.conditions.condition import Condition, compile_condition, compile_expression
from stanchion.policy.conditions.limits import ConditionError, EvaluationError
from stanchion.policy.conditions.vocabulary import Vocabulary

__all__ = [
    "Condition",
    "ConditionError",
    "EvaluationError",
    "Vocabulary",
    "compile_condition",
    "compile_expression",
]
