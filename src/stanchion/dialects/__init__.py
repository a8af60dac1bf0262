"""The words of the five documents that Stanchion joins, each translated into Stanchion's own and
back.

A dialect has the names, the configuration and the defaults of its document, and neither an engine
nor a state of its
own: what it is told becomes a policy and events, what Stanchion decides is said in the dialect's
words.
"""
