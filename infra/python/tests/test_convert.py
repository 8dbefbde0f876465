"""Facts of networkx and PyKEEN become a workspace, and come back."""

import sys
import types

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import tagnet

FACTS = [("Ada", "knows", "Bo"), ("Bo", "knows", "Cy"), ("Cy", "likes", "Ada"), ("Ada", "likes", "Bo"), ("Bo", "x_inverse", "Ada")]


def workspace(folder, facts):
    tagnet.preprocess(workspace=folder / "ws", dataset=tagnet.write_dataset(folder / "data", facts), progress=None)
    return tagnet.open(folder / "ws")


def test_networkx_and_back(tmp_path):
    graph = nx.MultiDiGraph([(h, t, r) for h, r, t in FACTS])
    facts = tagnet.from_networkx(graph)
    assert sorted(map(tuple, facts.values)) == sorted(FACTS)
    again = tagnet.to_networkx(workspace(tmp_path, facts))
    assert nx.utils.graphs_equal(again, graph)
    assert set(again.edges(keys=True)) == set(graph.edges(keys=True))


def test_networkx_attributes():
    graph = nx.DiGraph()
    graph.add_edge(1, 2, relation="knows")
    assert tagnet.from_networkx(graph, "relation").values.tolist() == [["1", "knows", "2"]]
    with pytest.raises(ValueError, match="name the attribute"):
        tagnet.from_networkx(graph)
    with pytest.raises(ValueError, match=r"from 1 to 2 has no attribute 'kind', but \['relation'\]"):
        tagnet.from_networkx(graph, "kind")
    with pytest.raises(ValueError, match="not directed"):
        tagnet.from_networkx(graph.to_undirected(), "relation")


@pytest.mark.parametrize("name", ["a\tb", "a\n", "a\rb", "\0"])
def test_names_that_no_line_can_have_are_refused(tmp_path, name):
    for number, column in enumerate(["head", "relation", "tail"]):
        fact = ["a", "r", "b"]
        fact[number] = name
        with pytest.raises(ValueError, match=f"the {column} .* has a tab, a line break or NUL"):
            tagnet.write_dataset(tmp_path / "d", train=[("a", "r", "b"), tuple(fact)])
    assert not (tmp_path / "d").exists()


def test_datasets_of_tables(tmp_path):
    frame = pd.DataFrame(FACTS, columns=["head", "relation", "tail"]).assign(source="somewhere")[["tail", "source", "head", "relation"]]
    tagnet.write_dataset(tmp_path, frame, test=FACTS[:1])
    assert pd.read_parquet(tmp_path / "train.parquet").values.tolist() == [list(fact) for fact in FACTS]
    tagnet.write_dataset(tmp_path, frame)
    assert not (tmp_path / "test.parquet").exists()
    with pytest.raises(tagnet.CommandError, match=r"train\.parquet:2: "):
        workspace(tmp_path / "null", pd.DataFrame([*FACTS[:1], ("Ada", "knows", None)], columns=["head", "relation", "tail"]))
    with pytest.raises(ValueError, match="not enough values"):
        tagnet.write_dataset(tmp_path, [("Ada", "knows")])


class Labeled:
    """Has what the conversion uses of PyKEEN's TriplesFactory, as PyKEEN 1.11 documents it, for where PyKEEN is not installed."""

    @classmethod
    def from_labeled_triples(
        cls,
        triples,
        *,
        create_inverse_triples=False,
        entity_to_id=None,
        relation_to_id=None,
        compact_id=True,
        filter_out_candidate_inverse_relations=True,
        metadata=None,
    ):
        self = cls()
        assert triples.shape[1:] == (3,) and triples.dtype.kind == "U" and not filter_out_candidate_inverse_relations
        self.mapped_triples = np.array([[entity_to_id[h], relation_to_id[r], entity_to_id[t]] for h, r, t in triples])
        self.entity_id_to_label = {number: name for name, number in entity_to_id.items()}
        self.relation_id_to_label = {number: name for name, number in relation_to_id.items()}
        self.create_inverse_triples, self.num_entities = create_inverse_triples, len(entity_to_id)
        return self


@pytest.fixture(params=["documented", "installed"])
def factory(request, monkeypatch):
    if request.param == "installed":
        return pytest.importorskip(
            "pykeen.triples", reason="PyKEEN is not installed: its documented interface alone is tested"
        ).TriplesFactory
    module = types.ModuleType("pykeen.triples")
    module.TriplesFactory = Labeled
    monkeypatch.setitem(sys.modules, "pykeen", types.ModuleType("pykeen"))
    monkeypatch.setitem(sys.modules, "pykeen.triples", module)
    return Labeled


@pytest.mark.parametrize("inverse", [False, True])
def test_pykeen_and_back(tmp_path, factory, inverse):
    ws = workspace(tmp_path, FACTS)
    made = tagnet.to_pykeen(ws, create_inverse_triples=inverse)
    assert isinstance(made, factory)
    assert made.create_inverse_triples == inverse and made.num_entities == 3
    assert [made.entity_id_to_label[i] for i in range(3)] == list(ws.entities()["name"])
    assert sorted(map(tuple, tagnet.from_pykeen(made).values)) == sorted(FACTS)
