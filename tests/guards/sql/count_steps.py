"""Run as a program: how many steps sqlglot's parser takes, counted in its Python form.

Reads JSON `[[dialect, text], …]` and writes `[[work, steps], …]`: what the guard expects a text to
cost at the most, and how often the parser went from one token to another; `null` for a text that
the guard refuses to have parsed.
"""

import importlib.machinery
import json
import sys
from contextlib import suppress

PYTHON = (importlib.machinery.SourceFileLoader, importlib.machinery.SOURCE_SUFFIXES)


class TooMany(Exception):
    """The parser takes a hundred times as many steps as expected."""


def python_only(path: str) -> importlib.machinery.FileFinder:
    """Find modules of sqlglot as Python, where there is a compiled one beside."""
    if "sqlglot" not in path:
        raise ImportError
    return importlib.machinery.FileFinder(path, PYTHON)


def main() -> None:
    """Count."""
    sys.path_hooks.insert(0, python_only)
    sys.path_importer_cache.clear()
    sys.setrecursionlimit(20_000)
    import sqlglot.parser
    from sqlglot.errors import SqlglotError

    from stanchion.readings.sql.lexer import BREAKING, UnreadSql, reader_of, work_of

    assert str(sqlglot.parser.__file__).endswith(".py")
    steps, limit = 0, sys.maxsize
    step = sqlglot.parser.Parser._advance

    def counted(self: sqlglot.parser.Parser, times: int = 1) -> None:
        nonlocal steps
        steps += 1
        if steps > limit:
            raise TooMany
        step(self, times)

    sqlglot.parser.Parser._advance = counted  # type: ignore[method-assign]  # counting is what this is for
    answers: list[list[int] | None] = []
    for dialect, text in json.load(sys.stdin):
        reader = reader_of(dialect)
        try:
            tokens = reader.tokens(text)
            work = work_of(tokens, reader.types)
        except UnreadSql:
            answers.append(None)
            continue
        steps, limit = 0, 100 * work + 1_000
        with suppress(SqlglotError, *BREAKING, TooMany):
            reader.dialect.parser().parse(tokens, text)
        limit = sys.maxsize
        answers.append([work, steps])
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
