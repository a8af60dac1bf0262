"""Paths and globs over them, worked out as texts, without a disk. In a glob `*` and `?` stay
within a segment, `**` stands for whole segments."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.policy.conditions.limits import GLOB, PATH, EvaluationError


def normal(path: str) -> str:
    """A path without `.`, `..` and doubled separators; `\\` counts as `/`. What leads outside
    begins with `..`."""
    if len(path) > PATH:
        raise EvaluationError(f"a path has at most {PATH:,} characters")
    if (
        path
        and "/." not in path
        and "//" not in path
        and "\\" not in path
        and path[0] != "."
        and path[-1] != "/"
    ):
        return path
    root, parts = _root(path.replace("\\", "/"))
    kept: list[str] = []
    for part in parts:
        if part == ".." and kept and kept[-1] != "..":
            kept.pop()
        elif part not in ("", ".") and not (part == ".." and root):
            kept.append(part)
    rest = "/".join(kept)
    if root == "":
        # A file that is named like a drive or a home is still one in the folder it was read from.
        return "." if not kept else f"./{rest}" if is_rooted(rest) else rest
    if root == "/":
        return f"/{rest}"
    return f"{root}/{rest}" if kept else root


def _root(path: str) -> tuple[str, list[str]]:
    """What `..` never climbs out of (`/`, a drive such as `C:`, a home such as `~`), and the
    segments after it."""
    first, *rest = path.split("/")
    if first == "":
        return "/", rest
    if is_rooted(path):
        return first, rest
    return "", [first, *rest]


def is_rooted(path: str) -> bool:
    """Whether a path says by itself where it starts."""
    return path[:1] in ("/", "~") or (path[1:2] == ":" and path[0].isalpha())


def inside(path: str, folder: str) -> bool:
    """Whether one normal path is another or lies in it."""
    if folder == "/":
        return path[:1] == "/"
    if folder == ".":
        return not is_rooted(path) and path != ".." and not path.startswith("../")
    if not path.startswith(folder):
        return False
    rest = path[len(folder) :]
    # `../..` is not inside `..`: a path that climbs higher than the folder has left it.
    return rest == "" or (rest[0] == "/" and rest != "/.." and not rest.startswith("/../"))


def under(path: str, folder: str) -> bool:
    """Whether a path is the folder or lies in it."""
    return folder != "" and path != "" and inside(normal(path), normal(folder))


_WILD: Final = regex(r"[*?]")


def glob_fault(pattern: str) -> str | None:
    """What is wrong with a glob; `None` where nothing is."""
    if len(pattern) > GLOB:
        return f"a glob has at most {GLOB} characters: write several"
    for part in pattern.split("/"):
        if "**" in part and part != "**":
            return (
                f"`**` must be a whole path segment, and `{part}` is not: write `**/*.py` or "
                f"`src/**`"
            )
    return None


def glob_test(pattern: str) -> Callable[[str], bool]:
    """The test of one glob without a fault; it takes at most len(pattern) × len(text) steps."""
    search = re.compile(translated(pattern), re.DOTALL).match

    def test(text: str) -> bool:
        if len(text) > PATH:
            raise EvaluationError(f"a path has at most {PATH:,} characters")
        return search(text) is not None

    return test


@lru_cache(256)
def found_test(pattern: str) -> Callable[[str], bool]:
    """The test of a glob that is known at evaluation only."""
    fault = glob_fault(pattern)
    if fault is not None:
        raise EvaluationError(
            "a pattern that was read from the event is not a glob"
        )  # its fault names a part of it
    return glob_test(pattern)


def translated(pattern: str) -> str:
    """A glob as a regular expression that never goes back over what an atomic group took.

    Segments between two `**` are matched where they fit first: what follows them has then the most
    room, so no later place can do better. The same holds for the pieces between two `*` of a
    segment.
    """
    parts = pattern.split("/")
    if parts == ["**"]:
        return ""
    tail = parts[-1] == "**"
    runs = _runs(parts[:-1] if tail else parts)
    written: list[str] = []
    for at, run in enumerate(runs):
        last = at == len(runs) - 1
        body = "/".join(_segment(part) for part in run)
        if at == 0:
            written.append(body if last and not tail else f"{body}/" if run else "")
        elif last and not tail:
            written.append(rf"(?:[^/]*/)*?{body}" if run else "")
        elif run:
            written.append(rf"(?>(?:[^/]*/)*?{body}/)")
    return "".join(written) + ("" if tail else r"\Z")


def _runs(parts: list[str]) -> list[list[str]]:
    """The segments between `**`s; the first run stands at the start of the text."""
    runs: list[list[str]] = [[]]
    for part in parts:
        if part == "**":
            runs.append([])
        else:
            runs[-1].append(part)
    return runs


def _segment(part: str) -> str:
    pieces = [
        "".join("[^/]" if char == "?" else re.escape(char) for char in piece)
        for piece in part.split("*")
    ]
    if len(pieces) == 1:
        return rf"{pieces[0]}(?=/|\Z)"
    first, *middle, last = pieces
    searched = "".join(rf"(?>[^/]*?{piece})" for piece in middle if piece)
    return rf"{first}{searched}[^/]*{last}(?=/|\Z)" if last else rf"{first}{searched}[^/]*+"


def shape(pattern: str) -> tuple[str, str]:
    """What a glob amounts to: a plain test on a text or on its last segment, and the literal to
    test for."""
    if pattern == "**":
        return "any", ""
    if not _WILD.search(pattern):
        return "is", pattern
    if pattern.endswith("/**") and not _WILD.search(pattern[:-2]):
        return "starts", pattern[:-2]
    name = pattern.removeprefix("**/")
    literal = name.strip("*")
    if name == pattern or "/" in name or _WILD.search(literal):
        return "other", ""
    if name == literal:
        return "name_is", literal
    if name == f"{literal}*":
        return "name_starts", literal
    return ("name_ends" if name == f"*{literal}" else "name_has"), literal
