"""Spellings: the same command said in many ways, drawn afresh, and honest commands that only name
Stanchion."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from shlex import quote

from hypothesis import strategies as st

IDS = st.text("0123456789ABCDEFGHJKMNPQRSTVWXYZ", min_size=6, max_size=26)
NAMES = st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=8)


@st.composite
def loosenings(draw: st.DrawFn) -> list[str]:
    """What only a person may do, as words behind our name."""
    some, name = draw(IDS), draw(NAMES)
    words = draw(
        st.sampled_from(
            [
                ["tickets", "approve", some, "--by", name],
                ["tickets", "deny", some, "--by", name, "--comment", "help"],
                ["tickets", "--store", "x.db", "approve", some],
                ["state", "resume"],
                ["state", "resume", f"tool:{name}", "--by", name],
                ["state", "safe-mode", "off"],
                ["state", "accept", "--why", name],
                ["tools", "reset", name],
                ["secrets", "allow", some.lower(), "--once"],
                ["policy", "trust", f"{name}.yaml"],
                ["operators", draw(st.sampled_from(["add", "rotate", "revoke"])), name],
                ["broker", "--socket", "x"],
            ]
        )
    )
    return list(words)


STARTS = [
    ["stanchion"],
    ["./stanchion"],
    ["/opt/app/.venv/bin/stanchion"],
    ["python", "-m", "stanchion"],
    ["/usr/bin/python3.12", "-I", "-m", "stanchion"],
    ["uvx", "stanchion"],
    ["coverage", "run", "-m", "stanchion"],
    ["env", "-i", "PATH=/bin", "stanchion"],
    ["sudo", "-u", "ann", "stanchion"],
    ["setsid", "stanchion"],
    ["xargs", "stanchion"],
]


@st.composite
def spelled(draw: st.DrawFn, word: str) -> str:
    """A word as a shell may be told it."""
    way = draw(st.integers(0, 5))
    if not word.isascii() or not word or way == 0:
        return quote(word)
    at = draw(st.integers(0, len(word)))
    match way:
        case 1:
            return f"'{word}'"
        case 2:
            return (
                f'{quote(word[:at]) if word[:at] else ""}""{quote(word[at:]) if word[at:] else ""}'
            )
        case 3:
            return "".join(
                [f"\\{char}" if not char.isalnum() else char for char in word[:at]]
            ) + quote(word[at:])
        case 4:
            return "$'" + "".join([f"\\x{ord(char):02x}" for char in word]) + "'"
        case _:
            return f'"{word}"'


@st.composite
def commands(draw: st.DrawFn) -> str:
    """A command that loosens, spelled somehow."""
    words = [*draw(st.sampled_from(STARTS)), *draw(loosenings())]
    return " ".join([draw(spelled(word)) for word in words])


def _file(name: str, run: str) -> Callable[[str], str]:
    return lambda text: f"cat > {name} <<'END'\n{text}\nEND\n{run} {name}"


def _code(text: str) -> str:
    return f"import os; os.system({text!r})"


WRAPPERS: list[Callable[[str], str]] = [
    lambda text: f"sh -c {quote(text)}",
    lambda text: f"bash -lc {quote(text)}",
    lambda text: f"eval {quote(text)}",
    lambda text: f"echo {quote(text)} | sh",
    lambda text: f"printf '%s' {quote(text)} | bash -s",
    lambda text: f"true && ({text})",
    lambda text: f"if true; then {text}; fi",
    lambda text: f"x=$({text})",
    lambda text: f"{text} > /dev/null 2>&1 &",
    lambda text: f"{text} | cat",
    lambda text: f"go() {{ {text}; }}; go",
    lambda text: f"nohup sh -c {quote(text)}",
    lambda text: f"timeout 5 nice -n 3 sh -c {quote(text)}",
    lambda text: f"script -qc {quote(text)} /dev/null",
    lambda text: f"find . -maxdepth 0 -exec sh -c {quote(text)} \\;",
    lambda text: f"ssh localhost {quote(text)}",
    lambda text: f"watch -n 1 {quote(text)}",
    lambda text: f"at now <<'END'\n{text}\nEND",
    lambda text: f"sh <<'END'\n{text}\nEND",
    lambda text: f"python3 -c {quote(_code(text))}",
    lambda text: f"python3 - <<'END'\n{_code(text)}\nEND",
    lambda text: (
        f"perl -e {quote(f'system({json.dumps(text)})')}"
        if "$" not in text and "\\" not in text
        else text
    ),
    lambda text: f"echo {base64.b64encode(text.encode()).decode()} | base64 -d | sh",
    _file("a.sh", "sh"),
    _file("run", "bash"),
]


@st.composite
def wrapped(draw: st.DrawFn) -> str:
    """A command that loosens, in up to three others."""
    text = draw(commands())
    for wrap in draw(st.lists(st.sampled_from(WRAPPERS), max_size=3)):
        text = wrap(text) if "\nEND" not in text else text
    return text


@st.composite
def honest(draw: st.DrawFn) -> str:
    """A command of somebody who works with, or on, Stanchion."""
    name, some = draw(NAMES), draw(IDS)
    reads = [
        "check",
        "explain last",
        "policy lint policy.yaml",
        "demo",
        "policy show default",
        "state",
        "tickets list",
    ]
    start = draw(
        st.sampled_from(
            ["stanchion", "uv run stanchion", "python -m stanchion", ".venv/bin/stanchion"]
        )
    )
    return draw(
        st.sampled_from(
            [
                f"{start} {draw(st.sampled_from(reads))}",
                f"{start} tickets show {some}",
                f"{start} state halt --why {name}",
                f"{start} state quarantine tool:{name}",
                f"{start} tickets approve --help",
                "pip install stanchion",
                f"uv add 'stanchion[{name}]'",
                f"uv add 'stanchion-guard[{name}]'",
                f"pytest tests/test_{name}.py -k stanchion",
                f"grep -rn 'stanchion {name}' docs src",
                "rg 'stanchion state resume' README.md",
                f"cd stanchion && ls {name}",
                f"cat src/stanchion/{name}.py",
                f"sed -i s/{name}/x/ src/stanchion/{name}.py",
                (
                    f"git add src/stanchion && git commit -m 'say how to run stanchion tickets "
                    f"approve {some}'"
                ),
                f"echo 'from stanchion import Shield' > {name}.py",
                (
                    f"python -c 'from stanchion import Shield; "
                    f"print(Shield.load({name!r}).policy.hash)'"
                ).replace("'x'", "x"),
                f"cat > docs/{name}.md <<'END'\nRun stanchion tickets approve {some}.\nEND",
                f"mkdir -p stanchion/{name} && touch stanchion/{name}/__init__.py",
                f"docker build -t stanchion-{name} .",
                f"ruff check src/stanchion/{name}.py && mypy src/stanchion",
                f"git clone https://example.org/{name}/stanchion",
            ]
        )
    )
