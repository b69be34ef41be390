"""WARC segments: collection, uploads, storage, integrity and trash.

Orders segments from agents, takes them in, checks and repairs files, moves unnamed files to the
trash, takes withdrawn hosts down. What third parties see of them is left to `archive`.
"""
