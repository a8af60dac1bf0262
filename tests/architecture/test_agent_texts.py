"""No error's own text is put into words that are kept for the agent: an error names hosts, files
and ids."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.sources import nodes, tree_of

ROOM = Path(__file__).resolve().parents[2] / "src/stanchion/runtime"


def told_errors(source: str) -> Iterator[int]:
    """The lines on which a caught error is named in what `desk.tell` is given."""
    for handler in nodes(tree_of(source), ast.ExceptHandler):
        if handler.name is None:
            continue
        for call in [
            node for line in handler.body for node in ast.walk(line) if isinstance(node, ast.Call)
        ]:
            tells = isinstance(call.func, ast.Attribute) and call.func.attr == "tell"
            owner = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
            named = any(
                isinstance(node, ast.Name) and node.id == handler.name for node in ast.walk(call)
            )
            if tells and owner.split(".")[-1] in ("desk", "self", "_desk") and named:
                yield call.lineno


def test_no_error_is_told_to_the_agent() -> None:
    found = [
        f"{file.relative_to(ROOM)}:{line}"
        for file in sorted(ROOM.rglob("*.py"))
        for line in told_errors(file.read_text(encoding="utf-8"))
    ]
    assert not found, (
        f"say that it failed with `desk.tell`, and why with `aside`: {', '.join(found)}"
    )


def test_an_error_that_is_told_is_found() -> None:
    told = "try:\n    pass\nexcept StoreLost as lost:\n    desk.tell(f'it is lost: {lost.why}')\n"
    apart = (
        "try:\n    pass\nexcept StoreLost as lost:\n    desk.tell('it is lost')\n    "
        "aside('it', lost)\n"
    )
    assert list(told_errors(told)) == [4]
    assert list(told_errors(apart)) == []
