"""The Python reference: what tests of policies, guards and agents use."""

from tools.api import page

PATH = "docs/reference/api/testing.md"

INTRODUCTION = """\
A clock that stands still, scripted tools and models, shields that repeat themselves, tables, and the suite that a store
has to pass. [Test your policy](../../how-to/test-your-policy.md) shows how they are used."""


def render() -> str:
    """Render every public name of the kit."""
    return page("Python: `stanchion.testing`", INTRODUCTION, {"stanchion.testing": None})
