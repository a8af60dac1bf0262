"""What the options of files may say."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from stanchion.guards._protected import Use
from stanchion.kernel.option import Fewer, More, Off, On, PlainActionName, Shorter
from stanchion.readings.paths.globs import fault

ToolUse = Use | Literal["elsewhere"]
"""What a tool does to files, or that its files are not those of this machine."""


class FileOptions(msgspec.Struct, frozen=True, dict=True):
    """The options of the guard."""

    root: tuple[str, ...] = (".",)
    """The folders that contain the run's files; relative paths start at the first, `.` is the
    working directory, and an empty list means anywhere."""
    read: Fewer[tuple[str, ...] | None] = None
    """The only files that may be read, as globs; `**` matches any number of folders. If absent, all
    files."""
    write: Fewer[tuple[str, ...] | None] = None
    """The only files that may be written or deleted, as globs; if absent, all files."""
    deny: More[tuple[str, ...]] = ()
    """Files that may never be used, as globs, whatever else allows them; folders that contain them
    may not be deleted."""
    protected: More[tuple[str, ...]] = ()
    """Files to protect in addition to the shipped list, as globs."""
    unprotected: Shorter[tuple[str, ...]] = ()
    """Files that are not protected here although a list contains them, as globs."""
    shipped: On[bool] = True
    """If `true`, the files on Stanchion's own list are protected: secrets, keys, system files, its
    own files."""
    surroundings: Off[bool] = False
    """If `true`, folders for temporary files and caches may be used, and projects beside the run's
    folders and what is installed may be read, although they are outside; with `real_paths`, a
    person is asked about the rest."""
    arguments: dict[str, Use] | None = None
    """Arguments that name files, each with whether the file is read, written or deleted; if absent,
    the names of arguments decide."""
    tools: dict[str, ToolUse] | None = None
    """Whether a tool reads, writes or deletes files, by name or glob, or `elsewhere` if its files
    are not on this machine; if absent, the names of tools decide."""
    paths_only: Off[bool] = False
    """If `true`, only paths that arguments name are judged: none in shell commands and code, which
    the guard `shell` reads, and nothing of what is written into files."""
    case_insensitive: bool = False
    """If `true`, upper and lower case are the same in folders and lists."""
    real_paths: On[bool] = False
    """If `true`, links are followed on the disk; use it for tools that run on this host."""
    deadline_ms: Annotated[int, msgspec.Meta(ge=0)] = 1_000
    """A call is refused if the disk gives no answer within this many milliseconds."""
    action: PlainActionName = "block"
    """The action for files that are denied or not listed."""
    outside_read: PlainActionName = "block"
    """The action for reading outside the folders in `root`."""
    outside_write: PlainActionName = "block"
    """The action for writing or deleting outside the folders in `root`."""
    protected_read: PlainActionName = "block"
    """The action for reading a protected file."""
    protected_write: PlainActionName = "block"
    """The action for writing or deleting a protected file."""
    asked: PlainActionName = "escalate"
    """The action for protected files about which a person is asked: hooks, settings of agents and
    of other programs, programs that others find by name."""
    unclear: PlainActionName = "block"
    """The action for a path that cannot be read."""

    def __post_init__(self) -> None:
        for globs in (self.read, self.write, self.deny, self.protected, self.unprotected):
            for text in globs if globs is not None else ():
                wrong = fault(text)
                if wrong is not None:
                    raise ValueError(wrong)
