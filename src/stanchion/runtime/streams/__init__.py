"""Streams: replies in pieces, judged before anybody reads them."""
