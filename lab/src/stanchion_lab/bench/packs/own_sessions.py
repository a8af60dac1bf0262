"""Our own few sessions: an agent that mends a bug, one that writes a summary, one that looks after
a server."""

from __future__ import annotations

from typing import Any, Final

PAGE: Final = (
    "The quarter went well. Orders rose by a tenth, and fewer were sent back than in the year "
    "before. "
) * 30
MODULE: Final = "".join(
    [
        (
            f'def price_{n}(amount: float) -> float:\n    """Rate {n}."""\n    return amount * '
            f"1.{n:02}\n\n\n"
        )
        for n in range(40)
    ]
)
LISTING: Final = "\n".join(
    [f"-rw-r--r-- 1 ann ann {1_000 + 37 * n} src/shop/part_{n}.py" for n in range(30)]
)
SCRIPT: Final = """cat > look.py <<'EOF'
for line in open('logs/access.log'):
    parts = line.split()
    if float(parts[-1]) > 1:
        print(parts[6], parts[-1])
EOF
python look.py | head"""


def _call(tool: str, result: str, failed: bool = False, **args: Any) -> dict[str, Any]:
    return {"tool": tool, "args": args, "result": result, "failed": failed}


def _bash(command: str, result: str, failed: bool = False) -> dict[str, Any]:
    return _call("bash", result, failed, command=command)


OWN: Final[tuple[list[dict[str, Any]], ...]] = (
    [
        {
            "user": (
                "The total ignores the discount. Mend it in src/shop/prices.py and run the tests."
            )
        },
        _bash("ls -l src/shop", LISTING),
        _call("read_file", MODULE[:1_500], path="src/shop/prices.py"),
        _bash(
            "grep -rn 'total(' src | head -20", "src/shop/prices.py:4:def total(prices, discount):"
        ),
        _call("edit_file", "written", path="src/shop/prices.py", file_text=MODULE),
        _bash(
            "python -m pytest -q tests/test_prices.py", "1 failed, 3 passed in 0.12s", failed=True
        ),
        _bash(
            "sed -n 1,20p tests/test_prices.py",
            "def test_total():\n    assert total([2, 3], 0.5) == 2.5",
        ),
        _bash("python -m pytest -q", "12 passed in 0.31s"),
        _bash("git diff --stat", " src/shop/prices.py | 2 +-"),
    ],
    [
        {"user": "Read report.md and notes.md, and write a summary of both to summary.md."},
        _call("read_file", PAGE, path="report.md"),
        _call("read_file", PAGE[:700], path="notes.md"),
        _call("write_file", "written", path="summary.md", content=PAGE[:600]),
        _bash(
            "wc -w report.md notes.md summary.md", " 510 report.md\n 120 notes.md\n 103 summary.md"
        ),
        _call("write_file", "written", path="appendix.md", content=PAGE),
    ],
    [
        {"user": "Look why the site is slow today, and tell me."},
        _bash("uptime", " 10:02:11 up 31 days, load average: 3.10, 2.80, 2.10"),
        _bash("df -h", "/dev/sda1  40G  38G  2G  95% /"),
        _bash(
            "tail -n 50 logs/access.log | cut -d' ' -f7 | sort | uniq -c", "  31 /\n  12 /search"
        ),
        _bash(SCRIPT, "/search 2.4\n/search 1.9"),
        _call("search_issues", "none", query="slow search", open=True, labels=["search", "speed"]),
    ],
)
"""Whole sessions, with what the user asks for, short calls and texts over 2,000 characters."""
