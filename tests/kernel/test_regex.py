"""Expressions that are compiled when they are needed are the same as those that are compiled at
once."""

import contextlib
import gc
import pkgutil
import re
from importlib import import_module

import pytest

import stanchion
from stanchion.kernel.regex import _Regex, regex


@pytest.mark.parametrize("flags", [0, re.IGNORECASE, re.DOTALL | re.MULTILINE])
@pytest.mark.parametrize("text", ["", "ab", "AB\nab", "xaby"])
def test_it_answers_as_a_compiled_one(text: str, flags: int) -> None:
    lazy, plain = regex(r"(?P<first>a)(b).?", flags), re.compile(r"(?P<first>a)(b).?", flags)
    assert lazy.findall(text) == plain.findall(text)
    assert lazy.sub("-", text) == plain.sub("-", text)
    assert lazy.split(text) == plain.split(text)
    for method in ("search", "match", "fullmatch"):
        one, other = getattr(lazy, method)(text), getattr(plain, method)(text)
        assert (one and one.span()) == (other and other.span())
    assert (lazy.pattern, lazy.flags, lazy.groups) == (plain.pattern, plain.flags, plain.groups)
    assert lazy.groupindex == plain.groupindex


def test_bytes_are_bytes() -> None:
    assert regex(rb"[0-9]+").findall(b"1 22") == [b"1", b"22"]


def test_it_is_compiled_once_and_not_before_it_is_needed() -> None:
    made = regex("(")
    assert made.pattern == "("
    with pytest.raises(re.error):
        made.search("")
    good = regex("a")
    assert good.search is good.search
    assert "_compiled" in vars(good)


def test_what_a_pattern_has_not_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError):
        _ = regex("a").nothing  # type: ignore[attr-defined]
    assert not hasattr(regex("a"), "__iter__")


def test_every_expression_of_the_package_can_be_compiled() -> None:
    for found in pkgutil.walk_packages(stanchion.__path__, "stanchion."):
        if ".lab" not in found.name and not found.name.endswith("__main__"):
            with contextlib.suppress(ImportError):  # of an extra that is not installed
                import_module(found.name)
    gc.unfreeze()  # what was loaded while tests were collected counts as well
    written = [one for one in gc.get_objects() if type(one) is _Regex]
    gc.freeze()
    assert len(written) > 300
    broken = [one.pattern for one in written if one.pattern != "(" and not callable(one.search)]
    assert broken == []
