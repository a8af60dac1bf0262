"""Refusals as text: what a refused call gives where its tool says so, for frameworks that hand
results to a model."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any, Final, Literal

from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.errors import Refused

Refusal = Literal["raise", "text"]
"""What a refused call does: it raises `Refused`, or gives the words of the refusal in place of its
result."""

RAISE: Final = "raise"
TEXT: Final = "text"


def refusal_of(given: str, tool: str) -> Refusal:
    """What a tool does when it is refused; raises `ValueError` for what is neither."""
    if given == RAISE:
        return "raise"
    if given == TEXT:
        return "text"
    raise ValueError(f"refusal of `{tool}` is `{given}`: write `raise` or `text`")


def text_of_refusal(refused: Refused) -> str:
    """The words of a refusal for whoever gets them as a result; one that ends the run is raised all
    the same.

    Nothing of such a run goes ahead any more. As a text it would ask the model for the next step,
    again and again.
    """
    if refused.ended:
        raise refused
    return str(refused)


def answered_in_text(flow: Flow[Any]) -> Flow[Any]:
    """A call that gives the words of its refusal."""
    try:
        return (yield from flow)
    except Refused as refused:
        return text_of_refusal(refused)


def ending_in_text(items: Iterator[Any]) -> Iterator[Any]:
    """The items of a call; the words of its refusal are the last of them."""
    try:
        yield from items
    except Refused as refused:
        yield text_of_refusal(refused)


async def aending_in_text(items: AsyncGenerator[Any, None]) -> AsyncGenerator[Any, None]:
    """The same for items that are awaited."""
    async with aclosing(items) as own:
        try:
            async for item in own:
                yield item
        except Refused as refused:
            yield text_of_refusal(refused)


def widen(wrapper: Any) -> None:
    """Have a function say that it may give a text: whoever checks results by its annotations lets
    the words pass."""
    import inspect

    notes = dict(getattr(wrapper, "__annotations__", {}))
    if "return" not in notes:
        return
    gives = notes["return"]
    notes["return"] = f"{gives} | str" if isinstance(gives, str) else _or_text(gives)
    wrapper.__annotations__ = notes
    wrapper.__signature__ = inspect.signature(wrapper).replace(return_annotation=notes["return"])


def _or_text(gives: Any) -> Any:
    from typing import Union

    return Union[gives, str]  # noqa: UP007 - also for what knows no `|`
