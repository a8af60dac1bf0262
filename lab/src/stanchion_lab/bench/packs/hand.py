"""The floor: what the pack `default` checks, written by hand for one program. It imports nothing of
Stanchion."""

from __future__ import annotations

import os
import re
import sqlite3
import threading
import time
from collections import Counter, deque
from collections.abc import Sequence
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import re2  # type: ignore[import-untyped]  # it ships no stubs

MOST_CHARS: Final = 1_000_000
MOST_DEPTH: Final = 64
MOST_STEPS: Final = 500
MOST_CALLS: Final = 1_000_000
DENIED: Final = frozenset({"format_disk", "drop_database", "send_money"})
SHELLS: Final = frozenset(
    {"bash", "shell", "sh", "terminal", "TerminalExecute", "execute_command", "run_command"}
)
DEADLY: Final = frozenset(
    {"mkfs", "shutdown", "reboot", "halt", "poweroff", "fdisk", "shred", "wipefs", "crontab"}
)
BEFORE: Final = frozenset({"sudo", "env", "nohup", "time", "nice", "exec", "command", "xargs"})
PARTS: Final = re.compile(r"[;&|\n]+")
DANGER: Final = re.compile(
    r"\brm\s+(?:-\S+\s+)*-\S*[rR]\S*\s+(?:-\S+\s+)*(?:/|~|\$HOME)(?:\s|\*|$)|\bdd\b.*\bof=/dev/|"
    r">\s*/dev/sd"
    r"|\b(?:curl|wget)\b[^|\n]*\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|\bchmod\s+-R\s+777\s+/|"
    r"\bgit\s+push\b.*--force"
    r"|\bbase64\s+(?:-d|--decode)[^|\n]*\|\s*(?:ba)?sh\b|\bn(?:c|cat)\b.*\s-e\b|:\(\)\s*\{|"
    r"authorized_keys|/etc/shadow"
)
FAILURES: Final = 5
KEPT: Final = 10
REPEATS: Final = 3
ASIDE: Final = "[redacted]"
CHANGE: Final = "UPDATE kept SET until = ?, cells = ? WHERE id = ?"

_encode = msgspec.json.Encoder(order="deterministic").encode


class Sought(NamedTuple):
    """One pattern, and the words of which a text needs one for it to match."""

    pattern: str
    words: tuple[bytes, ...]


class Scan:
    """All patterns in one pass over a text, by the words they need."""

    def __init__(self, sought: Sequence[Sought]) -> None:
        options = re2.Options()
        options.max_mem = 64 << 20
        options.encoding = re2.Options.Encoding.LATIN1
        self._exact = [
            re2.compile(one.pattern.encode("latin-1", "replace"), options) for one in sought
        ]
        self._wordless = tuple([number for number, one in enumerate(sought) if not one.words])
        self._by_word: dict[bytes, list[int]] = {}
        for number, one in enumerate(sought):
            for word in one.words:
                self._by_word.setdefault(word, []).append(number)
        longest = sorted(self._by_word, key=lambda word: (-len(word), word))
        self._words = re2.compile(b"|".join([re2.escape(word) for word in longest]), options)

    def find(self, text: str) -> list[tuple[int, int]]:
        """Where anything that is sought stands."""
        flat = text.encode("latin-1", "replace")
        found = []
        for number in self._by_words(flat):
            found += [match.span() for match in self._exact[number].finditer(flat)]
        return found

    def _by_words(self, flat: bytes) -> set[int]:
        likely = set(self._wordless)
        for match in self._words.finditer(flat.lower()):
            likely.update(self._by_word[match.group()])
        return likely


class Hand:
    """What a careful engineer writes for one agent: it keeps counts, finds loops, and writes every
    decision down."""

    def __init__(self, scan: Scan, run: str, allowed: frozenset[str] | None = None) -> None:
        self._scan, self._run, self._allowed = scan, run, allowed
        self._steps = self._calls = self._seq = 0
        self._lately: deque[tuple[bytes, bytes]] = deque(maxlen=KEPT)
        self._failed: Counter[str] = Counter()
        self._ended: deque[bool] = deque(maxlen=50)
        self._lock = threading.Lock()
        self._head = "0" * 64
        self.records: deque[bytes] = deque(maxlen=10_000)

    def call(self, tool: str, args: dict[str, Any]) -> str:
        """Judge a call before it is made, and write that down."""
        texts = _texts(args)
        action = "ALLOW"
        barred = tool in DENIED or (self._allowed is not None and tool not in self._allowed)
        if texts is None or barred or (tool in SHELLS and any(_dangerous(text) for text in texts)):
            action = "BLOCK"
        elif self._scan.find("\n".join(texts)):
            action = "REDACT"
        mark = _digest(tool, args)
        with self._lock:
            same = [after for before, after in self._lately if before == mark]
            looping = len(same) >= REPEATS and len(set(same)) == 1
            if (
                self._steps >= MOST_STEPS
                or self._calls >= MOST_CALLS
                or self._failed[tool] >= FAILURES
                or looping
            ):
                action = "BLOCK"
            if action != "BLOCK":
                self._steps += 1
                self._calls += 1
            self._lately.append((mark, b""))
            self._write("tool_call", tool, action, args if action == "ALLOW" else ASIDE)
        return action

    def result(self, tool: str, args: dict[str, Any], result: Any, failed: bool = False) -> str:
        """Judge what came of a call before the agent sees it, and write that down."""
        texts = _texts(result)
        found = self._scan.find("\n".join(texts)) if texts is not None else []
        action = "BLOCK" if texts is None else "REDACT" if found else "ALLOW"
        mark, after = _digest(tool, args), _digest(tool, result)
        with self._lock:
            for at in range(len(self._lately) - 1, -1, -1):
                if self._lately[at][0] == mark:
                    self._lately[at] = (mark, after)
                    break
            self._failed[tool] = self._failed[tool] + 1 if failed else 0
            self._ended.append(failed)
            self._write("tool_result", tool, action, result if action == "ALLOW" else ASIDE)
        return action

    def _write(self, stage: str, tool: str, action: str, content: Any) -> None:
        self._seq += 1
        body = _encode(
            {
                "prev": self._head, "seq": self._seq, "at": time.time_ns() // 1_000_000,
                "run": self._run, "stage": stage, "tool": tool, "action": action,
                "content": content, "steps": self._steps, "failing": sum(self._ended),
            }
        )  # fmt: skip
        self._head = sha256(body).hexdigest()
        self.records.append(body)


def _texts(content: Any) -> list[str] | None:
    """All texts of some content; `None` where it is too long or too deep."""
    found: list[str] = []
    level, chars = [content], 0
    for _ in range(MOST_DEPTH):
        below: list[Any] = []
        for value in level:
            if isinstance(value, str):
                found.append(value)
                chars += len(value)
            elif isinstance(value, dict):
                below += value.keys()
                below += value.values()
            elif isinstance(value, list | tuple):
                below += value
        if chars > MOST_CHARS:
            return None
        if not below:
            return found
        level = below
    return None


def _dangerous(text: str) -> bool:
    """Whether a shell text destroys, leaks or lets others in, by the commands it names and how they
    are joined."""
    if DANGER.search(text):
        return True
    for part in PARTS.split(text):
        for word in part.split():
            if word in BEFORE or "=" in word or word.startswith("-"):
                continue
            if word.rpartition("/")[2] in DEADLY:
                return True
            break
    return False


def _digest(tool: str, content: Any) -> bytes:
    return blake2b(_encode((tool, content)), digest_size=16).digest()


class Bare:
    """The least that keeps a decision: one SQLite transaction that changes rows, and one record
    appended to a file."""

    def __init__(self, folder: Path, cells: int) -> None:
        self._db = sqlite3.connect(folder / "bare.db", isolation_level=None)
        self._db.executescript(
            "PRAGMA page_size = 1024; PRAGMA journal_mode = WAL;"
            "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 8000"
        )
        self._db.execute(
            "CREATE TABLE kept (id INTEGER PRIMARY KEY, owner TEXT NOT NULL UNIQUE, until INTEGER "
            "NOT NULL, cells BLOB NOT NULL)"
        )
        self._db.execute(
            "CREATE TABLE batch (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, at INTEGER NOT "
            "NULL, reply BLOB NOT NULL, status INTEGER, due INTEGER, taken BLOB)"
        )
        rows = [(number, f"{{default}}cell:of:a:run:{number:016}") for number in range(cells)]
        self._db.executemany("INSERT INTO kept VALUES (?, ?, 0, x'90')", rows)
        self._file = os.open(folder / "bare.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._seq = 0

    def keep(self, bodies: Sequence[bytes], reply: bytes, record: bytes) -> None:
        """Change as many rows as there are bodies, add the answer, and append the record."""
        self._seq += 1
        now = time.time_ns() // 1_000_000
        rows = [(now, body, number) for number, body in enumerate(bodies)]
        cursor = self._db.cursor()
        cursor.execute("BEGIN IMMEDIATE")
        cursor.executemany(CHANGE, rows)
        batch = (self._seq, f"run-0123456789abcdef.01234567.{self._seq}", now, reply)
        cursor.execute("INSERT INTO batch VALUES (?, ?, ?, ?, NULL, NULL, NULL)", batch)
        cursor.execute("COMMIT")
        os.write(self._file, record)

    def close(self) -> None:
        """Let go of both files."""
        self._db.close()
        os.close(self._file)
