"""The Python reference: what public methods take and give."""

from tools.api import BESIDE, page

PATH = "docs/reference/api/beside.md"

INTRODUCTION = """\
What methods of [`stanchion`](stanchion.md) take and give, and errors that they raise, each with the module that it is
imported from."""


def render() -> str:
    """Render what stands beside the package's own names."""
    return page("Python: beside `stanchion`", INTRODUCTION, dict(BESIDE))
