"""Seats: whose a place is, so that a class can be said once for every system and every spelling of
its folders."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from stanchion.readings.paths.place import Place
from stanchion.readings.word_lists import listed

Area = Literal[
    "settings", "data", "cache", "programs", "libraries", "plain", "system", "near", "temporary"
]

PEOPLE: Final = (
    ("home",),
    ("users",),
    ("var", "home"),
    ("mnt", "c", "users"),
    ("c", "users"),
    ("export", "home"),
)
"""Where people's folders are, one for each."""
TEMPORARY: Final = (
    ("tmp",),
    ("var", "tmp"),
    ("dev", "shm"),
    ("var", "folders"),
    ("private", "tmp"),
)
XDG: Final[dict[tuple[str, ...], Area]] = {
    (".config",): "settings",
    (".local", "share"): "data",
    (".local", "state"): "data",
    ("library", "application support"): "data",
    ("library", "preferences"): "settings",
    ("library", "containers"): "data",
    ("library", "group containers"): "data",
    ("appdata", "roaming"): "data",
    ("appdata", "local"): "data",
    ("appdata", "locallow"): "data",
    ("local settings", "application data"): "data",
    ("application data",): "data",
    ("snap",): "data",
    (".var", "app"): "data",
    ("library",): "data",
}
"""Folders in a home that have one for each tool."""
CACHES: Final[tuple[tuple[str, ...], ...]] = (
    (".cache",),
    ("library", "caches"),
    ("appdata", "local", "temp"),
    ("library", "logs"),
    (".local", "tmp"),
)
PROGRAMS: Final[tuple[tuple[str, ...], ...]] = (
    (".local", "bin"),
    ("bin",),
    ("go", "bin"),
    (".cargo", "bin"),
    (".bun", "bin"),
    (".deno", "bin"),
)
LIBRARIES: Final[tuple[tuple[str, ...], ...]] = (
    (".local", "lib"),
    ("library", "python"),
    ("go", "pkg"),
    ("go", "src"),
)


class Seat(NamedTuple):
    """A place by whose it is.

    `area` is `system`, `temporary`, `near` (in a project, as far as anybody knows) or one of a
    home: the `settings` and the `data` of a `tool`, a `cache`, `programs`, `libraries`, or what is
    `plain`ly a person's. `inner` are the names below the tool's folder, or all of them where there
    is no tool. `all` are the names as they stand, `rest` those below the home. It is not `sure`
    where only a folder's name says that this is a home.
    """

    area: Area
    tool: str
    inner: tuple[str, ...]
    all: tuple[str, ...]
    sure: bool = True
    rest: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The last name; of a tool that is one file, that of the tool."""
        return self.inner[-1] if self.inner else self.tool

    @property
    def is_home(self) -> bool:
        """Whether it is in somebody's home, beside what is plainly theirs."""
        return self.area not in ("system", "near", "temporary", "plain")


def seat_of(place: Place) -> Seat:
    """Whose a place is; the place is one to which upper and lower case are one."""
    parts = place.parts
    if place.root[:1] == "~":
        return _in_home(parts, parts)
    if place.root == "" or place.root == "$":
        # A path that climbs, or begins nobody knows where, may end in a home: a folder of a tool
        # tells.
        at = next((at for at, part in enumerate(parts) if _is_tools(part)), -1)
        if at >= 0:
            return _in_home(parts[at:], parts, sure=place.up > 0 and at == 0)
        return Seat("near", "", parts, parts)
    if place.root == "/":
        if any(parts[: len(start)] == start for start in TEMPORARY):
            return Seat("temporary", "", parts, parts)
        if parts[:1] in (("root",), (".root",)):
            return _in_home(parts[1:], parts)
        if len(parts) > 1 and parts[:2] == ("var", "root"):
            return _in_home(parts[2:], parts)
        if len(parts) > 3 and parts[:2] == ("run", "user"):
            return Seat("data", parts[3], parts[4:], parts, True, parts[3:])
    for start in PEOPLE if place.root == "/" else (("users",), ("documents and settings",)):
        if parts[: len(start)] == start and len(parts) > len(start):
            return _in_home(parts[len(start) + 1 :], parts)
    at = next((at for at, part in enumerate(parts) if _is_tools(part)), -1)
    if at >= 0 and (at == 0 or not _is_system(place)):
        return _in_home(parts[at:], parts, sure=at == 0)
    return Seat("system" if _is_system(place) else "near", "", parts, parts)


SYSTEM: Final = listed(
    """
    bin boot dev etc lib lib32 lib64 libx32 opt proc run sbin sys usr var system library
    applications snap nix
    """
)
WINDOWS: Final = frozenset(
    (
        "windows",
        "program files",
        "program files (x86)",
        "programdata",
        "boot",
        "bootmgr",
        "boot.ini",
        "inetpub",
    )
)
PROJECTS: Final = (("var", "www"), ("usr", "src", "app"), ("opt", "app"), ("opt", "project"))
"""Folders of the system in which projects are kept."""


def _is_system(place: Place) -> bool:
    parts = place.parts
    if place.root == "/":
        return (
            parts[:1] != ()
            and parts[0] in SYSTEM
            and not any(parts[: len(p)] == p for p in PROJECTS)
        )
    return bool(parts) and parts[0] in WINDOWS


PROJECTS_OWN: Final = listed(
    """
    .git .github .gitlab .circleci .vscode .idea .venv .tox .nox .husky .devcontainer .storybook
    .next .nuxt .cache .pytest_cache .mypy_cache .ruff_cache .yarn .turbo .terraform .gradle .mvn
    .cargo .config .vs .nyc_output .changeset .claude .cursor .codex .gemini .continue .windsurf
    .roo .cline .aider .openhands .kiro .zed .junie .stanchion .well-known .svn .hg .eggs .direnv
    .bundle .output .svelte-kit .angular .expo .buildkite .woodpecker .tekton .semgrep .local
    .ipynb_checkpoints .parcel-cache .serverless .vercel .netlify .firebase .wrangler .sst .pnpm
    .bin .github-private
    """
)
"""Folders with a dot that a project has of its own."""


def _is_tools(part: str) -> bool:
    """Whether a name is that of a tool's folder, and not one that a project has of its own."""
    if part == "appdata":
        return True
    return len(part) > 2 and part[0] == "." and part[1] != "." and part not in PROJECTS_OWN


def _in_home(rest: tuple[str, ...], parts: tuple[str, ...], sure: bool = True) -> Seat:
    for start in CACHES:
        if rest[: len(start)] == start:
            return Seat("cache", "", rest[len(start) :], parts, sure, rest)
    for start in PROGRAMS:
        if rest[: len(start)] == start:
            return Seat("programs", "", rest[len(start) :], parts, sure, rest)
    for start in LIBRARIES:
        if rest[: len(start)] == start:
            return Seat("libraries", "", rest[len(start) :], parts, sure, rest)
    for start, area in XDG.items():
        if rest[: len(start)] == start:
            below = rest[len(start) :]
            return Seat(area, below[0] if below else "", below[1:], parts, sure, rest)
    if rest and rest[0][:1] == "." and len(rest[0]) > 1:
        return Seat("settings", rest[0][1:], rest[1:], parts, sure, rest)
    return Seat("plain", "", rest, parts, sure, rest)
