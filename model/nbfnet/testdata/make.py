"""Writes checkpoints as NBFNet-PyG does, of random weights, and the scores of its model.

    python make.py FOLDER [SEED]

For each case it writes CASE.pth, {"model": state_dict, "optimizer": ...} or a state_dict alone, and CASE.json: the
options of the model, the names of relations in the order of their ids, the facts, and the scores of queries. The
model is written down here from its equations, in float64.
"""
import json
import math
import os
import random
import sys

import torch

ENTITIES, RELATIONS, FACTS = 14, 3, 30
CASES = {
    # name: (layers, dim, message, aggregate, dependent, with optimizer)
    "pna_dependent": (3, 4, "distmult", "pna", True, False),
    "pna": (2, 3, "distmult", "pna", False, False),
    "rotate": (2, 4, "rotate", "pna", False, False),
    "sum": (3, 4, "transe", "sum", True, False),
    "mean": (2, 4, "distmult", "mean", False, True),
    "max": (2, 4, "distmult", "max", True, False),
}


def modules(layers, dim, aggregate, dependent):
    """The modules of NBFNet, whose state_dict has its names and shapes."""
    relations = 2 * RELATIONS

    def layer():
        parts = {
            "layer_norm": torch.nn.LayerNorm(dim),
            "linear": torch.nn.Linear(dim * (13 if aggregate == "pna" else 2), dim),
        }
        if dependent:
            parts["relation_linear"] = torch.nn.Linear(dim, relations * dim)
        else:
            parts["relation"] = torch.nn.Embedding(relations, dim)
        return torch.nn.ModuleDict(parts)

    model = torch.nn.ModuleDict({
        "layers": torch.nn.ModuleList(layer() for _ in range(layers)),
        "query": torch.nn.Embedding(relations, dim),
        "mlp": torch.nn.Sequential(torch.nn.Linear(2 * dim, 2 * dim), torch.nn.ReLU(), torch.nn.Linear(2 * dim, 1)),
    })
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))  # layer norms too
    return model


def message(kind, state, relation):
    if kind == "transe":
        return state + relation
    if kind == "distmult":
        return state * relation
    half = len(state) // 2
    a, b, c, d = state[:half], state[half:], relation[:half], relation[half:]
    return torch.cat([a * c - b * d, a * d + b * c])


def scores(weights, facts, source, query, layers, dim, kind, aggregate, dependent):
    """The scores of all entities for the query (source, query, ?)."""
    w = {name: tensor.double() for name, tensor in weights.items()}
    sent = []  # receiver, sender, row of the relation
    for head, relation, tail in facts:
        # The fused kernel sums over the edges that leave the receiver; RotatE has none.
        one, other = (tail, head) if kind == "rotate" else (head, tail)
        sent += [(one, other, relation), (other, one, relation + RELATIONS)]
    degree = torch.tensor([1. + sum(to == entity for to, _, _ in sent) for entity in range(ENTITIES)], dtype=torch.float64)
    scale = degree.log() / degree.log().mean()
    asked = w["query.weight"][query]
    boundary = torch.zeros(ENTITIES, dim, dtype=torch.float64)
    boundary[source] = asked
    state = boundary
    for number in range(layers):
        layer = "layers.%d." % number
        if dependent:
            relations = w[layer + "relation_linear.weight"] @ asked + w[layer + "relation_linear.bias"]
            relations = relations.view(2 * RELATIONS, dim)
        else:
            relations = w[layer + "relation.weight"]
        new = []
        for entity in range(ENTITIES):
            got = [message(kind, state[sender], relations[row]) for to, sender, row in sent if to == entity]
            got = torch.stack(got + [boundary[entity]])
            if aggregate == "pna":
                deviation = (got.pow(2).mean(0) - got.mean(0).pow(2)).clamp(min=1e-6).sqrt()
                kinds = torch.stack([got.mean(0), got.max(0)[0], got.min(0)[0], deviation], dim=1)
                by = torch.tensor([1., scale[entity], 1 / max(scale[entity], 1e-2)], dtype=torch.float64)
                update = (kinds[:, :, None] * by).flatten()
            else:
                update = {"sum": got.sum(0), "mean": got.mean(0), "max": got.max(0)[0]}[aggregate]
            out = w[layer + "linear.weight"] @ torch.cat([state[entity], update]) + w[layer + "linear.bias"]
            out = torch.nn.functional.layer_norm(out, (dim,), w[layer + "layer_norm.weight"], w[layer + "layer_norm.bias"])
            new.append(state[entity] + out.relu())
        state = torch.stack(new)
    hidden = torch.cat([state, asked.expand(ENTITIES, dim)], dim=1) @ w["mlp.0.weight"].t() + w["mlp.0.bias"]
    return (hidden.relu() @ w["mlp.2.weight"].t() + w["mlp.2.bias"]).squeeze(1).tolist()


def make(folder, name, layers, dim, kind, aggregate, dependent, optimized):
    model = modules(layers, dim, aggregate, dependent)
    saved = model.state_dict()
    if optimized:
        optimizer = torch.optim.Adam(model.parameters())
        sum(p.sum() for p in model.parameters()).backward()
        optimizer.step()
        saved = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(saved, os.path.join(folder, name + ".pth"))

    relations = ["%s %d" % (word, dim) for word in ("owns", "likes", "above")]  # in another order than sorted
    facts = set()
    while len(facts) < FACTS:
        facts.add((random.randrange(ENTITIES), random.randrange(RELATIONS), random.randrange(ENTITIES)))
    facts = sorted(facts | {(entity, 0, (entity + 1) % ENTITIES) for entity in range(ENTITIES)}, key=str)
    queries = []
    for pair in random.sample(range(ENTITIES * 2 * RELATIONS), 6):
        source, query = divmod(pair, 2 * RELATIONS)
        found = scores(model.state_dict(), facts, source, query, layers, dim, kind, aggregate, dependent)
        assert all(map(math.isfinite, found))
        queries.append({
            "source": "e%02d" % source, "relation": "~" * (query >= RELATIONS) + relations[query % RELATIONS],
            "scores": {"e%02d" % entity: score for entity, score in enumerate(found)},
        })
    with open(os.path.join(folder, name + ".json"), "w") as file:
        json.dump({
            "message": kind, "aggregate": aggregate, "relations": relations,
            "facts": [["e%02d" % head, relations[relation], "e%02d" % tail] for head, relation, tail in facts], "queries": queries,
        }, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for number, (name, case) in enumerate(CASES.items()):
        torch.manual_seed(100 * seed + number)
        random.seed(100 * seed + number)
        make(sys.argv[1], name, *case)
