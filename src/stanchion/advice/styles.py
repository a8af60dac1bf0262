"""Styles: the same knowledge of a tool in words for small models, for large ones, and for agents that face users."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from stanchion.advice.helping import what_differs
from stanchion.advice.quoting import error, marked, name
from stanchion.experience.advice_context import AdviceContext

StyleName = Literal["concise", "expert", "friendly"]

UNSTEADY: Final = 0.8
"""A tool that works less often is spoken of."""
ENOUGH: Final = 5
"""Of a tool that was called less often nothing is said but its failures in this run."""


def advice_in(style: StyleName, context: AdviceContext) -> str:
    """What is known of a tool, as advice in a style; empty where there is nothing to say."""
    if not context.failure_count and unsteady(context) is None:
        return ""
    return STYLES[style](context)


def unsteady(context: AdviceContext) -> int | None:
    """How often of a hundred a tool works that does not work well; `None` for others, and where too little is known."""
    known = context.reliability
    if known is None or known.recent is None or known.successes + known.failures < ENOUGH:
        return None
    return int(100 * known.recent) if known.recent < UNSTEADY else None


def _concise(context: AdviceContext) -> str:
    tool, share, differs = marked(context.tool_name), unsteady(context), what_differs(context.similar_success)
    said = []
    if context.failure_count:
        said.append(f"Tool {tool} failed {context.failure_count}x. Try different approach.")
        said += [f"Beside a call that worked: {differs}."] if differs else []
    said += [f"Tool {tool} works in {share}% of calls."] if share is not None else []
    return " ".join(said)


def _expert(context: AdviceContext) -> str:
    share, differs = unsteady(context), what_differs(context.similar_success)
    said = ["[SELF-AWARENESS]", f"- Tool: {name(context.tool_name)}"]
    if context.failure_count:
        said.append(f"- Failure count: {context.failure_count}")
        said += [f"- Last error: {error(context.last_error)}"] if context.last_error is not None else []
    said += [f"- Works in {share}% of calls"] if share is not None else []
    compared = bool(context.failure_count and differs)
    said += [f"- Beside a call that worked: {differs}"] if compared else []
    said.append(f"- RECOMMENDATION: {'Change these arguments' if compared else 'Use alternative'}")
    return "\n".join(said)


def _friendly(context: AdviceContext) -> str:
    tool, share, differs = marked(context.tool_name), unsteady(context), what_differs(context.similar_success)
    said = []
    if context.failure_count:
        said.append(f"Hey, I noticed {tool} didn't work last time. Double-check parameters!")
        said += [f"Beside a call that worked: {differs}."] if differs else []
    said += [f"{tool} works in {share}% of calls, so keep another way in mind!"] if share is not None else []
    return " ".join(said)


STYLES: Final[dict[StyleName, Callable[[AdviceContext], str]]] = {
    "concise": _concise,
    "expert": _expert,
    "friendly": _friendly,
}
