"""Bundles: the file of one, with every key that it may have, what the envelope uses of it, and why
one is not used."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any, Final

import msgspec


class BundleFault(Enum):
    """What is wrong with a bundle, or with using it here."""

    UNREADABLE = "unreadable"
    """There is no such file, or it is neither JSON nor YAML: one that was cut off is neither."""
    TOO_LARGE = "too-large"
    ALIASES = "aliases"
    """It has anchors or aliases, by which few bytes become many."""
    DUPLICATE_KEY = "duplicate-key"
    UNKNOWN_KEY = "unknown-key"
    BAD_VALUE = "bad-value"
    """A key is missing, or its value is not of its type."""
    NEWER = "newer"
    NO_HASH = "no-hash"
    WRONG_HASH = "wrong-hash"
    NO_SCOPE = "no-scope"
    OUT_OF_SCOPE = "out-of-scope"
    NOT_DETERMINISTIC = "not-deterministic"


class BundleRefusal(msgspec.Struct, frozen=True):
    """That a bundle is not used, and why; the reason is for programs, the words are for people."""

    reason: BundleFault
    why: str


UNSCOPED: Final = BundleRefusal(
    BundleFault.NO_SCOPE, "it does not say what it is for: give it a `scope` and freeze it again"
)


class BundleRefused(ValueError):
    """Raised where a bundle that is refused stops the run."""

    def __init__(self, refusal: BundleRefusal) -> None:
        super().__init__(refusal.why)
        self.refusal = refusal


class Exemplar(msgspec.Struct, frozen=True):
    """A situation, the reply that is right in it, and why."""

    input: str
    output: str
    rationale: str = ""


class ModelParams(msgspec.Struct, frozen=True):
    """How a model is asked."""

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 2_048
    stop_sequences: tuple[str, ...] = ()


class BundleScope(msgspec.Struct, frozen=True):
    """What a bundle was made for; an empty list is no limit."""

    games: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    laws: tuple[str, ...] = ()


class Bundle(msgspec.Struct, frozen=True):
    """Frozen prompts and parameters. A prompt that it does not have is that of the baseline.

    Its prompts are `system`, `action_menu`, `error_recovery` and `task_template`.
    """

    prompts: Mapping[str, str] = {}
    exemplars: tuple[Exemplar, ...] = ()
    model_params: ModelParams = ModelParams()
    scope: BundleScope = BundleScope()
    hash: str = ""


VERSION: Final = (1, 0)
"""The newest version that is read: major and minor. The third number changes nothing in the
format."""
HASH: Final = "bundle_hash"

Names = Annotated[
    tuple[Annotated[str, msgspec.Meta(min_length=1)], ...], msgspec.Meta(min_length=1)
]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class BundleKeys(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A mapping that has these keys and no others."""


class ScopeKeys(BundleKeys, frozen=True, kw_only=True):
    """What a bundle was made for: names, or patterns with `*`, `?` and `[...]`."""

    games: Names
    models: Names
    laws: Names


class OptimizerConfig(BundleKeys, frozen=True, kw_only=True):
    """How many candidates were tried, and by how many threads."""

    num_candidates: int | None = None
    num_threads: int | None = None


class Metadata(BundleKeys, frozen=True, kw_only=True):
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


class PromptKeys(BundleKeys, frozen=True, kw_only=True):
    """What a player is told; the baseline's words stand where one is missing."""

    system: str | None = None
    action_menu: str | None = None
    error_recovery: str | None = None
    task_template: str | None = None


class ModelParamKeys(BundleKeys, frozen=True, kw_only=True):
    """How the model is asked."""

    temperature: Annotated[float, msgspec.Meta(ge=0, le=2)]
    top_p: Share | None = None
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    stop_sequences: tuple[str, ...] = ()


class ShownExemplar(BundleKeys, frozen=True, kw_only=True):
    """An example of the documented shape."""

    input: str
    output: str
    rationale: str = ""


class Compared(BundleKeys, frozen=True, kw_only=True):
    """An example of the shipped shape: what is right, and what is wrong about something else."""

    task: str
    correct: str
    wrong: str = ""
    why_wrong: str = ""


class AntiPattern(BundleKeys, frozen=True, kw_only=True):
    """What a reply should not look like."""

    pattern: str
    description: str = ""
    severity: str = ""


class FormatGuidance(BundleKeys, frozen=True, kw_only=True):
    """What a reply should be."""

    json_only: bool = False
    no_markdown: bool = False
    no_prose: bool = False
    single_object: bool = False


class Weights(BundleKeys, frozen=True, kw_only=True):
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


class MetricConfig(BundleKeys, frozen=True, kw_only=True):
    """By which metric it was compiled."""

    version: str | None = None
    weights: Weights | None = None
    repetition_window: int | None = None
    low_info_actions: tuple[str, ...] = ()


class BundleFile(BundleKeys, frozen=True, kw_only=True):
    """A bundle as its file has it."""

    bundle_version: str
    bundle_hash: str | None = None
    bundle_id: str | None = None
    bundle_type: str | None = None
    scope: ScopeKeys | None = None
    metadata: Metadata | None = None
    prompts: PromptKeys
    exemplars: tuple[dict[str, Any], ...] = ()
    """Each a `ShownExemplar` or a `Compared`, told apart by their keys."""
    anti_patterns: tuple[AntiPattern, ...] = ()
    model_params: ModelParamKeys
    metric_config: MetricConfig | None = None
    format_guidance: FormatGuidance | None = None
