"""Starts tagnet, which completes knowledge graphs, opens what it writes as tables, and asks its server.

    import tagnet

    tagnet.discover(pd.read_csv("facts.csv"))  # the facts that it lacks, the surest first

    tagnet.preprocess(workspace="mine", dataset="facts.csv", header="yes")
    asked = tagnet.ask(workspace="mine", relation="aunt_or_uncle_of")
    tagnet.open("mine").answers(asked.name)

No computation is done here: all of it is the program's.
"""

from .binary import (
    BinaryNotFoundError,
    CommandError,
    Outcome,
    Server,
    ask,
    find_binary,
    preprocess,
    run,
    score,
    serve,
    train,
)
from .client import Client, ServeError
from .convert import from_networkx, from_pykeen, to_networkx, to_pykeen, write_dataset
from .discovery import discover
from .workspace import NotCompleteError, Workspace, open

__all__ = [
    "BinaryNotFoundError",
    "Client",
    "CommandError",
    "NotCompleteError",
    "Outcome",
    "ServeError",
    "Server",
    "Workspace",
    "ask",
    "discover",
    "find_binary",
    "from_networkx",
    "from_pykeen",
    "open",
    "preprocess",
    "run",
    "score",
    "serve",
    "to_networkx",
    "to_pykeen",
    "train",
    "write_dataset",
]
