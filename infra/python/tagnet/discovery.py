"""Lists the facts that given facts lack, in one call."""

from __future__ import annotations

import json
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
    force: bool = False,
    progress: binary.Progress | None = binary.print_progress,
    **flags: Any,
) -> pd.DataFrame:
    """Returns the facts that are most likely missing among the given ones, the surest first.

    Args:
        facts: a DataFrame of pandas or polars or an Arrow table with the columns head, relation and tail, or tuples of these.
        folder: keeps the workspace, for `tagnet.open`, `serve` or another call with the same facts; by default it is a temporary one.
            Another call with the same facts and the same `train` does not train again.
        train: False asks zero, the foundation model; True trains zero further on the facts; a dict has the flags of `train`
            instead: dict(minutes=2) or dict(epochs=4).
        relations: the relations of the facts that are wanted.
        most: how many facts, 10,000 by default.
        missing: the share of the graph's facts that probabilities presume to be missing, 0.05 by default.
        force: makes everything in the folder again, for other facts or another training than those of before.
        progress: as of `run`.
        flags: other flags of the command `discover`, such as threads=4 or explain=True.

    Returns:
        The columns of `Workspace.new_facts`. `probability` is that the fact is true, or missing where there are too few facts.

    Raises:
        ValueError: a column is missing, or a name has a tab, a line break or NUL.
        CommandError: the program's, as of `run`; also where the folder has other facts, without `force`.
    """
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="tagnet-") as temporary:
            return discover(
                facts, folder=temporary, train=train, relations=relations, most=most, missing=missing, progress=progress, **flags
            )
    shared: dict[str, Any] = {"workspace": folder, "force": force or None, "progress": progress}
    binary.preprocess(dataset=write_dataset(Path(folder) / "facts", facts), **shared)
    if train:
        _train(folder, {"from_": "zero"} if train is True else train, shared)
    elif "model" not in flags:
        flags["model"] = "zero"
    listed = binary.run("discover", relation=relations, most=most, missing=missing, **shared, **flags)
    return open(folder, flags.get("run", "main")).new_facts(listed.name)


def _train(folder: str | os.PathLike[str], flags: dict[str, Any], shared: dict[str, Any]) -> None:
    """Trains, unless the last call in the folder did with the same facts and flags: `minutes` may choose other settings now."""
    log, trained = Path(folder) / "discover.json", Path(folder) / "runs" / flags.get("run", "main") / "checkpoints" / "manifest.json"
    graph = json.loads((Path(folder) / "graph" / "manifest.json").read_text(encoding="utf-8"))["manifest_sha256"]
    call = json.dumps({"graph": graph, "train": {name: str(value) for name, value in sorted(flags.items())}})
    if shared["force"] or not (trained.exists() and log.exists() and log.read_text(encoding="utf-8") == call):
        binary.train(**{**shared, **flags})
        log.write_text(call, encoding="utf-8")
