"""One request to the console: access, cookies, forms, error pages.

`page` is a route, `access` checks each, `visit` holds one request, `refused_forms` shows a form
again. What a page shows is left to `manager.console.pages`.
"""
