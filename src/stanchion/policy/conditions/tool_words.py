"""Words that tell what a tool does and what its arguments are; all in lower case, without separators."""

from __future__ import annotations

from typing import Final

TYPES: Final = (
    "file_read",
    "file_write",
    "file_delete",
    "command",
    "http",
    "tool",
    "model",
    "prompt",
    "handoff",
    "charge",
)
"""Every `action.type`."""

DELETES: Final = frozenset({"delete", "remove", "rm", "rmdir", "rmtree", "unlink", "trash", "erase", "shred"})
WRITES: Final = frozenset(
    {
        "write",
        "edit",
        "multiedit",
        "create",
        "save",
        "append",
        "patch",
        "replace",
        "update",
        "modify",
        "insert",
        "put",
        "move",
        "mv",
        "rename",
        "copy",
        "cp",
        "mkdir",
        "touch",
        "truncate",
        "overwrite",
        "chmod",
        "chown",
        "upload",
    }
)
READS: Final = frozenset(
    {
        "read",
        "open",
        "cat",
        "view",
        "show",
        "list",
        "ls",
        "get",
        "load",
        "stat",
        "head",
        "tail",
        "find",
        "grep",
        "search",
        "glob",
        "diff",
        "tree",
        "download",
    }
)
FILES: Final = frozenset({"file", "files", "path", "folder", "directory", "dir", "document", "notebook"})
ALONE: Final = frozenset({"write", "edit", "multiedit", "read"})
"""Verbs that mean files even where a tool is named by nothing else."""

SHELLS: Final = frozenset({"bash", "sh", "zsh", "shell", "terminal", "powershell", "pwsh", "cmd", "exec", "subprocess"})
WEB: Final = frozenset(
    {"http", "https", "fetch", "curl", "wget", "request", "browse", "browser", "web", "url", "webfetch"}
)

COMMAND_KEYS: Final = ("command", "cmd", "commandline", "script")
URL_KEYS: Final = frozenset({"url", "uri", "urls"})
CONTENT_KEYS: Final = frozenset({"content", "contents", "newstring", "newtext", "newcontent", "patch", "edits"})
PATH_KEYS: Final = frozenset(
    {
        "path",
        "paths",
        "file",
        "files",
        "filepath",
        "filepaths",
        "filename",
        "filenames",
        "targetfile",
        "targetfiles",
        "targetpath",
        "notebookpath",
        "directory",
        "dir",
        "folder",
        "root",
        "outputpath",
        "outputfile",
        "inputpath",
        "inputfile",
        "oldpath",
        "newpath",
        "srcpath",
        "destpath",
        "dstpath",
        "sourcepath",
        "destinationpath",
        "relativepath",
        "absolutepath",
    }
)
LOOSE_KEYS: Final = frozenset(
    {"target", "targets", "source", "src", "destination", "dest", "dst", "from", "to", "old", "new", "input", "output"}
)
"""Keys that name files only where the tool's name speaks of files, or of doing something to them."""
