"""PowerShell: the commands of a text, in pipes, blocks and brackets, and what each is given."""

from __future__ import annotations

from base64 import b64decode
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.word_lists import Strings, listed

LONGEST: Final = 65_536
MANY: Final = 256
"""How many commands of one text are kept."""
DEEPEST: Final = 24
EVERY_PROCESS: Final = "every-process"
"""What stands for a list of all processes."""

_TOKEN: Final = regex(
    r"""(?x)
    [ \t\r]+ | \#[^\n]* | <\#.*?\#>
    | (?P<text>"(?:[^"`]|`.|"")*"|'(?:[^']|'')*')
    | (?P<joint>;|\n|\|\||&&|\||\{|\}|\(|\)|\[\s*\]|=(?!=)|,)
    | (?P<word>(?:[^\s;|{}()'",=`]|`.|=(?==))+)
    """
)
_LOOKS: Final = regex(
    r"\b(?:Get|Set|New|Remove|Stop|Start|Clear|Invoke|Add|Format|Restart|Register|Unregister|"
    r"Disable|Enable|Out|Where|"
    r"ForEach|Compress|Expand|Import|Export|Write|Uninstall|Install|Reset|Initialize|Dismount|"
    r"Suspend)-[A-Z][A-Za-z]+\b"
    r"|\$env:\w|\b(?i:iex|irm|iwr)\b\s*[($]|\|\s*(?i:iex)\b|\[(?:System\.)?(?:Convert|Text|Net|IO)"
    r"\b"
)
_VERB: Final = regex(r"-[A-Z]")
_METHOD: Final = regex(
    r"(?i)\b(Download(?:String|Data|File)|Upload(?:String|File)|TCPClient|FromBase64String)"
)
READS: Final = listed(
    "get-content gc cat type compress-archive import-csv copy-item get-childitem gci dir ls"
)


class PowerShellCommand(NamedTuple):
    """One command: its words, those that brackets stand for as `$(…)`; and the commands that what
    it is given comes
    from: those before it in its pipe, and those in its brackets."""

    argv: Strings
    before: Strings = ()
    inside: Strings = ()


def looks_like_powershell(text: str) -> bool:
    """Whether a text has what only PowerShell has."""
    return _may_be(text) and _LOOKS.search(text) is not None


def _may_be(text: str) -> bool:
    """Whether a text has something that is in every such one: plain looks cost less than the
    pattern."""
    if "-" in text and _VERB.search(text) is not None:
        return True
    low = text.lower()
    if "[" in low and (
        "[convert" in low or "[text" in low or "[net" in low or "[io" in low or "[system" in low
    ):
        return True
    return "iex" in low or "irm" in low or "iwr" in low or "$env:" in low


def encoded(text: str) -> str:
    """The text that `-EncodedCommand` stands for; empty where it is none."""
    try:
        return b64decode(text + "=" * (-len(text) % 4)).decode("utf-16-le")
    except ValueError:
        return ""


def powershell(text: str) -> tuple[PowerShellCommand, ...]:
    """The commands of a text, in order."""
    if len(text) > LONGEST:
        return ()
    reader = _Reader(text)
    reader.block(0)
    return tuple(reader.steps[:MANY])


class _Reader:
    def __init__(self, text: str) -> None:
        self.tokens = [
            (found.lastgroup or "", found[0]) for found in _TOKEN.finditer(text) if found.lastgroup
        ]
        self.at = 0
        self.steps: list[PowerShellCommand] = []
        self.values: dict[str, str] = {}

    def block(self, depth: int, given: Strings = ()) -> Strings:
        """Read pipes up to a closing bracket, which is passed; the names of what they run."""
        names: list[str] = []
        before = given
        while self.at < len(self.tokens) and len(self.steps) < MANY:
            kind, text = self.tokens[self.at]
            if kind == "joint" and text in ("}", ")"):
                self.at += 1
                break
            if kind == "joint" and text in (";", "\n", "&&", "||", "|", ",", "=", "[]"):
                self.at += 1
                before = before if text == "|" else given
                continue
            found = self._command(before, depth)
            names += found
            before = (*before, *found)
        return tuple(dict.fromkeys(names))

    def _command(self, before: Strings, depth: int) -> Strings:
        """Read one command up to what ends it; its name, and those of what stands in its
        brackets."""
        words: list[str] = []
        inside: list[str] = []
        while self.at < len(self.tokens):
            kind, text = self.tokens[self.at]
            if kind == "joint":
                if text in ("(", "{"):
                    self.at += 1
                    if depth >= DEEPEST:
                        continue
                    found = self.block(depth + 1, before if text == "{" else ())
                    inside += found
                    words.append(f"$({found[0] if found else ''}…)" if text == "(" else "{}")
                    continue
                if text == "=" and len(words) == 1 and words[0].startswith("$"):
                    self._assign(words[0])
                    words = []
                    continue
                if text in (",", "[]", "="):
                    self.at += 1
                    continue
                break
            words.append(self._value(kind, text))
            self.at += 1
            inside += [found[1] for found in _METHOD.finditer(text)]
        name = words[0].rpartition("\\")[2].lower() if words else ""
        if words:
            self.steps.append(PowerShellCommand(tuple(words), before, tuple(inside)))
        return (*([name] if name else []), *inside, *_files(name, words))

    def _assign(self, name: str) -> None:
        self.at += 1
        kind, text = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
        if kind == "text":
            self.values[name.lower()] = self._value(kind, text)
            self.at += 1

    def _value(self, kind: str, text: str) -> str:
        """A word as it stands, a text with the variables it names."""
        if kind == "text":
            quote, text = text[0], text[1:-1]
            if quote == "'":
                return text.replace("''", "'")
        for name, value in self.values.items():
            if name in text.lower():
                at = text.lower().index(name)
                text = text[:at] + value + text[at + len(name) :]
        return text.replace("`", "")


def _files(name: str, words: list[str]) -> list[str]:
    """The files that a command reads, as what comes of it tells them."""
    if name in ("get-process", "gps", "ps") and len(words) == 1:
        return [EVERY_PROCESS]
    if name not in READS:
        return []
    if any(word.lower().startswith("env:") for word in words[1:]):
        return ["env"]
    return [f"<{word}" for word in words[1:] if word[:1] != "-"][:8]
