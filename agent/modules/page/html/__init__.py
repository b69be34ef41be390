"""HTML to links: elements, forms, styles, scripts and embedded JSON.

The compiled reader is `shared/native`; addresses are resolved by `agent.modules.page.addresses`.
"""
