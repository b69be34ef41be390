"""The public archive: files, selections and changes for third parties.

Lists what may be downloaded, makes selections as zip or WARC, records downloads. The files behind
it are left to `segments`, the HTTP side to `manager.distribution`.
"""
