"""No function has more ways through it than one can keep in mind; the linter counts them."""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST = 25
FOLDERS = ("src", "tools", "model")


def too_complex(root: Path, folders: tuple[str, ...] = FOLDERS) -> list[str]:
    """The functions below some folders that are too complex, whatever a comment beside them
    says."""
    ruff = Path(sys.executable).with_name("ruff")
    limit = f"lint.mccabe.max-complexity={MOST}"
    options = ("--isolated", "--no-cache", "--ignore-noqa", "--select", "C901", "--config", limit)
    command = (str(ruff), "check", *options, "--output-format", "concise", *folders)
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return [line for line in done.stdout.splitlines() if "C901" in line]


def test_no_function_is_too_complex() -> None:
    found = too_complex(ROOT)
    assert not found, "\n" + "\n".join(found)


def test_the_linter_counts_as_far_as_this_test() -> None:
    """Whoever lifts the limit, or looks away, finds out here."""
    lint = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"][
        "lint"
    ]
    assert "C901" in lint["select"]
    assert lint["mccabe"]["max-complexity"] <= MOST
    ignored = [
        *lint["ignore"],
        *[code for codes in lint["per-file-ignores"].values() for code in codes],
    ]
    assert not [code for code in ignored if "C901".startswith(code)]


def test_a_function_with_too_many_ways_is_found(tmp_path: Path) -> None:
    for folder, ways in {"src": MOST - 1, "tools": MOST, "model": 1}.items():
        body = "".join([f"    if x == {n}:\n        return {n}\n" for n in range(ways)])
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.py").write_text(
            f"def f(x):  # noqa: C901\n{body}", encoding="utf-8"
        )
    (found,) = too_complex(tmp_path)
    assert found.startswith("tools")
