"""A bundle's file as the envelope uses it."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.tutor.bundles.bundle import Bundle, Exemplar, ModelParams, Scope
from stanchion.tutor.bundles.file import BundleFile, Compared
from stanchion.tutor.bundles.reading import exemplar_of, plain_template

GUIDED: Final = {
    "json_only": "Reply with JSON.",
    "no_markdown": "Use no Markdown.",
    "no_prose": "Write no text beside it.",
    "single_object": "Give exactly one object.",
}
"""What a player is told for each rule of `format_guidance`."""


def bundle_of(file: BundleFile) -> Bundle:
    """The bundle of a file. What the shipped shape says beside its prompts (guidance on the format,
    patterns to avoid) is added to the system prompt: the envelope has no other place for it."""
    prompts = {
        name: text
        for name, text in msgspec.structs.asdict(file.prompts).items()
        if text is not None
    }
    if "task_template" in prompts:
        prompts["task_template"] = plain_template(prompts["task_template"])
    told = "\n".join([*_guidance(file), *_avoided(file)])
    if told:
        prompts["system"] = (
            f"{prompts['system'].rstrip()}\n\n{told}\n" if "system" in prompts else f"{told}\n"
        )
    params = {
        name: value
        for name, value in msgspec.structs.asdict(file.model_params).items()
        if value is not None
    }
    scope = (
        Scope()
        if file.scope is None
        else Scope(file.scope.games, file.scope.models, file.scope.laws)
    )
    exemplars = tuple(_exemplar(one) for one in file.exemplars)
    return Bundle(prompts, exemplars, ModelParams(**params), scope, file.bundle_hash or "")


def _exemplar(data: dict[str, Any]) -> Exemplar:
    given = exemplar_of(data)
    if isinstance(given, Compared):
        wrong = f"Wrong: {given.wrong.strip()}" if given.wrong else ""
        said = " ".join(one for one in (wrong, given.why_wrong) if one)
        return Exemplar(given.task, given.correct, said)
    return Exemplar(given.input, given.output, given.rationale)


def _guidance(file: BundleFile) -> list[str]:
    rules = {} if file.format_guidance is None else msgspec.structs.asdict(file.format_guidance)
    return [told for name, told in GUIDED.items() if rules.get(name)]


def _avoided(file: BundleFile) -> list[str]:
    return [f"Avoid: {one.description or one.pattern}" for one in file.anti_patterns]
