"""Words of the console: states, roles, reasons and sentences, by language.

The catalogues lie in `manager/console/locale`; which language a page has is left to
`manager.console.language`.
"""
