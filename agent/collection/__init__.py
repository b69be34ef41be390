"""Collection: sealed segments go to the centre, while the crawl goes on beside it.

    orders     what is asked for (by the manager, or by the site), and how far each order is
    holdings   the sealed segments here, and what the centre said of each
    tus        one upload as the protocol has it; sending: a segment to its end, whatever happens
    carrying   an order to its end: which segments, when to try again
    serving    segments to be fetched, where the manager can reach this machine; announcing: where
    rate       how fast; retention: how long what the centre has stays here

It runs in a process of its own, so that hashing and sending never hold up a fetch.
Invariant: a segment is deleted only after the centre said that it keeps it.
"""
