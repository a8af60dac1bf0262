"""What is forbidden in an office: the policy under which adapters are tried."""

from typing import Any, Final

from tests.rules import rule

GONE: Final = "[redacted:github-pat]"
"""What a tool or a model reads in the place of the suite's key."""


def called_with(name: str, action: str = "block") -> dict[str, Any]:
    """The rule against a call with that name as its argument."""
    when = f"has(event.args.name) and event.args.name == '{name}'"
    return rule(f"named-{name.replace('*', 'all')}", "tool_call", when=when, action=action)


OFFICE: Final[dict[str, Any]] = {
    "name": "office",
    "tools": {"fetch": {"effect": "read"}},
    "guards": [
        {"use": "secrets"},
        {"use": "recovery", "backoff_base_s": 0},
        {"id": "ask", "use": "tool_denylist", "tools": ["pay"], "action": "escalate"},
        called_with("root"),
        rule("vault", "handoff", when="event.to == 'vault'", action="block"),
        rule("over", "prompt", when="event.text == 'stop'", action="halt"),
    ],
}
