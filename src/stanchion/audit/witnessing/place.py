"""What a place of a witness does, wherever it is."""

from __future__ import annotations

from typing import Final, Protocol

from stanchion.audit.verifying.witness import Witness
from stanchion.audit.witnessing.lines import Entry, Written
from stanchion.kernel.regex import regex

_PASSWORD: Final = regex(r"//[^/@]*@")


def shown(text: str) -> str:
    """Text without the names and passwords that URLs in it hold."""
    return _PASSWORD.sub("//…@", text)


class WitnessPlace(Protocol):
    """Where a witness is kept."""

    @property
    def name(self) -> str:
        """Its name, as it may be shown."""

    def append(self, entry: Entry) -> Written:
        """Write a line behind the newest one, to last; raises `Unreachable` or `BadPlace`."""

    def why_copy(self, uid: int | None) -> str:
        """Why a user could rewrite what is kept there; empty where they could not."""

    def witness(self, uid: int | None) -> Witness:
        """All that was written there; raises `Unreachable`, or `CannotVerify` where it is no
        witness."""

    def close(self) -> None:
        """Let go of what is held for writing."""
