"""The Python reference: what `stanchion` itself has."""

from tools.api import page

PATH = "docs/reference/api/stanchion.md"

INTRODUCTION = """\
Everything that `import stanchion` gives, from its docstrings. What its methods take and give besides is
[beside it](beside.md); what tests use is [`stanchion.testing`](testing.md). The same as one list, with nothing but
signatures, is [`api.txt`](../api.txt): whatever is not on it can change without notice."""


def render() -> str:
    """Render every public name of the package."""
    return page("Python: `stanchion`", INTRODUCTION, {"stanchion": None})
