"""Sources as syntax trees, each parsed once in a process, for the tests that read the house itself."""

import ast
from functools import cache


@cache
def tree_of(source: str) -> ast.Module:
    """The tree of a source; whoever asks only reads it."""
    return ast.parse(source)
