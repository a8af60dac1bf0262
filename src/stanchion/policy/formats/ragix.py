"""Settings of RAGIX's safety envelope, read as policies: layer 0 is a guard that is always active,
and the other layers are those of the games that are played in runs of the policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, Final

import msgspec

from stanchion.policy.document import Document, node
from stanchion.tutor.envelope.config import EnvelopeError, config_of

DENYLIST: Final = {"use": "shell", "id": "command-denylist", "always": True}
"""The hard gate: what it blocks, the executor of the Tutor's commands does not run either."""


def wrong_in(settings: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """What is wrong with the settings of a policy's envelope, and where."""
    try:
        config_of(settings)
    except EnvelopeError as error:
        said = str(error)
        named = [name for name in settings if said.startswith(f"`{name}`")]
        yield ("envelope", *named), said


def translate(documents: tuple[Document, ...], origin: str) -> Document:
    """The policy that an envelope's settings make."""
    (document,) = documents
    root = document.root
    made = {"name": PurePath(origin).stem, "guards": [DENYLIST]}
    said = {name: node(value, root.at) for name, value in made.items()}
    return msgspec.structs.replace(document, root=root.holding({**said, "envelope": root}))
