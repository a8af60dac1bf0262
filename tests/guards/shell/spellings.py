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
                ["resume"],
                ["resume", f"tool:{name}", "--by", name],
                ["safe-mode", "off"],
                ["store", draw(st.sampled_from(["accepted", "restored"])), "--why", name],
                ["tools", "reset", name],
                ["secrets", "allow", some.lower(), "--once"],
                ["policy", "trust", f"{name}.yaml"],
                ["operators", draw(st.sampled_from(["add", "new", "remove", "revoke"])), name],
                ["broker", "start"],
            ]
        )
    )
    return list(words)


STARTS = [
    ["stanchion"],
    ["./stanchion"],
    ["/opt/app/.venv/bin/stanchion"],
    ["python", "-m", "stanchion"],
    ["python3", "-mstanchion"],
    ["/usr/bin/python3.12", "-I", "-m", "stanchion.cli"],
    ["python", "-Bm", "stanchion"],
    ["uvx", "stanchion"],
    ["uvx", "--from", "stanchion[signing]", "stanchion"],
    ["uvx", "--from", "stanchion-guard[signing]", "stanchion"],
    ["uv", "run", "--no-sync", "stanchion"],
    ["uv", "run", "python", "-m", "stanchion"],
    ["pipx", "run", "stanchion"],
    ["poetry", "run", "stanchion"],
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
    lambda text: f"tmux new-session -d {quote(text)}",
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
    lambda text: f"uv run sh -c {quote(text)}",
    _file("a.sh", "sh"),
    _file("run", "bash"),
    _file("/tmp/b.sh", "chmod +x"),
]


@st.composite
def wrapped(draw: st.DrawFn) -> str:
    """A command that loosens, in up to three others."""
    text = draw(commands())
    for wrap in draw(st.lists(st.sampled_from(WRAPPERS), max_size=3)):
        text = wrap(text) if "\nEND" not in text or "END" not in wrap("") else text
    return text


FINDERS = [
    "which stanchion",
    "command -v stanchion",
    "type -P stanchion",
    "find / -name 'stanch*' -type f",
    "ls -d /opt/*/bin/stanchion",
    "readlink -f $(which stanchion)",
    "compgen -c stanch",
    "pip show -f x | grep bin/stanchion",
    "cat <(whereis -b stanchion)",
]
"""Commands that print where our program is."""
USES: list[Callable[[str, str], str]] = [
    lambda finds, words: f"$({finds}) {words}",
    lambda finds, words: f'"$({finds} | head -1)" {words}',
    lambda finds, words: f"X=$({finds}); $X {words}",
    lambda finds, words: f"export X=$({finds}) && nice -n 3 $X {words}",
    lambda finds, words: f"python3 $({finds}) {words}",
    lambda finds, words: f"M=$(basename $({finds})); python -m $M {words}",
    lambda finds, words: f"{finds} | xargs -I@ @ {words}",
    lambda finds, words: f"{finds} | parallel {{}} {words}",
    lambda finds, words: f"{finds} | while read -r p; do $p {words}; done",
    lambda finds, words: f"for p in $({finds}); do sudo $p {words}; done",
    lambda finds, words: f"read p < <({finds}); $p {words}",
    lambda finds, words: f"f() {{ {finds}; }}; $(f) {words}",
    lambda finds, words: f"{finds} > at; $(cat at) {words}",
    lambda finds, words: f'set -- $({finds}) {words}; "$@"',
    lambda finds, words: f"sh -c '$0 \"$@\"' $({finds}) {words}",
    lambda finds, words: f'script -qc "$({finds}) {words}" /dev/null',
    lambda finds, words: f'eval "$({finds}) {words}"',
]


@st.composite
def found(draw: st.DrawFn) -> str:
    """A command that loosens, by a program whose name another one prints."""
    words = " ".join([quote(word) for word in draw(loosenings())])
    return draw(st.sampled_from(USES))(draw(st.sampled_from(FINDERS)), words)


@st.composite
def found_to_read(draw: st.DrawFn) -> str:
    """The same for what only reads."""
    words = draw(
        st.sampled_from(
            ["check", "explain last", "tickets list", "policy loosens a b", "state", "--version"]
        )
    )
    return draw(st.sampled_from(USES[:12]))(draw(st.sampled_from(FINDERS[:5])), words)


@st.composite
def unreadable(draw: st.DrawFn) -> str:
    """Python that works out what it starts or imports, and does what only a person may do."""
    name = draw(
        st.sampled_from(
            [
                "open('n').read()",
                "''.join(map(chr, [115, 116]))",
                "zlib.decompress(b'x').decode()",
                "next(iter(names))",
            ]
        )
    )
    words = draw(loosenings().filter(lambda words: words[0] != "tickets" or words[1] != "--store"))
    return draw(
        st.sampled_from(
            [
                f"import os, zlib; os.execvp({name}, {['x', *words]!r})",
                f"import subprocess, zlib; subprocess.run([{name}, {', '.join(map(repr, words))}])",
                f"import os, zlib; go = os.execvp; go({name}, {['x', *words]!r})",
                f"import os, zlib; os.system({name} + {' ' + ' '.join(words)!r})",
                (
                    f"import os, zlib; os.spawnlp(os.P_WAIT, {name}, 'x', "
                    f"{', '.join(map(repr, words))})"
                ),
                f"import zlib; __import__({name}).Shield.load().resume()",
                (
                    f"from importlib import import_module as i; import zlib; "
                    f"i({name}).Shield.load().approve('x', 'ann')"
                ),
            ]
        )
    )


@st.composite
def codes(draw: st.DrawFn) -> str:
    """Python that does by our API what only a person may do."""
    at = draw(st.integers(1, 8))
    name = "stanchion"
    spelt = draw(
        st.sampled_from(
            [
                f"{name[:at]!r} + {name[at:]!r}",
                f"''.join([{name[:at]!r}, {name[at:]!r}])",
                f"{name[::-1]!r}[::-1]",
                f"bytes.fromhex({name.encode().hex()!r}).decode()",
                f"'{name[:at]}%s' % {name[at:]!r}",
                f"f'{{{name[:at]!r}}}{name[at:]}'",
            ]
        )
    )
    taken = draw(
        st.sampled_from(
            [
                "from stanchion import Shield as S",
                "import stanchion; S = stanchion.Shield",
                f"S = __import__({spelt}).Shield",
                f"import importlib; S = importlib.import_module({spelt}).Shield",
                f"m = {spelt}; S = __import__(m).Shield",
            ]
        )
    )
    does = draw(
        st.sampled_from(
            [
                "S.load().approve('x', by='ann')",
                "S.load().resume()",
                "S.load().safe_mode(False)",
                "S.load().safe_mode(on=False)",
                "getattr(S.load(), 'resume')()",
                "S.load().reset_tool('pay')",
                "S.load().break_lock('a')",
                "S.load().accept_store('accepted', 'ann', '')",
            ]
        )
    )
    return f"{taken}; {does}"


@st.composite
def honest(draw: st.DrawFn) -> str:
    """A command of somebody who works with, or on, Stanchion."""
    name, some = draw(NAMES), draw(IDS)
    reads = [
        "check",
        "explain last",
        "lint policy.yaml",
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
                f"{start} halt --why {name}",
                f"{start} quarantine tool:{name}",
                f"{start} tickets approve --help",
                "pip install stanchion",
                f"uv add 'stanchion[{name}]'",
                f"uv add 'stanchion-guard[{name}]'",
                f"pytest tests/test_{name}.py -k stanchion",
                f"grep -rn 'stanchion {name}' docs src",
                "rg 'stanchion resume' README.md",
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
