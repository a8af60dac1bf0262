"""Words that other tools have for what a policy says: an author who brings one is told the word of
this format."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

_MEANS: Final[dict[str, tuple[str, ...]]] = {
    "block tool_denylist": ("deny", "denied", "refuse", "reject", "forbid", "disallow", "prohibit"),
    "tool_denylist": ("denylist", "blacklist", "blocklist", "deny_tools"),
    "tool_allowlist": ("allowlist", "whitelist", "allow_tools"),
    "escalate": (
        "ask",
        "approve",
        "approval",
        "confirm",
        "review",
        "require_approval",
        "human",
        "hitl",
    ),
    "allow": ("log", "pass", "permit", "record", "none"),
    "halt": ("stop", "kill", "abort", "terminate"),
    "quarantine": ("isolate",),
    "shadow": ("observe", "watch", "monitor", "audit", "dry_run", "permissive", "log_only"),
    "enforce": ("enforcing", "live", "strict", "on"),
    "when": ("if", "condition", "where", "expr", "expression"),
    "check": ("unless", "assert", "must", "require", "requires"),
    "message": ("reason", "description", "text"),
    "budget": ("rate_limit", "throttle", "quota", "cost_limit"),
    "rule": ("condition", "expression", "regex", "custom"),
    "cost_usd": ("usd", "dollars", "money", "max_cost", "cost", "budget_usd"),
    "tokens": ("max_tokens", "token_limit"),
    "critical": ("severe", "extreme", "very_high"),
    "medium": ("moderate", "normal"),
    "read": ("read_only", "readonly"),
    "irreversible": ("destructive",),
    "content": ("untrusted", "web"),
    "size": ("len", "length", "count"),
    "matches": ("regex", "re", "match", "search", "regexp"),
    "startsWith": ("starts_with", "has_prefix"),
    "endsWith": ("ends_with", "has_suffix"),
    "under": ("is_under", "within", "inside"),
}
"""Words of this format, and those that mean the same elsewhere."""

_MEANT: Final[dict[str, tuple[str, ...]]] = {
    other: tuple(own for owns, others in _MEANS.items() if other in others for own in owns.split())
    for others in _MEANS.values()
    for other in others
}

_ELSEWHERE: Final = {
    "denied_tools": (
        "list them in a guard with `use: tool_denylist`, with the agents it applies to under "
        "`applies_to`"
    ),
    "approval": "let a guard with `action: escalate` ask a person, such as a `rule` for this tool",
    "regex": "write it in a rule, as `when: event.args.x.matches(r'…')`",
    "trust": "write `result` with the same word, and `result: content` for `untrusted` and `web`",
}
"""What to do about keys for which another part of a policy is there."""
_SAME: Final = {
    "deny_tools": "denied_tools",
    "blocked_tools": "denied_tools",
    "disallowed_tools": "denied_tools",
    "forbidden_tools": "denied_tools",
    "require_approval": "approval",
    "requires_approval": "approval",
    "needs_approval": "approval",
    "approve": "approval",
    "pattern": "regex",
}
_NO: Final = ("den", "block", "forbid", "refus", "disallow", "reject", "exclud")
_YES: Final = ("allow", "permit", "includ")


def meant_by(word: str, valid: Iterable[str]) -> str | None:
    """The valid word that means what another tool's word means; `None` where there is none."""
    words = {*valid}
    return next((own for own in _MEANT.get(plain(word), ()) if own in words), None)


def elsewhere(key: str) -> str | None:
    """What to do about a key that is no key anywhere, because a guard does it."""
    named = plain(key)
    return _ELSEWHERE.get(_SAME.get(named, named))


def opposed(word: str, other: str) -> bool:
    """Whether one of two words that look alike denies what the other allows."""
    one, two = _sense(word), _sense(other)
    return one is not None and two is not None and one != two


def _sense(word: str) -> bool | None:
    sense = plain(word)
    if sense.startswith(_NO):
        return False
    return True if sense.startswith(_YES) else None


def plain(word: str) -> str:
    """A word whatever its case, hyphens and spaces."""
    return word.strip().casefold().replace("-", "_").replace(" ", "_")
