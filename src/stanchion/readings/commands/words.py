"""Words by which tools and arguments say that something is run; in small letters, arguments without
separators."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.word_lists import listed, sections

WORDS: Final = sections("stanchion.readings.commands", "words.txt")
"""Words in the names of tools and arguments, by the titles above them."""

SHELLS: Final = WORDS["shells"]
"""Words in the name of a tool that runs what it is given."""
PARTS: Final = ("bash", "shell", "terminal")
"""What says the same within a word."""

LANGUAGES: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("python", "py", "ipython", "jupyter", "pypy"), ("python3", "-c")),
    **dict.fromkeys(
        ("javascript", "js", "node", "nodejs", "typescript", "ts", "tsx", "bun"), ("node", "-e")
    ),
    **dict.fromkeys(("ruby", "rb"), ("ruby", "-e")),
    "perl": ("perl", "-e"),
    **dict.fromkeys(("r", "rscript"), ("Rscript", "-e")),
    "php": ("php", "-r"),
    "lua": ("lua", "-e"),
    "deno": ("deno", "eval"),
    **dict.fromkeys(("go", "golang"), ("yaegi", "-e")),
    **dict.fromkeys(("java", "jshell"), ("jbang", "-c")),
    **dict.fromkeys(("kotlin", "kts"), ("kotlin", "-e")),
    **dict.fromkeys(("csharp", "cs", "csx", "c#", "dotnet"), ("dotnet-script", "eval")),
    **dict.fromkeys(("rust", "rs"), ("rust-script", "-e")),
    "scala": ("scala", "-e"),
    "swift": ("swift", "-e"),
    "dart": ("dart", "-e"),
    "groovy": ("groovy", "-e"),
    "osascript": ("osascript", "-e"),
    "applescript": ("osascript", "-e"),
}
"""How code of a language would be run on a command line."""
GUESSED: Final = (
    (regex(r"(?m)^\s*package \w+\s*$[\s\S]*\bfunc "), "go"),
    (regex(r"\bfn main\(|(?m:^\s*use \w+(?:::[\w{}, *]+)+;)"), "rust"),
    (regex(r"(?m)^\s*using [\w.]+;|\bConsole\.Write|^#r \""), "csharp"),
    (regex(r"(?m)^\s*import [\w.*]+;|\bpublic (?:static|class)\b|\bSystem\.out\."), "java"),
    (regex(r"\bfun main\(|(?m:^\s*(?:val|var) \w+ = .*[^;]$)|(?m:^@file:)"), "kotlin"),
    (
        regex(r"\b(?:const|let|var) [\w{\[][^\n]*=|\brequire\(|=>|(?m:^\s*import .* from ['\"])"),
        "node",
    ),
    (regex(r"<\?php|(?m:^\s*\$\w+ = [^\n]*;\s*$)"), "php"),
    (regex(r"(?m)^\s*require ['\"]|\bdo \|\w+"), "ruby"),
)
"""What tells the language of code that nobody says, in the order in which it is asked."""
PAGE: Final = ("",)
"""Stands for the language of a browser: no command comes of it."""
ANY: Final = ("*",)
"""Stands for a language that nobody says."""
UNSAID: Final = listed("command commands cmd cli tool call execute")
"""Words in the names of such tools that the program is not given."""
SAYS: Final = WORDS["says"]
"""Arguments of such tools that hold words of the command; all others are options of it."""

COMMANDS: Final = WORDS["commands"]
"""Arguments that hold a command, whichever tool has them."""
DECODERS: Final = {"base64": "base64 -d", "b64": "base64 -d", "hex": "xxd -r -p"}
"""What turns a text into what is run, by the encoding that an argument says."""
CONTENTS: Final = WORDS["contents"]
"""Arguments that are written into files or sent: what they hold is not run by this call."""
