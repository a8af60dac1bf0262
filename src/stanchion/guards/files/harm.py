"""Harm: what a call does to a file, and the options that say which is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, Literal

import msgspec

from stanchion.guards._protected import Use
from stanchion.kernel.option import AtLeastZero, Fewer, More, Off, On, PlainActionName, Shorter
from stanchion.kernel.regex import regex
from stanchion.readings.paths.included import Swap, included
from stanchion.readings.paths.place import fault
from stanchion.readings.word_lists import Strings, in_order

ToolUse = Use | Literal["elsewhere"]
"""What a tool does to files, or that its files are not those of this machine."""


class FileOptions(msgspec.Struct, frozen=True, dict=True):
    """The options of the guard."""

    root: Strings = (".",)
    """The folders that contain the run's files; relative paths start at the first, `.` is the
    working directory, and an empty list means anywhere."""
    read: Fewer[Strings | None] = None
    """The only files that may be read, as globs; `**` matches any number of folders. If absent, all
    files."""
    write: Fewer[Strings | None] = None
    """The only files that may be written or deleted, as globs; if absent, all files."""
    deny: More[Strings] = ()
    """Files that may never be used, as globs, whatever else allows them; folders that contain them
    may not be deleted."""
    protected: More[Strings] = ()
    """Files to protect in addition to the shipped list, as globs."""
    unprotected: Shorter[Strings] = ()
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
    deadline_ms: AtLeastZero = 1_000
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


_FETCHES: Final = regex(
    r"(?:\A|/)(?:(?:gradle|maven)-wrapper\.properties|package(?:-lock)?\.json|npm-shrinkwrap\.json|"
    r"[\w.-]+\.lock|pnpm-lock\.yaml|go\.(?:mod|sum)"
    r"|flake\.nix|\.npmrc|\.yarnrc(?:\.yml)?|pip\.conf|pip\.ini|nuget\.config|"
    r"\.pre-commit-config\.yaml|\.gitmodules|[\w-]*requirements[\w-]*\.(?:txt|in)"
    r"|\.terraform\.lock\.hcl|podfile|gemfile|brewfile|composer\.json|bun\.lockb?|deno\.json|"
    r"pyproject\.toml|cargo\.toml|build\.gradle(?:\.kts)?"
    r"|settings\.gradle(?:\.kts)?|pom\.xml|module\.bazel|workspace(?:\.bazel)?|[\w-]+\.bzl|"
    r"conanfile\.(?:py|txt)|environment\.ya?ml|setup\.cfg)\Z"
    r"|(?:\A|/)\.github/(?:workflows|actions)/.*\.ya?ml\Z|(?:\A|/)\.(?:cargo|mvn|bundle)/[^/]+\Z"
)
"""Files that say where what is built, installed or started comes from."""
_URL: Final = regex(
    r"https?\\?:(?:\\?/){2}(?:[^/@\s\"']*@)?([A-Za-z0-9.-]+)(?::\d+)?([^\s\"'<>,;)#]*)"
)
_ACTION: Final = regex(r"uses:\s*[\"']?([\w.-]+)/([\w.-]+)")
_PINNED: Final = regex(r"(?:\A|[\s\"'])([\w.-]+)/([\w./-]+)@[\w.-]+")
_WRAPPER: Final = regex(
    r"(?i)^\s*(?:distribution|wrapper)Url\s*=\s*https?\\?:(?:\\?/){2}(?:[^/@\s]*@)?([A-Za-z0-9.-]+)"
)
MAKERS: Final = in_order(
    "registry.npmjs.org registry.yarnpkg.com pypi.org files.pythonhosted.org crates.io "
    "static.crates.io rubygems.org repo.maven.apache.org repo1.maven.org services.gradle.org "
    "plugins.gradle.org proxy.golang.org api.nuget.org www.nuget.org packagist.org github.com "
    "gitlab.com ghcr.io docker.io registry.terraform.io deno.land jsr.io"
)
"""Where the makers of package managers have their packages."""
OWNERS: Final = in_order(
    "actions github docker azure google-github-actions aws-actions hashicorp gradle codecov "
    "peter-evans softprops astral-sh shivammathur golangci sigstore aquasecurity peaceiris "
    "dependabot microsoft reviewdog"
)  # fmt: skip
"""Those whose actions most workflows use."""
_ALIKE: Final = str.maketrans(
    {"1": "i", "l": "i", "!": "i", "0": "o", "5": "s", "-": None, "_": None}
)
WRAPPERS: Final = (".gradle.org", ".apache.org", ".maven.org")


def moves(swap: Swap) -> bool:
    """Whether what a swap puts in is fetched from elsewhere than what it takes out, and is the same
    otherwise."""
    old, new = [
        [
            (found[2].rpartition("/")[2] or found[2], found[1].lower())
            for found in _URL.finditer(text)
        ]
        for text in swap
    ]
    before = dict(old)
    if any(before.get(name, host) != host and host not in MAKERS for name, host in new):
        return True
    owners = {found[2]: found[1] for found in _PINNED.finditer(swap.old)}
    return any(owners.get(found[2], found[1]) != found[1] for found in _PINNED.finditer(swap.new))


def feigns(path: str, text: str) -> bool:
    """Whether a text fetches from one who is called almost like a known maker, or has a build begin
    elsewhere."""
    if any(_feigned(found[1].lower(), OWNERS) for found in _ACTION.finditer(text)):
        return True
    if path.endswith("-wrapper.properties"):
        wrapped = [found[1].lower() for line in text.split("\n") if (found := _WRAPPER.match(line))]
        if not all(f".{host}".endswith(WRAPPERS) for host in wrapped):
            return True
    hosts = {found[1].lower() for found in _URL.finditer(text)}
    fronts = tuple([f"{one}." for one in MAKERS])
    return any(_feigned(host, MAKERS) or host.startswith(fronts) for host in hosts)


def _feigned(name: str, known: Strings) -> bool:
    if name in known or len(name) < 5:
        return False
    alike = _looks(name)
    return any(alike == _looks(one) or (len(one) > 5 and _one_off(name, one)) for one in known)


def _looks(name: str) -> str:
    """A name as it looks at a glance."""
    return name.replace("rn", "m").replace("vv", "w").translate(_ALIKE)


def _one_off(name: str, known: str) -> bool:
    """Whether two names differ by one letter that is left out, put in or changed, or by two that
    are turned round."""
    if abs(len(name) - len(known)) > 1 or name == known:
        return False
    at = next(
        (at for at, (one, other) in enumerate(zip(name, known, strict=False)) if one != other),
        min(len(name), len(known)),
    )
    rest, other = name[at:], known[at:]
    if len(name) == len(known):
        return rest[1:] == other[1:] or (rest[:2] == other[:2][::-1] and rest[2:] == other[2:])
    return rest[1:] == other if len(name) > len(known) else rest == other[1:]


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
    if _SECRET_TURNED.search(text) or _SENT.search(text):
        return True
    if _DUMPED.search(text) and _KEPT.search(text):
        return True
    names = {found[1] or found[2] for found in _FROM.finditer(text)}
    held = "|".join(sorted(re.escape(name) for name in names))
    printed = rf"(?<!\()\b(?:echo|printf)\b[^|\n(]*\$\{{?(?:{held})\b[^|\n]*{_TURNED}"
    return held != "" and re.search(printed, text) is not None


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
_RUNNABLE: Final = in_order(
    ".sh .js .cjs .mjs .py .so .exe .dll .jar .dylib .ps1 .bat .cmd .rb .pl .lua .vsix"
)


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
"""How many commands of a text of instructions are read."""

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


ENVIRONMENT: Final = ("environ", "process.env", "ENV.")


def harm_by_words(
    path: str, text: str, holds: Callable[[str], bool], shell: Callable[[str, str], str]
) -> str:
    """What a text would do by what it says, or nothing; `holds` says of a path that it leads to
    something protected, `shell` what a script of that name would do."""
    name, text = path.replace("\\", "/").lower(), text[:LONGEST]
    if _CI.search(name) is not None:
        said = harm_in_workflow(text)
        if said:
            return said
    if _FOR_AGENTS.search(name) is not None:
        said = _harm_in_instructions(text, shell)
        if said:
            return said
    if any(map(text.__contains__, ENVIRONMENT)) and _ALL_SENT.search(text):
        return "leak"
    if runs_planted(name, text):
        return "planted"
    if _FETCHES.search(name) is not None and feigns(name, text):
        return "moved"
    return "takes" if any(holds(one) for one in included(text, not name.endswith(SHOWN))) else ""


def _harm_in_instructions(text: str, shell: Callable[[str, str], str]) -> str:
    """What a text tells agents to do, and to keep from people; or what its commands would do."""
    if _CONCEALS.search(text) is not None and _DOES.search(text) is not None:
        return "conceals"
    told = "\n".join([found[1] or found[2] for found in list(_SPAN.finditer(text))[:MOST]])
    return shell("told.sh", told) if told else ""


def harm_by_swaps(path: str, swaps: Sequence[Swap]) -> str:
    """What an edit would do by what it puts in the place of what: `moved`, or nothing."""
    name = path.replace("\\", "/").lower()
    if not swaps or _FETCHES.search(name) is None:
        return ""
    for swap in swaps:
        if moves(swap) or (feigns(name, swap.new) and not feigns(name, swap.old)):
            return "moved"
    return ""
