"""The index says of the shipped rules what their files say."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from stanchion.guards.secrets.index import FILE, indexed
from tests.sampling import some
from tools.secret_rules import FOLDER, files, index_of, read_rule

RULE = 'kind = "own"\npattern = "abc[0-9]{4}"\n'


def test_the_index_is_what_the_rule_files_give() -> None:
    """Every rule is that of its file; what is worked out of each is worked out again in a soak."""
    kept, each = (FOLDER / FILE).read_bytes().splitlines(), sorted(files().items())
    rules = [read_rule(text) for _, text in each]
    bare = [msgspec.structs.replace(rule, title="", also=(), hits=(), misses=()) for rule in rules]
    assert [rule for rule, _ in indexed()] == bare, "run `python -m tools.secret_rules`"
    for file, line in some(zip(each, kept, strict=True), 8, "index"):
        assert index_of(dict([file])) == line + b"\n", "run `python -m tools.secret_rules`"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('kind = "own"', "missing required field `pattern`"),
        (RULE + 'patern = "x"', "unknown field `patern`"),
        (RULE + 'validator = "nope"', "there is no validator `nope`"),
        (RULE + 'stop = ["Example"]', "not all in lower case"),
        (RULE + 'keywords = ["ABC"]', "not all in lower case"),
        ('kind = "Own Kind"\npattern = "abc"', "matching regex"),
        ("kind = ", "cannot be read"),
        ('kind = "own"\npattern = "abc+"', "have no end"),
    ],
)
def test_a_rule_with_a_mistake_is_refused_and_its_file_named(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says) as raised:
        index_of({"own.toml": text})
    assert str(raised.value).startswith("`own.toml`: ")


TOGETHER = """
import sys, threading
from stanchion.guards.secrets import index
sys.setswitchinterval(1e-6)
start = threading.Barrier(8)
threads = [threading.Thread(target=lambda: (start.wait(), index.indexed.__wrapped__())) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(index.indexed()))
"""  # noqa: E501


def test_threads_that_need_the_rules_at_once_get_them() -> None:
    """Each began to learn what a line is made of, and one that met it half learnt ended the
    process."""
    done = subprocess.run(
        [sys.executable, "-c", TOGETHER], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, str(len(indexed())))
