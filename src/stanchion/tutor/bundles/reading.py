"""Reading a bundle from plain data: it is used as it was frozen, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.kernel.regex import regex
from stanchion.tutor.bundles.canonical import NotCanonical, digest
from stanchion.tutor.bundles.file import (
    HASH,
    UNSCOPED,
    VERSION,
    Bundle,
    BundleFault,
    BundleFile,
    BundleRefusal,
    BundleScope,
    Compared,
    Exemplar,
    ModelParams,
    ShownExemplar,
)

PLACES: Final = frozenset({"task_description", "context"})
"""What is filled into a `task_template`."""
UNKNOWN: Final = "Object contains unknown field"
_VERSION: Final = regex(r"(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})(?:\.(?:0|[1-9][0-9]{0,5}))?")


def bundle_hash(data: Mapping[str, Any]) -> str:
    """The hash of a bundle: over the canonical JSON of everything in it but the hash. Raises
    `NotCanonical`."""
    return digest({name: value for name, value in data.items() if name != HASH})


def read_file(data: Any) -> BundleFile | BundleRefusal:
    """The bundle of some data, frozen or not.

    Cases, in this order: it is no mapping; it is of a version whose keys are not known here; a key
    or a value is wrong.
    """
    if not isinstance(data, Mapping):
        return BundleRefusal(
            BundleFault.BAD_VALUE,
            "a bundle is a mapping with `bundle_version`, `prompts` and `model_params`",
        )
    return _newer(data.get("bundle_version")) or _converted(data)


def read_frozen(data: Any) -> BundleFile | BundleRefusal:
    """The bundle of some data; what is not frozen, or was changed since, is refused."""
    file = read_file(data)
    return file if isinstance(file, BundleRefusal) else (_unlike(data, file) or file)


def freeze(data: Any) -> dict[str, Any] | BundleRefusal:
    """A bundle with its hash, in the place of one that it has; what else is wrong with it is said
    instead."""
    file = read_file(data)
    if isinstance(file, BundleRefusal):
        return file
    bare = {name: value for name, value in data.items() if name != HASH}
    try:
        frozen = {HASH: bundle_hash(bare), **bare}
    except NotCanonical as error:
        return BundleRefusal(BundleFault.BAD_VALUE, f"it has no canonical form: {error}")
    checked = read_frozen(frozen)
    return checked if isinstance(checked, BundleRefusal) else frozen


def _newer(version: Any) -> BundleRefusal | None:
    found = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if found is None:
        return BundleRefusal(
            BundleFault.BAD_VALUE,
            '`bundle_version` is missing or no version: write `"1.0.0"`, in quotes',
        )
    if (int(found[1]), int(found[2])) > VERSION:
        known = ".".join(map(str, VERSION))
        return BundleRefusal(
            BundleFault.NEWER,
            f"it is of version `{version}`, and {known} is the newest that is read here",
        )
    return None


def _converted(data: Mapping[str, Any]) -> BundleFile | BundleRefusal:
    try:
        file = typed.convert(data, BundleFile)
        for number, one in enumerate(file.exemplars):
            _check_exemplar(number, one)
    except msgspec.ValidationError as error:
        said = str(error)
        if said.startswith(UNKNOWN):
            return BundleRefusal(BundleFault.UNKNOWN_KEY, f"{said[0].lower()}{said[1:]}")
        return BundleRefusal(BundleFault.BAD_VALUE, f"{said[:1].lower()}{said[1:]}")
    template = file.prompts.task_template
    wrong = "" if template is None else _misplaced(template)
    return BundleRefusal(BundleFault.BAD_VALUE, wrong) if wrong else file


def _check_exemplar(number: int, data: dict[str, Any]) -> None:
    try:
        exemplar_of(data)
    except msgspec.ValidationError as error:
        raise msgspec.ValidationError(f"{error} - in `$.exemplars[{number}]`") from None


def exemplar_of(data: Mapping[str, Any]) -> ShownExemplar | Compared:
    """An example in the shape that its keys say; raises `ValidationError` for what is none."""
    return typed.convert(data, Compared) if "task" in data else typed.convert(data, ShownExemplar)


def _misplaced(template: str) -> str:
    """What a template would have filled in besides its task and what is known; empty if nothing."""
    try:
        parts = list(Formatter().parse(template))
    except ValueError as error:
        return f"`task_template` cannot be filled in ({error}): write `{{{{` for a brace"
    for _, name, form, turned in parts:
        if name is not None and (name not in PLACES or form or turned):
            fine = " and ".join(f"`{{{one}}}`" for one in sorted(PLACES))
            return (
                f"`task_template` has `{{{name}}}`: {fine} are filled in, and a brace is "
                f"written `{{{{`"
            )
    doubled = [
        f"{{{{{one}}}}}" for one in PLACES if f"{{{one}}}" in "".join(part[0] for part in parts)
    ]
    return (
        f"`task_template` has `{doubled[0]}`, which would be filled in as well: leave it out"
        if doubled
        else ""
    )


def plain_template(template: str) -> str:
    """A template whose doubled braces are single ones: it is filled in by replacing its places, and
    nothing else."""
    parts = Formatter().parse(template)
    return "".join(text + (f"{{{name}}}" if name is not None else "") for text, name, _, _ in parts)


def _unlike(data: Mapping[str, Any], file: BundleFile) -> BundleRefusal | None:
    """Why the data is not what was frozen."""
    try:
        own = bundle_hash(data)
    except NotCanonical as error:
        return BundleRefusal(BundleFault.BAD_VALUE, f"it has no canonical form: {error}")
    if file.bundle_hash is None:
        return BundleRefusal(
            BundleFault.NO_HASH, "it has no `bundle_hash`: look at it, then freeze it"
        )
    if file.bundle_hash != own:
        said = f"its `bundle_hash` is `{file.bundle_hash[:80]}`, and what stands in it has `{own}`"
        return BundleRefusal(BundleFault.WRONG_HASH, f"{said}: it was changed after it was frozen")
    return UNSCOPED if file.scope is None else None


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
        BundleScope()
        if file.scope is None
        else BundleScope(file.scope.games, file.scope.models, file.scope.laws)
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
