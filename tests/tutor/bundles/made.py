"""Bundles for tests: one of the documented shape, one of the shipped shape, and a file of
either."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stanchion.tutor.bundles.reading import bundle_hash
from stanchion.tutor.bundles.scope import Use

SCOPE = {"games": ["count", "log-*"], "models": ["*"], "laws": ["2"]}
USE = Use(game="log-7", model="small:3b", law="2")
DOCUMENTED: dict[str, Any] = {
    "bundle_version": "1.0.0",
    "bundle_id": "round",
    "scope": SCOPE,
    "metadata": {
        "compiled_at": "2026-01-02T10:00:00Z",
        "compiled_by": "a compiler",
        "dspy_version": "2.5.0",
        "optimizer": "MIPRO",
        "optimizer_config": {"num_candidates": 10, "num_threads": 4},
        "training_traces": 50,
        "validation_score": 185.3,
    },
    "prompts": {"system": "Play by evidence.", "action_menu": "Choose.", "error_recovery": "Look at the error."},  # noqa: E501
    "exemplars": [{"input": "Goal: a file", "output": ('{"action": '
                                                      '"PROPOSE"}'), "rationale": "it looks"}],
    "model_params": {"temperature": 0.0, "top_p": 1.0, "max_tokens": 2048, "stop_sequences": ["```\n\n"]},  # noqa: E501
    "metric_config": {
        "version": "1.0.0",
        "weights": {
            "goal": 200, "provable": 5, "refutable": 3, "undecidable": -10, "ill_typed": -20,
            "illegal": -30, "evidence_node": 1, "evidence_edge": 1, "undecidable_resolved": 5,
            "repetition_penalty": -10, "noop_penalty": -5,
        },
        "repetition_window": 3,
        "low_info_actions": ["CHECK"],
    },
}  # fmt: skip
SHIPPED: dict[str, Any] = {
    "bundle_version": "1.0.0",
    "bundle_id": "shipped",
    "bundle_type": "optimized",
    "scope": SCOPE,
    "metadata": {
        "created_at": "2025-12-27T16:00:00Z",
        "created_by": "a person",
        "description": "by hand",
        "optimized": True,
        "optimization_source": "failures",
        "target_improvements": ["no prose"],
    },
    "prompts": {
        "system": "Generate a command.",
        "task_template": "TASK: {task_description}\n{context}\n{{}}",
    },
    "exemplars": [
        {"task": "sort", "correct": "sort a", "wrong": "order a", "why_wrong": "no such command"}
    ],
    "anti_patterns": [
        {"pattern": "^Review", "description": "verbs of prose", "severity": "critical"}
    ],
    "model_params": {"temperature": 0.0, "top_p": 1.0, "max_tokens": 256},
    "format_guidance": {
        "json_only": True,
        "no_markdown": True,
        "no_prose": True,
        "single_object": True,
    },
}


def frozen(data: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """A bundle with some keys changed, and the hash that it then has."""
    whole = {**data, **changed}
    return {**whole, "bundle_hash": bundle_hash(whole)}


def written(folder: Path, data: Any, name: str = "bundle.json") -> Path:
    """A file with that data, or with that text."""
    path = folder / name
    path.write_text(data if isinstance(data, str) else json.dumps(data), "utf-8")
    return path
