"""Operators' keys: the public half, which everyone may read, and the file of the private one."""

from stanchion.approvals.errors import OperatorKeyError
from stanchion.approvals.key_file import KeyFile, Place
from stanchion.approvals.key_making import make_key_file
from stanchion.approvals.public_key import PublicKey, public_of, verify

__all__ = ["KeyFile", "OperatorKeyError", "Place", "PublicKey", "make_key_file", "public_of", "verify"]
