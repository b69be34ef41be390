"""Releases as The Update Framework (TUF) describes them: what is signed by whom, and checked how.

`metadata` reads and judges signed files; `signed_metadata` makes them where the keys are. No I/O
here. Root and targets are signed by people, on machines that are not this one; snapshot and
timestamp by the signing process (`manager.signing`). See ADR 120.
"""
