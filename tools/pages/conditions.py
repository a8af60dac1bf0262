"""The condition language: grammar, functions, names, limits, and what of CEL is outside it."""

from stanchion.policy.conditions import limits
from stanchion.policy.conditions.kinds import Type
from stanchion.policy.conditions.view import CONTENTS, WORDS
from stanchion.policy.conditions.vocabulary import FUNCTIONS, MACROS
from stanchion.readings import act_words
from stanchion.readings.act_words import (
    ALONE,
    COMMANDS,
    DELETES,
    FILES,
    LOOSE,
    READS,
    RESULTS,
    SOURCES,
    URLS,
    WEB,
    WRITES,
)  # fmt: skip
from stanchion.readings.commands.words import SHELLS
from tools.pages.events import MEANINGS as FIELDS

PATH = "docs/reference/conditions.md"

INTRODUCTION = """\
# Conditions

A condition is an expression over what an event says: true or false, without side effects, always finished. The
language is a subset of [CEL](https://cel.dev) with the words `and`, `or` and `not`, and with `glob` and `under` for
paths.

```text
agent.role == 'implementer' AND action.type == 'file_write'
not glob(action.target_file, '**/test_*') and not glob(action.target_file, '**/*_test.*')
action.tool_name in agent.allowed_tools OR action.tool_name in task.additional_tools
action.target_files.all(f, under(f, 'src') or under(f, 'docs'))
```

A condition is checked when the policy loads. A name that does not exist, a function that does not exist, types that
cannot meet and texts that a name can never be are refused there, with the place and the nearest valid word. What can
only go wrong on an event (a division by zero, a text where a number was expected in a tool's arguments, too many
steps) is an error of that evaluation, and the guard that asked fails closed.
"""

GRAMMAR = """\
## Grammar

```text
expression = or [ "?" or ":" expression ]
or         = and { ( "or" | "OR" | "||" ) and }
and        = not { ( "and" | "AND" | "&&" ) not }
not        = { "not" | "NOT" } relation
relation   = sum { ( "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" ) sum }
sum        = product { ( "+" | "-" ) product }
product    = unary { ( "*" | "/" | "%" ) unary }
unary      = { "!" | "-" } member
member     = primary { "." field [ "(" [ arguments ] ")" ] | "[" expression "]" }
field      = name | "`" quoted "`"
primary    = literal | name [ "(" [ arguments ] ")" ] | "(" expression ")"
           | "[" [ arguments [ "," ] ] "]"
           | "{" [ expression ":" expression { "," expression ":" expression } [ "," ] ] "}"
arguments  = expression { "," expression }
name       = [A-Za-z_] [A-Za-z0-9_]*          not beginning with two underscores
quoted     = [A-Za-z0-9_./ -]+
literal    = int | uint | double | string | bytes | "true" | "false" | "null"
int        = [0-9]+ | "0x" [0-9a-fA-F]+       64 bits, signed
uint       = int ( "u" | "U" )                64 bits, unsigned
double     = [0-9]* "." [0-9]+ [ exponent ] | [0-9]+ exponent
string     = [ "r" ] ( '…' | "…" | '''…''' | \"\"\"…\"\"\" )      r: raw, backslashes are plain
bytes      = "b" string
comment    = "//" up to the end of the line
```

`not` binds looser than a comparison (`not a == b` is `not (a == b)`), `!` binds tighter, as in CEL. Escapes are those
of CEL: `\\\\`, `\\'`, `\\"`, `\\n`, `\\t` and the like, `\\x41`, `\\u00e9`, `\\U0001f600`, `\\101`. Invisible
characters (those that change the direction of writing, or have no width) stand in no condition; in a literal an
escape shows them.
"""

VALUES = """\
## Values

**Types.** `bool`, `int`, `uint`, `double`, `string`, `bytes`, `null`, `list`, `map`, and `dyn` for what is only known
when an event is there: everything inside `event.args`, `event.result` and other data. Nothing is converted silently:
`1 + 1.0` is refused, `int('7')` converts.

**Comparison.** Numbers are equal by value whatever their types, everything else only to its own type (`true` is not
`1`). `<` takes two numbers, or two texts, bytes or truth values; anything else is an error. A double and a whole
number are compared as doubles.

**Arithmetic.** Results outside 64 bits and divisions by zero are errors; `/` and `%` cut towards zero. Doubles know
infinity and NaN.

**Errors and logic.** `false and …` is false and `true or …` is true even if the other side is an error, on whichever
side it stands; `exists` and `all` likewise.

**Null.** What is missing is null: a field of a map that does not have it, an element beyond the end of a list, a
field of null, a field of events of another stage. Reading it is no error: `event.args.options.force` is null where
there are no options. If something on the way is there and is not a map, it is an error.

What is done with null depends on where it comes from. **A call that lacks an argument cannot be compared.** A rule
about `event.args.amount` knows nothing of a call without an amount, so it fails closed, as it does where the amount is
a text. The same goes for an argument that is null, for what is read inside of arguments, and for what is made of
them, such as `size(event.args.files)`. Other names may be null because an event has no such field, and that is an
answer: `event.url` at a tool call, or `event.args` itself at a prompt.

| with null | of an argument | of another name |
|---|---|---|
| `has(a.b)` | whether the map has the key, even if its value is null | the same |
| `x == null`, `x != null`, with the word `null` | true or false | the same |
| `==`, `!=` with anything else | an error | null equals null and nothing else |
| `<`, `<=`, `>`, `>=` | an error | false |
| `startsWith`, `endsWith`, `contains`, `matches`, `glob`, `under` | an error | false |
| `x in …`, `… in x` | an error | false; null is in a list that has null |
| `exists`, `all`, `exists_one` over it | an error | false; but `all` over a list that is there and empty is true |
| `and`, `or`, `not`, `… ? … : …`, a whole condition | null counts as false | the same |
| `size`, `filter`, `map`, conversions | null, of an argument as before | null |
| `+`, `-`, `*`, `/`, `%` | an error | an error |

So `event.args.force` alone is false where nothing is forced, and `event.args.force == true` fails. A rule that also
applies to calls without the argument asks first: `has(event.args.amount) and event.args.amount > 100`.
"""

PATHS = """\
## Globs and paths

`glob(text, pattern)` looks at a whole text. `*` stands for any characters within a segment, `?` for one of them, `**`
for any number of whole segments: none or more at the start and in the middle, at least one at the end (`src/**` is
everything in `src`, not `src` itself). `**` beside other characters in one segment is refused. Case counts.

`under(path, folder)` is true for the folder itself and for what lies in it. Both are worked out as text: `.`, `..` and
doubled separators are taken away, `\\` counts as `/`, and `..` never climbs out of `/`, a drive (`C:`) or a home
(`~`). Nothing is looked up, so links are not followed and a relative path is never under an absolute folder.
`/a/bc` is not under `/a/b`.
"""

DERIVED = """\
## How an action is told from a call

`action.target_files` are the texts (or lists of texts) in arguments that name files, one level deep: in the arguments
themselves, in a map among them, and in a list of maps. They are in the order of the arguments, each once, without
`.`, `..` and doubled separators, `\\` as `/`, `file://` taken away. `action.target_file` is the first: where a call
can name several files, ask about all of them, `action.target_files.all(f, …)`. Files inside a command line are not
among them: commands have guards of their own.

Names are compared in lower case without `_` and `-`, so `file_path`, `filePath` and `FilePath` are one.

| argument | names |
|---|---|
| file, always | {path_keys} |
| file, if the tool's name has a verb or a noun of the table below | {loose_keys} |
| command line (`action.command`; a list of words is joined by spaces) | {command_keys} |
| address | {url_keys} |
| content | {content_keys} |

A tool's name is cut into words at `_`, `-`, `.` and capitals: `writeFile` and `fs.write-file` both are `write` and
`file`. The first row that fits gives `action.type`.

| `action.type` | when |
|---|---|
| `http`, `prompt`, `model`, `handoff`, `charge` | the stage is not a tool's: `egress` is `http`, `model_*` is `model` |
| `command` | the name has one of {shells}, or says that it runs things (`run_script`), or there is a command line |
| `file_delete` | the name has one of {deletes}; and files as below |
| `file_write` | the name has one of {writes}; and files as below |
| `file_read` | the name has one of {reads}; and files as below |
| `http` | the name has one of {web}, or there is an address |
| `file_write` | there are files and content |
| `tool` | anything else |

*Files* means that the call names some, or that the tool's name has one of {files} or is nothing but one of {alone}; a
name with a word of the web is not about files.
"""

OUTSIDE = """\
## What of CEL is outside

Of the 2,456 public conformance vectors of CEL 949 fall inside the subset, and all of them pass. The others use:

| construct | vectors | here |
|---|--:|---|
| messages, enums, wrappers and other types of Protocol Buffers | 672 | data are maps and lists |
| extension libraries: strings, math, optionals, encoders, network, bindings, blocks, two-variable macros | 653 | – |
| timestamps and durations | 89 | `action.estimated_duration` is in seconds |
| type values: `type(x)`, `int` as a value | 30 | – |
| names, functions and types that do not exist, with CEL told not to check | 23 | refused at load |
| the types that a checker deduces, without a value | 19 | – |
| containers and names that begin with a dot | 11 | names are written out |
| an error for a missing key or element | 10 | null, as said above |

Patterns of `matches` are literals in RE2 syntax, which has no look-around and no back-references.
"""

MEANINGS = {
    "agent.id": "the agent",
    "agent.role": "its role; empty where it has none",
    "agent.capabilities": "what the policy says it can do",
    "agent.allowed_tools": "its tools, globs included; null where none are listed",
    "action.type": "what kind of action it is, see below",
    "action.tool_name": "the tool; empty where there is none",
    "action.command": "the command line of the call",
    "action.target_file": "the first file that the call names",
    "action.target_files": "all files that the call names",
    "action.estimated_tokens": "tokens it is expected to use",
    "action.estimated_duration": "seconds it is expected to take",
    "task.id": "the task",
    "task.additional_tools": "tools that the task adds",
    "event.stage": "where the event is caught",
    "event.risk": "how much harm the tool can do",
    "event.id": "the event",
    "event.call": "the call it belongs to",
    "event.cost_microusd": "how much it is in millionths of a dollar",
    "event.duration_ms": "how long it takes by its host's estimate, in milliseconds",
    "event.traits": "what is declared of the tool: effect, annotations, result",
}


def render() -> str:
    """Render the language from its own tables."""
    return "\n".join(
        [
            INTRODUCTION,
            GRAMMAR,
            *_names(),
            VALUES,
            *_functions(),
            PATHS,
            _derived(),
            *_limits(),
            OUTSIDE,
        ],
    )


def _names() -> list[str]:
    lines = [
        "## Names",
        "",
        (
            "`?` marks what may be null. `names` is a set that may hold globs; it is asked with "
            "`in`. "
            "The fields of"
        ),
        "`event` are those of the [events](events.md); where a stage has no such field it is null.",
        "",
        "| name | type | meaning |",
        "|---|---|---|",
    ]
    for word, known in WORDS.items():
        meaning = MEANINGS.get(word) or _of_field(word.removeprefix("event."))
        choices = f": {', '.join(f'`{each}`' for each in known.choices)}" if known.choices else ""
        lines.append(f"| `{word}` | {_type(known)} | {meaning}{choices} |")
    return [*lines, ""]


def _of_field(field: str) -> str:
    """What the page of events says of a field, at the first stage that has it."""
    said = next(
        (
            words
            for key, words in FIELDS.items()
            if key in (field, f"{key.partition('.')[0]}.{field}")
        ),
        None,
    )
    assert said is not None, f"say in MEANINGS what `event.{field}` means"
    return said


def _type(known: Type) -> str:
    return f"{known}{'?' if known.nullable else ''}"


def _functions() -> list[str]:
    lines = ["## Functions", "", "| written | gives |", "|---|---|"]
    lines += [f"| `{each.shown}` | {each.meaning} |" for each in FUNCTIONS.values()]
    for macro in MACROS.values():
        written, _, meaning = macro.partition(": ")
        lines.append(
            f"| {' or '.join(f'`{form}`' for form in written.split(' or '))} | {meaning} |"
        )
    lines += ["| `has(a.b)` | whether a map has a field, or an event a value for a name |", ""]
    over = (
        "Over a map, macros visit its keys. `matches` may also be written `matches(text, "
        "r'pattern')`, and `size` as"
    )
    return [*lines, over, "`x.size()`.", ""]


def _words(words: frozenset[str] | tuple[str, ...]) -> str:
    return ", ".join(f"`{word}`" for word in sorted(words))


def _derived() -> str:
    return DERIVED.format(
        path_keys=_words(act_words.PATHS | SOURCES | RESULTS),
        loose_keys=_words(LOOSE),
        command_keys=_words(COMMANDS),
        url_keys=_words(URLS),
        content_keys=_words(CONTENTS),
        shells=_words(SHELLS),
        deletes=_words(DELETES),
        writes=_words(WRITES),
        reads=_words(READS),
        web=_words(WEB),
        files=_words(FILES),
        alone=_words(ALONE),
    )


def _limits() -> list[str]:
    rows = {
        "characters of a condition": limits.TEXT,
        "brackets, calls and branches inside each other": limits.NESTING,
        "height of the tree": limits.DEPTH,
        "parts of a condition": limits.NODES,
        "elements of a list or map that is written out": limits.ITEMS,
        "characters of a regular expression": limits.PATTERN,
        "instructions of a compiled regular expression": limits.PROGRAM,
        "characters of a glob": limits.GLOB,
        "characters of a text that `glob` or `under` looks at": limits.PATH,
        "steps of one evaluation": limits.STEPS,
    }
    steps = (
        "The first eight are refused at load, the last two are errors of the evaluation. A step is "
        "an element that a"
        " macro visits (more for a long body) or that a comparison looks at, 64 characters of a "
        "text that is put"
        " together, 256 characters that a regular expression searches, and inside a macro about "
        "1,024 characters of"
        " any text that is looked through."
    )
    table = [f"| {what} | {most:,} |" for what, most in rows.items()]
    return ["## Limits", "", "| what | at most |", "|---|--:|", *table, "", steps, ""]
