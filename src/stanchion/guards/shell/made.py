"""What is made again: build folders and caches, by what their makers call them, and searches that
find nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.partly_known import origin_of
from stanchion.readings.word_lists import listed

BUILT: Final = listed(
    "node_modules bower_components jspm_packages dist build target out _build .build .output .next "
    ".nuxt .svelte-kit .angular .docusaurus .astro .vite .vercel .netlify .turbo .gradle "
    ".dart_tool .tox .nox .venv venv virtualenv .eggs .ipynb_checkpoints htmlcov coverage "
    ".coverage .nyc_output deriveddata .terraform .serverless .stack-work dist-newstyle elm-stuff "
    ".zig-cache zig-out .bundle storybook-static playwright-report test-results test-reports "
    ".hypothesis .scannerwork .aws-sam cdk.out tmp temp"
)
"""Folders that a build, an installer or a test run makes, and makes again."""
_NAMED: Final = regex(
    r"[._]{0,2}[\w.-]*cache[sd]?_{0,2}|[\w.*-]+\.(?:egg-info|dsym|xcarchive|pyc|pyo|o|obj|class|"
    r"elc|swp|tmp|tsbuildinfo)"
    r"|cmake-build-[\w*-]+|bazel-(?:bin|out|testlogs)"
)
"""Other names of such things: whatever is called a cache, and what compilers leave."""
SYSTEM: Final = ("/var/cache/", "/var/lib/apt/lists/", "/var/lib/dnf/", "/var/tmp/")
"""Where package managers keep what they can fetch again."""
FINDERS: Final = listed("find gfind bfs fd fdfind")
NAMES: Final = listed("-name -iname -path -ipath -wholename -iwholename")
OR: Final = listed("-o -or ,")
VALUED: Final = listed(
    "-t --type -e --extension -d --max-depth --min-depth -E --exclude -S --size -o --owner"
)
"""Options of `fd` that have a value beside them."""
NOT: Final = listed("! -not")


def is_made(path: str) -> bool:
    """Whether a path, as it is compared, leads to something that is made again.

    Below the system only caches of its package managers are, in homes what is called a cache; in
    any other absolute folder nothing is, for what is called `dist` there may be what is served.
    """
    if path.startswith(SYSTEM):
        return path not in SYSTEM
    names = [name for name in path.lower().split("/") if name]
    if path.startswith(("~", "/root/", "/home/", "/Users/")):
        inside = names[2 if path.startswith(("/home/", "/Users/")) else 1 :]
        return any(
            _NAMED.fullmatch(name) is not None or name in ("deriveddata", "node_modules")
            for name in inside
        )
    return path[:1] != "/" and any(is_made_name(name) for name in names)


def is_made_name(name: str) -> bool:
    """Whether the name of a file or folder says that it is made again."""
    low = name.lower()
    return low in BUILT or _NAMED.fullmatch(low) is not None


def finds_only_made(command: Command, commands: Sequence[Command]) -> bool:
    """Whether all that a command is given was found by searches for what is made again."""
    if "find -exec" not in command.via:
        origins = {each for word in command.operands for each in origin_of(word)}
        programs = {each for each in origins if not each.startswith("<")}
        if not programs or not programs <= FINDERS:
            return False
        if any(not origin_of(word) and not is_made(word) for word in command.operands):
            return False
    searches = [one for one in commands if one.name in FINDERS]
    return bool(searches) and all(_seeks_made(one) for one in searches)


def _seeks_made(search: Command) -> bool:
    """Whether each way to be found asks for such a name."""
    words = search.argv[1:]
    stop = next(
        (
            at
            for at, word in enumerate(words)
            if word.startswith(("-exec", "-ok")) or word in ("-x", "-X")
        ),
        len(words),
    )
    words = words[:stop]
    if search.name in ("fd", "fdfind"):
        plain = [
            word
            for at, word in enumerate(words)
            if word[:1] != "-" and (not at or words[at - 1] not in VALUED)
        ]
        return bool(plain) and is_made_name(plain[0].strip("^$"))
    if not NOT.isdisjoint(words):
        return False
    branches: list[list[str]] = [[]]
    for at, word in enumerate(words):
        if word in OR:
            branches.append([])
        elif at and words[at - 1] in NAMES:
            branches[-1].append(word.rstrip("/*").rpartition("/")[2])
    return all(any(is_made_name(name) for name in branch) for branch in branches)
