"""Workspaces that the program makes of its built-in sample."""

import csv
import shutil
from pathlib import Path

import pytest

import tagnet

# With one layer many answers are out of reach, and tie.
SMALL = {"layers": 1, "dim": 8, "negatives": 8, "batch_size": 64, "epochs": 2, "seed": 1}


def pytest_addoption(parser):
    parser.addoption("--rewrite", action="store_true", help="rewrite the outputs of the notebook")


@pytest.fixture(scope="session")
def sample(tmp_path_factory):
    """A workspace with a graph, a trained model, and what each command makes of them. No test writes to it."""
    path = tmp_path_factory.mktemp("sample") / "ws"
    tagnet.preprocess(workspace=path)
    tagnet.train(workspace=path, **SMALL)
    tagnet.score(workspace=path, split="test")
    tagnet.run("discover", workspace=path, relation=["cousin_of", "lives_in"], most=50, explain=True, output="lists")
    tagnet.run("distances", workspace=path, split="test")
    tagnet.run("messages", workspace=path, split="test", layers=3, deltas=1)
    return path


@pytest.fixture
def copied(sample, tmp_path):
    """A copy of it, for tests that write."""
    return shutil.copytree(sample, tmp_path / "ws")


@pytest.fixture(scope="session")
def text():
    """Reads a tab-separated file."""

    def read(path: Path) -> list[list[str]]:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))

    return read
