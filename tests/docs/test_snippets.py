"""Every Python block in the README and the docs runs, and every policy shown there loads.

The blocks of a page share one namespace and one empty working directory. A comment before a block
changes what happens to it: `<!-- snippet: skip REASON -->` compiles a Python block without running
it; `<!-- snippet: policy [FILE] -->` saves a YAML block (as `policy.yaml` unless FILE is given) and
loads it, so that later blocks of the page can use the file; `<!-- snippet: needs PACKAGE -->` runs
a Python block where the package can be imported, and compiles it elsewhere: then the page counts as
skipped. `<!-- snippet: prints -->` before a text block says that this is what the Python block
before it prints.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from contextvars import Context
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import pytest

from tests.docs.markdown import ROOT, Block, blocks, pages

PYTHON = {"py", "python"}


def run_page(name: str, text: str, namespace: dict[str, Any]) -> int:
    """Run the blocks of one page in order, in the working directory; return how many were run or
    loaded."""
    done, printed = 0, ""
    for block in blocks(text):
        verb, _, rest = block.marker.partition(" ")
        match verb:
            case "" if block.language in PYTHON:
                with redirect_stdout(StringIO()) as out:
                    exec(_compiled(name, block), namespace)  # noqa: S102  the docs are ours
                done, printed = done + 1, out.getvalue()
            case "prints" if block.language == "text" and not rest:
                assert printed == block.text, (
                    f"{name}:{block.line}: the block before prints\n{printed}"
                )
            case "":
                continue
            case "needs" if block.language in PYTHON and rest.replace(".", "").isidentifier():
                code = _compiled(name, block)
                if _is_there(rest):
                    exec(code, namespace)  # noqa: S102  the docs are ours
                    done += 1
            case "skip" if block.language in PYTHON and rest:
                _compiled(name, block)
            case "policy" if block.language == "yaml":
                _load_policy(block, rest if rest else "policy.yaml")
                done += 1
            case _:
                raise ValueError(
                    f"{name}:{block.line}: marker `{block.marker}` does not fit a "
                    f"`{block.language}` block; "
                    "write `skip REASON` or `needs PACKAGE` before python, `policy [FILE]` before "
                    "yaml, "
                    "or `prints` before text"
                )
    return done


def _is_there(package: str) -> bool:
    """Whether a package can be imported; none of those around it is, where it cannot."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def _compiled(name: str, block: Block) -> Any:
    # Blank lines in front make a traceback show the line of the page.
    return compile("\n" * (block.line - 1) + block.text, name, "exec")


def _load_policy(block: Block, file: str) -> None:
    from stanchion import Shield

    Path(file).write_text(block.text, encoding="utf-8")
    Shield.load(file)


@pytest.fixture
def namespace(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The namespace of a real module, so that annotations in snippets resolve, in an empty
    directory. Anybody may read
    it: commands that root confines run as somebody else."""
    module = ModuleType("snippet")
    monkeypatch.setitem(sys.modules, "snippet", module)
    with TemporaryDirectory(prefix="stanchion-snippets-") as made:
        os.chmod(made, 0o755)
        work = Path(made) / "work"
        work.mkdir()
        with monkeypatch.context() as there:
            there.chdir(work)
            yield vars(module)


def snippet_pages() -> list[Path]:
    """List the pages that have at least one block to run, compile or load."""
    return [
        page
        for page in pages()
        if any(
            block.language in PYTHON or block.marker
            for block in blocks(page.read_text(encoding="utf-8"))
        )
    ]


@pytest.mark.parametrize(
    "page", snippet_pages(), ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_page(page: Path, namespace: dict[str, Any]) -> None:
    text = page.read_text(encoding="utf-8")
    # What tests before have set for their own context, such as a span, is not the reader's.
    Context().run(run_page, page.relative_to(ROOT).as_posix(), text, namespace)
    missing = lacking(text)
    if missing:
        pytest.skip(f"`{missing[0]}` is not installed: `make test-adapters` runs this page")


def lacking(text: str) -> list[str]:
    """The packages that blocks of a page need and that cannot be imported here."""
    needed = [
        block.marker.partition(" ")[2]
        for block in blocks(text)
        if block.marker.startswith("needs ")
    ]
    return [package for package in dict.fromkeys(needed) if not _is_there(package)]


def test_blocks_share_a_namespace_and_skipped_ones_do_not_run(namespace: dict[str, Any]) -> None:
    skipped = "<!-- snippet: skip shown only -->\n```python\nx = 3\n```\n"
    assert (
        run_page("page.md", f"```python\nx = 1\n```\n{skipped}```py\nx += 1\n```\n", namespace) == 2
    )
    assert namespace["x"] == 2


def test_a_block_that_needs_a_package_runs_where_it_is(namespace: dict[str, Any]) -> None:
    there, not_there = "<!-- snippet: needs json -->\n", "<!-- snippet: needs no_such.package -->\n"
    page = f"{there}```python\nx = 1\n```\n{not_there}```python\nx = 2\n```\n"
    assert run_page("page.md", page, namespace) == 1
    assert namespace["x"] == 1
    assert lacking(page) == ["no_such.package"]
    with pytest.raises(SyntaxError):
        run_page("page.md", f"{not_there}```python\nx = = 1\n```\n", namespace)


def test_what_a_block_prints_is_what_the_page_shows(namespace: dict[str, Any]) -> None:
    page = (
        "```python\nprint('a')\n```\n\nIt prints:\n\n<!-- snippet: prints -->\n```text\n{}\n```\n"
    )
    assert run_page("page.md", page.format("a"), namespace) == 1
    with pytest.raises(AssertionError, match=r"page\.md:9: the block before prints\s+a"):
        run_page("page.md", page.format("b"), namespace)


def test_a_failing_block_fails_with_the_line_of_the_page(namespace: dict[str, Any]) -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        run_page("page.md", "# Title\n\n```python\nx = 1\nx / 0\n```\n", namespace)
    assert raised.traceback[-1].lineno + 1 == 5


def test_a_skipped_block_must_compile(namespace: dict[str, Any]) -> None:
    with pytest.raises(SyntaxError):
        run_page(
            "page.md", "<!-- snippet: skip shown only -->\n```python\nx = = 1\n```\n", namespace
        )


@pytest.mark.parametrize(
    ("marker", "language"),
    [
        ("skip", "python"),
        ("skip why", "yaml"),
        ("needs", "python"),
        ("needs json", "yaml"),
        ("prints", "python"),
        ("policy", "python"),
        ("pollicy", "yaml"),
    ],
)
def test_a_marker_that_does_not_fit_is_an_error(
    marker: str, language: str, namespace: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=r"page\.md:3: marker"):
        run_page("page.md", f"<!-- snippet: {marker} -->\n```{language}\nx: 1\n```\n", namespace)
