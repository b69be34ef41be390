"""Settings of both programs: frozen groups of fields, read from a TOML file.

    fields   one setting: its value, unit, default, range, and the reason for them
    file     the file and `--set`: read, refused with a sentence, printed with all defaults
    renamed  old names that are still read
    merging  values written into a file that a person keeps
    secrets  values that must not stand in a command line
    texts    texts of a certain form that both programs take

Which settings there are, and what must fit together, is each program's own.
"""

from shared.settings.fields import Range, check_group, nearest, setting, shown
from shared.settings.file import COMMAND_LINE, Form
from shared.settings.renamed import Renamed
from shared.settings.secrets import refuse_password
from shared.settings.texts import check_network, name_server

__all__ = [
    "COMMAND_LINE",
    "Form",
    "Range",
    "Renamed",
    "check_group",
    "check_network",
    "name_server",
    "nearest",
    "refuse_password",
    "setting",
    "shown",
]
