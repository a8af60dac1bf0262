"""Settings of RAGIX's safety envelope, read as policies: layer 0 is a guard that is always active,
and the other layers are those of the games that are played in runs of the policy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Final

from stanchion.policy.document import Document, node
from stanchion.policy.errors import Fault, PolicyError
from stanchion.tutor.envelope.config import EnvelopeError, config_of

DENYLIST: Final = {"use": "shell", "id": "command-denylist", "always": True}
"""The hard gate: what it blocks, the executor of the Tutor's commands does not run either."""


def wrong_in(settings: Mapping[str, Any]) -> str:
    """What is wrong with the settings of an envelope; empty where nothing is."""
    try:
        config_of(settings)
    except EnvelopeError as error:
        return str(error)
    return ""


def translate(documents: tuple[Document, ...], origin: str) -> Document:
    """The policy that an envelope's settings make; `PolicyError` says what is wrong with them."""
    (document,) = documents
    settings = document.root.data()
    wrong = wrong_in(settings)
    if document.faults or wrong:
        own = () if document.faults else (Fault(document.where(*_named(settings, wrong)), wrong),)
        raise PolicyError([*document.faults, *own])
    said = {"name": PurePath(origin).stem, "guards": [DENYLIST], "envelope": settings}
    return Document(origin, node(said, document.root.at), doubts=document.doubts)


def _named(settings: Mapping[str, Any], wrong: str) -> list[str]:
    """The setting that a message begins with."""
    return [name for name in settings if wrong.startswith(f"`{name}`")]
