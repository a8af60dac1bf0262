"""The names of places: which kind of place is meant, and where it is."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from stanchion.audit.witnessing.files import FilePlace
from stanchion.audit.witnessing.git import BRANCH, GitPlace
from stanchion.audit.witnessing.place import BadPlace, WitnessPlace
from stanchion.kernel.regex import regex

KINDS: Final = (
    "a file, `git:PATH`, `git+ssh://…`, `git+https://…`, `tsa+https://…` or `broker:SOCKET`"
)
TOKENS: Final = "tokens.jsonl"
_SCHEME: Final = regex(r"[a-z][a-z0-9]*(?:\+[a-z0-9]+)?(?=:)")


def place_named(name: str, trail: Path | None, certificates: Path | None) -> WitnessPlace:
    """The place that a name says; raises `BadPlace`. What belongs to a trail is kept beside it."""
    scheme = _SCHEME.match(name)
    kind = "" if scheme is None else scheme[0]
    where, _, part = name.partition("#")
    match kind:
        case "git":
            return GitPlace(
                str(Path(where.removeprefix("git:")).absolute()), part if part else BRANCH
            )
        case "git+ssh" | "git+https":
            return GitPlace(where.removeprefix("git+"), part if part else BRANCH)
        case "git+file":
            path = unquote(urlsplit(where).path)
            if not path.startswith("/"):
                raise BadPlace(
                    f"`{where}` does not name a folder: write `git+file:///srv/witness.git`"
                )
            return GitPlace(path, part if part else BRANCH)
        case "tsa+http" | "tsa+https":
            return _stamped(where.removeprefix("tsa+"), part, trail, certificates)
        case _ if kind and f"{kind}://" == name[: len(kind) + 3]:
            raise BadPlace(f"`{kind}:` is not a kind of place: give {KINDS}")
    return FilePlace(Path(name))


def _stamped(url: str, part: str, trail: Path | None, certificates: Path | None) -> WitnessPlace:
    from stanchion.audit.witnessing.stamps import StampedPlace

    if not part and trail is None:
        raise BadPlace(f"say where the tokens are kept: `tsa+{url}#FILE`")
    kept = (
        Path(part)
        if part or trail is None
        else trail.absolute().with_name(f"{trail.name}-{TOKENS}")
    )
    return StampedPlace(url, kept, certificates)
