"""English: nouns by what they are about, names of parameters by what they hold, and how work is handed on."""

from __future__ import annotations

from typing import Final

GROUPS: Final = {
    "mail": "email mail inbox e-mail gmail mailbox cc bcc attachment newsletter",
    "message": "message channel dm chat direct text sms whatsapp telegram discord tweet post thread comment "
    "inbox teams",
    "event": "event calendar appointment meeting agenda invitation participant reminder lunch dinner check-up schedule "
    "call session",
    "file": "file document doc drive folder directory docx xlsx pdf txt md csv notes note spreadsheet sheet report "
    "script code repository path attachment presentation",
    "money": "money spend spent cost owe paid amount transaction payment bill rent invoice iban bank transfer "
    "refund fund salary subscription standing balance price fee deposit wallet usd eur debt due cash dollar euro "
    "paypal venmo tax loan stock",
    "credential": "password passcode credential pin secret token key login 2fa mfa",
    "profile": "profile info information details address user account settings setting preference contact phone street "
    "city",
    "person": "user member person people team everyone employee colleague friend guest participant attendee access "
    "permission",
    "hotel": "hotel room accommodation lodging hostel stay apartment reservation booking trip",
    "table": "restaurant table reservation booking",
    "car": "car taxi rental vehicle ride reservation booking trip",
    "flight": "flight airline ticket seat plane reservation booking trip passenger baggage cabin",
    "web": "web page webpage website site url link http https www blog",
    "order": "order item product cart shipment delivery purchase exchange return",
    "task": "task todo issue ticket project job card board",
    "device": "device light lock door thermostat lamp camera robot tv car speaker garage alarm",
}
"""Words that are about the same kind of thing; one may belong to several."""

IMPLIED: Final = {
    "email": "mail",
    "mail": "mail",
    "pay": "money",
    "transfer": "money",
    "wire": "money",
    "refund": "money",
    "reimburse": "money",
    "repay": "money",
    "donate": "money",
    "buy": "money",
    "purchase": "money",
    "reschedule": "event",
    "message": "message",
    "dm": "message",
    "text": "message",
    "post": "message",
    "tweet": "message",
    "invite": "person",
    "remind": "event",
    "reply": "mail message",
    "forward": "mail message",
    "schedule": "event",
}
"""What a verb is about by itself."""

NARROW: Final = {
    "reserve": "book",
    "book": "book",
    "rent": "book",
    "order": "pay",
    "share": "share",
    "invite": "share",
    "grant": "share",
    "write": "create",
    "post": "send",
    "reply": "send",
    "buy": "pay",
    "purchase": "pay",
    "send": "send",
}
"""What a verb means in the name of a tool, where it is narrower than what people mean by it."""

TIME: Final = "date time day deadline start end when month year duration hour minute datetime timestamp week weekday"
CONTENT: Final = (
    "body subject content title description message text note comment summary caption reason review location html "
    "remark memo topic label tag query question thought keyword keywords snippet headline bio about instruction "
    "instructions data"
)
SECRET: Final = "password passcode passwd secret token credential pin otp apikey"
COMMAND: Final = "command cmd code script sql expression shell program bash"
TARGET: Final = (
    "recipient to cc bcc email mail address iban account user username channel url uri link website phone "
    "participant host domain member guest invitee attendee payee beneficiary receiver contact webhook endpoint "
    "owner collaborator person recepient server group wallet follower friend telephone fax"
)
AMOUNT: Final = "amount price quantity qty sum total limit count rate percentage budget fee"
OBJECT: Final = (
    "id ids file path name folder reservation order item event object resource key filename number no transaction "
    "device lock product flight ticket post tweet issue repository repo branch doc document"
)
IDENTIFYING: Final = "name title subject id ids path slug key filename"
"""Fields by which people name things."""

TO_WHOM: Final = (
    "recipient account user channel payee payment contact member guest group team beneficiary receiver wallet"
)
"""What an identifier is a destination of."""

SENSITIVE: Final = (
    r"passport|credit_?card|card_?num|cvv|cvc|ssn|social_?sec|password|passcode|secret|api_?key|private_?key|token"
    r"|security_?code|verification_?code|pin_?code|date_?of_?birth|id_?number|license_?num"
)
"""Fields that are not told to anybody unless the user names them."""

OPEN: Final = (
    r"\b(?:do|perform|execute|follow|complete|carry out|handle|take care of|finish|work through|act on|implement)\b"
    r"(?:(?!following|in the order)[^.]){0,40}?"
    r"\b(?:actions?|tasks?|instructions?|to-?dos?|steps|requests?|items)\b(?!\s+in the order)"
    r"(?:[^.]{0,60}\b(?:in|from|on|at|specified|described|listed|mentioned|email|file|message|page|note)\b"
    r"|\s+(?:precisely|exactly|carefully|there|therein))"
)
"""A user who hands over what is to be done to a text."""

POINTER: Final = (
    r"\b(?:details?|instructions?|specifics|particulars|requirements)\b[^.]{0,25}\b(?:in|on|at|from)\b"
    r"|\b(?:as|like) (?:described|specified|explained|requested|instructed|stated|written) (?:in|on|at|by)\b"
)
"""A user who says where the details of a request stand."""

NEUTRAL: Final = "think finish done plan wait sleep noop terminate complete"
TO_THE_USER: Final = "message user to send ask respond notify final answer reply say chat"
TO_A_PERSON: Final = "human humans operator"
ANSWERING: Final = "ask respond answer reply"
ADDRESSES: Final = "url uri link host endpoint website domain"
