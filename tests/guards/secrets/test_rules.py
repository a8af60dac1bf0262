"""Every rule finds its hits and leaves its misses alone, and its file says what a rule has to
say."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import stanchion.guards.secrets
from stanchion.guards.secrets.finder import NAMED_BEFORE, UNLESS_BEFORE, SecretFinder, Sought
from stanchion.guards.secrets.index import WEIGHED, SecretRule
from stanchion.guards.secrets.validators import VALIDATORS
from stanchion.readings.scan import LONGEST, Pattern, Scanner
from stanchion.readings.scan.facts import letters
from stanchion.readings.scan.pattern_parser import SPACE, GroupNode, Node, Or, Repeat, Seq, read
from tools.secret_rules import read_rule

FOLDER = Path(stanchion.guards.secrets.__file__).parent / "rules"
FILES = sorted(FOLDER.glob("*.toml"))
KINDS = [file.stem for file in FILES]


@cache
def rule_of(kind: str) -> SecretRule:
    """The rule of a kind."""
    return read_rule((FOLDER / f"{kind}.toml").read_text(encoding="utf-8"))


@cache
def scanner_of(kind: str) -> Scanner:
    """Looks for one kind only."""
    rule = rule_of(kind)
    return Scanner([Pattern(rule.pattern, rule.keywords, rule.multiline)])


def found(kind: str, text: str) -> list[str]:
    """What the rule of a kind finds in a text."""
    rule = rule_of(kind)
    near = UNLESS_BEFORE if rule.unless else NAMED_BEFORE
    hits = [
        (text[max(0, hit.first - near) : hit.start], text[hit.start : hit.end])
        for hit in scanner_of(kind).scan(text)
    ]
    return [secret for before, secret in hits if rule.accepts(secret, before)]


def test_there_are_hundreds_of_kinds() -> None:
    assert len(FILES) >= 250


def test_a_file_says_what_a_rule_has_to_say() -> None:
    for kind in KINDS:
        rule = rule_of(kind)
        assert rule.kind == kind
        assert rule.title.strip() == rule.title != "", kind
        assert len(set(rule.hits)) == len(rule.hits) >= 3, kind
        assert len(set(rule.misses)) == len(rule.misses) >= 2, kind
        assert rule.validator in {*VALIDATORS, WEIGHED, ""}, kind


def test_hits_are_found_and_misses_are_left_alone() -> None:
    for kind in KINDS:
        rule = rule_of(kind)
        assert [text for text in rule.hits if not found(kind, text)] == [], kind
        assert [text for text in rule.misses if found(kind, text)] == [], kind


def test_a_keyword_is_in_every_hit() -> None:
    for kind in KINDS:
        rule = rule_of(kind)
        assert all(len(word) >= 1 and word == word.lower() for word in rule.keywords), kind
        assert [
            text
            for text in rule.hits
            if rule.keywords and not any(word in text.lower() for word in rule.keywords)
        ] == [], kind


def test_a_secret_has_bounds_and_no_white_space() -> None:
    for kind in KINDS:
        rule = rule_of(kind)
        pattern = Pattern(rule.pattern, rule.keywords, rule.multiline)
        assert pattern.shortest > 0, kind
        assert 0 < pattern.reach <= LONGEST, kind
        group = counting(read(rule.pattern))
        assert group is not None, kind
        assert rule.multiline or not letters(group) & SPACE, kind


def counting(node: Node) -> Node | None:
    """The group of a pattern that is the secret itself."""
    match node:
        case GroupNode(item):
            return item
        case Seq(items) | Or(items):
            return next((one for one in map(counting, items) if one is not None), None)
        case Repeat(item):
            return counting(item)
        case _:
            return None


def test_titles_and_patterns_are_not_shared() -> None:
    rules = [rule_of(kind) for kind in KINDS]
    assert len({rule.title for rule in rules}) == len(rules)
    assert len({rule.pattern for rule in rules}) == len(rules)


def test_all_rules_together_find_every_hit() -> None:
    finder = SecretFinder(Sought())
    texts = [(kind, text) for kind in KINDS for text in rule_of(kind).hits]
    spans = finder.find([text for _, text in texts], decode=False)
    missed = [
        kind
        for (kind, _), here in zip(texts, spans, strict=True)
        if kind not in {span.kind for span in here}
    ]
    assert missed == []


@pytest.mark.parametrize(
    ("validator", "rights", "wrongs"),
    [
        (
            "real",
            ["q1W2e3R4", "abcd1234abcd1234"],
            ["xxxxxxxxxx", "${TOKEN}", "<your-token>", "changeme", "my_api_key"],
        ),
        (
            "random",
            ["q1W2e3R4", "DHVCUkOBElqYns"],
            ["administrator", "HTTPServerHandler", "1234567890123456"],
        ),
        (
            "guessed",
            ["q1W2e3R4t5", "0afae57f3ccfd9d7"],
            ["cmp2-qat-1208358310", "env/cert12.p12", "v1.13.0_20230412"],
        ),
        ("password", ["hunter2!", "thisIsDog11"], ["rootpasswd", "11111111", "********"]),
        (
            "written_password",
            ["s3cr3t_Pa55"],
            ["self.password2", "get_secret()", "DB_PASSWORD_2", "my-app-tls-2", "/etc/x1"],
        ),
        ("present", ["admin", "secret123"], ["password", "${PASS}", "xxx", "[PASSWORD]", ":"]),
        ("mixed", ["aB3"], ["ab3", "AB3", "abC"]),
        ("artifactory", ["AKCabcdefghij", "AP6xxxxxxxxxx"], ["APACHESERVER", "AP20240115001"]),
        ("jwt", ["eyJhbGciOiJIUzI1NiJ9.e30.x"], ["eyJhbGciOiJIUzI1NiJ.e30.x", "eyJ.e30", "é.e30"]),
        (
            "wrapped_jwt",
            ["ZXlKaGJHY2lPaUpJVXpJMU5pSjkuZTMwLng="],
            ["ZXlKaGJHY2lPaUpJVXpJMU5pSjk=", "ZXlK!"],
        ),
        ("base64_text", ["cTFXMmUzUjR0NVk2"], ["production", "cTFXMmUzUjR0NVk", "YmFyCg=="]),
        ("user_and_password", ["YWRtaW46UzNjcjN0"], ["education", "AAAAAAAA", "YWRtaW4="]),
        (
            "elevens",
            ["208032-463463-610665-506759-130119-368269-357797-591481"],
            ["208033-463463", "000000-000000", "990011-220022-330033"],
        ),
        (
            "pem",
            ["-----BEGIN KEY-----\nq1W2e3R4t5Y6u7I8o9P0a1\n"],
            ["-----BEGIN KEY-----\n...\n-----END KEY-----"],
        ),
    ],
)
def test_a_second_look_tells_secrets_from_what_looks_like_them(
    validator: str, rights: list[str], wrongs: list[str]
) -> None:
    second = VALIDATORS[validator]
    assert [text for text in rights if not second(text)] == []
    assert [text for text in wrongs if second(text)] == []


def test_every_second_look_is_used_and_tested() -> None:
    assert {rule_of(kind).validator for kind in KINDS} - {"", WEIGHED} == set(VALIDATORS)
