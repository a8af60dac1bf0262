"""The valid word that a mistaken one most likely meant: by what other tools call it, by how it
looks, or as a slip of the pen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from stanchion.kernel.declared import EFFECTS, FORMER

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


LONGEST = 64
SHOWN = 16


def hint(word: str, words: Iterable[object]) -> str:
    """What to write instead: the nearest of the valid words, or all of them where none is near."""
    valid = tuple(dict.fromkeys(str(one) for one in words))
    effect = FORMER.get(word, word)
    if effect in EFFECTS and "open_world" in valid:  # what a tool does was among its annotations
        return f"write `effect: {effect}` in the tool's entry"
    near = meant_by(word, valid)
    near = nearest(word, valid) if near is None else near
    if near is not None and not opposed(word, near):
        return f"did you mean `{near}`?"
    if not valid:
        return "leave it out"
    listed = ", ".join(f"`{one}`" for one in sorted(valid)[:SHOWN])
    return (
        f"choose among {listed}"
        if len(valid) <= SHOWN
        else f"choose among {listed} and {len(valid) - SHOWN} more"
    )


@lru_cache(4_096)
def nearest(word: str, words: tuple[str, ...]) -> str | None:
    """The word that differs least, whatever its case, hyphens and underscores; `None` where none is
    near."""
    if len(word) > LONGEST:
        return None
    from difflib import get_close_matches

    by_sense = {plain(one): one for one in sorted(words, reverse=True)}
    near = get_close_matches(plain(word), sorted(by_sense), 1, 0.6)
    return by_sense[near[0]] if near else None


SHORTEST: Final = 4
"""Shorter names are too often one letter apart on purpose."""


class KnownNames:
    """Names that are known. A slip is found in the same time however many there are."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names: Final = dict.fromkeys(names)
        self._near: dict[str, str] = {}
        for name in self.names:
            for form in _forms(name):
                self._near.setdefault(form, name)

    def meant(self, name: str) -> str | None:
        """The known name that a wrong one was likely meant to be; `None` where it is known, or like
        none."""
        if name in self.names or len(name) < SHORTEST:
            return None
        return next(
            (known for form in _forms(name) if _is_slip(name, known := self._near.get(form))), None
        )


def _is_slip(name: str, known: str | None) -> bool:
    """Whether two names that look alike are hardly two names: `get_it` and `set_it`, `file` and
    `files`, `worker-1` and `worker-2` are."""
    if known is None:
        return False
    one, other = _letters(name), _letters(known)
    if one == other:
        return True
    apart = re.sub(r"\d", "", one) == re.sub(r"\d", "", other) or one.rstrip("s") == other.rstrip(
        "s"
    )
    return not apart and one[0] == other[0]


def _letters(name: str) -> str:
    return re.sub(r"[-_. ]", "", name.casefold())


def _forms(name: str) -> Iterator[str]:
    """What a name looks like without its case and hyphens, and with one character less."""
    plain = _letters(name)
    yield plain
    if len(plain) >= SHORTEST:
        yield from (plain[:at] + plain[at + 1 :] for at in range(len(plain)))
