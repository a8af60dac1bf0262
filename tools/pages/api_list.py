"""The public API as one list, so that a change of it is seen in a review."""

from tools.api import LIST, lines

PATH = LIST


def render() -> str:
    """Render a line for each public name."""
    return "\n".join(lines()) + "\n"
