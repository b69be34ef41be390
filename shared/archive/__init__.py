"""The archive format: WARC segments and the source's classic lists.

    capture.py   one fetched page, as data
    encode.py    capture -> bytes (pure, runs in worker processes)
    segment.py   one growing file; writer.py names and rotates them
    reader.py    segment -> captures; verify.py and recover.py judge and mend
    cdxj.py      the index beside a segment, surt_key.py its key
    sums.py      html/sumh/suml/host:port
    classic.py   extserver.list, transferredurl.list, transferredurldate.list

Invariant: nothing here starts, fetches or schedules. Files are handled, networks are not.
docs/archive.md says what is stored where.
"""
