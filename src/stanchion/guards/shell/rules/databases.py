"""Databases: statements that drop, empty or hand over what a database holds."""

from __future__ import annotations

from typing import Final

from stanchion.guards.shell.places import Roots
from stanchion.guards.shell.rule import Family, Rule
from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.partly_known import Open

_COMMENT: Final = regex(r"/\*[^*]*(?:\*(?!/)[^*]*)*\*/|--[^\n]*")
_TEXT: Final = regex(r"'[^']*'")
_DESTROYS: Final = regex(
    r"^(?:drop\s+(?:table|database|schema|index|view|user|role|collection|keyspace|type|function|"
    r"trigger|tablespace)"
    r"|truncate\s+[\w.]|grant\s+all|revoke\b|alter\s+table\s+\S+\s+drop|alter\s+user|"
    r"reset\s+master|purge\s+binary|"
    r"flushall|flushdb|shutdown)",
)
_UNBOUNDED: Final = regex(
    r"^(?:delete\s+from|update\s+\S+\s+set|alter\s+table\s+\S+(?:\s+on\s+cluster\s+\S+)"
    r"?\s+(?:delete|update))\b"
)
_ALWAYS: Final = regex(r"\bwhere\s+(?:1|true|1\s*=\s*1|not\s+false)(?:\s+settings\b|\s*$)")
"""A condition that holds for every row."""


def destroys(text: str) -> bool:
    """Whether one of the statements drops, truncates, changes rights, or deletes or updates without
    a condition."""
    plain = _TEXT.sub("''", _COMMENT.sub(" ", text[:65_536])).lower()
    for statement in plain.split(";"):
        words = " ".join(statement.split())
        if words.startswith("with ") and " delete from " in words:
            return True
        if _DESTROYS.match(words):
            return True
        if _UNBOUNDED.match(words) and (" where " not in f"{words} " or _ALWAYS.search(words)):
            return True
    return False


CLIENTS: Final = (
    "mysql mariadb psql sqlite3 sqlcmd clickhouse-client clickhouse cqlsh cockroach bq snowsql "
    "duckdb mssql-cli pgcli mycli usql isql sqlplus"
)
STATEMENTS: Final = "drop delete truncate grant revoke alter update"
EMPTYING: Final = "flushall flushdb db.dropdatabase"


def _statement(command: Command, _roots: Roots) -> bool:
    given = (
        [command.given] if command.given is not None and not isinstance(command.given, Open) else []
    )
    return any(destroys(text) for text in (*command.argv[1:], *given))


def _typed(command: Command, _roots: Roots) -> bool:
    return len(command.argv) > 2 and destroys(" ".join(command.argv))


def _mongo(command: Command, _roots: Roots) -> bool:
    texts = (*command.argv[1:], command.given if command.given is not None else "")
    marks = (
        "dropDatabase(",
        ".drop(",
        "deleteMany({})",
        ".remove({})",
        "dropUser(",
        "shutdownServer(",
        "dropIndexes(",
        "dropAllUsers",
    )
    return any(mark in text for text in texts for mark in marks)


def _accepts_loss(command: Command, _roots: Roots) -> bool:
    """Whether an option says that data may go: `--accept-data-loss`, `--force-reset`,
    `--delete-data`."""
    return any(_LOSES.fullmatch(flag) is not None for flag in command.flags)


def _graph(command: Command, _roots: Roots) -> bool:
    """Whether a statement deletes every node or edge of a graph."""
    given = (
        [command.given] if command.given is not None and not isinstance(command.given, Open) else []
    )
    return any(
        _EVERY_NODE.search(text) is not None and " where " not in text.lower()
        for text in (*command.argv, *given)
    )


def _redis(command: Command, _roots: Roots) -> bool:
    words = [
        *command.operands,
        *(
            command.given.split()
            if command.given is not None and not isinstance(command.given, Open)
            else []
        ),
    ]
    low = [word.lower() for word in words]
    if low[:1] in (["eval"], ["eval_ro"]):
        return any(
            each in low[1]
            for each in ("'del'", "'unlink'", "'flush", '"del"', '"unlink"', '"flush')
        )
    return any(word in ("flushall", "flushdb", "shutdown", "debug") for word in low[:4]) or low[
        :2
    ] in (
        ["config", "set"],
        ["config", "resetstat"],
        ["script", "flush"],
        ["cluster", "reset"],
    )


_LOSES: Final = regex(
    r"--(?:accept|allow|force|confirm)-(?:data-?loss|(?:db-|database-)?reset)"
    r"|--(?:delete|drop|destroy|erase|purge|wipe|remove)-(?:all-)?(?:data|database|db)"
)
_EVERY_NODE: Final = regex(r"(?i)\bmatch\s*\(\s*\w*\s*\)[^;]*?\bdelete\b")

FAMILY: Final = Family(
    "database",
    "good",
    (
        Rule(CLIENTS, "drops, empties or hands over what a database holds", check=_statement),
        Rule(STATEMENTS, "drops, empties or hands over what a database holds", check=_typed),
        Rule(EMPTYING, "empties a database"),
        Rule(
            "mysqladmin",
            "drops a database or stops its server",
            words="** drop|shutdown|kill|flush-*",
        ),
        Rule("dropdb dropuser", "drops a database or a user"),
        Rule("pg_restore", "drops what is there first", flags="-c|--clean", loss="unknown"),
        Rule("mongo mongosh", "drops or empties what a database holds", check=_mongo),
        Rule("mongorestore", "drops what is there first", flags="--drop", loss="unknown"),
        Rule("redis-cli valkey-cli", "empties or stops a database", check=_redis),
        Rule(
            "rails rake",
            "drops or resets a database",
            words="db:drop*|db:reset*|db:schema:load|db:purge|db:migrate:reset",
        ),
        Rule(
            "%",
            "loses what a database holds, and says so",
            check=_accepts_loss,
            hint="-loss",
            loss="others",
        ),
        Rule(
            "%",
            "loses what a database holds, and says so",
            check=_accepts_loss,
            hint="-data",
            loss="others",
        ),
        Rule(
            "%",
            "loses what a database holds, and says so",
            check=_accepts_loss,
            hint="-reset",
            loss="others",
        ),
        Rule("cypher-shell", "deletes what a database holds", check=_graph, hint="delete"),
        Rule("cypher-shell", "deletes what a database holds", check=_graph, hint="DELETE"),
        Rule(
            "consul", "deletes what a database holds", words="kv delete", flags="-recurse|--recurse"
        ),
        Rule("prisma npx", "resets a database", words="** migrate reset"),
        Rule(
            "manage.py django-admin python python3",
            "empties a database",
            words="** flush|reset_db|sqlflush",
        ),
        Rule("artisan php", "empties a database", words="** migrate:fresh|migrate:reset|db:wipe"),
        Rule("etcdctl", "deletes what a database holds", words="del", flags="--prefix|--from-key"),
        Rule("influx", "deletes what a database holds", words="** delete"),
        Rule(
            "nodetool",
            "deletes what a database holds",
            words="clearsnapshot|decommission|removenode|truncatehints",
            loss="unknown",
        ),
    ),
)

HITS: Final = (
    "npx prisma db push --force-reset --accept-data-loss",
    "frobnicate sync --delete-data",
    "cypher-shell 'MATCH (n) DETACH DELETE n'",
    "consul kv delete -recurse shop/",
    "redis-cli EVAL \"for _,k in ipairs(redis.call('KEYS','*')) do redis.call('UNLINK',k) end\" 0",
    "clickhouse-client --query 'ALTER TABLE events DELETE WHERE 1'",
    "etcdctl --endpoints=x del '' --from-key=true",
    "mysql -e 'DROP DATABASE shop'",
    'psql -c "TRUNCATE orders"',
    "psql -d x -c 'delete from users'",
    "redis-cli FLUSHALL",
    "mongosh --eval 'db.dropDatabase()'",
    "echo 'drop table t' | sqlite3 app.db",
    "dropdb shop",
    "mysqladmin -u root drop shop",
    "DROP TABLE users;",
    "mysql shop <<EOF\nDELETE FROM carts;\nEOF",
    "rails db:drop",
    "redis-cli -h h flushdb",
)
MISSES: Final = (
    "cypher-shell 'MATCH (n:Cart {id: 7}) DETACH DELETE n'",
    "mysql -e 'SELECT 1'",
    'psql -c "delete from users where id = 7"',
    "redis-cli GET x",
    "mongosh --eval 'db.stats()'",
    "echo 'drop table t'",
    "grep -ri 'drop table' migrations",
    "truncate -s 0 app.log",
    "git commit -m 'drop table users'",
    "GRANT SELECT ON t TO ada;",
    "rails db:migrate",
    "psql -c \"select 'drop table x'\"",
)
