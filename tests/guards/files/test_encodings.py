"""No spelling of a path that leads away passes, and judging takes steps that grow with the path
alone."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from hypothesis import given, strategies as st

from stanchion.guards.files import Files
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.readings import read
from tests.guards.steps import steps_of
from tests.properties.examples import sample

BOXED = Files(root=("/work/box",))
OPEN = Files()
OVERLONG = {".": "%c0%ae", "/": "%c0%af"}
WIDE = {".": "\uff0e", "/": "\uff0f"}


def escaped(text: str) -> str:
    """Every character as an escape."""
    return "".join([f"%{byte:02x}" for byte in text.encode()])


SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "escaped": escaped,
    "escaped twice": lambda text: quote(escaped(text), safe=""),
    "some escaped": lambda text: text.replace(".", "%2e"),
    "overlong": lambda text: "".join([OVERLONG.get(char, char) for char in text]),
    "wide": lambda text: "".join([WIDE.get(char, char) for char in text]),
    "wide escapes": lambda text: "".join(
        [f"%u{ord(WIDE[char]):04x}" if char in WIDE else char for char in text]
    ),
    "backslashes": lambda text: text.replace("/", "\\"),
    "both slashes": lambda text: text.replace("/", "\\/"),
    "doubled": lambda text: text.replace("/", "//"),
    "with dots": lambda text: text.replace("/", "/./"),
    "invisible": lambda text: text.replace(".", ".\u200b"),
    "with nothing": lambda text: text.replace("/", "\x00/"),
    "parameters": lambda text: text.replace("../", "..;/"),
    "hexadecimal": lambda text: text.replace("/", "0x2f"),
    "home of a process": lambda text: (
        f"/proc/self/cwd/{text}" if not text.startswith("/") else f"/proc/self/root{text}"
    ),
}
"""Ways to write a path that somebody may read as that path."""

NAMES = st.text("abcxyz_-", min_size=1, max_size=6)


def call(path: str) -> ToolCall:
    return ToolCall(id="e", at=0, run=RunInfo("r"), tool="read_file", args={"path": path})


def climbing(down: list[str], more: int, rest: list[str]) -> str:
    """A relative path that goes down, then up past where it began, then somewhere."""
    return "/".join([*down, *[".."] * (len(down) + more), *rest])


@given(
    st.lists(NAMES, max_size=3),
    st.integers(1, 3),
    st.lists(NAMES, min_size=1, max_size=3),
    st.sampled_from(list(SPELLINGS)),
)
@sample(75)
def test_what_climbs_out_is_refused_however_it_is_written(
    down: list[str], more: int, rest: list[str], spelled: str
) -> None:
    path = SPELLINGS[spelled](climbing(down, more, rest))
    for guard in (OPEN, BOXED):
        finding = guard.judge(read(call(path)))
        if guard is BOXED and (
            rest[: 2 if more > 1 else 1] == (["work", "box"] if more > 1 else ["box"])
        ):
            continue
        assert finding is not None, (spelled, path)
        assert finding.code in ("files.outside", "files.unclear")


@given(st.lists(NAMES, min_size=1, max_size=4), st.sampled_from(list(SPELLINGS)))
@sample(50)
def test_what_begins_outside_of_the_box_is_refused_however_it_is_written(
    names: list[str], spelled: str
) -> None:
    finding = BOXED.judge(read(call(SPELLINGS[spelled]("/" + "/".join(names)))))
    assert finding is not None
    assert finding.code in ("files.outside", "files.unclear", "files.protected")


@given(
    st.lists(NAMES, min_size=1, max_size=4),
    st.sampled_from(["as it is", "doubled", "with dots", "some escaped"]),
)
@sample(50)
def test_what_stays_inside_goes_ahead(names: list[str], spelled: str) -> None:
    path = SPELLINGS[spelled]("/".join(names))
    assert OPEN.judge(read(call(path))) is None
    assert BOXED.judge(read(call(path))) is None
    assert BOXED.judge(read(call(f"/work/box/{path}"))) is None


@given(st.text(max_size=60))
@sample(75)
def test_nothing_that_is_written_breaks_it(path: str) -> None:
    OPEN.judge(read(call(path)))
    BOXED.judge(read(call(path)))


def test_steps_grow_no_faster_than_the_call() -> None:
    shapes: dict[str, Callable[[int], dict[str, object]]] = {
        "climbs": lambda size: {"path": "a/../" * size},
        "escapes": lambda size: {"path": "%25" * size},
        "broken": lambda size: {"path": "%c0" * size},
        "wide": lambda size: {"path": "\ufdfa" * size},
        "dots": lambda size: {"path": "." * size},
        "names": lambda size: {"path": "/".join("x" * size)},
        "many": lambda size: {"paths": [f"p{at}/x" for at in range(size)]},
        "deep": lambda size: _deep(size),
        "keys": lambda size: {f"k{at}": "../x%" for at in range(size)},
    }
    lists = Files(deny=("**/a/**/b/**/c", "x/*y*z*"), write=("**/q/**",), root=("/work/box",))
    for name, shape in shapes.items():
        small, large = (_steps(lists, shape(size)) for size in (150, 600))
        assert large < small * 4.5 + 600, (name, small, large)


def _steps(guard: Files, args: dict[str, object]) -> int:
    event = ToolCall(id="e", at=0, run=RunInfo("r"), tool="write_file", args=dict(args))
    fresh = Files(guard.root, guard.read, guard.write, guard.deny)
    fresh.judge(read(call("warm")))
    return steps_of(lambda: fresh.judge(read(event)))


def _deep(size: int) -> dict[str, object]:
    made: dict[str, object] = {"path": "x"}
    for _ in range(size):
        made = {"in": made}
    return made
