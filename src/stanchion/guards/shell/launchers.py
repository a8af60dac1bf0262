"""Launching: programs that start others, or run the code that they are given."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.shell.inline import LANGUAGES
from stanchion.readings.shell.shells import SHELLS
from stanchion.readings.shell.wrappers import PREFIXES
from stanchion.readings.word_lists import listed

LAUNCHES: Final = (
    listed(
        """
        uv uvx pipx poetry pdm hatch rye pixi conda mamba micromamba expect socat tmux screen script
        ssh mosh parallel xargs watch flock su runuser docker podman nerdctl kubectl oc lxc nix
        nix-shell tox nox invoke inv make just task npx bunx pnpm npm yarn at batch crontab find fd
        sh bash dash zsh ksh ash fish eval source . cmd wsl vim nvim ncat nc coverage kernprof
        py-spy viztracer chronic ts unbuffer py pythonw
        """
    )
    | frozenset(PREFIXES)
    | frozenset(LANGUAGES)
)
"""Programs that start others."""
FOLLOWED: Final = frozenset({*SHELLS, "eval", "source", "."})
"""Those whose texts have been followed already."""

_PYTHON: Final = regex(r"(?:python|pypy)[\d.]*w?|ipython\d?|py")


@lru_cache(1_024)
def runs_code(name: str) -> bool:
    """Whether a program runs code in a language that is not the shell's."""
    return name in LANGUAGES or _PYTHON.fullmatch(name) is not None
