"""Tables of figures as text that a person reads and a diff shows well: a figure's table and row
stand in its own line, so that whatever a merge leaves of the file can be read."""

from __future__ import annotations

from msgspec import Struct


class Table(Struct, frozen=True):
    """Figures by row and column; the names of rows and columns are words without blanks."""

    title: str
    columns: tuple[str, ...]
    rows: dict[str, tuple[int, ...]]


class Sheet(Struct, frozen=True):
    """What is checked in: the tables, and the budgets that were taken, a line each."""

    tables: tuple[Table, ...]
    budgets: tuple[str, ...] = ()


def render(sheet: Sheet) -> str:
    """The text of a sheet, which `parse` reads."""
    tables = [render_table(table, table) for table in sheet.tables]
    return "\n\n".join([*tables, *[f"- {why}" for why in sheet.budgets]]) + "\n"


def render_table(table: Table, before: Table) -> str:
    """One table in columns; a cell that is not as it was before shows both figures."""
    none = (0,) * len(table.columns)
    lines = [(table.title, *table.columns)]
    for row in dict.fromkeys([*table.rows, *before.rows]):
        pairs = zip(before.rows.get(row, none), table.rows.get(row, none), strict=True)
        cells = [f"{now:,}" if was == now else f"{was:,}→{now:,}" for was, now in pairs]
        lines.append((f"{table.title} {row}", *cells))
    first, *others = [max(map(len, column)) for column in zip(*lines, strict=True)]
    fitted = [(line[0].ljust(first), *map(str.rjust, line[1:], others)) for line in lines]
    return "\n".join(["  ".join(cells) for cells in fitted])


def parse(text: str) -> Sheet:
    """Read a sheet; where a merge left two figures of one cell, the higher one counts."""
    tables: dict[str, Table] = {}
    budgets: dict[str, None] = {}
    for words in map(str.split, text.splitlines()):
        match words:
            case ["-", *why]:
                budgets[" ".join(why)] = None
            case [title, row, *cells] if cells and cells[0][0].isdigit():
                figures = tuple([int(cell.replace(",", "")) for cell in cells])
                rows = tables[title].rows
                rows[row] = tuple(map(max, rows.get(row, figures), figures))
            case [title, *columns] if title.isalpha():  # a conflict is marked by other signs
                tables.setdefault(title, Table(title, tuple(columns), {}))
    return Sheet(tuple(tables.values()), tuple(budgets))
