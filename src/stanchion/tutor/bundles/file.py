"""The file of a bundle: every key that it may have, of the documented shape and of the one that was
shipped."""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec

VERSION: Final = (1, 0)
"""The newest version that is read: major and minor. The third number changes nothing in the
format."""
HASH: Final = "bundle_hash"

Names = Annotated[
    tuple[Annotated[str, msgspec.Meta(min_length=1)], ...], msgspec.Meta(min_length=1)
]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class Keys(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A mapping that has these keys and no others."""


class ScopeKeys(Keys, frozen=True, kw_only=True):
    """What a bundle was made for: names, or patterns with `*`, `?` and `[...]`."""

    games: Names
    models: Names
    laws: Names


class OptimizerConfig(Keys, frozen=True, kw_only=True):
    """How many candidates were tried, and by how many threads."""

    num_candidates: int | None = None
    num_threads: int | None = None


class Metadata(Keys, frozen=True, kw_only=True):
    """Who made it, when, and by what: nothing here changes what a player is told."""

    compiled_at: str | None = None
    compiled_by: str | None = None
    dspy_version: str | None = None
    optimizer: str | None = None
    optimizer_config: OptimizerConfig | None = None
    training_traces: int | None = None
    validation_score: float | None = None
    created_at: str | None = None
    created_by: str | None = None
    description: str | None = None
    optimized: bool | None = None
    optimization_source: str | None = None
    target_improvements: tuple[str, ...] = ()


class Prompts(Keys, frozen=True, kw_only=True):
    """What a player is told; the baseline's words stand where one is missing."""

    system: str | None = None
    action_menu: str | None = None
    error_recovery: str | None = None
    task_template: str | None = None


class ModelParams(Keys, frozen=True, kw_only=True):
    """How the model is asked."""

    temperature: Annotated[float, msgspec.Meta(ge=0, le=2)]
    top_p: Share | None = None
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    stop_sequences: tuple[str, ...] = ()


class Shown(Keys, frozen=True, kw_only=True):
    """An example of the documented shape."""

    input: str
    output: str
    rationale: str = ""


class Compared(Keys, frozen=True, kw_only=True):
    """An example of the shipped shape: what is right, and what is wrong about something else."""

    task: str
    correct: str
    wrong: str = ""
    why_wrong: str = ""


class AntiPattern(Keys, frozen=True, kw_only=True):
    """What a reply should not look like."""

    pattern: str
    description: str = ""
    severity: str = ""


class FormatGuidance(Keys, frozen=True, kw_only=True):
    """What a reply should be."""

    json_only: bool = False
    no_markdown: bool = False
    no_prose: bool = False
    single_object: bool = False


class Weights(Keys, frozen=True, kw_only=True):
    """What the metric gave for what, when the bundle was compiled."""

    goal: float | None = None
    time: float | None = None
    provable: float | None = None
    refutable: float | None = None
    undecidable: float | None = None
    ill_typed: float | None = None
    illegal: float | None = None
    evidence_node: float | None = None
    evidence_edge: float | None = None
    undecidable_resolved: float | None = None
    repetition_penalty: float | None = None
    noop_penalty: float | None = None


class MetricConfig(Keys, frozen=True, kw_only=True):
    """By which metric it was compiled."""

    version: str | None = None
    weights: Weights | None = None
    repetition_window: int | None = None
    low_info_actions: tuple[str, ...] = ()


class BundleFile(Keys, frozen=True, kw_only=True):
    """A bundle as its file has it."""

    bundle_version: str
    bundle_hash: str | None = None
    bundle_id: str | None = None
    bundle_type: str | None = None
    scope: ScopeKeys | None = None
    metadata: Metadata | None = None
    prompts: Prompts
    exemplars: tuple[dict[str, Any], ...] = ()
    """Each a `Shown` or a `Compared`, told apart by their keys."""
    anti_patterns: tuple[AntiPattern, ...] = ()
    model_params: ModelParams
    metric_config: MetricConfig | None = None
    format_guidance: FormatGuidance | None = None
