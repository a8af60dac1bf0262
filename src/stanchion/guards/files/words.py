"""Words that tell how a tool uses files and which arguments name them; all in lower case, without separators."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")

DELETES: Final = frozenset({"delete", "remove", "rm", "rmdir", "rmtree", "unlink", "trash", "erase", "shred"})
MOVES: Final = frozenset({"move", "mv", "rename"})
WRITES: Final = MOVES | frozenset(
    {
        "write", "edit", "multiedit", "create", "save", "append", "patch", "replace", "update", "modify", "insert",
        "put", "copy", "cp", "mkdir", "touch", "truncate", "overwrite", "chmod", "chown", "upload",
    }
)  # fmt: skip
READS: Final = frozenset(
    {
        "read", "open", "cat", "view", "show", "list", "ls", "get", "load", "stat", "head", "tail", "find", "grep",
        "search", "glob", "diff", "tree", "download",
    }
)  # fmt: skip
FILES: Final = frozenset({"file", "files", "path", "folder", "directory", "dir", "document", "notebook"})
ALONE: Final = frozenset({"write", "edit", "multiedit", "read"})
"""Verbs that mean files even where a tool is named by nothing else."""
WEB: Final = frozenset(
    {
        "http", "https", "fetch", "curl", "wget", "request", "browse", "browser", "web", "url", "webfetch", "api",
        "rest", "graphql", "endpoint",
    }
)  # fmt: skip

PATHS: Final = frozenset(
    {
        "path", "paths", "file", "files", "filepath", "filepaths", "filename", "filenames", "fname", "targetfile",
        "targetfiles", "targetpath", "notebookpath", "directory", "dir", "folder", "root", "relativepath",
        "absolutepath", "fullpath", "localpath", "pathname", "location",
    }
)  # fmt: skip
SOURCES: Final = frozenset(
    {
        "inputpath", "inputfile", "oldpath", "srcpath", "sourcepath", "sourcefile", "frompath", "fromfile",
    }
)  # fmt: skip
RESULTS: Final = frozenset(
    {
        "outputpath", "outputfile", "outputdir", "outfile", "newpath", "destpath", "dstpath", "destinationpath",
        "destinationfile", "destfile", "topath", "saveto", "saveas", "savepath", "exportpath",
    }
)  # fmt: skip
LOOSE_SOURCES: Final = frozenset({"source", "src", "from", "old", "input"})
LOOSE_RESULTS: Final = frozenset({"destination", "dest", "dst", "to", "new", "output", "out"})
LOOSE: Final = LOOSE_SOURCES | LOOSE_RESULTS | frozenset({"target", "targets"})
"""Names of arguments that name files only where the tool's name speaks of files, or of doing something to them."""
STARTS: Final = frozenset(
    {
        "cwd", "workdir", "workingdir", "workingdirectory", "basedir", "basepath", "chdir",
    }
)  # fmt: skip
"""Folders from which the other paths of a call are seen."""
COMMANDS: Final = frozenset({"command", "cmd", "commandline", "script"})
CONTENTS: Final = frozenset(
    {
        "content", "contents", "text", "body", "newstring", "oldstring", "oldstr", "newstr", "newtext", "oldtext",
        "newcontent", "patch", "edits", "code", "data", "filetext", "message", "prompt", "query", "description", "diff",
        "inserttext",
    }
)  # fmt: skip
"""Names of arguments that are written into files or sent; a path in them is not used."""

WRITTEN: Final = CONTENTS - {"oldstring", "oldstr", "oldtext", "message", "prompt", "query", "description"}
"""Those that end up in a file."""


class ToolWords(NamedTuple):
    """What a tool's name says."""

    verb: str
    moves: bool
    of_files: bool
    web: bool


@lru_cache(4_096)
def words_of(tool: str) -> ToolWords:
    """The meaning of a tool's name: `writeFile`, `write_file` and `fs.write-file` are one."""
    said = [word.lower() for word in _WORD.findall(tool[:200])]
    known = frozenset(said)
    verb = "delete" if known & DELETES else "write" if known & WRITES else "read" if known & READS else ""
    of_files = bool(known & FILES) or (len(said) == 1 and said[0] in ALONE)
    return ToolWords(verb, bool(known & MOVES), of_files, bool(known & WEB))


@lru_cache(4_096)
def plain(key: str) -> str:
    """The name of an argument as the lists above have it."""
    return key[:64].replace("_", "").replace("-", "").lower()
