"""The work on one fetched page: from an answer's bytes to its links and its record.

    work.py            all of it, in order; start here
    body_kinds.py      page, list of links, other document, or none
    header_fields.py   header fields that links and text depend on
    header_links.py    links of the header block
    encodings/         detection (charset.py) and conversion, as the Encoding Standard defines them
    html/              HTML to links: markup.py first, by compiled code or by elements.py
    documents/         links of other documents: feeds, sitemaps, PDF, Office, DASH, XML
    found_references.py references of a page's elements, with their kinds
    links.py           references to links
    addresses.py       a reference to a canonical URL, in the document's encoding, and their memory
    validators.py      ETag and Last-Modified for conditional requests

Pure and picklable on both sides: this runs wherever the page worker lives. Nothing a site sends
raises; what goes wrong becomes a note of the page.
"""
