"""Request contract: an address takes the parameters, methods and bodies of its OpenAPI, no others.

strict.py      refuses unknown and repeated parameters, loose values, bodies of another form
methods.py     `Allow`, HEAD and OPTIONS of every address
openapi.py     the document: every status that an operation can answer, its keys, its errors

A request that says more than an operation understands gets no answer to less: `updated-since`
once returned all captures, because the parameter is `updated_since`.
"""

from manager.app.web.contract.methods import Methods
from manager.app.web.contract.openapi import documented
from manager.app.web.contract.request_validation import strict

__all__ = ["Methods", "documented", "strict"]
