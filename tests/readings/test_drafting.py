"""What is drafted for tools that nobody declared."""

from __future__ import annotations

import pytest

from stanchion.kernel.declared import CONTENT, EFFECTS
from stanchion.readings.drafting import draft, explained

# A tool and its arguments: what it does, and whom or what it acts on.
TABLE = """
send_email(recipients, subject, body, cc)       outward       cc recipients
GmailSendEmail(message.to, message.body)        outward       message.to
mcp__slack__slack_post_message(channel_id, text) outward      channel_id
reply_to_email(email_id, body)                  outward       email_id
share_file(file_id, email)                      outward       email file_id
reserve_hotel(hotel, start_day)                 outward       hotel
comment_on_issue(url, body)                     outward       url
follow_user(username_to_follow)                 outward       username_to_follow
create_calendar_event(title, participants)      outward       participants
edit_file(project, path, branch, line)          outward       branch path project
click(element)                                  outward       @page
query_sql_database(query)                       outward
frobnicate(widget_id)                           outward       widget_id
EmergencyDispatch(text)                         outward
issue_write(owner, repo, title)                 outward       owner repo
search_and_share(query, user)                   outward       user
create_event(title, date)                       local
create_file(path, content)                      local         path
ModifyAlarm(token, from_time, to_time)          local
cart_add_product(product_id, quantity)          local         product_id
remove_stock_from_watchlist(symbol)             local         symbol
TodoistCreateTask(task)                         local
mkdir(dir_name)                                 local         dir_name
transfer_to_human_agents(summary)               local
mv(source, destination)                         local         destination source
download_file(url, save_dir)                    local         save_dir url
find_images(query, output_path)                 local         output_path
update_password(password)                       privilege     password
add_deploy_key(project, key)                    privilege     key project
create_webhook(project, url)                    privilege     project url
add_project_member(project, username, role)     privilege     project role username
change_email(email)                             privilege     email
ticket_login(username, password)                privilege     password username
OpenBankAccount(account, name)                  privilege     account
AugustSmartLockGrantGuestAccess(guest_ids)      privilege     guest_ids
send_money(recipient, amount)                   irreversible  recipient
update_scheduled_transaction(id, amount)        irreversible  id
check_out_cart(product_ids)                     irreversible  product_ids
transfer_money_to_operator(amount, account)     irreversible  account
place_order(symbol, amount)                     irreversible  symbol
TodoistDeleteTask(task_id)                      irreversible  task_id
rm(file_name)                                   irreversible  file_name
dispense(medication, dose)                      irreversible
get_post(url)                                   read          url
get_sent_emails()                               read
GitHubGetRepositoryDetails(repository_name)     read
message_get_login_status()                      read
get_order_details(order_id)                     read          order_id
search_emails(query, sender)                    read
list_all_following()                            read
ls(a)                                           read
grep(file_name, pattern)                        read
QueryBalance(token)                             read
navigate_to(url)                                read          url
WebBrowserNavigateTo()                          read
IndoorRobotGoToRoom(robot)                      outward       robot
open_port_to_internet(port)                     outward       port
manage_note_sharing(note_id, level)             privilege     note_id
browser_cookie_set(name, value)                 privilege     name value
move_event(event_id)                            outward       event_id
"""
ROWS = [
    (line.partition("(")[0], *line.partition("(")[2].split(")"))
    for line in TABLE.split("\n")
    if line
]


def schema(names: str) -> dict[str, object]:
    made: dict[str, dict[str, dict[str, object]]] = {}
    for name in names.replace(" ", "").split(","):
        outer, _, inner = name.partition(".")
        held = made.setdefault(outer, {})
        if inner:
            held.setdefault("properties", {})[inner] = {}
    return {"properties": {name: each for name, each in made.items() if name}}


@pytest.mark.parametrize(("tool", "names", "wanted"), ROWS)
def test_a_tool_is_drafted_by_its_name_and_its_arguments(
    tool: str, names: str, wanted: str
) -> None:
    effect, *sinks = wanted.split()
    made = draft(tool, schema(names))
    assert (made.effect, made.sinks) == (effect, tuple(sinks))
    assert made.risk is None
    assert made.result == CONTENT or effect == "read"


@pytest.mark.parametrize(("tool", "names", "wanted"), ROWS)
def test_a_tool_whose_arguments_are_not_known_is_drafted_nearly_as_strictly(
    tool: str, names: str, wanted: str
) -> None:
    by_arguments = {"edit_file", "find_images"}
    effect = draft(tool).effect
    assert effect is not None
    if tool not in by_arguments:
        assert EFFECTS.index(effect) >= EFFECTS.index(wanted.split()[0])


def test_what_only_runs_what_it_is_given_has_no_sinks() -> None:
    made = draft("Bash", schema("command, path"))
    assert (made.effect, made.sinks, made.result) == ("outward", (), CONTENT)


@pytest.mark.parametrize(
    ("tool", "names", "result"),
    [
        ("read_file", "path", CONTENT),
        ("fetch", "url", CONTENT),
        ("requests_get", "", CONTENT),
        ("get_issue", "url", CONTENT),
        ("list_files", "path", None),
        ("search_contacts", "name", None),
        ("send_money", "recipient", CONTENT),
    ],
)
def test_free_text_is_content_and_so_is_what_comes_of_acting(
    tool: str, names: str, result: str | None
) -> None:
    assert draft(tool, schema(names)).result == result


def test_what_a_tool_says_of_itself_only_makes_it_stricter() -> None:
    assert draft("get_status", {}, "Sends the status to everybody.").effect == "outward"
    assert draft("create_note", {}, "Pays for a note.").effect == "irreversible"
    assert draft("send_email", {}, "Reads nothing.").effect == "outward"


def test_a_choice_of_verbs_counts_as_the_strictest_of_them() -> None:
    offered = {"properties": {"action": {"enum": ["list", "delete"]}, "id": {}}}
    assert draft("get_items", offered).effect == "irreversible"
    offered = {"properties": {"action": {"enum": ["list", "get"]}, "id": {}}}
    assert draft("get_items", offered).effect == "read"


def test_a_draft_says_why_and_where_it_is_in_doubt() -> None:
    sure = explained("send_email")
    assert (sure.because, sure.sure) == ("`send`", True)
    assert not explained("frobnicate").sure
    assert not explained("obliterate_list").sure
    assert explained("create_issue").because == "`create` issue"


def test_arguments_are_looked_for_a_little_way_down() -> None:
    deep: dict[str, object] = {"to": {}}
    for name in "abcd":
        deep = {name: {"properties": deep}}
    assert draft("send_email", {"properties": deep}).sinks == ()
    assert draft("send_email", {"properties": "to"}).sinks == ()
