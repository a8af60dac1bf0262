"""Settings of a project that hold secrets."""

from __future__ import annotations

from typing import Final

from stanchion.guards._protected import Held, Protected, Use
from stanchion.guards.files.protected.names import WORDS, ending, words_of
from stanchion.guards.files.protected.seat import Seat
from stanchion.kernel.regex import regex

RULES: Final[tuple[Protected, ...]] = ()
_SETTINGS: Final = regex(
    r"\.env(?:rc)?(?:[._-].*)?\Z|[\w-]+\.env\Z|\.secrets?\Z|\.?secrets?\.(?:ya?ml|toml|json|env|"
    r"ini|properties)\Z"
)
_KINDS: Final = WORDS["kinds"]
HELD: Final = Held("settings with secrets")
LOST: Final = Held("settings with secrets", asks=True)


def held(seat: Seat, use: Use) -> Held | None:
    """Settings in which a project keeps its secrets: whoever sets it up writes them, its program
    reads them."""
    name = seat.name if seat.inner else f".{seat.tool}" if seat.tool else ""
    if use == "write" or _SETTINGS.match(name) is None or name.endswith(".d.ts"):
        return None
    if name[0] != "." and ending(name) == "env" and _KINDS.isdisjoint(words_of(name)):
        return None
    return (
        None
        if ending(name) in ("vault", "gpg", "age", "enc", "sops")
        else LOST
        if use == "delete"
        else HELD
    )
