"""Converts facts from and to PyKEEN's TriplesFactory and networkx's MultiDiGraph, and writes them as a dataset."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .workspace import Workspace, splits

if TYPE_CHECKING:
    import os

    import networkx as nx
    from pykeen.triples import TriplesFactory

COLUMNS = ["head", "relation", "tail"]
SCHEMA = pa.schema([(column, pa.string()) for column in COLUMNS])
Facts = Any
"""A DataFrame of pandas or polars or an Arrow table with the columns head, relation and tail, or tuples of these three names."""


def write_dataset(folder: str | os.PathLike[str], train: Facts, valid: Facts = None, test: Facts = None) -> Path:
    """Writes facts to train.parquet, valid.parquet and test.parquet, which preprocess(dataset=folder) reads.

    Args:
        folder: where to write; files of these names are overwritten.
        train: the training facts: a DataFrame of pandas or polars or an Arrow table with the columns head, relation and tail, or tuples.
        valid: the validation facts; without them there is no file, and one of before is removed.
        test: the same of the test facts.

    Returns:
        The folder.

    Raises:
        ValueError: a column is missing, or a name has a tab, a line break or NUL, which no name of tagnet may have.
    """
    tables = {name: _table(facts) for name, facts in {"train": train, "valid": valid, "test": test}.items()}
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        path = folder / f"{name}.parquet"
        if table is None:
            path.unlink(missing_ok=True)
        else:
            pq.write_table(table, path)
    return folder


def _table(facts: Facts) -> pa.Table | None:
    if facts is None:
        return None
    names = getattr(facts, "column_names", getattr(facts, "columns", COLUMNS))
    if not set(COLUMNS) <= set(names):
        raise ValueError(f"the columns are {', '.join(map(str, names))}: rename three of them to head, relation and tail")
    if isinstance(facts, pa.Table):
        table = facts.select(COLUMNS)
    elif isinstance(facts, pd.DataFrame):
        table = pa.Table.from_pandas(facts[COLUMNS], preserve_index=False)
    elif hasattr(facts, "to_arrow"):  # of polars
        table = facts[COLUMNS].to_arrow()
    else:
        table = pa.Table.from_pylist([{"head": head, "relation": relation, "tail": tail} for head, relation, tail in facts], SCHEMA)
    table = table.cast(SCHEMA)
    for column in COLUMNS:
        refused = table.filter(pc.match_substring_regex(table[column], "[\\t\\n\\r\\x00]"))[column]
        if len(refused):
            raise ValueError(
                f"the {column} {refused[0].as_py()!r} has a tab, a line break or NUL: replace it, since a name is one line of text"
            )
    return table


def _frame(triples: Iterable[tuple[Any, Any, Any]]) -> pd.DataFrame:
    return pd.DataFrame([tuple(map(str, triple)) for triple in triples], columns=COLUMNS)


def from_networkx(graph: nx.MultiDiGraph | nx.DiGraph, attribute: str | None = None) -> pd.DataFrame:
    """Returns the facts of a directed graph: an edge from head to tail each.

    Args:
        graph: its nodes are entities; a node that is no string counts as its str().
        attribute: the edges' attribute that has the relation; by default the relation is the key of a MultiDiGraph's edge.
    """
    if not graph.is_directed():
        raise ValueError("the graph is not directed, but a fact has a head and a tail: use a MultiDiGraph")
    if attribute is None and not graph.is_multigraph():
        raise ValueError("edges of a DiGraph have no keys: name the attribute that has their relation")
    if attribute is None:
        return _frame((head, key, tail) for head, tail, key in graph.edges(keys=True))
    edges = list(graph.edges(data=True))
    for head, tail, data in edges:
        if attribute not in data:
            raise ValueError(f"the edge from {head!r} to {tail!r} has no attribute {attribute!r}, but {sorted(data)}")
    return _frame((head, data[attribute], tail) for head, tail, data in edges)


def to_networkx(workspace: Workspace[Any], split: str = "all") -> nx.MultiDiGraph:
    """Returns the facts of all splits, or of one, as a graph with all entities of the splits' graphs; the relation is an edge's key."""
    import networkx as nx

    facts, entities = _read(workspace, split)
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(entities)
    graph.add_edges_from((head, tail, relation) for head, relation, tail in facts)
    return graph


def from_pykeen(factory: TriplesFactory) -> pd.DataFrame:
    """Returns the facts of a TriplesFactory, without the inverse triples that PyKEEN makes of them."""
    entities, relations = factory.entity_id_to_label, factory.relation_id_to_label
    return _frame((entities[h], relations[r], entities[t]) for h, r, t in factory.mapped_triples.tolist())


def to_pykeen(workspace: Workspace[Any], split: str = "train", create_inverse_triples: bool = False) -> TriplesFactory:
    """Returns the facts of a split, by default those of training alone, as a TriplesFactory with the ids of the workspace."""
    import numpy as np
    from pykeen.triples import TriplesFactory

    facts, entities = _read(workspace, split)
    relations = workspace._names("relations", "train").to_pylist()
    return TriplesFactory.from_labeled_triples(
        np.array(facts, dtype=str).reshape(-1, 3),
        create_inverse_triples=create_inverse_triples,
        entity_to_id={name: number for number, name in enumerate(entities)},
        relation_to_id={name: number for number, name in enumerate(relations)},
        filter_out_candidate_inverse_relations=False,  # a relation that is called x_inverse is one of the dataset's
    )


def _read(workspace: Workspace[Any], split: str) -> tuple[list[tuple[str, str, str]], list[str]]:
    """Returns the facts of a split, or of all, and all entities of their graphs, each once."""
    facts = Workspace(workspace.path, workspace.run, arrow=True).facts(split)  # type: ignore[arg-type]
    graphs = dict.fromkeys(workspace._graph_of(part) for part in splits(split))
    entities = dict.fromkeys(name for graph in graphs for name in workspace._names("entities", graph).to_pylist())
    return list(zip(*(facts[column].to_pylist() for column in COLUMNS))), list(entities)
