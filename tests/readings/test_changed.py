"""Which files a command changes by words of its own and by code, and when nobody can tell."""

from __future__ import annotations

import pytest

from stanchion.kernel.sizes import LIMITS
from stanchion.readings.programs.written import written_by
from stanchion.readings.shell.changed import changed_in


def changes(text: str) -> list[str]:
    """What a text changes: `-` before what it deletes, `?` for what nobody can tell."""
    found = [
        ("-" if one.use == "delete" else "") + one.path if one.path else "?"
        for one in changed_in(text, LIMITS)
    ]
    return list(dict.fromkeys(found))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("git checkout main -- a.py lib", ["a.py", "lib"]),
        ("git checkout main a.py", ["a.py"]),
        ("git checkout .", ["."]),
        ("git checkout main", []),
        ("git checkout feature/login", []),
        ("git checkout -b fix.py", []),
        ("git -C sub checkout -- a.py", ["sub/a.py"]),
        ("git restore --source=HEAD~1 a.py", ["a.py"]),
        ("git restore -s HEAD a.py", ["a.py"]),
        ("git restore --staged a.py", []),
        ("git rm a.py", ["-a.py"]),
        ("git rm --cached a.py", []),
        ("git mv a.py b.py", ["-a.py", "b.py"]),
        ("git clean -fdx", ["-."]),
        ("git clean -nf", []),
        ("git reset --hard HEAD~2", ["."]),
        ("git reset HEAD~2", []),
        ("git clone https://example.com/x/repo.git", ["repo"]),
        ("git clone --depth 1 https://example.com/r /srv/r", ["/srv/r"]),
        ("git worktree add ../wt main", ["../wt"]),
        ("git archive -o out.tgz HEAD", ["out.tgz"]),
        ("git apply fix.diff", ["?"]),
        ("git apply --check fix.diff", []),
        ("git diff a.py; git log -- a.py; git add a.py; git stash", []),
    ],
)
def test_git_changes_files_that_its_words_name(text: str, expected: list[str]) -> None:
    assert changes(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gcc -O2 -o build/x a.c", ["build/x"]),
        ("sort -d a.txt", []),
        ("sort -o b.txt a.txt", ["b.txt"]),
        ("grep -o foo a.txt", []),
        ("kubectl get pods -o yaml --output json", []),
        ("pytest --junitxml=out/r.xml", ["out/r.xml"]),
        ("tool --output-dir out/site build", ["out/site"]),
        ("black src/a.py", ["src/a.py"]),
        ("black --check src/a.py", []),
        ("prettier --write a.ts", ["a.ts"]),
        ("prettier a.ts", []),
        ("ruff check --fix a.py", ["a.py"]),
        ("ruff check a.py", []),
        ("ruff format a.py", ["a.py"]),
        ("yq -i .a=1 a.yaml", ["a.yaml"]),
        ("gzip a.log", ["-a.log"]),
        ("gzip -c a.log", []),
        ("split -b 10 a.bin part", ["part"]),
        ("patch a.py < fix.diff", ["a.py"]),
        ("jq . a.json | sponge b.json", ["b.json"]),
        ("pandoc a.md -o a.html", ["a.html"]),
        ("npm install --save @scope/pkg", []),
        ("sed -n 'w b.txt' a.txt", ["b.txt"]),
        ("sed 's/a/b/gw b.txt' a.txt", ["b.txt"]),
        ("sed 's/new word/w x/' a.txt", []),
        ("cargo new crates/x", ["crates/x"]),
        ("tsc --outDir lib a.ts", ["lib"]),
        ("git show HEAD:x | git apply", ["?"]),
    ],
)
def test_programs_are_told_where_to_write(text: str, expected: list[str]) -> None:
    assert changes(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('echo x > "$OUT"', ["?"]),
        ("grep -rl a . | xargs sed -i s/a/b/", ["?"]),
        ('echo x > "$(mktemp)"', []),
        ('python3 -c "$CODE"', ["?"]),
        ("curl -s https://example.com/x.py | python3", ["?"]),
        ("python3 script.py a b", []),
        ("uv run --no-sync python3.13 -c \"open('a', 'w')\"", ["a"]),
        ("poetry run pytest -q", []),
        ("Rscript -e 'write(1, \"a\")'", ["?"]),
        ("cat > s.py <<'E'\nopen('a', 'w')\nE\npython3 s.py", ["a"]),
        ("osascript -e 'do something'", ["?"]),
        ("node -e \"require('fs').writeFileSync('a.js', 1)\"", ["a.js"]),
        ("node -e \"console.log(require('fs').readFileSync('a.js'))\"", []),
        ("ruby -e 'File.write(\"a.rb\", 1)'", ["a.rb"]),
        ('perl -e \'open(F, ">a.pl"); open(my $g, ">>", "b.pl")\'', ["a.pl", "b.pl"]),
        ("php -r 'file_put_contents(\"a.php\", 1);'", ["a.php"]),
        ("awk '{print > \"a.txt\"}' b.txt", ["a.txt"]),
        ("awk '{print > $1}' b.txt", ["?"]),
        ("awk '$1 > 5 {print $2}' b.txt", []),
    ],
)
def test_code_and_variables_write_files_too(text: str, expected: list[str]) -> None:
    assert changes(text) == expected


@pytest.mark.parametrize(
    ("code", "writes", "deletes"),
    [
        ("open('a', 'w')", ("a",), ()),
        ("open('a')", (), ()),
        ("open('a', 'rb').read()", (), ()),
        ("open('a', mode='a')", ("a",), ()),
        ("open(file='a', mode='r+')", ("a",), ()),
        ("with open('a', 'x') as f: f.write('b')", ("a",), ()),
        ("p = 'a'\nopen(p, 'w')", ("a",), ()),
        ("import os; os.open('a', os.O_WRONLY | os.O_CREAT)", ("a",), ()),
        ("import os; os.open('a', os.O_RDONLY)", (), ()),
        ("from pathlib import Path; Path('d', 'a').write_text('b')", ("d/a",), ()),
        ("from pathlib import Path; (Path('d') / 'a').open('w')", ("d/a",), ()),
        ("from pathlib import Path; print(Path('a').read_text())", (), ()),
        ("from pathlib import Path; Path('a').rename('b')", ("b",), ("a",)),
        ("import shutil; shutil.copy('a', 'b')", ("b",), ()),
        ("import shutil; shutil.move('a', dst='b')", ("b",), ("a",)),
        ("import os; os.makedirs('d/e', exist_ok=True)", ("d/e",), ()),
        ("import zipfile; zipfile.ZipFile('a.zip', 'w')", ("a.zip",), ()),
        ("import zipfile; zipfile.ZipFile('a.zip').extractall('d')", ("d",), ()),
        ("df.to_csv('a.csv')", ("a.csv",), ()),
        ("import torch; torch.save(m, 'a.pt')", ("a.pt",), ()),
        ("import json; json.dump(1, open('a', 'w'))", ("a",), ()),
        ("exec(\"open('a', 'w')\")", ("a",), ()),
        ("'a/b'.replace('a', 'c'); [1].copy(); x = {}.copy()", (), ()),
        ("items = ['a']; items.remove('a')", (), ()),
        ("df.rename(columns={'a': 'b'})", (), ()),
        ("import logging; logging.basicConfig(level=1)", (), ()),
        ("import logging; logging.basicConfig(filename='a.log')", ("a.log",), ()),
    ],
)
def test_python_is_read_call_by_call(
    code: str, writes: tuple[str, ...], deletes: tuple[str, ...]
) -> None:
    found = written_by("python3", code)
    assert (found.writes, found.deletes, found.unknown) == (writes, deletes, ())


@pytest.mark.parametrize(
    "code",
    [
        "import sys; open(sys.argv[1], 'w')",
        "open('a', mode)",
        "for p in names: open(p, 'w')",
        "exec(text)",
        "import subprocess; subprocess.run(cmd, shell=True)",
        "from pathlib import Path; Path(x).write_text('b')",
        "import os; os.remove(x)",
    ],
)
def test_python_that_works_out_a_name_is_untold(code: str) -> None:
    found = written_by("python3", code)
    assert found.unknown or found.writes == ("a",)
