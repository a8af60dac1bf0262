"""Harm: what a text would do once it is in a file of that name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from stanchion.guards.files.written.origins import feigns, fetches, moves
from stanchion.kernel.regex import regex
from stanchion.readings.paths.included import included
from stanchion.readings.paths.swaps import Swap
from stanchion.readings.word_lists import in_order

# Workflows: whether what runs for a project takes in what strangers send, or shows what it signs
# in with.

_CI: Final = regex(
    r"(?:\A|/)(?:\.github/(?:workflows|actions)/.*|\.gitlab-ci|\.circleci/.*|azure-pipelines[\w-]*|"
    r"bitbucket-pipelines|\.travis|\.drone"
    r"|\.woodpecker(?:/.*)?|\.buildkite/.*|appveyor|cloudbuild|buildspec|action|\.gitlab/.*)"
    r"\.ya?ml\Z|(?:\A|/)jenkinsfile[\w.-]*\Z"
)
_FOR_STRANGERS: Final = regex(
    r"\bpull_request_target\b|\bworkflow_run\b|\bissue_comment\b|\bpull_request_review_comment\b"
)
"""What starts a workflow for anybody, with the rights and the secrets of the project."""
_THEIRS: Final = regex(
    r"pull_request\.head\.(?:sha|ref)|github\.head_ref|refs/pull/|workflow_run\.head_(?:sha|branch)"
    r"|\bgh pr checkout\b|pull/\$\{\{"
)
"""What strangers sent, checked out."""
_RUNS: Final = regex(r"^\s*-?\s*(?:run:|uses:\s*\./)", re.MULTILINE)
_SAID: Final = regex(
    r"\$\{\{\s*github\.event\.(?:issue|pull_request|comment|review|review_comment|discussion|"
    r"head_commit|pages|commits\S*)"
    r"[\w.\[\]*]*\.?(?:title|body|message|page_name|label|email|name)\s*\}\}"
)
"""What strangers wrote, put into a text before that is run."""
_BLOCK: Final = regex(
    r"^([ \t]*)(?:-[ \t]+)?(?:run|script):[ \t]*(?:[|>][-+]?[ \t]*\n((?:\1[ \t]+[^\n]*\n?|[ "
    r"\t]*\n)+)|([^\n]+))",
    re.MULTILINE,
)
_ALL: Final = regex(r"toJSON\(\s*secrets\s*\)", re.IGNORECASE)
_FROM: Final = regex(
    r"\b([A-Za-z_]\w*)\s*:\s*[\"']?\$\{\{\s*secrets\.|(?:variable|passwordVariable|tokenVariable)"
    r"\s*:\s*[\"'](\w+)"
)
"""Variables that hold a secret."""
_TURNED: Final = (
    r"\s*\|\s*(?:rev|base32|base64(?!\s+(?:-d|-D|--decode))|xxd(?!\s+-r)|od|hexdump|"
    r"tr|fold|sed|gzip|openssl\s+enc)\b"
)
_SECRET_TURNED: Final = regex(
    r"(?<!\()\b(?:echo|printf)\b[^|\n(]*\$\{\{\s*secrets\.\w+\s*\}\}[^|\n]*" + _TURNED
)


_VARIABLES: Final = r"(?:env|printenv|set|export(?:\s+-p)?|declare\s+-x)"
_DUMPED: Final = regex(
    rf"(?:^|[;&|\s\"'-])\s*{_VARIABLES}\s*(?:\|[^\n>]*)?>\s*(?!/dev/null)\S+", re.MULTILINE
)
_KEPT: Final = regex(r"(?i)artifacts?\b")
_SENT: Final = regex(
    rf"\b(?:curl|wget|nc|ncat|http|xh)\b[^\n]*(?:\$\(|`)\s*{_VARIABLES}\s*(?:\||\)|`)"
)
"""All variables, put into what is kept for others or sent to them."""


def is_workflow(path: str) -> bool:
    """Whether a file says what runs for a project; the path is in small letters, with slashes."""
    return _CI.search(path) is not None


def harm_in_workflow(text: str) -> str:
    """`strangers` where a workflow runs what anybody may send, `leak` where it shows secrets
    changed so that nobody hides them any more, or nothing."""
    if _ALL.search(text) or _shows(text):
        return "leak"
    if _FOR_STRANGERS.search(text) and _THEIRS.search(text) and _RUNS.search(text):
        return "strangers"
    blocks = [found[2] or found[3] or "" for found in _BLOCK.finditer(text)]
    return "strangers" if any(_SAID.search(block) for block in blocks) else ""


def _shows(text: str) -> bool:
    if (
        _SECRET_TURNED.search(text)
        or _SENT.search(text)
        or (_DUMPED.search(text) and _KEPT.search(text))
    ):
        return True
    names = {found[1] or found[2] for found in _FROM.finditer(text)}
    if not names:
        return False
    held = "|".join(sorted(re.escape(name) for name in names))
    return (
        re.search(rf"(?<!\()\b(?:echo|printf)\b[^|\n(]*\$\{{?(?:{held})\b[^|\n]*{_TURNED}", text)
        is not None
    )


_SETTINGS: Final = regex(
    r"(?:\A|/)(?:\.(?!env\b|git(?:lab|hub)|circleci|travis|devcontainer|dockerignore)[\w.-]+|"
    r"pyproject\.toml|gradle\.properties|setup\.cfg|tox\.ini"
    r"|pytest\.ini|package\.json|bunfig\.toml|lefthook\.ya?ml|nx\.json|settings\.gradle|"
    r"nuget\.config|local\.properties)\Z"
    r"|(?:\A|/)\.(?:vscode|idea|cargo|yarn|mvn|gradle|zed|config|husky|vim|nvim)/.*\Z"
)
_OPEN: Final = (
    r"(?:/tmp|/var/tmp|/dev/shm|/private/tmp|/users/shared|%te?mp%|\$\{?tmpdir\}?|[a-z]:[\\/"
    r"]+users[\\/]+public|[a-z]:[\\/]+windows[\\/]+temp"
    r"|[a-z]:[\\/]+temp)[\\/]+[^\s\"',;\])}]+"
)
_LINE: Final = regex(
    rf"(?im)(?:^|[{{,\s])[-+]?\s*[\"']?([\w.:/@-]+)[\"']?\s*[:=]\s*[^\n,]*?({_OPEN})"
    rf"|name=[\"'](\w+)[\"']\s+value=[\"']({_OPEN})"
)
_NAMES_PROGRAM: Final = regex(
    r"exec|command|cmd|hook|preload|require|wrapper|helper|shell|interpreter|linker|runner|loader|"
    r"program|binary|editor|pager|fsmonitor"
    r"|compiler|agent|script|plugin|options|rustc|init"
)
_RUNNABLE: Final = (
    ".sh", ".js", ".cjs", ".mjs", ".py", ".so", ".exe", ".dll", ".jar", ".dylib", ".ps1", ".bat",
    ".cmd", ".rb", ".pl", ".lua", ".vsix",
)  # fmt: skip


def runs_planted(path: str, text: str) -> bool:
    """Whether settings name a program in a folder where anybody may put one; the path is in small
    letters."""
    if _SETTINGS.search(path) is None:
        return False
    for found in _LINE.finditer(text):
        key, place = (found[1] or found[3]).lower(), (found[2] or found[4]).lower()
        last = re.split(r"[\\/]", place)[-1]
        if last.endswith(_RUNNABLE) or ("." not in last.lstrip(".") and _NAMES_PROGRAM.search(key)):
            return True
    return False


_FOR_AGENTS: Final = regex(
    r"(?:\A|/)(?:agents?|claude|gemini|codex|copilot|cursor|windsurf|cline|roo|aider|skill|"
    r"conventions|warp|llms)(?:[-_.]\w+)*"
    r"\.(?:md|mdc|txt)\Z|(?:\A|/)\.(?:\w+rules|goosehints)\Z|(?:\A|/)\.(?:cursor|claude|codex|"
    r"gemini|windsurf|roo|kiro|cline|clinerules"
    r"|continue|junie|amazonq|augment|github/(?:instructions|prompts|agents|chatmodes))/.*\.(?:md|"
    r"mdc|txt)\Z"
)
_CONCEALS: Final = regex(
    r"\b(?:do not|don['\u2019]?t|never|without|avoid|no need to)\s+(?:ever\s+)?(?:"
    r"(?:mention|report|reveal|disclos|tell|log|show|say|explain)(?:e|ing)?\s+"
    r"(?:it|this|that|these|them|about (?:it|this|that))\b"
    r"|(?:mention|reveal|disclos|report|show)(?:e|ing)?\s+[^.\n]{0,30}\bto\s+(?:the\s+)?(?:user|"
    r"human|person|people|developer|reviewer|owner|anyone|anybody)"
    r"|(?:tell|inform|notify|alert|warn)(?:ing)?\s+(?:the\s+)?(?:user|human|person|people|"
    r"developer|reviewer|owner|anyone|anybody)s?"
    r"(?:\s+(?:about|of|that)\b|\s*[.,;)\n]|\s*\Z))"
    r"|\bcontinue silently\b|\bsilently (?:run|send|upload|post|add|install|include|copy|fetch|"
    r"download|execute)"
    r"|\bkeep (?:this|it|that) (?:secret|hidden|quiet|between us)|\bhide (?:this|it|that) from\b",
    re.IGNORECASE,
)
"""Words that ask an agent to keep from people what it does."""
_DOES: Final = regex(r"https?://|`[^`\n]{6,}`|```|(?:curl|wget|npm|pip|git|ssh|scp)\s")
_SPAN: Final = regex(r"```\w*\n(.*?)```|`([^`\n]{6,})`", re.DOTALL)
MOST: Final = 50


def is_for_agents(path: str) -> bool:
    """Whether later agents follow what is in a file; the path is in small letters, with slashes."""
    return _FOR_AGENTS.search(path) is not None


def conceals(text: str) -> bool:
    """Whether a text asks an agent to do something and to keep it from people."""
    return _CONCEALS.search(text) is not None and _DOES.search(text) is not None


def commands(text: str) -> str:
    """The commands that a text of instructions tells to run, one below the other."""
    spans = [found[1] or found[2] for found in list(_SPAN.finditer(text))[:MOST]]
    return "\n".join(spans)


HarmReader = Callable[[str, str, Callable[[str], bool]], str]
"""Says what a text, written into a file of that name, would do once it runs: a word of `HARMS`, or
nothing. It is handed what says of a shell text that it reads something protected."""
HARMS: Final = {
    "leak": "send out what nobody asked it to",
    "fetched": "run what it fetches, without being asked to",
    "takes": "read what is protected",
    "frees": "let an agent go on without a person",
    "strangers": "run what strangers send, with the project's rights",
    "planted": "run what lies where anybody may write",
    "moved": "fetch what it runs from somewhere else",
    "conceals": "have agents do something and keep it from people",
}
LONGEST: Final = 65_536
_ALL_SENT: Final = regex(
    r"\b(?:urlopen|requests\.\w+|httpx\.\w+|urllib3|sendall|fetch|axios\S*|https?\.(?:get|request)|"
    r"Net::HTTP\S*)\([^\n]{0,200}"
    r"(?:\bos\.environ\b(?!\s*[\[.])|os\.environ\.(?:items|copy)\(|JSON\.stringify\(process\.env\)|"
    r"ENV\.to_)"
)
"""Code that sends all variables somewhere."""
SHOWN: Final = in_order(".md .markdown .html .htm .py .js .ts .go .rs .java .rb .php .cs")
"""How the names of files end in which a function that reads a file is shown, or is the project's
own code."""


def harm_by_words(
    path: str, text: str, holds: Callable[[str], bool], shell: Callable[[str, str], str]
) -> str:
    """What a text would do by what it says, or nothing; `holds` says of a path that it leads to
    something protected, `shell` what a script of that name would do."""
    name, text = path.replace("\\", "/").lower(), text[:LONGEST]
    if is_workflow(name):
        said = harm_in_workflow(text)
        if said:
            return said
    if is_for_agents(name):
        if conceals(text):
            return "conceals"
        told = commands(text)
        said = shell("told.sh", told) if told else ""
        if said:
            return said
    if ("environ" in text or "process.env" in text or "ENV." in text) and _ALL_SENT.search(text):
        return "leak"
    if runs_planted(name, text):
        return "planted"
    if fetches(name) and feigns(name, text):
        return "moved"
    return "takes" if any(holds(one) for one in included(text, not name.endswith(SHOWN))) else ""


def harm_by_swaps(path: str, swaps: Sequence[Swap]) -> str:
    """What an edit would do by what it puts in the place of what: `moved`, or nothing."""
    name = path.replace("\\", "/").lower()
    if not swaps or not fetches(name):
        return ""
    return (
        "moved"
        if any(
            moves(swap) or (feigns(name, swap.new) and not feigns(name, swap.old)) for swap in swaps
        )
        else ""
    )
