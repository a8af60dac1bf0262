"""`python -m tools.secret_rules`: write the index of the secrets guard from its rule files, which
do not ship."""

import tomllib
from pathlib import Path

import msgspec

from stanchion.guards.secrets.index import FILE, WEIGHED, RuleLine, SecretRule
from stanchion.guards.secrets.validators import VALIDATORS
from stanchion.guards.secrets.weights import ALONE
from stanchion.readings.scan import Pattern

EACH = "{maker}"
"""What stands in a pattern for the name of any maker that tells by itself."""
MAKERS = sorted(ALONE)
NARROW = 5
"""So much of a maker's name is looked for first: names of many lengths cost each honest word."""
FOLDER = Path(__file__).resolve().parents[1] / "src/stanchion/guards/secrets"


def files() -> dict[str, str]:
    """The rule files, by their names."""
    return {
        file.name: file.read_text(encoding="utf-8") for file in (FOLDER / "rules").glob("*.toml")
    }


def read_rule(text: str) -> SecretRule:
    """The rule of a file; `ValueError` says what is wrong with it."""
    try:
        rule = msgspec.convert(tomllib.loads(text.replace(EACH, "|".join(MAKERS))), SecretRule)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ValueError(f"the rule cannot be read: {error}") from None
    if rule.validator and rule.validator not in {*VALIDATORS, WEIGHED}:
        raise ValueError(
            f"there is no validator `{rule.validator}`: take one of {', '.join(sorted(VALIDATORS))}"
        )
    if any(word != word.lower() for word in (*rule.keywords, *rule.stop)):
        raise ValueError(f"the words of `{rule.kind}` are not all in lower case: write them so")
    return rule


def index_of(files: dict[str, str]) -> bytes:
    """The index of rule files, by their names; `ValueError` names the file with which something is
    wrong."""
    lines = []
    for name, text in sorted(files.items()):
        try:
            lines.append(msgspec.json.encode(_line(read_rule(text))))
        except ValueError as error:
            raise ValueError(f"`{name}`: {error}") from None
    return b"\n".join([*lines, b""])


def _line(rule: SecretRule) -> RuleLine:
    pattern = Pattern(rule.pattern, rule.keywords, rule.multiline)
    pattern.check()
    head = pattern.head
    bare = msgspec.structs.replace(rule, title="", also=(), hits=(), misses=())
    # So many names are more than the search for windows goes into.
    windows = (
        tuple([(maker[:NARROW], maker[NARROW:]) for maker in MAKERS])
        if "|".join(MAKERS) in rule.pattern
        else tuple([(literal.decode("latin-1"), follow) for literal, follow in pattern.windows])
    )
    if head is None:
        return RuleLine(bare, pattern.shortest, pattern.reach, windows=windows)
    literals = tuple(sorted([literal.decode("latin-1") for literal in head.literals]))
    known = literals, head.width, f"{head.letters:x}", head.narrow
    return RuleLine(bare, pattern.shortest, pattern.reach, *known, windows)


if __name__ == "__main__":
    (FOLDER / FILE).write_bytes(index_of(files()))
