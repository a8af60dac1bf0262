"""Answering from elsewhere: the page of a ticket, and the buttons of a chat."""
