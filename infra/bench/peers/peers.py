"""Other programs beside tagnet: quality against processor time, on one thread.

    python peers.py shop --out shop
    python peers.py recommend --data shop
    python peers.py popularity --data fb15k-237
    python peers.py complex --data fb15k-237 --minutes 10

A folder has train.txt, valid.txt and test.txt, lines of head, relation and tail with tabs between them. Each line that is printed
is a line of results.jsonl: the graph, the program, the processor seconds of training since its start, and the quality.
"""

import argparse
import json
import os
import time
from collections import Counter
from pathlib import Path

for pool in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[pool] = "1"

import numpy as np
from scipy import sparse


def read(folder, split):
    """The facts of a split as an array of names, [facts, 3]."""
    lines = Path(folder, f"{split}.txt").read_text(encoding="utf-8").splitlines()
    return np.array([line.split("\t") for line in lines if line])


def shop(out, users, items, purchases, tastes, seed):
    """Writes a shop: customers with a few tastes buy popular items of them, and in one case of ten any item.

    The last purchase of each customer is the test, the one before it the validation.
    """
    draw = np.random.default_rng(seed)
    kind = draw.integers(tastes, size=items)
    popularity = 1 / np.arange(1, items + 1) ** 0.8
    Path(out).mkdir(parents=True)
    splits = {"train": [], "valid": [], "test": []}
    for user in range(users):
        liked = draw.choice(tastes, size=3, replace=False)
        weight = popularity * np.where(np.isin(kind, liked), 1, 0)
        weight = 0.9 * weight / weight.sum() + 0.1 * popularity / popularity.sum()
        count = min(items, max(4, draw.poisson(purchases)))
        bought = draw.permutation(draw.choice(items, size=count, replace=False, p=weight))
        for i, item in enumerate(bought):
            split = {0: "test", 1: "valid"}.get(i, "train")
            splits[split].append(f"customer-{user}\tbought\titem-{item}\n")
    for split, lines in splits.items():
        Path(out, f"{split}.txt").write_text("".join(lines))
        print(f"wrote {out}/{split}.txt: {len(lines)} purchases")


def purchases(folder):
    """The training purchases [users, items], the items of validation and test of each user, and all names."""
    facts = {split: read(folder, split) for split in ("train", "valid", "test")}
    users = {name: i for i, name in enumerate(np.unique(facts["train"][:, 0]))}
    items = {name: i for i, name in enumerate(np.unique(facts["train"][:, 2]))}
    held = {}
    for split in ("valid", "test"):
        held[split] = [(users[h], items.get(t, -1)) for h, _, t in facts[split]]
    rows = [users[h] for h, _, _ in facts["train"]]
    columns = [items[t] for _, _, t in facts["train"]]
    matrix = sparse.csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), (len(users), len(items)))
    matrix.data[:] = 1
    return matrix, held


def recall(scores, matrix, held, most=10):
    """The share of test purchases among the first items that the customer has not bought, as tagnet's test Hits@10 of tails."""
    scores = np.asarray(scores, np.float64).copy()
    scores[matrix.nonzero()] = -np.inf
    for user, item in held["valid"]:
        scores[user, item] = -np.inf
    found = 0
    for user, item in held["test"]:
        # An item that was never sold in training is not found. Of equal scores the middle place counts.
        if item >= 0:
            above = (scores[user] > scores[user, item]).sum()
            equal = (scores[user] == scores[user, item]).sum()
            found += above + (equal - 1) / 2 < most
    return found / len(held["test"])


def recommend(folder, factors, iterations):
    """Popularity, item-kNN and ALS for implicit feedback, of the package implicit."""
    from implicit.als import AlternatingLeastSquares
    from implicit.nearest_neighbours import CosineRecommender

    matrix, held = purchases(folder)
    users = np.arange(matrix.shape[0])
    start = time.process_time()
    popular = np.asarray(matrix.sum(axis=0))
    show(folder, "popularity", time.process_time() - start, "recall@10", recall(np.repeat(popular, len(users), 0), matrix, held))
    for neighbors in (20, 100):
        start = time.process_time()
        model = CosineRecommender(K=neighbors, num_threads=1)
        model.fit(matrix, show_progress=False)
        seconds = time.process_time() - start
        scores = (matrix @ model.similarity).toarray()
        show(folder, f"item-kNN of implicit, {neighbors} neighbors", seconds, "recall@10", recall(scores, matrix, held))
    for dimensions in factors:
        for count in iterations:
            start = time.process_time()
            model = AlternatingLeastSquares(factors=dimensions, iterations=count, num_threads=1, random_state=1)
            model.fit(matrix, show_progress=False)
            seconds = time.process_time() - start
            scores = model.user_factors @ model.item_factors.T
            show(folder, f"ALS of implicit, {dimensions} factors, {count} iterations", seconds, "recall@10", recall(scores, matrix, held))


def popularity(folder):
    """MRR of the answers that are most frequent with the relation, filtered, both directions, middle place of equal counts."""
    facts = {split: read(folder, split) for split in ("train", "valid", "test")}
    start = time.process_time()
    names = {name: i for i, name in enumerate(np.unique(np.concatenate([facts[s][:, [0, 2]].ravel() for s in facts])))}
    counts = {}
    for h, r, t in facts["train"]:
        counts.setdefault((r, 0), Counter())[names[t]] += 1
        counts.setdefault((r, 1), Counter())[names[h]] += 1
    seconds = time.process_time() - start
    dense = {}
    for key, counter in counts.items():
        dense[key] = np.zeros(len(names))
        dense[key][list(counter)] = list(counter.values())
    known = {}
    for split in facts:
        for h, r, t in facts[split]:
            known.setdefault((names[h], r, 0), []).append(names[t])
            known.setdefault((names[t], r, 1), []).append(names[h])
    inverses = []
    for h, r, t in facts["test"]:
        for source, direction, answer in ((names[h], 0, names[t]), (names[t], 1, names[h])):
            scores = dense.get((r, direction), np.zeros(len(names))).copy()
            score = scores[answer]
            scores[known[source, r, direction]] = -1
            inverses.append(1 / (1 + (scores > score).sum() + (scores == score).sum() / 2))
    show(folder, "popularity", seconds, "test MRR", np.mean(inverses))


class Finished(Exception):
    """The time of a training is over."""


def complex_embeddings(folder, dimensions, batch, rate, n3, minutes):
    """ComplEx of PyKEEN: inverse relations, all entities as candidates, cross-entropy, Adagrad.

    After each twelfth of the time, which excludes that of evaluations, it shows the filtered MRR of 1,000 validation facts, and at the
    end that of all test facts.
    """
    import torch
    from pykeen.evaluation import RankBasedEvaluator
    from pykeen.losses import CrossEntropyLoss
    from pykeen.models import ComplEx
    from pykeen.regularizers import PowerSumRegularizer
    from pykeen.training import LCWATrainingLoop
    from pykeen.training.callbacks import TrainingCallback
    from pykeen.triples import TriplesFactory

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    train = TriplesFactory.from_path(Path(folder, "train.txt"), create_inverse_triples=True)
    facts = {"train": train.mapped_triples}
    for split in ("valid", "test"):
        path = Path(folder, f"{split}.txt")
        facts[split] = TriplesFactory.from_path(path, entity_to_id=train.entity_to_id, relation_to_id=train.relation_to_id).mapped_triples

    def start(x):
        return torch.nn.init.normal_(x, std=1e-3)

    model = ComplEx(triples_factory=train, embedding_dim=dimensions, loss=CrossEntropyLoss(), random_seed=1, entity_initializer=start,
                    relation_initializer=start, regularizer=PowerSumRegularizer if n3 else None,
                    regularizer_kwargs={"p": 3.0, "weight": n3, "normalize": False} if n3 else None)

    program = f"ComplEx of PyKEEN, {dimensions} dimensions"

    def mrr(split, most):
        order = torch.randperm(len(facts[split]), generator=torch.Generator().manual_seed(1))[:most]
        result = RankBasedEvaluator(filtered=True).evaluate(
            model, facts[split][order], additional_filter_triples=list(facts.values()), batch_size=64, use_tqdm=False)
        model.train()
        return result.get_metric("both.realistic.inverse_harmonic_mean_rank")

    class Clock(TrainingCallback):
        """Shows the quality at regular times of training, and ends it."""

        begin, spent, shown = time.process_time(), 0.0, 0

        def post_batch(self, **_):
            self.spent += time.process_time() - self.begin
            if self.spent >= 60 * minutes * (self.shown + 1) / 12:
                self.shown = int(12 * self.spent / (60 * minutes))
                show(folder, program, self.spent, "validation MRR", mrr("valid", 1000))
                if self.shown >= 12:
                    raise Finished
            self.begin = time.process_time()

    clock = Clock()
    loop = LCWATrainingLoop(model=model, triples_factory=train, optimizer=torch.optim.Adagrad(model.parameters(), lr=rate))
    try:
        loop.train(train, num_epochs=10**6, batch_size=batch, use_tqdm=False, pin_memory=False, callbacks=clock)
    except Finished:
        show(folder, program, clock.spent, "test MRR", mrr("test", None))


def show(folder, program, seconds, metric, value):
    """Prints a line of results.jsonl, from which BENCHMARKS.md is made."""
    graph = Path(folder).resolve().name
    print(json.dumps({"graph": graph, "metric": metric, "program": program, "seconds": round(seconds, 1), "value": round(float(value), 4)}), flush=True)


def main():
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    made = commands.add_parser("shop", help="write a made shop")
    made.add_argument("--out", required=True)
    made.add_argument("--users", type=int, default=3300)
    made.add_argument("--items", type=int, default=1500)
    made.add_argument("--purchases", type=int, default=17, help="of a customer, in the mean")
    made.add_argument("--tastes", type=int, default=30)
    made.add_argument("--seed", type=int, default=1)
    for name, text in (("recommend", "popularity, item-kNN, ALS"), ("popularity", "of answers")):
        command = commands.add_parser(name, help=text)
        command.add_argument("--data", required=True, help="folder with train.txt, valid.txt and test.txt")
    command = commands.add_parser("complex", help="ComplEx of PyKEEN, about 2 GiB of memory on WN18RR")
    command.add_argument("--data", required=True, help="folder with train.txt, valid.txt and test.txt")
    command.add_argument("--minutes", type=float, default=10, help="processor time of the training")
    command.add_argument("--dimensions", type=int, default=128)
    command.add_argument("--batch", type=int, default=256)
    command.add_argument("--rate", type=float, default=0.1, help="of Adagrad")
    command.add_argument("--n3", type=float, default=0.0, help="weight of the N3 regularization")
    given = parser.parse_args()
    if given.command == "shop":
        shop(given.out, given.users, given.items, given.purchases, given.tastes, given.seed)
    elif given.command == "recommend":
        recommend(given.data, (16, 64, 128), (5, 15))
    elif given.command == "complex":
        complex_embeddings(given.data, given.dimensions, given.batch, given.rate, given.n3, given.minutes)
    else:
        popularity(given.data)


if __name__ == "__main__":
    main()
