"""Opens the tables of a workspace, with names instead of ids."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from . import binary

if TYPE_CHECKING:
    import os

    import pandas as pd

Table = TypeVar("Table", "pd.DataFrame", pa.Table)


SPLITS = ["train", "valid", "test"]
TRIPLE = ["head", "relation", "tail"]


def splits(named: str) -> list[str]:
    """Returns the split of a name, or all of them."""
    if named not in ["all", *SPLITS]:
        raise ValueError(f"there is no split {named!r}, but all, {', '.join(SPLITS)}")
    return SPLITS if named == "all" else [named]


class NotCompleteError(FileNotFoundError):
    """A workspace that lacks what was asked for; the message names the command that makes it."""


@overload
def open(path: str | os.PathLike[str], run: str = "main", *, arrow: Literal[False] = False) -> Workspace[pd.DataFrame]: ...
@overload
def open(path: str | os.PathLike[str], run: str = "main", *, arrow: Literal[True]) -> Workspace[pa.Table]: ...
def open(path: str | os.PathLike[str], run: str = "main", *, arrow: bool = False) -> Workspace[Any]:
    """Opens a workspace: a local folder that `tagnet preprocess` made.

    Args:
        path: the folder.
        run: which of the models below its folder runs/.
        arrow: whether tables are of pyarrow instead of pandas.

    Returns:
        A workspace. It reads a file when a method needs it, and keeps nothing.

    Raises:
        NotCompleteError: the folder has no graph.
    """
    return Workspace(path, run, arrow)


class Workspace(Generic[Table]):
    """The tables of a workspace and of one of its models; the columns are those of tagnet's formats/README.md.

    All names are those of the dataset. A number of hops is -1 where no path leads. A file is read if the manifest of its
    folder says that it is complete; a method whose file is missing raises a NotCompleteError.
    """

    def __init__(self, path: str | os.PathLike[str], run: str, arrow: bool) -> None:
        if "://" in str(path):
            raise ValueError(f"{path} is no local folder: copy it first, or mount it")
        self.path, self.run = Path(path), run
        self._arrow = arrow
        self._complete(self.path / "graph", "preprocess")

    def __repr__(self) -> str:
        return f"tagnet.open({str(self.path)!r}, run={self.run!r}{', arrow=True' if self._arrow else ''})"

    # The graph.

    def summary(self) -> dict[str, Any]:
        """Returns the sizes of the graph, what was read and what was left out."""
        return _json(self.path / "graph" / "summary.json")

    def entities(self, graph: Literal["train", "inference"] = "train") -> Table:
        """Returns the column `name` of all entities of the training or the inference graph; the row is the id."""
        return self._give(_ipc(self._graph_file("entities", graph)))

    def relations(self) -> Table:
        """Returns the column `name` of all relations; the row is the id."""
        return self._give(_ipc(self._graph_file("relations", "train")))

    def types(self, graph: Literal["train", "inference"] = "train") -> Table:
        """Returns the columns `entity` and `type`, if the dataset gives types."""
        path = self._graph_file("types", graph)
        if not path.exists():
            raise NotCompleteError(f"{path} does not exist: preprocess with types=FILE, or with type_relation=NAME")
        table = _ipc(path)
        entities = self._names("entities", graph)
        return self._give(pa.table({"entity": entities.take(table["entity"]), "type": table["type"]}))

    def facts(self, split: Literal["all", "train", "valid", "test"] = "all") -> Table:
        """Returns the columns `head`, `relation` and `tail` of the facts of all splits, or of one."""
        tables = []
        for part in splits(split):
            table = _ipc(self._graph_file(f"queries-{part}", "train"))
            table = table.filter(pc.less(table["relation"], len(self._names("relations", "train"))))  # without the inverse queries
            tables.append(self._triples(table["source"], table["relation"], table["answer"], self._graph_of(part)))
        return self._give(pa.concat_tables(tables))

    def graph(self, graph: Literal["train", "inference"] = "train") -> Table:
        """Returns the same columns of all facts of a graph: those of the model's propagation, with background facts."""
        shards = sorted((self.path / "graph").glob("edges-*.arrow" if graph == "train" else "inference-edges-*.arrow"))
        if not shards:
            raise NotCompleteError(f"{self.path} has no inference graph: preprocess with inference=FOLDER")
        table = pa.concat_tables(_ipc(shard) for shard in shards)
        table = table.filter(pc.less(table["relation"], len(self._names("relations", "train"))))  # without the inverses
        return self._give(self._triples(table["head"], table["relation"], table["tail"], graph))

    def distances(self, source: str, split: Literal["train", "valid", "test"] = "test") -> Table:
        """Returns the columns `entity` and `hops` for the source of a query of the split, which `tagnet distances` wrote."""
        folder = self._complete(self.path / "distances" / split, "distances", f", split={split!r}")
        entities = self._names("entities", self._graph_of(split))
        number = pc.index(entities, source).as_py()
        if number < 0:
            raise KeyError(f"unknown entity {source!r}")
        for shard in sorted(folder.glob("distances-*.arrow")):
            table = _ipc(shard)
            row = pc.index(table["source"], pa.scalar(number, pa.int32())).as_py()
            if row >= 0:
                packed = np.frombuffer(table["distances"][row].as_py(), np.uint8)
                hops = np.stack([packed & 15, packed >> 4], axis=1).ravel()[: len(entities)].astype(np.int32)
                hops[hops == 15] = -1
                return self._give(pa.table({"entity": entities, "hops": hops}))
        raise KeyError(f"{source!r} is the source of no {split} query")

    def distance_distribution(self, split: Literal["train", "valid", "test"] = "test") -> dict[str, int]:
        """Returns the number of queries by hops from source to answer."""
        folder = self._complete(self.path / "distances" / split, "distances", f", split={split!r}")
        return _json(folder / "distribution.json")["by_distance"]

    # The models.

    def runs(self) -> Table:
        """Returns a row for each run: its epochs, the best one and its validation MRR (null without a training)."""
        rows = []
        for folder in sorted(path for path in (self.path / "runs").glob("*") if path.is_dir()):
            epochs = _json_lines(folder / "training.jsonl")
            best = folder / "checkpoints" / "best"
            name = best.read_text().strip() if best.exists() else None
            record = _json(folder / "checkpoints" / f"{name}.json") if name else {}
            mrr = record["valid"]["pessimistic"]["mrr"] if record.get("valid") else None
            rows.append({"run": folder.name, "epochs": len(epochs), "best": name, "valid_mrr": mrr})
        schema = {"run": pa.string(), "epochs": pa.int64(), "best": pa.string(), "valid_mrr": pa.float64()}
        return self._give(pa.Table.from_pylist(rows, schema=pa.schema(schema)))

    def training(self) -> Table:
        """Returns a row for each epoch: its loss, learning rate and seconds, and `valid_mrr`, `valid_hits@1` and so on."""
        path = self._run / "training.jsonl"
        if not path.exists():
            raise NotCompleteError(f"{path} does not exist: {_call('train', self.path, self.run)}; {self._others()}")
        rows = []
        for line in _json_lines(path):
            valid = (line.pop("valid", None) or {}).get("pessimistic", {})
            row = {key: value for key, value in line.items() if not isinstance(value, list)}
            rows.append({**row, **{f"valid_{key}": float(value) for key, value in valid.items()}})
        columns = list(dict.fromkeys(key for row in rows for key in row))  # an epoch may have no validation
        return self._give(pa.table({key: [row.get(key) for row in rows] for key in columns}))

    def checkpoint(self, name: str = "best") -> dict[str, Any]:
        """Returns the record of a checkpoint, such as "epoch-003": its hyperparameters, loss and validation metrics."""
        folder = self._run / "checkpoints"
        if name == "best" and (folder / "best").exists():
            name = (folder / "best").read_text().strip()
        if not (folder / f"{name}.json").exists():
            raise NotCompleteError(f"{folder} has no checkpoint {name}: {_call('train', self.path, self.run)}")
        return _json(folder / f"{name}.json")

    # What score, ask and discover wrote.

    def results(self) -> list[str]:
        """Returns the folders of results: "evaluation/test", "answers/queries", "facts/all" and the like."""
        there = (path.parent for kind in ("answers", "evaluation", "facts") for path in (self._run / kind).glob("*/manifest.json"))
        return sorted(path.relative_to(self._run).as_posix() for path in there)

    def metrics(self, split: str = "test") -> dict[str, Any]:
        """Returns the metrics of a split; `["pessimistic"]["mrr"]` is the paper's MRR."""
        return _json(self._file("score", "evaluation", split, "metrics.json"))

    def metrics_by(self, what: Literal["relation", "direction", "distance", "links"], split: str = "test") -> Table:
        """Returns the metrics (pessimistic ranks) of each relation, direction, distance from source to answer, or class of links."""
        rows = []
        for key, part in self.metrics(split)[f"by_{what}"].items():
            numbers = {name: float(value) for name, value in part["pessimistic"].items()}
            rows.append({what: key, "queries": part["queries"], **numbers})
        return self._give(pa.Table.from_pylist(rows))

    def rankings(self, split: str = "test") -> Table:
        """Returns a row for each query of a split: the rank of its answer."""
        return self._give(pq.read_table(self._file("score", "evaluation", split, "rankings")))

    def predictions(self, split: str = "test") -> Table:
        """Returns the best answers to each query of a split."""
        return self._give(pq.read_table(self._file("score", "evaluation", split, "predictions")))

    def answers(self, name: str = "queries") -> Table:
        """Returns the best answers to each of your own queries."""
        return self._give(pq.read_table(self._file("ask", "answers", name, "answers")))

    def new_facts(self, name: str = "all") -> Table:
        """Returns a list of new facts, the most probable first."""
        return self._give(pq.read_table(self._file("discover", "facts", name, "facts")))

    def triples(self, name: str = "triples") -> Table:
        """Returns the scores of given triples, or with the name "pairs" of the relations of pairs."""
        return self._give(pq.read_table(self._file("ask", "answers", name, "triples")))

    def explanations(self, name: str = "queries", of: Literal["answers", "facts"] = "answers") -> Table:
        """Returns the reasons of each answer, or of each fact of a list: rules of the graph, or the paths that the model read."""
        return self._give(pq.read_table(self._file("ask" if of == "answers" else "discover", of, name, "explanations")))

    def match(
        self,
        pattern: str,
        answer: str | None = None,
        *,
        top_k: int = 10,
        stated: bool = False,
        progress: binary.Progress | None = None,
        **flags: Any,
    ) -> Table:
        """Returns the best answers to a query of several steps, over stated and missing facts, which `tagnet ask` finds.

        Args:
            pattern: atoms, relation(term, term), between commas, `not` before a negated one; a term is a name or ?variable.
            answer: the variable that is sought, by default the first one.
            top_k: the most answers by known facts alone, and of others.
            stated: take stated facts alone.
            progress: as of `run`.
            flags: others of `tagnet ask`, such as bindings or model.

        Raises:
            CommandError: the program's, as of `run`.
        """
        run = None if self.run == "main" else self.run  # main without a training: zero answers
        flags = {"workspace": self.path, "run": run, "pattern": pattern, "answer": answer, "top_k": top_k, **flags}
        binary.run("ask", progress=progress, **flags, stated=stated or None)
        return self._give(pq.read_table(self._file("ask", "answers", flags.get("output") or "patterns", "matches")))

    def messages(self, split: str = "test") -> Table:
        """Returns the numbers of messages of propagation that `tagnet messages` counted, by source and layer."""
        folder = self._complete(self._run / "messages" / split, "messages", f", split={split!r}")
        return self._give(pq.read_table(folder / "messages"))

    # What people said of facts.

    def verdicts(self) -> Table:
        """Returns the facts that people judged: `head`, `relation`, `tail`, `verdict` (True or False), `time` and `who`.

        The last verdict on a fact counts, and facts whose verdict was undone are left out. Without a verdict the table is empty.
        """
        path, said = self.path / "verdicts.tsv", {}
        text = path.read_text(encoding="utf-8-sig") if path.exists() else ""
        columns = [*TRIPLE, "verdict", "time", "who"]
        for number, line in enumerate(text.split("\n")):
            fields = [_field(field) for field in line.rstrip("\r").split("\t")]
            names = [field.strip().lower() for field in fields]
            if number == 0 and set(TRIPLE) <= set(names):
                columns = names
                continue
            row = dict(zip(columns, fields))
            verdict = _verdict(row.get("verdict", ""))
            if not verdict:
                continue
            fact = tuple(row[column] for column in TRIPLE)
            said.pop(fact, None)
            if verdict != "undo":
                said[fact] = {**row, "verdict": verdict == "true"}
        schema = pa.schema(
            [*((column, pa.string()) for column in TRIPLE), ("verdict", pa.bool_()), ("time", pa.string()), ("who", pa.string())]
        )
        return self._give(pa.Table.from_pylist([{name: row.get(name, "") for name in schema.names} for row in said.values()], schema))

    def judge(
        self,
        head: Any,
        relation: str | None = None,
        tail: str | None = None,
        verdict: bool | str | None = None,
        *,
        who: str | None = None,
        progress: binary.Progress | None = None,
    ) -> binary.Outcome:
        """Says whether facts are true: such facts are no new ones any more, and verdicts tell how many facts are missing.

        Args:
            head: the head of one fact; or a table with the columns head, relation, tail and verdict, such as a list of `new_facts`
                to which the column was added. Its rows without a verdict are left out.
            relation: the relation of one fact.
            tail: its tail.
            verdict: True, False, or "undo", which takes back what was said before.
            who: the name that is kept with the verdicts.
            progress: as of `run`.

        Raises:
            ValueError: a column is missing, a verdict is none of these, or a name has a tab, a line break or NUL.
            CommandError: the program's, as of `run`; then no verdict is kept.
        """
        columns, rows = [*TRIPLE, "verdict"], [(head, relation, tail, verdict)]
        if not isinstance(head, str):
            there = list(getattr(head, "column_names", getattr(head, "columns", [])))
            if not set(columns) <= set(there):
                raise ValueError(f"the columns are {', '.join(map(str, there))}: judge needs {', '.join(columns)}")
            rows = list(zip(*(head[column].to_pylist() if isinstance(head, pa.Table) else head[column] for column in columns)))
        lines = [columns, *([*map(_written, fact), said] for *fact, value in rows if (said := _verdict(value)))]
        if len(lines) == 1:
            raise ValueError("no fact has a verdict")
        with tempfile.TemporaryDirectory(prefix="tagnet-") as folder:
            file = Path(folder) / "judged.tsv"
            file.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8", newline="\n")
            return binary.run("review", workspace=self.path, file=file, who=who, progress=progress)

    # How they are read.

    @property
    def _run(self) -> Path:
        return self.path / "runs" / self.run

    def _give(self, table: pa.Table) -> Table:
        return table if self._arrow else table.to_pandas()

    def _complete(self, folder: Path, command: str, more: str = "") -> Path:
        if not (folder / "manifest.json").exists():
            run = self.run if command == "messages" else None
            raise NotCompleteError(f"{folder} is not complete: {_call(command, self.path, run, more)}")
        return folder

    def _file(self, command: str, kind: str, name: str, file: str) -> Path:
        """Returns the path of a file of results, which a command writes."""
        path = self._run / kind / name / file
        if not (path.parent / "manifest.json").exists():
            there = ", ".join(self.results()) or "none"
            raise NotCompleteError(
                f"{path.parent} is not complete: {_call(command, self.path, self.run, ', ...')}; "
                f"results of this run: {there}; {self._others()}"
            )
        if not path.exists():
            files = ", ".join(sorted(p.name for p in path.parent.iterdir() if p.name != "manifest.json"))
            raise NotCompleteError(f"{path} does not exist: that folder has {files}")
        return path

    def _others(self) -> str:
        names = sorted(path.name for path in (self.path / "runs").glob("*") if path.is_dir())
        return f"runs that exist: {', '.join(names) or 'none'}"

    def _graph_file(self, name: str, graph: str) -> Path:
        path = self.path / "graph" / (f"{name}.arrow" if graph == "train" else f"inference-{name}.arrow")
        if graph != "train" and not (self.path / "graph" / "inference-entities.arrow").exists():
            raise NotCompleteError(f"{self.path} has no inference graph: preprocess with inference=FOLDER")
        return path

    def _graph_of(self, split: str) -> Literal["train", "inference"]:
        """Returns the graph whose entities the queries of a split have."""
        if not (self.path / "graph" / "inference-entities.arrow").exists():
            return "train"
        on_inference = split == "test" or (split == "valid" and self.summary().get("valid_on_inference"))
        return "inference" if on_inference else "train"

    def _names(self, name: str, graph: str) -> pa.Array:
        return _ipc(self._graph_file(name, graph))["name"].combine_chunks()

    def _triples(self, head: pa.ChunkedArray, relation: pa.ChunkedArray, tail: pa.ChunkedArray, graph: str) -> pa.Table:
        entities, relations = self._names("entities", graph), self._names("relations", "train")
        return pa.table({"head": entities.take(head), "relation": relations.take(relation), "tail": entities.take(tail)})


def _call(command: str, path: Path, run: str | None, more: str = "") -> str:
    """Returns the call that makes what is missing."""
    named = f", run={run!r}" if run not in (None, "main") else ""
    if command in ("preprocess", "train", "score", "ask"):
        return f"tagnet.{command}(workspace={str(path)!r}{named}{more}) makes it"
    return f"tagnet.run({command!r}, workspace={str(path)!r}{named}{more}) makes it"


def _verdict(value: Any) -> str:
    """Returns a verdict as text, "" for none: a table has NaN or None where nobody judged."""
    said = str(value).strip().lower()
    if said in ("", "none", "nan", "<na>"):
        return ""
    if said not in ("true", "false", "undo"):
        raise ValueError(f"the verdict is {value!r}: want True, False or 'undo'")
    return said


def _written(name: Any) -> str:
    """Returns a name as a field of tab-separated text."""
    text = str(name)
    if any(mark in text for mark in "\t\n\r\0"):
        raise ValueError(f"the name {text!r} has a tab, a line break or NUL")
    return json.dumps(text, ensure_ascii=False) if text.startswith('"') else text


def _field(text: str) -> str:
    """Returns the name that a field of tab-separated text has."""
    try:
        name = json.loads(text) if text.startswith('"') else text
    except ValueError:
        return text
    return name if isinstance(name, str) else text


def _ipc(path: Path) -> pa.Table:
    try:
        with pa.OSFile(str(path)) as file:
            return pa.ipc.open_file(file).read_all()
    except pa.ArrowInvalid as error:
        raise ValueError(f"reading {path}: {error}") from error


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _json_lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
