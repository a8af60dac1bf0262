"""From words to the parse tree, by precedence, with bounded depth."""

from __future__ import annotations

from typing import Final

from stanchion.policy.conditions import limits
from stanchion.policy.conditions.limits import ConditionError
from stanchion.policy.conditions.syntax import (
    BareName,
    Binary,
    ElementAccess,
    FieldAccess,
    FunctionCall,
    ListOf,
    Literal,
    Logic,
    MapOf,
    Node,
    Ternary,
    Unary,
)
from stanchion.policy.conditions.tokens import RESERVED, Lexeme, tokens_of
from stanchion.policy.nearest import nearest

_OR, _AND, _NOT, _RELATION, _SUM, _PRODUCT = range(1, 7)
_LEVELS: Final = {
    "||": _OR,
    "&&": _AND,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "in"), _RELATION),
    **dict.fromkeys("+-", _SUM),
    **dict.fromkeys("*/%", _PRODUCT),
}


def parse(source: str) -> Node:
    """The tree of a condition; raises `ConditionError`."""
    parser = _Parser(tokens_of(source))
    node = parser.expression()
    parser.expect("end", "")
    return node


class _Parser:
    """One pass over the words of one condition."""

    def __init__(self, words: list[Lexeme]) -> None:
        self.words = words
        self.at = 0
        self.nodes = 0
        self.nesting = 0

    def expression(self) -> Node:
        """`test ? yes : no`, or anything that binds tighter."""
        first = self.words[self.at]
        self.nesting += 1
        if self.nesting > limits.NESTING:
            raise _too_large(
                f"more than {limits.NESTING} levels inside each other", first.start, first.end
            )
        node = self.operators(_OR)
        if self.accept("?"):
            yes = self.operators(_OR)
            self.expect("op", ":")
            no = self.expression()
            self.count(node, yes, no)
            node = Ternary(node.start, no.end, _over(node, yes, no), node, yes, no)
        self.nesting -= 1
        return node

    def operators(self, level: int) -> Node:
        """Operands joined by operators of this level or a tighter one."""
        left = self.negation(level)
        while True:
            word = self.words[self.at]
            own = _LEVELS.get(word.text, 0) if word.kind == "op" else 0
            if own < level:
                return left
            if own <= _AND:
                left = self.logic(left, word.text, own)
                continue
            self.at += 1
            right = self.operators(own + 1)
            self.count(left, right)
            left = Binary(left.start, right.end, _over(left, right), word.text, left, right)

    def logic(self, first: Node, op: str, level: int) -> Node:
        parts = [first]
        while self.accept(op):
            parts.append(self.operators(level + 1))
        self.count(*parts)
        return Logic(first.start, parts[-1].end, _over(*parts), op, tuple(parts))

    def negation(self, level: int) -> Node:
        """`not` binds looser than a comparison, so it cannot stand inside one."""
        nots: list[Lexeme] = []
        while self.words[self.at].text == "not" and self.words[self.at].kind == "op":
            nots.append(self.words[self.at])
            self.at += 1
        if not nots:
            return self.unary()
        if level > _NOT:
            raise _wrong(
                nots[0], "`not` cannot be used here: put it and what it negates in parentheses"
            )
        return self.wrapped(nots, self.operators(_RELATION))

    def unary(self) -> Node:
        signs: list[Lexeme] = []
        while (word := self.words[self.at]).kind == "op" and word.text in "!-":
            signs.append(word)
            self.at += 1
        number = self.words[self.at]
        value = number.value
        if (
            number.kind == "literal"
            and signs
            and signs[-1].text == "-"
            and type(value) in (int, float)
        ):
            self.at += 1
            self.count()
            return self.wrapped(
                signs[:-1], self.member(Literal(signs.pop().start, number.end, 1, -value))
            )
        return self.wrapped(signs, self.member(self.primary()))

    def wrapped(self, signs: list[Lexeme], node: Node) -> Node:
        for sign in reversed(signs):
            self.count(node)
            op = "-" if sign.text == "-" else "!"
            node = Unary(sign.start, node.end, node.depth + 1, op, node)
        return node

    def member(self, node: Node) -> Node:
        """Fields, calls and elements, one after another."""
        while True:
            word = self.words[self.at]
            if self.accept("."):
                name = self.field()
                if self.accept("("):
                    args, end = self.items(")")
                    self.count(node, *args)
                    node = FunctionCall(node.start, end, _over(node, *args), name, node, args)
                else:
                    self.count(node)
                    node = FieldAccess(
                        node.start, self.words[self.at - 1].end, node.depth + 1, node, name
                    )
            elif self.accept("["):
                key = self.expression()
                end = self.expect("op", "]").end
                self.count(node, key)
                node = ElementAccess(node.start, end, _over(node, key), node, key)
            elif word.kind == "op" and word.text == "{":
                raise _wrong(
                    word, "messages are outside the language: write a map as `{'key': value}`"
                )
            else:
                return node

    def field(self) -> str:
        word = self.words[self.at]
        name = (
            word.text
            if word.kind in ("name", "field")
            else word.value
            if word.kind == "op"
            else word.text
        )
        if (
            word.kind not in ("name", "field", "op", "literal")
            or type(name) is not str
            or not _is_word(word, name)
        ):
            raise _wrong(
                word, "a field name is missing after the dot: write one, as in `event.tool`"
            )
        if name.startswith("__"):
            raise _wrong(word, f"`{name}` is not a field: names do not begin with two underscores")
        self.at += 1
        return name

    def primary(self) -> Node:
        word = self.words[self.at]
        self.at += 1
        if word.kind == "literal":
            self.count()
            if type(word.value) is int and word.value > limits.INT_MAX:
                raise _wrong(
                    word, f"`{word.text}` does not fit into 64 bits: write a smaller number"
                )
            return Literal(word.start, word.end, 1, word.value)
        if word.kind == "name":
            return self.word(word)
        if word.kind == "op" and word.text in ("(", "[", "{"):
            return self.bracket(word)
        self.at -= 1
        found = f"`{word.text}`" if word.kind != "end" else "the end"
        hint = "write a name, a literal or a bracket"
        if word.text == ".":
            hint = "a name begins with a word, as in `event.tool`"
        raise _wrong(word, f"a value is missing before {found}: {hint}")

    def word(self, word: Lexeme) -> Node:
        if word.text.startswith("__"):
            raise _wrong(
                word, f"`{word.text}` is not a name: names do not begin with two underscores"
            )
        if word.text in RESERVED:
            raise _wrong(word, f"`{word.text}` is reserved: use another name")
        if self.accept("("):
            args, end = self.items(")")
            self.count(*args)
            return FunctionCall(word.start, end, _over(*args), word.text, None, args)
        self.count()
        return BareName(word.start, word.end, 1, word.text)

    def bracket(self, opening: Lexeme) -> Node:
        if opening.text == "(":
            node = self.expression()
            self.expect("op", ")")
            return node
        if opening.text == "[":
            items, end = self.items("]")
            self.count(*items)
            return ListOf(opening.start, end, _over(*items), items)
        pairs: list[tuple[Node, Node]] = []
        while not self.accept("}"):
            if len(pairs) >= limits.ITEMS:
                raise _too_large(f"a map of more than {limits.ITEMS:,} entries", *_span(opening))
            key = self.expression()
            self.expect("op", ":")
            pairs.append((key, self.expression()))
            if not self.accept(","):
                self.expect("op", "}")
                break
        parts = [part for pair in pairs for part in pair]
        self.count(*parts)
        return MapOf(opening.start, self.words[self.at - 1].end, _over(*parts), tuple(pairs))

    def items(self, closing: str) -> tuple[tuple[Node, ...], int]:
        """Expressions up to the closing bracket, and where that ends; a list may end in a comma."""
        found: list[Node] = []
        while not self.accept(closing):
            word = self.words[self.at]
            if len(found) >= limits.ITEMS:
                raise _too_large(f"a list of more than {limits.ITEMS:,} elements", *_span(word))
            found.append(self.expression())
            if not self.accept(","):
                self.expect("op", closing)
                break
            if closing == ")":
                word = self.words[self.at]
                if word.text == ")":
                    raise _wrong(
                        word, "an argument is missing before `)`: write it, or drop the comma"
                    )
        return tuple(found), self.words[self.at - 1].end

    def accept(self, text: str) -> bool:
        word = self.words[self.at]
        if word.kind == "op" and word.text == text:
            self.at += 1
            return True
        return False

    def expect(self, kind: str, text: str) -> Lexeme:
        word = self.words[self.at]
        if word.kind != kind or word.text != text:
            raise _unexpected(word, text)
        self.at += 1
        return word

    def count(self, *parts: Node) -> None:
        """Count one more node over these parts."""
        self.nodes += 1
        word = self.words[max(self.at - 1, 0)]
        if self.nodes > limits.NODES:
            raise _too_large(f"more than {limits.NODES:,} parts", *_span(word))
        if parts and _over(*parts) > limits.DEPTH:
            raise _too_large(f"a tree higher than {limits.DEPTH} levels", parts[0].start, word.end)


def _over(*parts: Node) -> int:
    """The height of a tree over these parts."""
    return 1 + max((part.depth for part in parts), default=0)


def _wrong(word: Lexeme, message: str) -> ConditionError:
    return ConditionError(message, *_span(word))


def _span(word: Lexeme) -> tuple[int, int]:
    return word.start, max(word.end, word.start + 1)


def _is_word(word: Lexeme, name: str) -> bool:
    return word.kind != "literal" or name in ("true", "false", "null")


def _too_large(what: str, start: int, end: int) -> ConditionError:
    return ConditionError(f"the condition has {what}: split it into several rules", start, end)


_INSTEAD: Final = {
    "not": "write `not (x in [...])`, with `not` in front",
    "is": "compare with `==`",
    "equals": "compare with `==`",
    "like": "write `glob(text, 'pattern')`",
}
"""What to write for words that stand between two values elsewhere."""


def _unexpected(word: Lexeme, wanted: str) -> ConditionError:
    found = f"`{word.text}`" if word.kind != "end" else "the end"
    if wanted:
        return _wrong(word, f"`{wanted}` is missing before {found}: close what was opened")
    if word.text in _INSTEAD:
        return _wrong(word, f"{found} cannot follow here: {_INSTEAD[word.text]}")
    near = nearest(word.text, ("and", "or", "not", "in")) if word.kind == "name" else None
    hint = f"did you mean `{near}`?" if near is not None else "join conditions with `and` or `or`"
    return _wrong(word, f"{found} cannot follow here: {hint}")
