"""Programs: code of other languages, read by a small reader each, told in one vocabulary of
effects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from stanchion.kernel.regex import regex

if TYPE_CHECKING:
    from stanchion.readings.programs.calls import Code
    from stanchion.readings.programs.effects import Effects

__all__ = ["program_effects"]


PYTHONS = ("python", "pypy", "ipython", "manage.py", "django-admin", "flask")
"""How programs that run Python are called."""


def program_effects(program: str, code: str) -> Effects:
    """What code does that a program is given to run; in a language that is not known here it is
    read as Perl is."""
    from stanchion.readings.programs.effects import effects_of  # few commands have code in them
    from stanchion.readings.programs.services import asked_of_services

    read = _read(program, code)
    effects = effects_of(read)
    asked = asked_of_services(read, code)
    return effects._replace(argvs=(*effects.argvs, *asked)) if asked else effects


def _read(program: str, code: str) -> Code:
    if program.startswith(PYTHONS):
        from stanchion.readings.programs.python import read_python

        read = read_python(code)
        if read is not None:
            return read
    from stanchion.readings.programs.reader import read_code
    from stanchion.readings.programs.tokens import LISP, PERL, SYNTAXES

    syntax = SYNTAXES.get(program, PERL)
    return read_code(code if syntax is not LISP else as_calls(code), syntax)


_SYMBOLS: Final = regex(r'"(?:[^"\\]|\\.)*"|[A-Za-z][\w.*!?/:-]*')
_LISTS: Final = regex(r"\(\s*([A-Za-z][\w.*!?/:]*)(?=[\s)])")


def as_calls(code: str) -> str:
    """Code of a Lisp with each list as a call: `delete_directory("x" t)` of
    `(delete-directory "x" t)`."""
    named = _SYMBOLS.sub(
        lambda found: found[0] if found[0][0] == '"' else found[0].replace("-", "_"), code
    )
    return _LISTS.sub(r"\1(", named)
