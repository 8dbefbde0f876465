"""Lists the facts that given facts lack, in one call."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import binary
from .convert import Facts, write_dataset
from .workspace import open

if TYPE_CHECKING:
    import os

    import pandas as pd


def discover(
    facts: Facts,
    *,
    folder: str | os.PathLike[str] | None = None,
    train: bool | dict[str, Any] = False,
    relations: str | list[str] = "all",
    most: int | None = None,
    missing: float | None = None,
    progress: binary.Progress | None = binary.print_progress,
    **flags: Any,
) -> pd.DataFrame:
    """Returns the facts that are most likely missing among the given ones, the surest first.

    Args:
        facts: a DataFrame of pandas or polars or an Arrow table with the columns head, relation and tail, or tuples of these.
        folder: keeps the workspace, for `tagnet.open`, `serve` or another call with the same facts; by default it is a temporary one.
        train: False asks zero, the foundation model; True trains zero further on the facts; a dict has the flags of `train`
            instead: dict(preset="small") or dict(epochs=4).
        relations: the relations of the facts that are wanted.
        most: how many facts, 10,000 by default.
        missing: the share of the graph's facts that probabilities presume to be missing, 0.05 by default.
        progress: as of `run`.
        flags: other flags of the command `discover`, such as threads=4 or explain=True.

    Returns:
        The columns of `Workspace.new_facts`. `probability` is that the fact is true, or missing where there are too few facts.

    Raises:
        ValueError: a column is missing, or a name has a tab, a line break or NUL.
        CommandError: the program's, as of `run`.
    """
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="tagnet-") as temporary:
            return discover(
                facts, folder=temporary, train=train, relations=relations, most=most, missing=missing, progress=progress, **flags
            )
    binary.preprocess(workspace=folder, dataset=write_dataset(Path(folder) / "facts", facts), progress=progress)
    if train:
        binary.train(workspace=folder, progress=progress, **({"from_": "zero"} if train is True else train))
    elif "model" not in flags:
        flags["model"] = "zero"
    listed = binary.run("discover", workspace=folder, relation=relations, most=most, missing=missing, progress=progress, **flags)
    return open(folder).new_facts(listed.name)
