"""What is read has to be what the program wrote as text, and what follows from the facts."""

import networkx as nx
import pytest

import tagnet


def test_facts_are_those_of_the_dataset(sample, text):
    ws = tagnet.open(sample)
    for split in ("train", "valid", "test"):
        facts = [tuple(row) for row in ws.facts(split).itertuples(index=False)]
        assert sorted(facts) == sorted(map(tuple, text(sample / "sample" / f"{split}.txt")))
    assert sorted(ws.graph().itertuples(index=False)) == sorted(ws.facts("train").itertuples(index=False))
    assert len(ws.facts()) == sum(len(ws.facts(split)) for split in ("train", "valid", "test")) == tagnet.to_networkx(ws).number_of_edges()
    assert tagnet.to_networkx(ws, "valid").number_of_edges() == len(ws.facts("valid"))
    with pytest.raises(ValueError, match="there is no split 'foo', but all, train, valid, test"):
        ws.facts("foo")
    names = {name for split in ("train", "valid", "test") for h, _, t in text(sample / "sample" / f"{split}.txt") for name in (h, t)}
    assert list(ws.entities()["name"]) == sorted(names, key=str.encode)
    assert len(ws.relations()) == ws.summary()["relations"] == 12


def test_rankings_give_the_metrics(sample):
    ws = tagnet.open(sample)
    rankings, metrics = ws.rankings("test"), ws.metrics("test")
    assert len(rankings) == metrics["queries"]
    assert metrics["pessimistic"]["mrr"] < metrics["optimistic"]["mrr"]
    assert (1 / rankings["rank_pessimistic"]).mean() == pytest.approx(metrics["pessimistic"]["mrr"])
    by_relation = ws.metrics_by("relation").set_index("relation")["hits@1"]
    for relation, ranks in rankings.groupby("relation")["rank_pessimistic"]:
        assert (ranks == 1).mean() == pytest.approx(by_relation[relation])
    for what in ("distance", "links"):
        assert ws.metrics_by(what)["queries"].sum() == len(rankings)
    assert metrics["baselines"]["popularity"]["pessimistic"]["mrr"] < metrics["pessimistic"]["mrr"]


def test_lists_are_those_of_the_text(sample, text):
    ws = tagnet.open(sample)
    assert ws.results() == ["evaluation/test", "facts/lists"]
    heading, *rows = text(sample / "runs/main/facts/lists/facts.tsv")
    facts = ws.new_facts("lists")
    assert len(facts) == len(rows) == 50
    assert [list(row) for row in facts[["head", "relation", "tail"]].itertuples(index=False)] == [
        [row[heading.index(c)] for c in ("head", "relation", "tail")] for row in rows
    ]
    heading, *rows = text(sample / "runs/main/facts/lists/explanations.tsv")
    assert sorted(ws.explanations("lists", of="facts")["text"]) == sorted(row[heading.index("text")] for row in rows)
    best = ws.predictions("test").query("position == 1")
    assert len(best) == ws.metrics()["distinct"]


def test_patterns_are_answered(copied):
    ws = tagnet.open(copied)
    facts = ws.facts()
    _, relation, tail = facts.iloc[0]
    of = sorted(facts["head"][(facts["relation"] == relation) & (facts["tail"] == tail)])
    pattern = f"{relation}(?a, {tagnet.workspace.json.dumps(tail)})"
    found = ws.match(pattern, stated=True, top_k=1000)
    assert sorted(found["entity"]) == of and set(found["probability"]) == {1.0}
    assert (ws.match(pattern, "a", top_k=3)["probability"] == 1).sum() == min(3, len(of))
    assert ws.match(pattern, top_k=1, output="one")["entity"][0] == of[0]
    with pytest.raises(tagnet.CommandError, match=r"the pattern, letter 1, .*unknown relation"):
        ws.match("unheard_of(?a, b)")


def test_distances_are_those_of_a_search(sample):
    ws = tagnet.open(sample)
    graph = nx.MultiDiGraph(tagnet.to_networkx(ws, "train")).to_undirected()
    queries = ws.facts("test")
    for source in [queries["head"][0], queries["tail"][1], queries["head"].iloc[-1]]:
        hops = nx.single_source_shortest_path_length(graph, source, cutoff=6)
        distances = ws.distances(source)
        assert dict(zip(distances["entity"], distances["hops"])) == {name: hops.get(name, -1) for name in graph}
    assert sum(ws.distance_distribution().values()) == 2 * len(queries)
    with pytest.raises(KeyError, match="unknown entity 'Nobody'"):
        ws.distances("Nobody")


def test_training_has_the_best_epoch(sample):
    ws = tagnet.open(sample)
    training, runs = ws.training(), ws.runs()
    assert list(training["epoch"]) == [1, 2]
    record = ws.checkpoint()
    assert training["loss"][record["epoch"] - 1] == record["loss"]
    assert training["valid_mrr"].max() == runs["valid_mrr"][0] == record["valid"]["pessimistic"]["mrr"]
    assert list(runs["run"]) == ["main"]
    assert record["configuration"]["dim"] == 8
    assert {1, 2, 3} == set(ws.messages()["layer"])


def test_arrow_has_the_same_tables(sample):
    ws, arrow = tagnet.open(sample), tagnet.open(sample, arrow=True)
    for method in ("entities", "facts", "rankings", "training", "runs", "metrics_by"):
        arguments = ["direction"] if method == "metrics_by" else []
        table = getattr(arrow, method)(*arguments)
        assert table.to_pandas().equals(getattr(ws, method)(*arguments)), method


def test_the_inference_graph_has_its_own_entities(tmp_path):
    chain = [(f"a{i}", "next", f"a{i + 1}") for i in range(20)]
    other = [(f"b{i}", "next", f"b{i + 1}") for i in range(10)]
    tagnet.write_dataset(tmp_path / "train", chain, valid=[("a0", "next", "a2")])
    tagnet.write_dataset(tmp_path / "inference", other, test=[("b0", "next", "b2")])
    (tmp_path / "types.txt").write_text("a0\tstart\n")
    tagnet.preprocess(workspace=tmp_path / "ws", dataset=tmp_path / "train", inference=tmp_path / "inference", types=tmp_path / "types.txt")
    ws = tagnet.open(tmp_path / "ws")
    assert ws.facts("test").values.tolist() == [["b0", "next", "b2"]]
    assert ws.facts("valid").values.tolist() == [["a0", "next", "a2"]]
    assert sorted(map(tuple, ws.graph("inference").values)) == sorted(other)
    assert sorted(map(tuple, ws.facts().values)) == sorted([*chain, ("a0", "next", "a2"), ("b0", "next", "b2")])
    assert len(tagnet.to_networkx(ws)) == len(ws.entities()) + len(ws.entities("inference"))
    assert "b5" in set(ws.entities("inference")["name"]) and "b5" not in set(ws.entities()["name"])
    assert ws.types().values.tolist() == [["a0", "start"]]


def test_what_is_missing_is_named_with_its_command(sample, tmp_path):
    for call, message in {
        lambda: tagnet.open(tmp_path / "none"): r"none/graph is not complete: tagnet.preprocess\(workspace='.*none'\) makes it",
        lambda: tagnet.open("gs://bucket/w"): "no local folder",
        lambda: tagnet.open(sample).rankings(
            "valid"
        ): r"valid is not complete: tagnet.score\(.*results of this run: evaluation/test, facts/lists; runs that exist: main",
        lambda: tagnet.open(sample, "other").training(): r"tagnet.train\(workspace='.*', run='other'\) makes it",
        lambda: tagnet.open(sample).triples("test"): r"answers/test is not complete: tagnet.ask\(",
        lambda: tagnet.open(sample).explanations("lists"): "answers/lists is not complete",
        lambda: tagnet.open(sample).graph("inference"): "no inference graph",
        lambda: tagnet.open(sample).distances("x", "valid"): r"tagnet.run\('distances', .* split='valid'\) makes it",
        lambda: tagnet.open(sample).types(): "preprocess with types=FILE",
    }.items():
        with pytest.raises((tagnet.NotCompleteError, ValueError), match=message):
            call()


def test_verdicts_are_those_that_count(copied):
    ws = tagnet.open(copied)
    assert list(ws.verdicts().columns) == ["head", "relation", "tail", "verdict", "time", "who"] and len(ws.verdicts()) == 0
    lines = [
        "tail\tHead\trelation\tverdict\twho",
        'b\t"\\"a\\""\tr\tfalse\tAda',
        "c\ta\tr\ttrue\t",
        "c\ta\tr\tundo\t",
        'b\t"\\"a\\""\tr\tTrue\tBen',
        "d\ta\tr\t\t",
    ]
    (copied / "verdicts.tsv").write_text("\ufeff" + "\n".join(lines) + "\n", encoding="utf-8")
    assert ws.verdicts().values.tolist() == [['"a"', "r", "b", True, "", "Ben"]]
    (copied / "verdicts.tsv").write_text("a\tr\tb\tfalse\r\n", encoding="utf-8")
    assert tagnet.open(copied, arrow=True).verdicts().to_pylist() == [
        {"head": "a", "relation": "r", "tail": "b", "verdict": False, "time": "", "who": ""}
    ]


def test_judged_facts_are_kept(copied):
    ws = tagnet.open(copied)
    first, second, third, *_ = ws.new_facts("lists")[["head", "relation", "tail"]].values.tolist()
    ws.judge(*first, True, who="Ada")
    listed = ws.new_facts("lists")
    listed["verdict"] = [None, False, "true", *[float("nan")] * (len(listed) - 3)]
    ws.judge(listed)
    said = ws.verdicts()
    assert said[["head", "relation", "tail", "verdict"]].values.tolist() == [[*first, True], [*second, False], [*third, True]]
    assert said["who"].tolist()[0] == "Ada" and all(said["time"])
    ws.judge(*first, "undo")
    assert len(ws.verdicts()) == 2
    with pytest.raises(tagnet.CommandError, match="unknown entity"):
        ws.judge("Nobody At All", first[1], first[2], True)
    for facts, message in [
        (listed.drop(columns="verdict"), "judge needs head, relation, tail, verdict"),
        (listed.assign(verdict=None), "no fact has a verdict"),
        (listed.assign(verdict="maybe"), "want True, False or 'undo'"),
    ]:
        with pytest.raises(ValueError, match=message):
            ws.judge(facts)
    with pytest.raises(ValueError, match="has a tab"):
        ws.judge("a\tb", "r", "c", True)
    assert len(ws.verdicts()) == 2
