"""What the options of files mean, and which way each becomes stricter."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.option import Stricter

OPTIONS: Final = {
    "root": Stricter.SAME(
        "The folders that contain the run's files; relative paths start at the first, `.` is the "
        "working directory, and an empty list means anywhere."
    ),
    "read": Stricter.FEWER(
        "The only files that may be read, as globs; `**` matches any number of folders. If absent, "
        "all files."
    ),
    "write": Stricter.FEWER(
        "The only files that may be written or deleted, as globs; if absent, all files."
    ),
    "deny": Stricter.MORE(
        "Files that may never be used, as globs, whatever else allows them; folders that contain "
        "them may not be deleted."
    ),
    "protected": Stricter.MORE("Files to protect in addition to the shipped list, as globs."),
    "unprotected": Stricter.SHORTER(
        "Files that are not protected here although a list contains them, as globs."
    ),
    "shipped": Stricter.ON(
        "If `true`, the files on Stanchion's own list are protected: secrets, keys, system files, "
        "its own files."
    ),
    "surroundings": Stricter.OFF(
        "If `true`, folders for temporary files and caches may be used, and projects beside the "
        "run's folders and what is installed may be read, although they are outside; with "
        "`real_paths`, a person is asked about the rest."
    ),
    "arguments": Stricter.SAME(
        "Arguments that name files, each with whether the file is read, written or deleted; if "
        "absent, the names of arguments decide."
    ),
    "tools": Stricter.SAME(
        "Whether a tool reads, writes or deletes files, by name or glob, or `elsewhere` if its "
        "files are not on this machine; if absent, the names of tools decide."
    ),
    "paths_only": Stricter.OFF(
        "If `true`, only paths that arguments name are judged: none in shell commands and code, "
        "which the guard `shell` reads, and nothing of what is written into files."
    ),
    "case_insensitive": Stricter.SAME(
        "If `true`, upper and lower case are the same in folders and lists."
    ),
    "real_paths": Stricter.ON(
        "If `true`, links are followed on the disk; use it for tools that run on this host."
    ),
    "deadline_ms": Stricter.SAME(
        "A call is refused if the disk gives no answer within this many milliseconds."
    ),
    "action": Stricter.ACTION("The action for files that are denied or not listed."),
    "outside_read": Stricter.ACTION("The action for reading outside the folders in `root`."),
    "outside_write": Stricter.ACTION(
        "The action for writing or deleting outside the folders in `root`."
    ),
    "protected_read": Stricter.ACTION("The action for reading a protected file."),
    "protected_write": Stricter.ACTION("The action for writing or deleting a protected file."),
    "asked": Stricter.ACTION(
        "The action for protected files about which a person is asked: hooks, settings of agents "
        "and of other programs, programs that others find by name."
    ),
    "unclear": Stricter.ACTION("The action for a path that cannot be read."),
}
