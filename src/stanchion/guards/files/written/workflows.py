"""Workflows: whether what runs for a project takes in what strangers send, or shows what it signs
in with."""

from __future__ import annotations

import re
from typing import Final

from stanchion.kernel.regex import regex

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
