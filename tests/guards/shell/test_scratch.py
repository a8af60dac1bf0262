"""Databases and containers of tests on this host go ahead; what is elsewhere, shared or unknown
does not."""

from __future__ import annotations

import pytest

from stanchion.testing import shield_for

SHELL = {"name": "shell", "guards": [{"use": "shell"}]}


def goes(command: str) -> bool:
    """Whether a command goes ahead."""
    return shield_for(SHELL).run("ann").check("bash", {"command": command}).proceeds


@pytest.mark.parametrize(
    "command",
    [
        "dropdb --if-exists shop_test",
        "psql -h localhost -c 'DROP DATABASE shop_test'",
        "PGHOST=127.0.0.1 dropdb shop_dev",
        "docker exec shop_test_db dropdb shop_test",
        "mysql -h 127.0.0.1 -e 'DROP DATABASE e2e_orders'",
        "docker rm -f $(docker ps -aq --filter label=org.testcontainers=true)",
        "docker rm -f $(docker ps -aq --filter name=shop-test)",
        "id=$(docker run -d img); docker rm -f $id",
        "kubectl delete ns shop-test",
        "kubectl --context kind-a delete deploy web",
        "docker compose -p shop-test down -v",
    ],
)
def test_what_tests_make_again_goes_ahead(command: str) -> None:
    assert goes(command)


@pytest.mark.parametrize(
    "command",
    [
        "dropdb shop",
        "PGHOST=db.example.com dropdb shop_test",
        "psql -h db.example.com -c 'DROP DATABASE shop_test'",
        "psql postgres://admin@10.0.0.8/shop_test -c 'DROP DATABASE shop_test'",
        'psql -h "$DB_HOST" -c "DROP DATABASE shop_test"',
        "ssh db1 dropdb shop_test",
        "kubectl exec db -- dropdb shop_test",
        "export PGHOST=db.example.com; dropdb shop_test",
        "dropdb prod_test_results",
        "docker rm -f $(docker ps -aq)",
        "docker rm -f $(docker ps -aq --filter name=shop)",
        "docker rm -f $(docker ps -aq --filter label=env=prod)",
    ],
)
def test_what_others_may_rely_on_does_not(command: str) -> None:
    assert not goes(command)
