"""Seats: whose a place is, so that a class can be said once for every system and every spelling of
its folders; and what the name of a file says of what is in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from stanchion.kernel.regex import regex
from stanchion.readings.paths.place import PathPlace
from stanchion.readings.word_lists import Strings, listed, sections

WORDS: Final = sections("stanchion.guards.files.protected", "words.txt")
"""The words by which files are protected, by the titles above them."""

_WORDS: Final = regex(r"[a-z]+|[0-9]+")
CREDENTIAL: Final = regex(
    r"credential|secret|passw|passphrase|token|oauth|api[-_.]?key|private[-_.]?key|keychain|"
    r"keyring|keystore"
    r"|wallet|mnemonic|cookie|htpasswd|keytab|kdbx|gshadow|opasswd|privkey|logins?\b|login "
    r"data|\.jceks"
    r"|recovery.?(?:code|key)|state\.vscdb"
)
"""Parts of names that say credential, however the rest is written."""
CREDENTIAL_WORDS: Final = WORDS["credential words"]
"""Words that say credential where a tool keeps its own things."""

CODE: Final = WORDS["code"]
"""Endings of files that are written by people or shown to them, and hold no credential of their
own."""
KEY_FILES: Final = listed("pem key ppk p12 pfx jks keystore kdbx p8 agekey kdb")
"""Endings of files with private keys."""
CERTIFICATE: Final = WORDS["certificate"]
"""Words in the name of a file with an ending of keys that say it holds what anybody may see."""
SAMPLE: Final = WORDS["sample"]
"""Words of folders and names of things that are made to be seen."""


def words_of(name: str) -> list[str]:
    """The words of a name in lower case."""
    return _WORDS.findall(name)


def words_in(parts: Iterable[str]) -> set[str]:
    """The words of several names."""
    return {word for part in parts for word in words_of(part)}


def ending(name: str) -> str:
    """What stands behind the last dot of a name that does not begin with it."""
    head, dot, last = name.rpartition(".")
    return last if dot and head else ""


def is_code(name: str) -> bool:
    """Whether a name is that of a text that people write."""
    return ending(name) in CODE


def says_credential(name: str) -> bool:
    """Whether a name says credential, wherever the file is."""
    return (
        CREDENTIAL.search(name) is not None
        and not is_code(name)
        and name not in ("passwd", "passwd-")
    )


def says_credential_of_tool(name: str) -> bool:
    """Whether a name says credential where it is a tool's own."""
    return says_credential(name) or (
        not is_code(name) and not CREDENTIAL_WORDS.isdisjoint(words_of(name))
    )


def is_key_file(name: str) -> bool:
    """Whether a name is that of a file with a private key."""
    if name.startswith(("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519")) or (
        name.endswith("_key") and name.startswith("ssh_host_")
    ):
        return not is_code(name) and not name.endswith((".pub", "_parser"))
    return ending(name) in KEY_FILES and CERTIFICATE.isdisjoint(words_of(name.rpartition(".")[0]))


Area = Literal[
    "settings", "data", "cache", "programs", "libraries", "plain", "system", "near", "temporary"
]

HOMES: Final[dict[Strings, int]] = {
    ("root",): 0,
    (".root",): 0,
    ("var", "root"): 0,
    ("home",): 1,
    ("users",): 1,
    ("var", "home"): 1,
    ("mnt", "c", "users"): 1,
    ("c", "users"): 1,
    ("export", "home"): 1,
}
"""Where homes are, and how many names below it each of them is."""
HOMES_ON_DRIVES: Final[dict[Strings, int]] = {("users",): 1, ("documents and settings",): 1}
TEMPORARY: Final = frozenset(
    {("tmp",), ("var", "tmp"), ("dev", "shm"), ("var", "folders"), ("private", "tmp")}
)
_AREAS: Final[dict[Area, Strings]] = {
    "settings": (".config", "library/preferences"),
    "data": (".local/share", ".local/state", "library", "library/application support",
        "library/containers", "library/group containers", "appdata/roaming", "appdata/local",
        "appdata/locallow", "local settings/application data", "application data", "snap",
        ".var/app"),
    "cache": (".cache", ".local/tmp", "library/caches", "library/logs", "appdata/local/temp"),
    "programs": ("bin", ".local/bin", "go/bin", ".cargo/bin", ".bun/bin", ".deno/bin"),
    "libraries": (".local/lib", "library/python", "go/pkg", "go/src"),
}  # fmt: skip
AREAS: Final = {tuple(path.split("/")): area for area, paths in _AREAS.items() for path in paths}
"""What the folders of a home are for; the longest beginning tells."""
OF_TOOLS: Final = ("settings", "data")
"""Areas that have a folder for each tool."""


class PathSeat(NamedTuple):
    """A place by whose it is.

    `area` is `system`, `temporary`, `near` (in a project, as far as anybody knows) or one of a
    home: the `settings` and the `data` of a `tool`, a `cache`, `programs`, `libraries`, or what is
    `plain`ly a person's. `inner` are the names below the tool's folder, or all of them where there
    is no tool. `all` are the names as they stand, `rest` those below the home. It is not `sure`
    where only a folder's name says that this is a home.
    """

    area: Area
    tool: str
    inner: Strings
    all: Strings
    sure: bool = True
    rest: Strings = ()

    @property
    def name(self) -> str:
        """The last name; of a tool that is one file, that of the tool."""
        return self.inner[-1] if self.inner else self.tool

    @property
    def is_home(self) -> bool:
        """Whether it is in somebody's home, beside what is plainly theirs."""
        return self.area not in ("system", "near", "temporary", "plain")

    @property
    def is_sample(self) -> bool:
        """Whether it may be among what is made to be seen: fixtures, examples, templates."""
        loose = not self.sure or self.area in ("near", "plain", "temporary")
        parts = self.rest if self.sure and self.rest else self.all
        return loose and any(not SAMPLE.isdisjoint(words_of(part)) for part in parts)


def seat_of(place: PathPlace) -> PathSeat:
    """Whose a place is; the place is one to which upper and lower case are one."""
    parts = place.parts
    if place.root[:1] == "~":
        return _in_home(parts, parts)
    at = next((at for at, part in enumerate(parts) if _is_tools(part)), -1)
    if place.root in ("", "$"):
        # A path that climbs, or begins nobody knows where, may end in a home: a folder of a tool
        # tells.
        if at >= 0:
            return _in_home(parts[at:], parts, sure=place.up > 0 and at == 0)
        return PathSeat("near", "", parts, parts)
    if place.root == "/":
        if not TEMPORARY.isdisjoint((parts[:1], parts[:2])):
            return PathSeat("temporary", "", parts, parts)
        match parts:
            case ("run", "user", _, tool, *inner):
                return PathSeat("data", tool, tuple(inner), parts, True, parts[3:])
    homes = {"/": HOMES}.get(place.root, HOMES_ON_DRIVES)
    for size in (1, 2, 3):
        start = size + homes.get(parts[:size], len(parts))
        if start <= len(parts):
            return _in_home(parts[start:], parts)
    if at >= 0 and (at == 0 or not _is_system(place)):
        return _in_home(parts[at:], parts, sure=at == 0)
    return PathSeat("system" if _is_system(place) else "near", "", parts, parts)


SYSTEM: Final = WORDS["system"]
WINDOWS: Final = {
    "windows", "program files", "program files (x86)", "programdata", "boot", "bootmgr", "boot.ini",
    "inetpub",
}  # fmt: skip
PROJECTS: Final = (("var", "www"), ("usr", "src", "app"), ("opt", "app"), ("opt", "project"))
"""Folders of the system in which projects are kept."""


def _is_system(place: PathPlace) -> bool:
    parts = place.parts
    if place.root == "/":
        return (
            parts[:1] != ()
            and parts[0] in SYSTEM
            and not any(parts[: len(p)] == p for p in PROJECTS)
        )
    return bool(parts) and parts[0] in WINDOWS


PROJECTS_OWN: Final = WORDS["projects own"]
"""Folders with a dot that a project has of its own."""


def _is_tools(part: str) -> bool:
    """Whether a name is that of a tool's folder, and not one that a project has of its own."""
    if part == "appdata":
        return True
    return len(part) > 2 and part[0] == "." and part[1] != "." and part not in PROJECTS_OWN


def _in_home(rest: Strings, parts: Strings, sure: bool = True) -> PathSeat:
    for size in (3, 2, 1):
        area = AREAS.get(rest[:size])
        if area is not None and len(rest) >= size:
            below = rest[size:]
            if area in OF_TOOLS:
                return PathSeat(area, below[0] if below else "", below[1:], parts, sure, rest)
            return PathSeat(area, "", below, parts, sure, rest)
    if rest and rest[0][:1] == "." and len(rest[0]) > 1:
        return PathSeat("settings", rest[0][1:], rest[1:], parts, sure, rest)
    return PathSeat("plain", "", rest, parts, sure, rest)
