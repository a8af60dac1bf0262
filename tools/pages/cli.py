"""The command line: every command's own help."""

from stanchion.cli.command import parser_of
from stanchion.cli.main import COMMANDS, command_of, help_lines

PATH = "docs/reference/cli.md"

INTRODUCTION = """\
# Command line

`stanchion` and `python -m stanchion` are the same. What follows is what `--help` says.

Besides the statuses a command lists, every command ends with 130 after Ctrl-C, with 141 when nobody reads
its output any more, and with 1 when its output cannot be written. None of these means that anything may go
ahead: only 0 does. Colours are for terminals; `NO_COLOR` takes them away there too.
"""


def render() -> str:
    """Render the help of the command itself, then that of each of its commands."""
    parts = [INTRODUCTION, *_section("stanchion", "\n".join(help_lines()))]
    for name in COMMANDS:
        parts += _section(f"stanchion {name}", parser_of(name, command_of(name)).format_help())
    return "\n".join(parts)


def _section(title: str, text: str) -> list[str]:
    return [f"## {title}", "", "```text", text.rstrip("\n"), "```", ""]
