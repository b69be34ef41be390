"""Collection: sealed segments go to the centre, while the crawl continues beside it.

    orders          orders of the manager or of the site, and the progress of each
    segment_records the sealed segments here, and the centre's answer on each
    tus             one upload by the protocol; segment_upload: a segment to its end
    segment_delivery  the segments of one order, to the centre's verdict, and their journal
    carrier         which order is due, when to try again, reports to the manager
    segment_server  segments to be fetched, where the manager can reach this machine; announcement:
                    its address
    allowance       rate and hours; retention: how long segments that the centre has stay here

It runs in a separate process, so that hashing and sending never hold up a fetch.
Invariant: a segment is deleted only after the centre said that it keeps it.
"""
