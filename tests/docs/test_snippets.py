"""Every Python block in the README and the docs runs, and every policy shown there loads.

The blocks of a page share one namespace and one empty working directory. A comment before a block changes
what happens to it: `<!-- snippet: skip REASON -->` compiles a Python block without running it;
`<!-- snippet: policy [FILE] -->` saves a YAML block (as `policy.yaml` unless FILE is given) and loads it, so
that later blocks of the page can use the file.
"""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.docs.markdown import ROOT, Block, blocks, pages

PYTHON = {"py", "python"}


def run_page(name: str, text: str, namespace: dict[str, Any]) -> int:
    """Run the blocks of one page in order, in the working directory; return how many were run or loaded."""
    done = 0
    for block in blocks(text):
        verb, _, rest = block.marker.partition(" ")
        match verb:
            case "" if block.language in PYTHON:
                exec(_compiled(name, block), namespace)  # noqa: S102  the docs are ours
                done += 1
            case "":
                continue
            case "skip" if block.language in PYTHON and rest:
                _compiled(name, block)
            case "policy" if block.language == "yaml":
                _load_policy(block, rest if rest else "policy.yaml")
                done += 1
            case _:
                raise ValueError(
                    f"{name}:{block.line}: marker `{block.marker}` does not fit a `{block.language}` block; "
                    "write `skip REASON` before python or `policy [FILE]` before yaml"
                )
    return done


def _compiled(name: str, block: Block) -> Any:
    # Blank lines in front make a traceback show the line of the page.
    return compile("\n" * (block.line - 1) + block.text, name, "exec")


def _load_policy(block: Block, file: str) -> None:
    from stanchion import Shield

    Path(file).write_text(block.text, encoding="utf-8")
    Shield.load(file)


@pytest.fixture
def namespace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The namespace of a real module, so that annotations in snippets resolve, in an empty directory."""
    module = ModuleType("snippet")
    monkeypatch.setitem(sys.modules, "snippet", module)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return vars(module)


def snippet_pages() -> list[Path]:
    """List the pages that have at least one block to run, compile or load."""
    return [
        page
        for page in pages()
        if any(block.language in PYTHON or block.marker for block in blocks(page.read_text(encoding="utf-8")))
    ]


@pytest.mark.parametrize("page", snippet_pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_page(page: Path, namespace: dict[str, Any]) -> None:
    run_page(page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8"), namespace)


def test_blocks_share_a_namespace_and_skipped_ones_do_not_run(namespace: dict[str, Any]) -> None:
    skipped = "<!-- snippet: skip shown only -->\n```python\nx = 3\n```\n"
    assert run_page("page.md", f"```python\nx = 1\n```\n{skipped}```py\nx += 1\n```\n", namespace) == 2
    assert namespace["x"] == 2


def test_a_failing_block_fails_with_the_line_of_the_page(namespace: dict[str, Any]) -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        run_page("page.md", "# Title\n\n```python\nx = 1\nx / 0\n```\n", namespace)
    assert raised.traceback[-1].lineno + 1 == 5


def test_a_skipped_block_must_compile(namespace: dict[str, Any]) -> None:
    with pytest.raises(SyntaxError):
        run_page("page.md", "<!-- snippet: skip shown only -->\n```python\nx = = 1\n```\n", namespace)


@pytest.mark.parametrize(
    ("marker", "language"),
    [("skip", "python"), ("skip why", "yaml"), ("policy", "python"), ("pollicy", "yaml")],
)
def test_a_marker_that_does_not_fit_is_an_error(marker: str, language: str, namespace: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"page\.md:3: marker"):
        run_page("page.md", f"<!-- snippet: {marker} -->\n```{language}\nx: 1\n```\n", namespace)
