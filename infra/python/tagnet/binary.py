"""Starts tagnet's program: keyword arguments become its flags, and its errors exceptions."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Callable

from .client import Client

Progress = Callable[[str], None]


class BinaryNotFoundError(FileNotFoundError):
    """There is no program to start."""


class CommandError(RuntimeError):
    """A command that ended with another exit code than 0.

    Attributes:
        code: the exit code: 1 for a problem of the data, the workspace or the machine, 2 for a flag, 3 for a training
            whose loss became infinite; negative if a signal ended the process.
        message: what the program said, in one line.
        command: the command line.
    """

    def __init__(self, message: str, code: int, command: Sequence[str]) -> None:
        super().__init__(f"{message} (exit code {code})")
        self.message, self.code, self.command = message, code, list(command)


@dataclass(frozen=True)
class Outcome:
    """What a command printed on standard output, and the files and folders that it names there."""

    command: list[str]
    output: str

    @property
    def wrote(self) -> list[Path]:
        """The outputs that the command wrote, or that already existed."""
        marks = ("wrote ", "already exists: ")
        lines = self.output.splitlines()
        return [Path(line[len(mark) :]) for line in lines for mark in marks if line.startswith(mark)]

    @property
    def name(self) -> str:
        """The name under which `Workspace` finds what `score`, `ask` or `discover` wrote."""
        for path in self.wrote:
            if path.parent.parent.name in ("evaluation", "answers", "facts"):
                return path.parent.name
        raise ValueError(f"{' '.join(self.command)} wrote no results: score, ask and discover do")

    def __repr__(self) -> str:
        return "\n".join(line for line in self.output.splitlines() if not line.startswith("next: ")).rstrip()


def find_binary() -> str:
    """Returns the path of the program: that of the environment variable TAGNET_BINARY, or of tagnet on PATH."""
    named = os.environ.get("TAGNET_BINARY")
    found = shutil.which(named or "tagnet")
    if found:
        return found
    where = f"TAGNET_BINARY is {named}, which is no program" if named else "tagnet's program is not on PATH"
    raise BinaryNotFoundError(
        f"{where}: build it in a clone of tagnet's repository with Go (go build -o bin/ ./pipelines/tagnet), "
        "and put its folder on PATH or its path into TAGNET_BINARY"
    )


def print_progress(line: str) -> None:
    """Prints a line on standard error."""
    print(line, file=sys.stderr, flush=True)


def _flag(name: str, value: Any) -> str:
    name = name.rstrip("_")  # from_ is --from
    if isinstance(value, bool):
        return f"--{name}={str(value).lower()}"
    if isinstance(value, (list, tuple)):
        value = ",".join(str(v) for v in value)
    return f"--{name}={value}"


class _Process:
    """A running command, whose output is read by threads.

    It does not get the Ctrl-C of this process's terminal or notebook, but the signals of `interrupt` alone: after a second one it
    would not save.
    """

    def __init__(self, command: str, flags: dict[str, Any], progress: Progress | None, stdin: str | None = None) -> None:
        self.command = ["tagnet", command, *(_flag(k, v) for k, v in flags.items() if v is not None)]
        self.errors: list[str] = []
        self.output: list[str] = []
        self.listening = threading.Event()
        self._progress = progress
        self._failure: BaseException | None = None
        self._process = subprocess.Popen(
            self.command,  # its messages recommend commands of the name by which it is started
            executable=find_binary(),
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
        assert self._process.stdout and self._process.stderr
        self._threads = [
            threading.Thread(target=self._read_output, args=[self._process.stdout], daemon=True),
            threading.Thread(target=self._read_errors, args=[self._process.stderr], daemon=True),
        ]
        if stdin is not None:
            self._threads.append(threading.Thread(target=self._write, args=[stdin], daemon=True))
        for thread in self._threads:
            try:
                thread.start()
            except KeyboardInterrupt as interrupted:  # while it waited until the thread had begun; wait raises it
                self._failure = interrupted
                self.interrupt()

    def _read_output(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                self.output.append(line)
                if line.startswith("listening on "):
                    self.listening.set()
        self.listening.set()  # or it never will

    def _read_errors(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                self.errors.append(line.rstrip("\n"))
                try:
                    if self._progress:
                        self._progress(self.errors[-1])
                except Exception as error:  # the lines that follow have to be read all the same
                    self._progress, self._failure = None, error
                    self.interrupt()

    def _write(self, text: str) -> None:
        assert self._process.stdin
        try:
            with self._process.stdin as stream:
                stream.write(text)
        except BrokenPipeError:
            pass  # the program refused its flags, which its exit code says

    def running(self) -> bool:
        """Reports whether the process has not ended."""
        return self._process.poll() is None

    def interrupt(self) -> None:
        """Asks the process to save and to end; the second time it ends at once."""
        self._process.send_signal(signal.SIGINT)

    def wait(self) -> None:
        """Waits for the end of the process.

        An interrupt of this program is passed on and raised after the end, as is an exception of the callback.
        """
        while True:
            try:
                self._process.wait()
                for thread in self._threads:
                    thread.join()
                break
            except KeyboardInterrupt as interrupted:
                self._failure = interrupted
                self.interrupt()
        if self._failure:
            raise self._failure

    def check(self) -> None:
        """Raises a CommandError if the process ended with another exit code than 0."""
        if code := self._process.returncode:
            message = f"signal {-code} ended the program" if code < 0 else "".join(self.errors[-1:]) or "there was no message"
            raise CommandError(message, code, self.command)


def run(command: str, *, progress: Progress | None = print_progress, queries: Any = None, **flags: Any) -> Outcome:
    """Runs a command of the program until its end.

    Args:
        command: its name, such as "messages"; `tagnet -h` lists them.
        progress: called with each line of progress as it comes; the default prints it on standard error.
        queries: of score: a file, or a list of tuples or a DataFrame: queries (source, relation), triples, or pairs (head, "?", tail).
        flags: the flags of `tagnet COMMAND -h`; `from_` is --from. True and False are flags without and with =false,
            a list is joined by commas, None leaves a flag out. The program itself checks them.

    Returns:
        What it printed on standard output.

    Raises:
        BinaryNotFoundError: there is no program.
        CommandError: the command failed; the message is the program's.
        KeyboardInterrupt: on Ctrl-C, after the program has saved what it had; train(resume=True) continues.
    """
    stdin = None
    if queries is not None and not isinstance(queries, (str, os.PathLike)):
        queries, stdin = "-", _lines(queries)
    process = _Process(command, {**flags, "queries": queries}, progress, stdin)
    process.wait()
    process.check()
    return Outcome(process.command, "".join(process.output))


def _lines(queries: Any) -> str:
    rows = list(queries.itertuples(index=False, name=None) if hasattr(queries, "itertuples") else queries)
    for row in rows:
        if isinstance(row, str) or not all(isinstance(name, str) for name in row):
            raise TypeError(f"{row!r} is no query: a query is a tuple of names")
        if any(sign in name for name in row for sign in "\t\r\n"):
            raise ValueError(f"the query {row} has a tab or a line break in a name, which no graph has")
    return "".join("\t".join(row) + "\n" for row in rows)


def preprocess(**flags: Any) -> Outcome:
    """Turns facts into the tables of a workspace: preprocess(workspace="mine", dataset="facts.csv", header="yes")."""
    return run("preprocess", **flags)


def train(**flags: Any) -> Outcome:
    """Trains a model: train(workspace="mine", from_="zero"), or a preset or hyperparameters instead of from_."""
    return run("train", **flags)


def score(**flags: Any) -> Outcome:
    """Ranks held-out facts: score(workspace="mine", split="test")."""
    return run("score", **flags)


def ask(**flags: Any) -> Outcome:
    """Answers queries, or scores triples: ask(workspace="mine", queries=[...]), or relation=... instead of queries.

    `Outcome.name` is the name under which `tagnet.open(...)` finds the tables.
    """
    return run("ask", **flags)


class Server:
    """A server that was started here. Leaving its `with` block, or the end of Python, stops it.

    Attributes:
        url: where it listens.
        client: a `Client` of it.
    """

    def __init__(self, process: _Process) -> None:
        self._process = process
        process.listening.wait()
        line = next((line for line in process.output if line.startswith("listening on ")), None)
        if line is None:
            process.wait()
            process.check()
            raise CommandError("the server ended before it listened", 0, process.command)
        self.url = line[len("listening on ") :].strip()
        self.client = Client(self.url)
        atexit.register(self.stop)

    def stop(self) -> None:
        """Stops the server after it has answered the requests that are under way."""
        atexit.unregister(self.stop)
        if self._process.running():
            self._process.interrupt()
            self._process.wait()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def serve(*, progress: Progress | None = print_progress, listen: str = "127.0.0.1:0", **flags: Any) -> Server:
    """Starts a server and returns when it listens; port 0 takes a free one.

    with tagnet.serve(workspace="mine") as server:
        server.client.answer("Joan Eibe", "cousin_of")
    """
    process = _Process("serve", {**flags, "listen": listen}, progress)
    try:
        return Server(process)
    except KeyboardInterrupt:
        process.interrupt()
        process.wait()
        raise
