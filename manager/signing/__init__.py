"""The signing process: it alone holds the snapshot and timestamp keys, and knows only how to sign.

It has no database and no network: one Unix socket, one kind of question (`protocol`). It keeps its
own copy of root and targets and signs nothing that these do not cover, so a manager that was broken
into can neither read the keys nor have a release signed that people did not sign. See ADR 121.
"""
