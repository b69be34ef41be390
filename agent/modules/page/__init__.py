"""The work on one fetched page: from an answer's bytes to its links and its record.

    work.py          all of it, in order: start here
    kinds.py         page, list of links, or neither; listed.py and xml_lists.py read lists
    charset.py       which encoding the text has; labels.py knows its names, charset_guess.py
                     guesses by common_characters.py and chardetng where nobody names it
    encodings/       bytes to text and text to bytes, as the Encoding Standard does
    markup.py        HTML to what leads on: by compiled code, or by elements.py (a tree) and
                     further_elements.py (tags alone); tags.py where the parser fails
    limits.py        what one page may cost
    links.py         elements to links; srcset.py, refresh.py, fields.py read their small languages
    further_links.py further elements to links: style_sheets.py, script_strings.py,
                     json_addresses.py, references.py read theirs
    form_reader.py   controls of forms; form_controls.py has their values, form_submission.py where
                     a form leads, form_query.py writes it
    documents.py     style sheets, scripts, drawings, manifests; xml_documents.py, xml_tags.py,
                     xml_parser.py, dash.py, pdf.py, office.py, cpu_budget.py
    robots_tags.py   `nofollow` and `noindex`
    addresses.py     a reference to a canonical URL, in the document's encoding; folders.py
                     remembers those of earlier pages

Pure and picklable on both sides: this runs wherever the page worker lives. Nothing a site sends
raises; what goes wrong becomes a note of the page.
"""
