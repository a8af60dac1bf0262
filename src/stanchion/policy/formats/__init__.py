"""Foreign formats: files of other systems, recognised by their shape and translated into a policy
document."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from stanchion.kernel.tuples import NamedTuple
from stanchion.policy.document import Document
from stanchion.policy.errors import PolicyError, refusal


class Format(NamedTuple):
    """One foreign format: its name, how its files are known, and how one becomes a policy
    document."""

    name: str
    recognises: Callable[[dict[str, Any]], object]
    translate: Callable[[tuple[Document, ...], str], Document]


def _translating(name: str) -> Callable[[tuple[Document, ...], str], Document]:
    """The translation of a format, which is loaded when there is something to translate."""

    def translate(documents: tuple[Document, ...], origin: str) -> Document:
        made: Document = import_module(f"{__name__}.{name}").translate(documents, origin)
        return made

    return translate


def _is_agent33(data: dict[str, Any]) -> bool:
    """By a key that no policy has; the words of a guardrail are looked up only where one may be
    there."""
    ends = ("_chain", "_integration")
    if not any(
        "guardrail" in key or key.startswith("builtin_") or key.endswith(ends) for key in data
    ):
        return False
    from stanchion.policy.formats.agent33.schema import KEYS

    return any(key in KEYS for key in data)


def _is_penguiflow(data: dict[str, Any]) -> bool:
    return "policy_pack" in data


VERONICA: Final = frozenset(
    {"safe_mode", "budget", "circuit_breaker", "egress", "secret_guard", "error_rate"}
)


def _is_veronica(data: dict[str, Any]) -> bool:
    """By nothing but features, one of which says whether it is on."""
    return data.keys() <= VERONICA and any(
        isinstance(one, dict) and "enabled" in one for one in data.values()
    )


ENVELOPE: Final = frozenset(
    {"layer1_schema", "layer2_repair", "layer3_policy", "repair_enabled", "policy_enabled"}
)
"""The switches of layers: settings of an envelope are known by any of them."""


GUARDRAILS: Final = Format(
    "an AGENT-33 guardrail file", _is_agent33, _translating("agent33.translate")
)
FORMATS: Final = (
    GUARDRAILS,
    Format("a PenguiFlow policy pack", _is_penguiflow, _translating("penguiflow.translate")),
    Format("a VERONICA configuration", _is_veronica, _translating("veronica")),
    Format("the settings of an envelope", ENVELOPE.intersection, _translating("ragix")),
)
"""The formats that are known by sight."""


def translated(document: Document) -> Document:
    """A document as a policy: itself, or what it says in the words of a policy."""
    data = document.root.data()
    if not isinstance(data, dict) or "name" in data:
        return document
    known = next((each for each in FORMATS if each.recognises(data)), None)
    if known is None:
        return document
    return known.translate((document,), document.origin)


def translated_folder(documents: tuple[Document, ...], origin: str) -> Document:
    """The files of a folder as one policy: all of them are guardrail files."""
    faults = [fault for document in documents for fault in document.faults]
    if faults:
        raise PolicyError(faults)
    for document in documents:
        data = document.root.data()
        if not isinstance(data, dict) or not GUARDRAILS.recognises(data):
            message = (
                "is not a guardrail file, and a folder is read as guardrail files only: name the "
                "policy's own file"
            )
            raise refusal(document.where(), message)
    if not documents:
        raise refusal(origin, "has no guardrail file (`*.yaml`): add one, or name another folder")
    return GUARDRAILS.translate(documents, origin)
