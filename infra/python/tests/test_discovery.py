"""New facts of given facts, in one call."""

import pandas as pd
import pyarrow as pa
import pytest
from conftest import SMALL

import tagnet
from tagnet import binary

COLUMNS = ["head", "relation", "tail"]


@pytest.fixture(scope="module")
def kinship():
    """Returns the facts of a line of 40 people, and the grandparents that are left out of them."""
    parents = [(f"p{i:02d}", "parent_of", f"p{i + 1:02d}") for i in range(40)]
    grandparents = [(f"p{i:02d}", "grandparent_of", f"p{i + 2:02d}") for i in range(39)]
    return parents + [f for i, f in enumerate(grandparents) if i % 8], set(grandparents[::8])


def test_facts_that_are_missing_come_first(kinship):
    facts, missing = kinship
    found = tagnet.discover(facts, train=dict(SMALL, layers=3, epochs=20, learning_rate=0.02), relations="grandparent_of", progress=None)
    first = set(found[COLUMNS].head(len(missing)).itertuples(index=False, name=None))
    assert len(first & missing) >= 4, found.head(8)
    assert found["probability"].is_monotonic_decreasing and found["probability"].between(0, 1).all()
    assert not set(found[COLUMNS].itertuples(index=False, name=None)) & set(facts)


def test_tables_of_facts_are_the_same_facts(kinship, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    frame = pd.DataFrame(kinship[0], columns=COLUMNS)
    tables = [kinship[0], frame.assign(more=1), pa.Table.from_pandas(frame), Polars(frame)]
    found = [tagnet.discover(table, most=20, missing=0.1, relations=["parent_of", "grandparent_of"], progress=None) for table in tables]
    assert len(found[0]) == 20 and all(table.equals(found[0]) for table in found)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="the columns are subject, relation, tail: rename"):
        tagnet.discover(frame.rename(columns={"head": "subject"}))


class Polars:
    """Has what the conversion uses of polars' DataFrame."""

    def __init__(self, frame):
        self.frame, self.columns = frame, list(frame.columns)

    def __getitem__(self, columns):
        return Polars(self.frame[columns])

    def to_arrow(self):
        table = pa.Table.from_pandas(self.frame, preserve_index=False)
        return table.cast(pa.schema([(name, pa.large_string()) for name in table.column_names]))


def test_a_folder_keeps_the_workspace(kinship, tmp_path):
    found = tagnet.discover(kinship[0], folder=tmp_path / "kept", most=5, progress=None)
    again = tagnet.discover(kinship[0], folder=tmp_path / "kept", most=5, progress=None)
    assert again.equals(found)
    ws = tagnet.open(tmp_path / "kept")
    assert sorted(map(tuple, ws.facts().values)) == sorted(kinship[0])
    with pytest.raises(tagnet.CommandError, match="exit code"):
        tagnet.discover(kinship[0][1:], folder=tmp_path / "kept", progress=None)


def test_a_folder_is_trained_once(kinship, tmp_path, monkeypatch):
    call = {"folder": tmp_path / "kept", "train": SMALL, "most": 5, "progress": None}
    found = tagnet.discover(kinship[0], **call)
    with monkeypatch.context() as patched:
        patched.setattr(binary, "train", lambda **_: pytest.fail("it trains again"))
        assert tagnet.discover(kinship[0], **call).equals(found)
    with pytest.raises(tagnet.CommandError, match="layers is 1 there, 2 here"):
        tagnet.discover(kinship[0], **{**call, "train": dict(SMALL, layers=2)})
    more = [*kinship[0], ("p00", "grandparent_of", "p01")]
    with pytest.raises(tagnet.CommandError, match="--force"):
        tagnet.discover(more, **call)
    forced = tagnet.discover(more, force=True, **call)
    assert len(tagnet.open(call["folder"]).facts()) == len(more) and len(forced) == 5
    assert tagnet.discover(more, **call).equals(forced)


def test_few_facts_have_no_probabilities():
    found = tagnet.discover([("a", "r", "b"), ("b", "r", "c")], progress=None)
    assert len(found) and found["probability"].isna().all()
