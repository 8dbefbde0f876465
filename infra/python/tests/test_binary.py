"""Flags, errors, progress and interrupts of the real program."""

import os
import re
import signal
import subprocess
import sys

import pandas as pd
import pytest
from conftest import SMALL

import tagnet
from tagnet.binary import _flag


def test_values_become_flags():
    assert _flag("from_", "zero") == "--from=zero"
    assert _flag("known", True) == "--known=true"
    assert _flag("split", (80, 10, 10)) == "--split=80,10,10"
    assert _flag("learning_rate", 5e-4) == "--learning_rate=0.0005"


def test_errors_are_those_of_the_program(tmp_path):
    for call, code, message in [
        (lambda: tagnet.train(workspace=tmp_path, dim="x"), 2, '--dim is "x": want a whole number'),
        (lambda: tagnet.train(workspace=tmp_path, colour="red"), 2, "--colour is not a flag of train: -h all lists them"),
        (lambda: tagnet.serve(workspace=tmp_path), 1, "graph does not exist: run tagnet preprocess"),
        (lambda: tagnet.run("no-such-command"), 2, "no-such-command"),
    ]:
        with pytest.raises(tagnet.CommandError, match=re.escape(message)) as raised:
            call()
        assert raised.value.code == code
        assert raised.value.command[0] == "tagnet"


def test_a_bad_line_is_named(tmp_path):
    (tmp_path / "facts.tsv").write_text("a\tr\tb\na\tr\n")
    with pytest.raises(tagnet.CommandError, match=r"facts.tsv:2: .*exit code 1"):
        tagnet.preprocess(workspace=tmp_path / "ws", dataset=tmp_path / "facts.tsv")


def test_a_missing_program_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("TAGNET_BINARY", str(tmp_path / "none"))
    with pytest.raises(tagnet.BinaryNotFoundError, match=r"TAGNET_BINARY is .*none, which is no program: build it"):
        tagnet.preprocess(workspace=tmp_path)
    monkeypatch.delenv("TAGNET_BINARY")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(tagnet.BinaryNotFoundError, match="not on PATH: build it"):
        tagnet.find_binary()
    (tmp_path / "tagnet").write_text("#!/bin/sh\n")
    (tmp_path / "tagnet").chmod(0o755)
    assert tagnet.find_binary() == str(tmp_path / "tagnet")


def test_queries_are_tuples(copied):
    lines = []
    queries = [("Joan Eibe", "cousin_of"), ("Joan Eibe", "~cousin_of")]
    asked = tagnet.ask(workspace=copied, queries=queries, top_k=3, output="own", progress=lines.append)
    answers = tagnet.open(copied).answers(asked.name)
    assert asked.name == "own"
    assert list(answers["direction"]) == ["tail"] * 3 + ["head"] * 3
    assert answers["entity"][0] in repr(asked)
    again = tagnet.ask(workspace=copied, queries=pd.DataFrame(queries), top_k=3, output="own")
    assert again.wrote == asked.wrote
    with pytest.raises(ValueError, match="a tab or a line break"):
        tagnet.ask(workspace=copied, queries=[("Joan\tEibe", "cousin_of")])
    with pytest.raises(TypeError, match="'Joan Eibe' is no query"):
        tagnet.ask(workspace=copied, queries=["Joan Eibe"])


def test_progress_comes_as_lines(copied):
    lines = []
    trained = tagnet.train(workspace=copied, run="lines", progress=lines.append, **{**SMALL, "epochs": 1})
    assert "next:" in trained.output and "next:" not in repr(trained)
    assert any(re.match(r"epoch 1 of 1: loss", line) for line in lines)

    def fail(line):
        raise RuntimeError("the callback failed")

    with pytest.raises(RuntimeError, match="the callback failed"):
        tagnet.train(workspace=copied, run="fails", progress=fail, **{**SMALL, "epochs": 1000})


# The stand-in of the program says how many interrupts it gets.
COUNTS = f"""#!{sys.executable}
import signal, sys, time
count = []
signal.signal(signal.SIGINT, lambda *_: count.append(1))
print("started", file=sys.stderr, flush=True)
while not count:
    time.sleep(0.01)
time.sleep(0.5)
sys.exit(f"interrupts: {{len(count)}}")
"""


def interrupted(call, line, **environment):
    """Runs a call in another Python, interrupts it after a line as a terminal or a notebook does, and returns what it prints then."""
    environment, script = {**os.environ, **environment}, f"import tagnet; {call}"
    python = subprocess.Popen(
        [sys.executable, "-c", script],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job of the background ignores it
    )
    for printed in python.stderr:
        if printed.startswith(line):
            break
    os.killpg(python.pid, signal.SIGINT)  # the process group
    rest = python.stderr.read()
    assert python.wait() != 0 and "KeyboardInterrupt" in rest
    return rest


# Threads take long to start, so that an interrupt comes before they all have.
SLOW = "import threading, time; start = threading.Thread.start; threading.Thread.start = lambda t: (start(t), time.sleep(0.5)); "


@pytest.mark.parametrize("before", ["", SLOW])
def test_an_interrupt_reaches_the_program_once(tmp_path, before):
    (tmp_path / "counts").write_text(COUNTS)
    (tmp_path / "counts").chmod(0o755)
    assert "interrupts: 1\n" in interrupted(before + "tagnet.train()", "started", TAGNET_BINARY=str(tmp_path / "counts"))


def test_an_interrupt_saves(copied):
    flags = {**SMALL, "epochs": 1000}
    rest = interrupted(f"tagnet.train(workspace={str(copied)!r}, run='stopped', **{flags})", "epoch 2 of")
    assert "train: interrupted; completed outputs are kept" in rest
    before = tagnet.open(copied, "stopped").training()
    assert len(before) >= 2
    tagnet.train(workspace=copied, run="stopped", resume=True, epochs=len(before) + 1)
    after = tagnet.open(copied, "stopped").training()
    assert len(after) == len(before) + 1
    assert after["loss"][: len(before)].equals(before["loss"])
