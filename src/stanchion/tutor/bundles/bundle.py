"""A frozen bundle as the envelope uses it: what a model is told, and how it is asked."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


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


class Scope(msgspec.Struct, frozen=True):
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
    scope: Scope = Scope()
    hash: str = ""
