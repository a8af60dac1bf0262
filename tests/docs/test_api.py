"""The public API is a list that a change has to change, and a page on which every name of it
stands."""

import inspect
from pathlib import Path

import pytest

import stanchion
from stanchion.runtime.remote.run import RemoteRun
from stanchion.runtime.remote.shield import RemoteShield
from tools.api import BESIDE, LIST, Name, lines, members_of
from tools.docs import ROOT

PAGES = {
    "stanchion": "stanchion.md",
    "stanchion.testing": "testing.md",
    **dict.fromkeys(BESIDE, "beside.md"),
}
HANDS_ON = {"call", "acall", "call_once", "acall_once"}
"""Methods that hand any keyword on to a tool."""


def test_the_public_api_is_as_it_is_written_down() -> None:
    written = (ROOT / LIST).read_text(encoding="utf-8").splitlines()
    now = lines()
    gone, new = (
        [line for line in written if line not in now],
        [line for line in now if line not in written],
    )
    told = "\n".join([*[f"- {line}" for line in gone], *[f"+ {line}" for line in new]])
    assert written == now, (
        f"the public API has changed:\n{told}\nA line that is gone or different breaks somebody's "
        f"program. If it is meant, run `make pages`, commit `{LIST}`, and say so in the changelog."
    )


def names(module: str) -> list[Name]:
    return [
        each for one, inside in members_of(module, BESIDE.get(module)) for each in (one, *inside)
    ]


@pytest.mark.parametrize("module", PAGES)
def test_every_name_is_on_a_page_with_what_it_does(module: str) -> None:
    page = (ROOT / "docs/reference/api" / PAGES[module]).read_text(encoding="utf-8")
    for name in names(module):
        last = name.path.rpartition(".")[2]
        assert f"`{name.path}`" in page or f"| `{last}` |" in page, name.path
        if "(" in name.signature.partition(":")[0] and not name.path.endswith(("__",)):
            assert name.doc, f"{name.path} has no docstring"


@pytest.mark.parametrize("kind", [stanchion.Shield, stanchion.Run, RemoteRun, RemoteShield])
def test_no_public_method_takes_any_keyword(kind: type) -> None:
    """Save those that hand them on to a tool. What is left open says by its type what may stand
    there."""
    for name, method in inspect.getmembers(kind, inspect.isfunction):
        if name.startswith("_") or name in HANDS_ON:
            continue
        for one in inspect.signature(method).parameters.values():
            open_ended = one.kind is one.VAR_KEYWORD and not str(one.annotation).startswith(
                "Unpack["
            )
            assert not open_ended, f"{kind.__name__}.{name} takes any keyword"


def test_what_users_missed_is_there() -> None:
    listed = Path(ROOT / LIST).read_text(encoding="utf-8")
    for name in (
        "stanchion.current_run()",
        "stanchion.NoRun",
        "stanchion.ToolFailed",
        "ShieldOptions.tenant: str",
    ):
        assert name in listed
    assert (
        "stanchion.Shield.watch(every_s: float = 1.0, tell: OnReload | None = None) -> Watcher"
        in listed
    )
    assert (
        "stanchion.Run.call(tool: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R"
        in listed
    )
