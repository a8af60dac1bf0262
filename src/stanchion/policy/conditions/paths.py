"""Paths as text: worked out without a disk."""

from __future__ import annotations

from stanchion.policy.conditions.errors import EvaluationError
from stanchion.policy.conditions.limits import PATH


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
