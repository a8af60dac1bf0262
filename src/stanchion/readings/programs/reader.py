"""Reading code by its tokens: expressions are followed far enough to know what is called with which
texts."""

from __future__ import annotations

from re import Match
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.programs.calls import (
    ENVIRONMENT,
    FAKES,
    LONGEST,
    MANY,
    NOTHING,
    ONE_VARIABLE,
    VARIABLES,
    Code,
    CodeCall,
    known_parts,
)
from stanchion.readings.programs.decoding import decoded
from stanchion.readings.programs.files import DECLARES
from stanchion.readings.programs.tokens import (
    EMPTY,
    HOME,
    HOMES,
    LUA,
    PERL,
    RUBY,
    TYPED,
    CodeToken,
    CodeValue,
    R,
    Syntax,
    flat_texts,
    joined_value,
    library_text,
    tokens,
)
from stanchion.readings.word_lists import listed

DEEPEST: Final = 40
_FILLED: Final = regex(
    r"\$ENV\{'?(?P<own>\w+)'?\}|[#$]\{(?P<code>[^{}]{1,64})\}|(?<!\\)[$@](?P<name>\w+)"
)
_VARIABLE: Final = regex(r"(?:\w+\.env|ENV)(?:\.get\(|\.fetch\(|[.\[])['\"]?(\w+)")
_BRACED: Final = regex(r"\{[^{}]*\}")
"""Alternatives in a pattern of paths."""
_END: Final = CodeToken("line", "")
KEYWORDS: Final = listed(
    "if unless and or not in do end then else elsif elseif while until for foreach return use "
    "require when case function def sub"
)  # fmt: skip
LOOPS: Final = listed("while until loop for forever")


TURNS: Final = 8
"""Through how many things of a list a loop is followed."""
CLOSING: Final = {"(": ")", "[": "]", "{": "}"}
CALLING: Final = frozenset("({")
MANY_NAMED: Final = 64
"""How many arguments by name are kept of one call."""
NAMING: Final = listed(": = =>")
"""What stands between a name and what is given by it."""
SAID: Final = {"true": "True", "false": "False", "t": "True", "f": "False"}
EACH: Final = listed("forEach map each flatMap each_with_index for_each filter select")
"""Calls that run a block for each thing of what they are called on."""
BLOCK: Final = listed("( async function { do |")
"""What stands before the variable of such a block."""
BARE: Final = listed("terminate destroy delete stop drop unlink rmtree flushall flushdb")
"""Calls of Ruby that need no brackets."""
WHOLE: Final = listed("to_h to_s to_a to_json inspect dup sort")
"""Parts of Ruby's variables that are all of them."""
TAKING: Final = listed(
    "eval system exec load instance_eval unlink rmtree rm rm_f rm_r rm_rf remove_tree"
)
"""Calls that take what stands behind them, whatever it is."""
SAME: Final = listed("expect unwrap clone toString to_string toFile toPath")
"""Calls that give what they are called on."""
APPLIES: Final = listed("sapply lapply vapply walk Map")
"""Calls of R that hand each thing of a list to a function."""
KEYS: Final = listed("keys scan")
"""Commands of Redis that list keys."""
LISTING: Final = listed("ipairs pairs c array list sorted Seq List arrayOf listOf")
"""Calls that give the things that they are given."""


def read_code(code: str, syntax: Syntax) -> Code:
    """What a piece of code calls."""
    if len(code) > LONGEST:
        return NOTHING
    found = tokens(code, syntax)
    reader = _Reader(found, syntax)
    reader.all()
    calls = reader.calls
    for turn in range(1, reader.turns):
        again = _Reader(found, syntax, turn)
        again.all()
        calls = list(dict.fromkeys([*calls, *again.calls]))
    names = [token.text for token in found if token.kind == "name"]
    return Code(tuple(calls[:MANY]), "fork" in names and not LOOPS.isdisjoint(names))


class _Reader:
    def __init__(self, found: list[CodeToken], syntax: Syntax, turn: int = 0) -> None:
        self.tokens = found
        self.turn = turn
        self.turns = 1
        self.syntax = syntax
        self.at = 0
        self.depth = 0
        self.calls: list[CodeCall] = []
        self.values: dict[str, CodeValue] = {}
        self.modules: dict[str, str] = {}

    def all(self) -> None:
        while self.at < len(self.tokens) and len(self.calls) < MANY:
            if self.here().text in DECLARES:
                self.at += 1
                continue
            before = self.at
            name = self.here().text if self.here().kind == "name" else ""
            value = self.expression()
            if value.text is not None and "://" in value.text and value.made_of & ENVIRONMENT:
                self._note("fetch", "", None, [value])
            two = [one.text for one in self.tokens[self.at : self.at + 2]]
            self.at += self.syntax is TYPED and two == [":", "="]
            if self.here().text == "=" and name and self.at <= before + 2:
                self.at += 1
                calls = len(self.calls)
                self.values[name.strip("${}@")] = self.expression()
                self._name_module(name, self.calls[calls:])
            elif value.text is not None and self.here().text == "|":
                self._piped(value)
            if self.at == before:
                self.at += 1

    def _name_module(self, name: str, calls: list[CodeCall]) -> None:
        """Keep under which name a module is had: `const p = require("node:path")`."""
        if len(calls) == 1 and calls[0].name == "require" and calls[0].args[:1] != (None,):
            module = str(*calls[0].args[:1])
            self.modules[name] = module.rpartition("/")[2].rpartition(":")[2]

    def _piped(self, value: CodeValue) -> None:
        """awk: a text in a pipe is a command, before `getline` or behind `print`."""
        after = self.tokens[self.at + 1].text if self.at + 1 < len(self.tokens) else ""
        if after in ("getline", "&"):
            self._note("system", "", None, [value])

    def here(self) -> CodeToken:
        return self.tokens[self.at] if self.at < len(self.tokens) else _END

    def expression(self) -> CodeValue:
        """An expression: what stands between two joining signs, one after the other."""
        self.depth += 1
        value = self._operand() if self.depth < DEEPEST else EMPTY
        while (
            self.depth < DEEPEST
            and self.here().kind in self.syntax.joined
            and (self.here().kind != "sign" or self.here().text in self.syntax.joins)
        ):
            self.at += self.here().kind == "sign"
            value = joined_value(value, self._operand())
        self.depth -= 1
        return value

    def _operand(self) -> CodeValue:
        token = self.here()
        if token.kind == "text":
            self.at += 1
            return self._members(self._filled(token.text), "")
        if token.kind == "run":
            self.at += 1
            value = self._filled(token.text)
            self._note("system", "", None, [value])
            return self._members(CodeValue(None, None, value.made_of | {"system"}), "")
        if token.kind == "words":
            self.at += 1
            listed = tuple(token.text.split())
            return self._members(CodeValue(None, listed, frozenset(listed)), "")
        if token.kind == "number":
            self.at += 1
            return CodeValue(token.text, None)
        if token.kind == "name":
            return self._named()
        if token.text in ("(", "[") or (token.text == "{" and self.syntax is LUA):
            items = self._items(CLOSING[token.text])
            made = frozenset().union(*[item.made_of for item in items]) if items else frozenset()
            if len(items) == 1 and token.text == "(":
                return self._members(items[0]._replace(made_of=made), "")
            if len(items) == 2 and items[0].text in ("-c", "-lc", "/c"):  # words of a shell
                self._note("system", "", None, items[1:])
            named = tuple([pair for item in items for pair in item.named])
            return self._members(
                CodeValue(None, tuple([item.text for item in items]), made, named), ""
            )
        if token.text in ("!", "&", "@", "new", "\\", "-", "|", "$") and token.kind == "sign":
            self.at += 1
            if token.text == "-" and self.here().kind == "number":
                self.at += 1
                return CodeValue(f"-{self.tokens[self.at - 1].text}")
            if token.text == "$" and self.here().kind == "text":  # a shell's template
                self._note("system", "", None, [self._filled(self.here().text)])
            return self.expression() if token.text in ("&", "@", "\\", "|") else EMPTY
        return EMPTY

    def _named(self) -> CodeValue:
        name = self.here().text
        self.at += 1
        if name in ("for", "foreach"):
            self._loop()
            return EMPTY
        if name == "map" and self.here().text == "{" and self.syntax.letters:
            return self._mapped()
        if name in ("new", "await", "return", "echo", "print", "use"):
            return self.expression()
        bare = name.strip("${}@&")
        if self._is_called(name):
            value = self._call(bare, "", None)
            taken = self.calls[-1].args if self.calls and bare in ("require", "import") else ()
            return self._members(value, taken[0] if taken and taken[0] is not None else bare)
        known = self.values.get(bare, EMPTY)
        if name == "$ENV" or (bare in VARIABLES and self._takes_part()):
            bare = ONE_VARIABLE
        of = self.modules.get(bare, bare)
        return self._members(known._replace(made_of=known.made_of | {bare}), of)

    def _takes_part(self) -> bool:
        """Whether a part of something is asked for, and not all of it under another name."""
        part = self.tokens[self.at + 1].text if self.at + 1 < len(self.tokens) else ""
        return self.here().text in ("[", ".", "{") and part not in WHOLE

    def _is_called(self, name: str) -> bool:
        """Whether what a name stands before are its arguments."""
        here = self.here()
        if here.text == "(" or (here.text == "{" and self.syntax is LUA and here.kind == "sign"):
            return True
        return self.syntax.bare_calls and self._is_argument(name)

    def _is_argument(self, name: str) -> bool:
        """Whether the name is that of a call without brackets: it stands before a text, or a
        variable."""
        token = self.here()
        if name[:1] in "$@%" or name in KEYWORDS:
            return False
        if (name, token.text) == ("open", "my"):
            return True
        if token.kind == "name" and token.text not in KEYWORDS:
            if name in TAKING:
                return True
            after = self.tokens[self.at + 1].text if self.at + 1 < len(self.tokens) else ""
            return token.text[:1] in "$@%" or after == "("
        return token.kind == "text"

    def _members(self, value: CodeValue, of: str) -> CodeValue:
        """What is called on something, one call after the other."""
        while self.depth < DEEPEST and self.here().kind == "sign":
            sign = self.here().text
            if sign in self.syntax.members and self.at + 1 < len(self.tokens):
                after = self.tokens[self.at + 1]
                if after.text in ("!", "!!") and (value.text or value.items):  # Scala's
                    self._note("system", "", None, [value])
                if after.kind != "name":
                    return value
                self.at += 2
                name = after.text
                if name in EACH:
                    self._bind_block(value)
            elif sign == "[" and value is not EMPTY:
                items = self._items("]")
                name = items[0].text if items and items[0].text is not None else ""
                if of == "Dir":
                    value = self._result("glob", of, None, value, items, value.made_of | {"glob"})
                    continue
                if not name or self.here().text != "(":
                    value = CodeValue(library_text(name, of), None, value.made_of - VARIABLES)
                    continue
            elif sign == "(" and of:
                value = self._call(of, "", value.text)
                continue
            else:
                return value
            if self._is_called(name):
                value = self._call(name, of, value.text, value)
            else:
                if name.endswith(("_all", "!")) or (self.syntax is RUBY and name in BARE):
                    self._note(name, of, value.text, [])
                told = library_text(name, of)
                made = decoded(name, value.text, ()) if told is None else told
                whole = value.made_of if name in WHOLE else value.made_of - VARIABLES
                value = CodeValue(made, value.items, whole | {name, f"{of}.{name}"})
            of = f"{of}.{name}" if of else name
        return value

    def _call(self, name: str, of: str, on: str | None, value: CodeValue = EMPTY) -> CodeValue:
        opened = self.here().text
        args = self._items(CLOSING[opened]) if opened in CALLING else self._bare_items()
        made_of = self._note(name, of, on, args, value.made_of) | value.made_of | {name}
        named = tuple([pair for arg in args for pair in arg.named])[:MANY_NAMED]
        return self._result(name, of, on, value, args, made_of)._replace(named=named)

    def _result(
        self,
        name: str,
        of: str,
        on: str | None,
        value: CodeValue,
        args: list[CodeValue],
        made_of: frozenset[str],
    ) -> CodeValue:
        """What a call gives, as far as it is known."""
        texts = flat_texts(args)
        if name == "glob" and texts and texts[0] is not None:
            return CodeValue(None, (_BRACED.sub("*", texts[0]),), made_of)
        if name in ("map", "flatMap") and value.items and texts and texts[-1] is not None:
            return CodeValue(None, (texts[-1],), made_of | {texts[-1]})
        if self.syntax is R and name == "path":
            return CodeValue("/".join(known_parts(texts)))
        if self.syntax is R and name in APPLIES and len(args) > 1 and args[1].made_of:
            self._note(min(args[1].made_of), "", None, [args[0], *args[2:]])
        if (name, of) == ("call", "redis") and texts[1:] and str(texts[0]).lower() in KEYS:
            return CodeValue(None, tuple(texts[1:]), made_of)
        if name in LISTING or (name == "from" and of == "Array"):
            return CodeValue(None, tuple(texts), made_of)
        if name in ("map", "collect") and value.items and {"fromCharCode", "chr"} & made_of:
            return CodeValue(
                None, tuple([decoded("chr", None, (item,)) for item in value.items]), made_of
            )
        if self.syntax is TYPED and name in SAME:
            return value._replace(made_of=made_of)
        if self.syntax is TYPED and name in ("join", "resolve", "appendingPathComponent") and on:
            texts = [on, *texts]
            of = "path"
        told = library_text(name, of, *texts)
        if told is not None:
            return CodeValue(told, None, made_of)
        if name == "concat" and value.items is None:
            return CodeValue(
                "".join(known_parts((on or "", *texts))),
                None,
                made_of,
            )
        if name in ("join", "implode", "concat"):
            items = value.items if value.items is not None else tuple(texts[1:])
            if not items:
                return CodeValue(None, None, made_of)
            between = texts[0] if texts and texts[0] is not None else ""
            return CodeValue(between.join(known_parts(items)), None, made_of)
        on = on if on is not None or not value.items else value.items[0]
        return CodeValue(decoded(name, on, texts), None, made_of)

    def _note(
        self,
        name: str,
        of: str,
        on: str | None,
        args: list[CodeValue],
        behind: frozenset[str] = frozenset(),
    ) -> frozenset[str]:
        made_of = frozenset().union(*[arg.made_of for arg in args]) if args else frozenset()
        name = "dofile" if name == "source" and self.syntax is R else name.rstrip("!")
        if len(self.calls) < MANY:
            told = tuple(flat_texts(args))
            named = tuple([pair for arg in args for pair in arg.named])[:MANY_NAMED]
            self.calls.append(CodeCall(name, of, on, told, made_of, named, FAKES & behind))
        return made_of

    def _items(self, close: str) -> list[CodeValue]:
        """What stands in brackets, parted by commas; the brackets are passed."""
        self.at += 1
        items: list[CodeValue] = []
        while self.at < len(self.tokens) and self.here().text != close:
            before = self.at
            if self.here().text in (",", "=>", ":", ";") or self.here().kind == "line":
                self.at += 1
                continue
            item = self.expression()
            if self.at == before:
                self.at += 1
            elif len(items) < 256:
                items.append(self._named_item(item, before))
                if self.here().text == "=" and self.at == before + 1:  # in a block, or by name
                    self.at += 1
                    begin = self.at
                    value = self.expression()
                    self.values[self.tokens[before].text.strip("${}@")] = value
                    items.append(self._named_item(value, begin))
        self.at += 1
        return items

    def _named_item(self, item: CodeValue, at: int) -> CodeValue:
        """An item of a list of arguments, with the name by which it is given."""
        said = item.text
        if said is None and self.at == at + 1:
            said = SAID.get(self.tokens[at].text.lower())
        name = self.tokens[at - 2] if at > 1 and self.tokens[at - 1].text in NAMING else _END
        named = name.kind in ("name", "text") and said is not None
        return item._replace(named=((name.text, said), *item.named)) if named else item

    def _loop(self) -> None:
        """Bind the variable of a loop to the thing of this turn.

        1. `for (const d of X)`, R's `for (d in X)`. 2. PHP's `foreach (X as $d)`. 3. Perl's `for my
        $d (X)`, and `for (X)` of `$_`. 4. Ruby's `for d in X`, Lua's `for _, d in ipairs(X)`.
        """
        begin = self.at
        opened = self.here().text == "("
        self.at += opened
        while self.here().text in DECLARES:
            self.at += 1
        named = [token.text for token in self.tokens[self.at : self.at + 4]]
        second = len(named) > 3 and named[1] == "," and named[3] == "in"
        if second or (len(named) > 1 and named[1] in ("of", "in")):
            self.at += 4 if second else 2
            self._bind(named[2] if second else named[0], self.expression())
        elif not opened and len(named) > 1 and named[1] == "(":
            self.at += 1
            self._bind(named[0], CodeValue(None, tuple(flat_texts(self._items(")")))))
        elif opened:
            self._loop_in_brackets(begin)

    def _loop_in_brackets(self, begin: int) -> None:
        """Bind the variable of PHP's `foreach (X as $d)` and of Perl's `for (X)`."""
        value = self.expression()
        if self.here().text == "as":
            arrow = self.tokens[self.at + 2 : self.at + 3] == [CodeToken("sign", "=>")]
            self.at += 3 if arrow else 1
            self._bind(self.here().text, value)
            return
        self.at = begin
        if self.syntax is PERL:
            self._bind("_", CodeValue(None, tuple(flat_texts(self._items(")")))))

    def _bind_block(self, value: CodeValue) -> None:
        """Bind the variable of a block that is run for each thing of a list."""
        at = self.at
        while at < min(self.at + 6, len(self.tokens)) and self.tokens[at].text in BLOCK:
            at += 1
        if at < len(self.tokens) and self.tokens[at].kind == "name":
            self._bind(self.tokens[at].text, value)

    def _bind(self, name: str, value: CodeValue) -> None:
        items = value.items
        if not items:
            return
        self.turns = max(self.turns, min(len(items), TURNS))
        item = items[min(self.turn, len(items) - 1)]
        made = value.made_of if item is None else frozenset({item})
        self.values[name.strip("${}@")] = CodeValue(item, None, made)

    def _mapped(self) -> CodeValue:
        """Perl's `map { … } LIST`: what the block makes of each thing."""
        begin, depth = self.at, 0
        while self.at < len(self.tokens):
            depth += {"{": 1, "}": -1}.get(self.here().text, 0)
            self.at += 1
            if not depth:
                break
        items = self.expression().items
        end, made = self.at, []
        for item in items[:TURNS] if items else ():
            self.at = begin + 1
            self.values["_"] = CodeValue(item)
            made.append(self.expression().text)
        self.at = end
        return CodeValue(None, tuple(made), frozenset([each for each in made if each is not None]))

    def _bare_items(self) -> list[CodeValue]:
        self.at += self.here().text == "my"
        items = [self.expression()]
        while self.here().text == "," and len(items) < 256:
            self.at += 1
            before = self.at
            items.append(self.expression())
            if self.at == before:
                break
        return items

    def _filled(self, text: str) -> CodeValue:
        """A text with the values of the variables that it names."""
        if "$" not in text and "#{" not in text and "@" not in text:
            return CodeValue(text, None, frozenset({text}))
        made: set[str] = {text}

        def put(found: Match[str]) -> str:
            name = (found["code"] or found["name"] or "").strip()
            asked = _VARIABLE.match(name)
            variable = asked[1] if asked is not None else found["own"]
            if variable or name.rpartition(".")[2].rstrip("()") in HOMES:
                return f"${variable}" if variable else HOME
            known = self.values.get(name)
            made.add(name)
            if known is None or known.text is None:
                return found[0]
            made.update(known.made_of)
            return known.text

        return CodeValue(_FILLED.sub(put, text), None, frozenset(made))
