"""What a contained run sees: which files stand inside, and which variables."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from stanchion.runtime.sandbox.guarded import (
    GIT,
    RUNS_OUTSIDE,
    HeldNames,
    UnfitFolder,
    is_below,
    link_on_way,
    repositories,
    unfilled,
)
from stanchion.runtime.sandbox.keeping.calls import DEVICES
from stanchion.runtime.sandbox.keeping.namespaces import (
    DEVICE,
    FRESH,
    HIDDEN,
    INNER,
    LINK,
    READ,
    TEXT,
    WRITE,
    Placed,
    readable,
)

HOME: Final = "/home/agent"
_OF_ETC: Final = """
    alternatives bash.bashrc ca-certificates ca-certificates.conf chromium chromium.d
    crypto-policies debian_version fonts gai.conf host.conf inputrc java ld.so.cache ld.so.conf
    ld.so.conf.d locale.conf localtime login.defs lsb-release magic mime.types nanorc os-release
    perl pki profile profile.d protocols services shells ssl terminfo timezone vim zsh
"""
SYSTEM: Final = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix",
    *(f"/etc/{name}" for name in _OF_ETC.split()),
)  # fmt: skip
"""What is read of the system: programs, libraries, and settings that hold nothing of a user."""
SECRET: Final = ("/etc/ssl/private", "/etc/pki/tls/private", "/usr/local/etc/ssl/private")
"""What is in it and is not for everybody."""
TEXTS: Final = {
    "/etc/passwd": (
        f"agent:x:{INNER}:{INNER}::{HOME}:/bin/sh\n"
        "nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n"
    ),
    "/etc/group": f"agent:x:{INNER}:\nnogroup:x:65534:\n",
    "/etc/hosts": "127.0.0.1 localhost stanchion\n::1 localhost\n",
    "/etc/resolv.conf": "nameserver 127.0.0.1\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}
FRESH_FOLDERS: Final = {
    "/tmp": "tmpfs mode=1777",
    "/var/tmp": "tmpfs mode=1777",
    "/run": "tmpfs mode=755,size=1m",
    "/dev/shm": "tmpfs mode=1777",
    "/dev/pts": "devpts newinstance,ptmxmode=0666,mode=620",
}
LINKS: Final = {
    "/dev/fd": "/proc/self/fd",
    "/dev/stdin": "/proc/self/fd/0",
    "/dev/stdout": "/proc/self/fd/1",
    "/dev/stderr": "/proc/self/fd/2",
    "/dev/ptmx": "pts/ptmx",
    "/var/run": "/run",
}
PASSED: Final = (
    "TERM", "COLORTERM", "LANG", "LANGUAGE", "TZ", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "COLUMNS",
    "LINES", "EDITOR", "VISUAL", "PAGER", "CI",
)  # fmt: skip
"""Variables that say nothing but how the terminal is, and how one likes it; and `LC_*`."""
PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Inside:
    """The files of a contained run: the system to be read; the project, the roots and a home to be
    written; `shown` to be read. What is `closed` is not seen, and what is `kept` is not written,
    wherever it lies; neither are other programs' sockets."""

    def __init__(
        self,
        project: Path,
        roots: Iterable[Path] = (),
        shown: Iterable[Path] = (),
        home: Path | None = None,
        closed: Iterable[str] = (),
        kept: Iterable[str] = (),
    ) -> None:
        self.project = own_folder(project)
        roots, shown, closed, kept = list(roots), list(shown), list(closed), list(kept)
        self.writable = [str(each) for each in sorted({self.project, *map(own_folder, roots)})]
        self.read = [str(_there(each)) for each in shown]
        self.home = None if home is None else str(own_folder(home))
        self.written = self.writable if self.home is None else [*self.writable, self.home]
        """What is written inside, as it is called outside."""
        self.run_outside = [one for one in self.writable if os.path.basename(one) in RUNS_OUTSIDE]
        """What programs outside run, and is written inside because the policy names it."""
        first = [str(self.project / name) for name in RUNS_OUTSIDE]
        outer = [one for one in self.writable if not any(_is_in(one, two) for two in self.writable)]
        found = {one for root in {*outer} - {*self.run_outside} for one in repositories(root)}
        runs = {*filter(os.path.lexists, first), *found} - {*self.writable}
        self._straight([*roots, *shown, *([] if home is None else [home])], "name what it leads to")
        self._straight(filter(os.path.lexists, kept), "name what it leads to")
        self._straight(sorted(runs), "put what it leads to in its place")
        gaps = [gap for one in found if os.path.basename(one) == GIT for gap in unfilled(one)]
        self.names = HeldNames(dict.fromkeys([*first, *gaps]))
        """Where nothing is, and nothing comes as long as the run lasts."""
        self._straight(self.names.paths, "put a folder in its place")
        self._closed = [one for one in {*closed, *SECRET, *_sockets()} if os.path.lexists(one)]
        self.ours = [one for one in sorted({*closed, *kept}) if self._at(one)]
        """What is Stanchion's own among what could be seen."""
        self._kept = [*filter(os.path.exists, {*kept, *runs} - {*self.names.paths})]
        self._kept += self.names.paths

    def _straight(self, paths: Iterable[str | Path], instead: str) -> None:
        for path in paths:
            if link := link_on_way(path, self.written):
                told = (
                    f"`{path}` leads over the link `{link}`, which is in a folder that is written"
                )
                raise UnfitFolder(f"{told} inside: {instead}")

    def places(self) -> list[Placed]:
        """What stands inside, in the order in which it is put there."""
        home = (FRESH, "tmpfs mode=755", HOME) if self.home is None else (WRITE, self.home, HOME)
        return [
            *readable(SYSTEM),
            *((TEXT, text, path) for path, text in TEXTS.items()),
            *((DEVICE, f"/dev/{name}", f"/dev/{name}") for name in (*DEVICES, "tty")),
            *((FRESH, options, path) for path, options in FRESH_FOLDERS.items()),
            *((LINK, target, path) for path, target in LINKS.items()),
            home,
            *((READ, path, path) for path in self.read),
            *((WRITE, path, path) for path in self.writable),
            *self._anchors(),
            *((READ, path, at) for path in self._outermost(self._kept) for at in self._at(path)),
            *(
                (HIDDEN, path, at)
                for path in self._outermost(self._closed)
                for at in self._at(path)
            ),
        ]

    def _anchors(self) -> list[Placed]:
        """The folders between a root and what is guarded in it, as mounts of themselves: a mount
        cannot be renamed, and so what lies over something cannot be led past. They come before
        whatever lies over them."""
        found = set()
        for path in (*self._kept, *self._closed):
            for root in self.written:
                if _is_in(path, root):
                    between = list(Path(path).relative_to(root).parents)[:-1]
                    found |= {str(Path(root, one)) for one in between}
        return [(WRITE, one, at) for one in sorted(found) for at in self._at(one)]

    def _outermost(self, paths: Iterable[str]) -> list[str]:
        """Those of some paths that could be seen, and are in none of the others."""
        found: list[str] = []
        for path in sorted(filter(self._at, paths)):
            if not any(is_below(path, one) for one in found):
                found.append(path)
        return found

    def shows(self, path: str) -> bool:
        """Whether a file stands inside, as it does outside."""
        return bool(self._root(os.path.realpath(path)))

    def _at(self, path: str) -> list[str]:
        """Where a file outside stands inside: a home that is kept has another name there."""
        found = [path] if self._root(path) else []
        if self.home is not None and is_below(path, self.home):
            found.append(HOME + path[len(self.home) :])
        return found

    def sees(self, path: str) -> bool:
        """Whether a file outside can be read inside, under any name."""
        real = os.path.realpath(path)
        hidden = any(is_below(real, os.path.realpath(one)) for one in self._closed)
        return bool(self._at(real)) and not hidden

    def changes(self, path: str) -> bool:
        """Whether what is at a path may come from inside."""
        real = os.path.realpath(path)
        return any(is_below(real, one) for one in self.written) or bool(
            link_on_way(path, self.written)
        )

    def _root(self, path: str) -> str:
        """The folder inside that a path is in; empty for none."""
        folders = (*self.writable, *self.read, *SYSTEM)
        return max([one for one in folders if is_below(path, one)], key=len, default="")

    def environment(self, outside: Mapping[str, str], passed: Iterable[str] = ()) -> dict[str, str]:
        """The variables of the run: those that tell of the terminal, and those that are named."""
        names = {*PASSED, *passed, *(name for name in outside if name.startswith("LC_"))}
        folders = [
            one
            for one in outside.get("PATH", "").split(":")
            if os.path.isabs(one) and self.shows(one)
        ]
        return {
            **{name: outside[name] for name in sorted(names) if name in outside},
            "PATH": ":".join(dict.fromkeys([*folders, *PATH.split(":")])),
            "HOME": HOME,
            "USER": "agent",
            "LOGNAME": "agent",
            "TMPDIR": "/tmp",
            "GIT_OPTIONAL_LOCKS": "0",
        }


def _is_in(path: str, folder: str) -> bool:
    return path != folder and is_below(path, folder)


def _there(path: Path) -> Path:
    if not path.exists():
        raise UnfitFolder(f"`{path}` is not there: name a folder or a file that is")
    return path.resolve()


def own_folder(folder: Path) -> Path:
    """A folder that may be written inside: not one that holds a user's home, or the system."""
    real, home = folder.resolve(), os.path.realpath(os.path.expanduser("~"))
    if not real.is_dir():
        raise UnfitFolder(f"`{folder}` is no folder: name one that is there")
    if is_below(home, str(real)) or str(real) in {
        *SYSTEM,
        "/",
        "/etc",
        "/home",
        "/root",
        "/var",
        "/run",
    }:
        raise UnfitFolder(
            f"`{real}` holds more than one project: go to the folder of one, or name it"
        )
    return real


def _sockets() -> list[str]:
    """Where sockets of programs outside stand: who reaches the file reaches the program, whatever
    network it is in."""
    try:
        with open("/proc/net/unix", encoding="utf-8", errors="surrogateescape") as file:
            names = [line.split(maxsplit=7)[7:] for line in file]
    except OSError:
        return []
    return [name[0].rstrip("\n") for name in names if name and name[0].startswith("/")]
