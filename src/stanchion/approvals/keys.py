"""Operators' keys: the public half, which everyone may read, and the file of the private one."""

from stanchion.approvals.errors import OperatorKeyError
from stanchion.approvals.key_file import KeyFile, KeyOwner
from stanchion.approvals.new_key import make_key_file
from stanchion.approvals.public_key import PublicKey, public_of, verify

__all__ = [
    "KeyFile",
    "KeyOwner",
    "OperatorKeyError",
    "PublicKey",
    "make_key_file",
    "public_of",
    "verify",
]
