"""Finding and reading policy files: a pack's name, a path, or data already parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.policy.compile import CompiledPolicy, compile_policy
from holdfast.policy.errors import Fault, PolicyError
from holdfast.policy.schema import ENTRIES, PolicyFile

if TYPE_CHECKING:
    from pathlib import Path

PACKS = "holdfast.policy.packs"


def load_policy(source: str | Path | dict[str, Any]) -> CompiledPolicy:
    """Compile a policy from a pack's name, a file or a mapping; raises `PolicyError` with every fault found."""
    if isinstance(source, dict):
        return compile_policy(read_document(source, "policy"), "policy")
    text, place = _text_of(source)
    return compile_policy(read_document(_parse(text, place), place), place)


def packs() -> tuple[str, ...]:
    """The names of the shipped policies."""
    from importlib import resources

    return tuple(
        sorted(f.name.removesuffix(".yaml") for f in resources.files(PACKS).iterdir() if f.name.endswith(".yaml"))
    )


def _text_of(source: str | Path) -> tuple[str, str]:
    from importlib import resources
    from pathlib import Path

    if isinstance(source, str) and source in packs():
        return resources.files(PACKS).joinpath(f"{source}.yaml").read_text("utf-8"), f"pack {source}"
    path = Path(source)
    try:
        return path.read_text("utf-8"), str(path)
    except FileNotFoundError:
        hint = f"give the path of a file or one of the packs {', '.join(packs())}"
        raise PolicyError([Fault(str(source), f"no such policy: {hint}")]) from None
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise PolicyError([Fault(str(source), f"cannot be read: {why.lower()}")]) from None


def _parse(text: str, place: str) -> Any:
    import yaml

    try:
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - a safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{place}:{mark.line + 1}:{mark.column + 1}" if mark is not None else place
        raise PolicyError(
            [Fault(where, f"is not YAML: {getattr(error, 'problem', None) or 'cannot be parsed'}")]
        ) from None


def read_document(data: Any, place: str) -> PolicyFile:
    """Check a parsed document against the schema; mistakes name their place and the nearest valid word."""
    if not isinstance(data, dict):
        raise PolicyError([Fault(place, "is not a mapping: a policy has at least a `name`")])
    try:
        return msgspec.convert(data, PolicyFile)
    except msgspec.ValidationError as error:
        raise PolicyError([Fault(place, _explain(str(error)))]) from None


def _explain(message: str) -> str:
    message = message[:1].lower() + message[1:]
    if "unknown field" not in message and "invalid value" not in message:
        return message
    wrong = message.split("`")[1] if "`" in message else message.split("'")[1] if "'" in message else ""
    from difflib import get_close_matches

    structs: list[type[msgspec.Struct]] = [PolicyFile, *ENTRIES.values()]
    words = {field.name for struct in structs for field in msgspec.structs.fields(struct)} | set(ENTRIES) | {"use"}
    near = get_close_matches(wrong, sorted(words), 1, 0.6)
    return f"{message}; did you mean `{near[0]}`?" if near else message
