"""Globs and paths: what matches, that nothing escapes, and that hostile patterns cost little."""

import pytest
from hypothesis import example, given, settings, strategies as st

from stanchion.policy.conditions import Vocabulary, compile_condition, limits
from stanchion.policy.conditions.kinds import STRING
from stanchion.policy.conditions.paths import glob_fault, glob_test, normal, shape, under
from tests.policy.conditions import interpreter
from tests.properties.examples import SOAK

NAMES = Vocabulary({"f": STRING.or_null(), "p": STRING})


class F:
    """A view of a path and a pattern."""

    def __init__(self, f: str | None, p: str = "") -> None:
        self.f = f
        self.p = p


@pytest.mark.parametrize(
    ("pattern", "hits", "misses"),
    [
        (
            "**/test_*",
            ["test_a.py", "a/test_", "/test_x", "a/b/test_b.py"],
            ["a/test_b/c", "atest_a", "tests/a", ""],
        ),
        (
            "**/*_test.*",
            ["a_test.go", "x/_test.", "x/a_test.b_test.c"],
            ["a_test", "a_test.d/x", "atest.go"],
        ),
        ("src/**", ["src/a", "src/a/b", "src/"], ["src", "xsrc/a", "a/src/b"]),
        ("src/*", ["src/a", "src/"], ["src/a/b", "src"]),
        ("*.py", ["a.py", ".py"], ["a/b.py", "a.pyc"]),
        ("**/*.py", ["a.py", "a/b.py", "/a.py"], ["a.pyc", "a.py/b"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["a/bb", "ab", "a/b/c"]),
        ("**/a/**/b/*", ["a/b/c", "x/a/y/b/c", "a/b/b/c"], ["a/b", "b/a/c"]),
        ("?", ["a", "é"], ["", "ab", "/"]),
        ("a?c/*", ["abc/d"], ["a/c/d", "ac/d"]),
        ("**", ["", "a", "a/b"], []),
        ("README.md", ["README.md"], ["a/README.md", "readme.md"]),
        ("**/README.md", ["README.md", "a/README.md"], ["aREADME.md"]),
        ("[a].(b)+", ["[a].(b)+"], ["a.b"]),
        ("/etc/**", ["/etc/passwd"], ["etc/passwd", "/etc"]),
        ("*a*b*c", ["abc", "xaxbxc", "aabbcc"], ["acb", "abcx"]),
        ("**/a*/b", ["a/b", "x/ab/b"], ["a/c/b"]),
    ],
)
def test_matching(pattern: str, hits: list[str], misses: list[str]) -> None:
    literal = compile_condition(f"glob(f, '{pattern}')", NAMES)
    dynamic = compile_condition("glob(f, p)", NAMES)
    for path in hits:
        assert glob_test(pattern)(path), path
        assert literal.test(F(path)), path
        assert dynamic.test(F(path, pattern)), path
    for path in misses:
        assert not glob_test(pattern)(path), path
        assert not literal.test(F(path)), path
        assert not dynamic.test(F(path, pattern)), path
    assert literal.test(F(None)) is False


SMALL = st.text("ab/.", max_size=12)
PATTERN = st.lists(
    st.sampled_from(["**", "*", "a", "a*", "*b", "?", "a*b", "*a*", "", "ab", "*.?", "a*b*a"]),
    max_size=5,
)


@settings(max_examples=SOAK or 166)
@given(pattern=PATTERN.map("/".join), text=SMALL)
@example("**/a/**/b/**", "a/b/a/b")
@example("**/*a*/**/b", "xax/b")
@example("a*b*a/**", "aba/")
def test_every_way_to_match_agrees_with_trying_everything(pattern: str, text: str) -> None:
    assert glob_fault(pattern) is None
    wanted = interpreter.glob(pattern.split("/"), text.split("/"))
    assert glob_test(pattern)(text) is wanted
    assert compile_condition(f"glob(f, '{pattern}')", NAMES).test(F(text)) is wanted


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("*a" * 240 + "b", "a" * limits.PATH),
        ("**/" * 160 + "b", "a/" * (limits.PATH // 2)),
        ("**/a/" * 90 + "b", "a/" * (limits.PATH // 2)),
        ("**/*a*a*a*b/" * 40 + "c", "aaa/" * (limits.PATH // 4)),
        ("?*" * 240 + "b", "a" * limits.PATH),
        ("a*" * 240 + "/b", "a" * limits.PATH),
    ],
)
def test_hostile_globs_end(pattern: str, text: str) -> None:
    assert glob_fault(pattern) is None
    assert glob_test(pattern)(text) is False


def test_shapes_are_told_apart() -> None:
    globs = ("**", "a/b", "a/**", "**/a*", "**/*a", "**/*a*", "**/a", "*a", "**/a*b", "**/?")
    assert [shape(each) for each in globs] == [
        ("any", ""), ("is", "a/b"), ("starts", "a/"), ("name_starts", "a"), ("name_ends", "a"),
        ("name_has", "a"), ("name_is", "a"), ("other", ""), ("other", ""), ("other", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "folder", "inside"),
    [
        ("/a/b/c", "/a/b", True),
        ("/a/b", "/a/b", True),
        ("/a/b/", "/a/b", True),
        ("/a/bc", "/a/b", False),
        ("/a/b/../c", "/a/b", False),
        ("/a/b/../b/c", "/a/b", True),
        ("/a/./b//c", "/a/b/", True),
        ("/../../a/b/c", "/a/b", True),
        ("src/../../etc", "src", False),
        ("src/a/../..", "src", False),
        ("../src/a", "src", False),
        ("./src/a", "src", True),
        ("a", ".", True),
        ("../a", ".", False),
        ("..", ".", False),
        ("..a/b", ".", True),
        ("../a", "..", True),
        ("../../a", "..", False),
        ("/a", ".", False),
        ("a", "/", False),
        ("/a", "/", True),
        ("a\\..\\..\\b", "a", False),
        ("a\\b", "a", True),
        ("C:/secret", ".", False),
        ("C:\\a\\..\\..\\b", "C:/a", False),
        ("C:/../../b/c", "C:/b", True),
        ("~/x", ".", False),
        ("~/a/../../b", "~/a", False),
        ("~/../a", "a", False),
        ("./~/x", ".", True),
        ("./~/x", "~", False),
        ("a/../C:/x", "C:", False),
        ("", "a", False),
        ("a", "", False),
        ("A/b", "a", False),
    ],
)
def test_under(path: str, folder: str, inside: bool) -> None:
    assert under(path, folder) is inside
    assert compile_condition("under(f, p)", NAMES).test(F(path, folder)) is inside
    if folder:
        written = folder.replace("\\", "\\\\")
        assert compile_condition(f"under(f, '{written}')", NAMES).test(F(path)) is inside


SEGMENTS = st.lists(
    st.sampled_from(["..", ".", "", "a", "b", "ab", "~", "C:", "..a"]), max_size=6
).map("/".join)


@settings(max_examples=SOAK or 133)
@given(path=SEGMENTS, folder=SEGMENTS)
def test_under_agrees_with_walking(path: str, folder: str) -> None:
    assert under(path, folder) is interpreter.under(path, folder)


@given(path=SEGMENTS)
def test_a_normal_path_stays_as_it_is(path: str) -> None:
    assert normal(normal(path)) == normal(path)
    assert ".." not in normal(path).lstrip("./").split("/")
