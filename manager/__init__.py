"""The manager of a cooperative web crawler."""

import os
import sys

# Read when the first pydantic model is made: to look through all that is installed for plugins of
# pydantic takes as long as to make the models.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
# Where rich is installed too, httpx brings its own command line along: half of its import. So it
# finds what it finds where that is not.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
