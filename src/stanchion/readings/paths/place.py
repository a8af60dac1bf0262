"""Places: what a path names, whichever way it is written, and the globs over it."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from stanchion.kernel.names import glob, is_glob
from stanchion.kernel.regex import regex
from stanchion.readings.word_lists import Strings

STAND_FOR: Final = {
    name: place.strip()
    for line in """
    home userprofile homepath zdotdir = ~
    pwd cd oldpwd github_workspace ci_project_dir workspace =
    xdg_config_home = ~/.config
    xdg_data_home = ~/.local/share
    xdg_state_home = ~/.local/state
    xdg_cache_home = ~/.cache
    appdata = ~/AppData/Roaming
    localappdata = ~/AppData/Local
    tmpdir tmp temp runner_temp = /tmp
    programdata allusersprofile = c:/ProgramData
    public = c:/Users/Public
    systemroot windir = c:/Windows
    systemdrive = c:
    programfiles = c:/Program Files
    cargo_home = ~/.cargo
    gnupghome = ~/.gnupg
    docker_config = ~/.docker
    kubeconfig = ~/.kube/config
    aws_shared_credentials_file = ~/.aws/credentials
    cloudsdk_config = ~/.config/gcloud
    netrc = ~/.netrc
    google_application_credentials = ~/.config/gcloud/credentials.json
    pgpassfile = ~/.pgpass
    histfile = ~/.bash_history
    gopath = ~/go
    nvm_dir = ~/.nvm
    xdg_runtime_dir = /run/user/0
    profile = ~/Documents/PowerShell/profile.ps1
    """.strip().splitlines()
    for names, _, place in [line.partition("=")]
    for name in names.split()
}
"""What stands under a name, in lower case; nothing is the working directory."""

NAMED: Final = {
    (program, word): place
    for program, word, place in map(
        str.split,
        """
    npm userconfig ~/.npmrc
    npm globalconfig /etc/npmrc
    gpgconf homedir ~/.gnupg
    getent passwd ~
    go gopath ~/go
    ipython locate ~/.ipython
    jupyter --config-dir ~/.jupyter
    git --git-dir .git
    git hooks .git/hooks
    python3 --user-site ~/.local/lib/python3/site-packages
    xdg-user-dir documents ~/Documents
    python --user-site ~/.local/lib/python3/site-packages
    git --git-common-dir .git
    gh config-dir ~/.config/gh
    pip debug ~/.config/pip/pip.conf
    brew --prefix /opt/homebrew
    """.strip().splitlines(),
    )
}
"""Places that a program names, by its own name and a word that it is asked by, both in lower
case."""

_VARIABLE: Final = regex(
    r"(?:\$\{?(?:env:)?([A-Za-z_]\w*)\}?|%([A-Za-z_]\w*)%|\$\((pwd)\))((?:\.\w+)?)(?=[/\\]|\Z)",
    re.IGNORECASE,
)


def is_known(text: str) -> bool:
    """Whether a path begins with a variable of which it is known what it stands for."""
    return filled(text) is not None


def filled(text: str) -> str | None:
    """A path with what the variable at its beginning usually stands for; `None` where it begins
    with no such one."""
    found = _VARIABLE.match(text)
    if found is None:
        return None
    name = next(part for part in found.groups()[:3] if part is not None).lower()
    stands = STAND_FOR.get(name)
    if stands is None or (found[4] and name != "profile"):
        return None
    rest = text[found.end() :]
    return stands + rest if stands else rest.lstrip("/\\")


def named_by(argv: Strings) -> str:
    """The place whose name a command prints, or nothing."""
    program = argv[0].rpartition("/")[2].lower() if argv else ""
    return next(
        (NAMED[program, word.lower()] for word in argv[1:] if (program, word.lower()) in NAMED), ""
    )


_DRIVE: Final = regex(r"/*(?:[?.]/+)?([A-Za-z]):")
_FILE_URL: Final = regex(
    r"(?:[a-z][a-z0-9+.-]*:)?file:(?://(?:localhost)?(?=/|\Z)|(?=/))|(?:concat|cache|async|"
    r"subfile[^:/]*|glob|phar|zip|netdoc"
    r"|local_file|compress\.\w+|ephemeral):(?://)?(?=/)|php://filter/\S*?resource=(?=[/.~])",
    re.IGNORECASE,
)
"""What stands before a path where a library opens it: `file://`, and what is put around it."""
_URL: Final = regex(r"[A-Za-z][A-Za-z0-9+.-]+://", re.IGNORECASE)
_CLIMBS: Final = regex(r"[.?]{2,} *")
"""What a lenient system, or one that fills in wildcards, may take for the folder above."""


class PathPlace(NamedTuple):
    """Where a path leads: what it starts from (`/`, `~`, a drive such as `c:`, `$` where that is
    not known, nothing where it is relative), the names after it, and how many folders above its
    start a relative one begins."""

    root: str
    parts: Strings
    up: int = 0

    @property
    def folded(self) -> PathPlace:
        """The same for systems to which upper and lower case are one."""
        return PathPlace(
            self.root.lower(), tuple([part.casefold() for part in self.parts]), self.up
        )

    @property
    def text(self) -> str:
        """The place as one writes it."""
        rest = "/".join([*[".."] * self.up, *self.parts])
        if not self.root:
            return rest if rest else "."
        return f"/{rest}" if self.root == "/" else f"{self.root}/{rest}" if rest else self.root


def is_url(text: str) -> bool:
    """Whether a text names something that is no file."""
    return _URL.match(text) is not None and _FILE_URL.match(text) is None


def is_file_url(text: str) -> bool:
    """Whether a text is a path with something before it that says so."""
    return ":" in text[:24] and _FILE_URL.match(text) is not None


PRIVATE: Final = (["private", "etc"], ["private", "var"], ["private", "tmp"])
"""Where a Mac keeps what is at the top elsewhere."""


def place_of(text: str, lenient: bool = False) -> PathPlace:
    """Where a path leads; `lenient` reads it as systems do that have drives and forgive what stands
    behind a name."""
    root, rest = _rooted(text, lenient)
    parts: list[str] = []
    up = 0
    names = rest.split("/")
    for at, name in enumerate(names, 1):
        if lenient:
            name = _forgiven(name, at < len(names))
        if name in ("", "."):
            continue
        if name != "..":
            parts.append(name)
        elif parts:
            parts.pop()
        elif lenient or not root:
            up += 1
        if root == "/" and name in ("root", "cwd") and _is_process(parts):
            parts.clear()
            root, up = "/" if name == "root" else "", 0
    if root == "/" and parts[:2] in PRIVATE:
        del parts[0]
    # What climbs above the top was meant to begin elsewhere: below a folder that is put before it.
    return PathPlace("" if up else root, tuple(parts), up)


def _rooted(text: str, lenient: bool) -> tuple[str, str]:
    url = _FILE_URL.match(text) if ":" in text else None
    if url is not None:
        text = text[url.end() :]
    first = text[:1]
    if lenient or url is not None:
        drive = _DRIVE.match(text)
        if drive is not None:
            return f"{drive[1].lower()}:", text[drive.end() :]
    if first == "/":
        return "/", text
    if first == "~":
        head, _, rest = text.partition("/")
        return head, rest
    if first in ("$", "%"):
        known = filled(text)
        if known is not None:
            return _rooted(known, lenient or known[1:2] == ":")
        if first == "$" and len(text) > 1:
            return "$", text.partition("/")[2]
    return "", text


def _forgiven(name: str, goes_on: bool) -> str:
    """A name without what some systems leave out: dots and blanks at its end, parameters, the name
    of a stream."""
    if name[:2] in ("..", ".?", "?.", "??"):
        bare = name.partition(";")[0]
        if bare.rstrip(" ") == ".." or (goes_on and _CLIMBS.fullmatch(bare)):
            return ".."
    if "::$" in name:
        name = name.partition("::$")[0]
    return name.rstrip(". ") if name not in (".", "..") else name


def _is_process(parts: list[str]) -> bool:
    """Whether the names lead to what a process takes for its root or its working directory."""
    if parts[:1] != ["proc"] or len(parts) not in (3, 5):
        return False
    return len(parts) == 3 or parts[2] == "task"


def joined(base: PathPlace, place: PathPlace) -> PathPlace:
    """A place seen from another, where it is a relative one."""
    if place.root:
        return place
    kept = len(base.parts) - place.up
    if kept >= 0:
        return PathPlace(base.root, base.parts[:kept] + place.parts, base.up)
    return PathPlace(base.root, place.parts, base.up if base.root else base.up - kept)


def inside(place: PathPlace, folder: PathPlace) -> bool:
    """Whether a place is a folder or lies in it."""
    return (
        place.root == folder.root
        and place.up == folder.up
        and place.parts[: len(folder.parts)] == folder.parts
    )


HARMLESS: Final = frozenset(
    PathPlace("/", ("dev", name))
    for name in ("null", "stdin", "stdout", "stderr", "tty", "zero", "random", "urandom", "full")
)


def is_device(place: PathPlace) -> bool:
    """Whether a place is such a device, or a file that the program has open. What is below a folder
    that it has open is none: that may be anywhere."""
    return place in HARMLESS or (
        place.root == "/" and place.parts[:2] == ("dev", "fd") and len(place.parts) <= 3
    )


class PathGlob(NamedTuple):
    """A glob. `anywhere` says that it may begin at any depth, `drive` that it is for every
    drive."""

    text: str
    root: str
    parts: Strings
    anywhere: bool = False
    drive: bool = False

    @property
    def head(self) -> Strings:
        """The names at its beginning that are no patterns."""
        for at, part in enumerate(self.parts):
            if is_glob(part):
                return self.parts[:at]
        return self.parts


def pattern(text: str, folded: bool = True) -> PathGlob:
    """A glob as it is matched: one without a slash is for names at any depth, one that ends in a
    slash for a folder and all that is in it; `folded` where upper and lower case are one."""
    if text[:3] == "?:/":
        own = text[3:].casefold() if folded else text[3:]
        return PathGlob(text, "", tuple([part for part in own.split("/") if part]), drive=True)
    place = place_of(text, lenient=text[1:2] == ":")
    place = place.folded if folded else place
    parts = (*place.parts, "**") if text.endswith("/") else place.parts
    floats = not place.root and "/" not in text.rstrip("/")
    if floats and parts != ("**",):
        return PathGlob(text, "", ("**", *parts), anywhere=True)
    anywhere = not place.root and parts[:1] == ("**",)
    return PathGlob(text, place.root, ("..",) * place.up + parts, anywhere)


def fault(text: str) -> str | None:
    """What is wrong with a glob; `None` where nothing is."""
    if not text.strip():
        return "a pattern is empty: name a file or a folder"
    for part in text.split("/"):
        if "**" in part and part != "**":
            return f"`**` stands for whole names and `{part}` is more: write `**/*.py` or `src/**`"
    return None


def matches(made: PathGlob, place: PathPlace, deep: bool = False) -> bool:
    """Whether a place matches; `deep` counts a folder in which something that the pattern names
    must be."""
    if made.drive:
        if not (place.root.endswith(":") or place.root == "/" or place.up):
            return False
    elif made.anywhere or (made.root == "/" and place.up):
        return fits(made.parts, place.parts)
    elif made.root != place.root:
        return False
    parts = ("..",) * place.up + place.parts if not made.drive else place.parts
    if fits(made.parts, parts):
        return True
    return deep and len(parts) < len(made.head) and made.head[: len(parts)] == parts


def grants(made: PathGlob, place: PathPlace) -> bool:
    """Whether a place surely matches, for lists that allow. A relative glob is about the folder
    that it starts in, and about one above only where it climbs to it; an absolute one is about
    absolute paths alone."""
    if made.drive:
        return (place.root.endswith(":") or place.root == "/") and fits(made.parts, place.parts)
    climbs = next((at for at, part in enumerate(made.parts) if part != ".."), len(made.parts))
    return made.root == place.root and climbs == place.up and fits(made.parts[climbs:], place.parts)


def fits(wanted: Strings, parts: Strings) -> bool:
    """Whether names match a glob's, in at most as many steps as there are pairs of them."""
    at = place = mark = 0
    star = -1
    while place < len(parts):
        if at < len(wanted) and wanted[at] == "**":
            star, mark = at, place
            at += 1
        elif at < len(wanted) and _is(wanted[at], parts[place]):
            at += 1
            place += 1
        elif star >= 0:
            mark += 1
            at, place = star + 1, mark
        else:
            return False
    return all(part == "**" for part in wanted[at:])


def _is(wanted: str, name: str) -> bool:
    return wanted == name or (is_glob(wanted) and glob(wanted, name))


def listed(globs: Strings, folded: bool) -> tuple[PathGlob, ...]:
    """Globs that are ready to be matched."""
    return tuple([pattern(text, folded) for text in globs])


def first_match(
    patterns: tuple[PathGlob, ...], place: PathPlace, within: PathPlace, deep: bool = False
) -> PathGlob | None:
    """The first glob that has a place, seen from its folder or as it is."""
    for made in patterns:
        if matches(made, within, deep) or (place is not within and matches(made, place, deep)):
            return made
    return None


def permits(patterns: tuple[PathGlob, ...], place: PathPlace, within: PathPlace) -> bool:
    """Whether a list allows a place, which is seen from its folder, too. Devices that lose what is
    written are no files, and need not be listed."""
    return is_device(place) or any(grants(made, within) or grants(made, place) for made in patterns)
