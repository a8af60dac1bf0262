"""Words by which tools and arguments say that something is run; in small letters, arguments without
separators."""

from __future__ import annotations

from typing import Final

from stanchion.readings.word_lists import listed

SHELLS: Final = frozenset(
    {
        "bash", "sh", "zsh", "ksh", "csh", "tcsh", "shell", "terminal", "powershell", "pwsh", "cmd",
        "exec", "subprocess", "stdin", "tmux",
    }
)  # fmt: skip
"""Words in the name of a tool that runs what it is given."""
PARTS: Final = ("bash", "shell", "terminal")
"""What says the same within a word."""
WHOLE: Final = listed("run execute command commands")
"""Names that say the same where a tool is called by nothing else."""
STARTS: Final = listed("run rerun execute exec start spawn launch invoke eval evaluate")
STARTED: Final = frozenset(
    {
        "command", "commands", "cmds", "script", "scripts", "process", "program", "code", "ssh",
        "docker", "container", "kubectl", "pod", "console", "remote",
    }
)  # fmt: skip
"""Words that say it together: one of each."""
ELSE: Final = listed("sql query queries db database statement workflow summary")
"""Words in the name of a tool that executes something else."""
ASKING: Final = frozenset(
    {
        "get", "list", "show", "search", "find", "explain", "describe", "lookup", "docs",
        "documentation", "help", "history", "format", "lint",
    }
)  # fmt: skip
"""Words in the name of a tool that runs none of the code it is given."""

LANGUAGES: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("python", "py", "ipython", "jupyter", "pypy"), ("python3", "-c")),
    **dict.fromkeys(
        ("javascript", "js", "node", "nodejs", "typescript", "ts", "bun"), ("node", "-e")
    ),
    **dict.fromkeys(("ruby", "rb"), ("ruby", "-e")),
    "perl": ("perl", "-e"),
    "php": ("php", "-r"),
    "lua": ("lua", "-e"),
    "deno": ("deno", "eval"),
    "osascript": ("osascript", "-e"),
    "applescript": ("osascript", "-e"),
}
"""How code of a language would be run on a command line."""
PAGES: Final = listed("browser page puppeteer playwright chrome selenium webdriver")
"""Words in the name of a tool whose scripts are run by a browser."""
PAGE: Final = ("",)
"""Stands for the language of a browser: no command comes of it."""
ANY: Final = ("*",)
"""Stands for a language that nobody says."""
SPEAKING: Final = listed("code snippet repl interpreter sandbox")
"""Words in the name of a tool that runs code of a language it does not say."""
STANDING: Final = frozenset({"repl", "interpreter"})
"""Words that stand for something that runs code."""

COMMANDS: Final = frozenset(
    {
        "command", "commands", "cmd", "cmds", "cmdline", "commandline", "script", "scripts",
        "shell", "bash", "sh", "argv", "keystrokes", "exec", "run", "shellscript", "bashscript",
    }
)  # fmt: skip
"""Arguments that hold a command, whichever tool has them."""
ENDS: Final = listed("command commands cmd cmds cmdline")
"""Words with which the names of more such arguments end."""
ABOUT: Final = frozenset(
    {
        "allow", "allowed", "allowlist", "deny", "denied", "block", "blocked", "forbid",
        "forbidden", "disallowed", "exclude", "excluded", "ignore", "ignored", "banned",
        "dangerous", "known", "recent", "previous", "history", "example", "no", "sub", "voice",
        "slash",
    }
)  # fmt: skip
"""Words in the names of arguments that speak of commands and give none to run."""
CODES: Final = listed("code source sourcecode snippet cell pythoncode program javascript")
SCRIPTS: Final = frozenset({"script", "scripts"})
INPUTS: Final = frozenset({"input"})
"""Arguments that hold what a tool runs where its name says that it runs something."""
STDIN: Final = listed("stdin standardinput input stdininput stdintext stdindata")
"""Arguments that are given to the command beside them."""
PROGRAMS: Final = listed("program executable binary exe executablepath interpreter")
"""Arguments that hold the command of the words beside them."""
BEHIND: Final = listed("args arguments argv params parameters options flags cmdargs")
"""Arguments that stand behind the command beside them."""
SPOKEN: Final = listed("language lang interpreter runtime kernel syntax")
"""Arguments that say the language of the code beside them."""
CONTENTS: Final = frozenset(
    {
        "content", "contents", "text", "body", "newstring", "oldstring", "oldstr", "newstr",
        "newtext", "oldtext", "newcontent", "patch", "edits", "code", "data", "filetext", "message",
        "prompt", "query", "description", "diff", "inserttext",
    }
)  # fmt: skip
"""Arguments that are written into files or sent: what they hold is not run by this call."""
