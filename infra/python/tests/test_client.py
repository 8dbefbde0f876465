"""The client, against a server that the program runs, and its generator."""

import contextlib
import http.server
import json
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import tagnet
from tagnet.openapi import Query, Request, Results

GENERATOR = Path(__file__).resolve().parent.parent / "generate_client.py"


@pytest.fixture(scope="module")
def server(sample):
    with tagnet.serve(workspace=sample, progress=None) as server:
        yield server


def test_answers_are_those_of_ask(server, copied):
    queries = [("Joan Eibe", "cousin_of"), ("Mira Zeder", "~parent_of")] * 60
    asked = tagnet.ask(workspace=copied, queries=queries[:2], top_k=4, output="compared")
    table = tagnet.open(copied).answers(asked.name)
    results = server.client.answers(queries, k=4)
    assert len(results) == 120
    for number in (0, 1):
        rows, result = table[table["query"] == number], results[118 + number]
        assert [a.entity for a in result.answers] == list(rows["entity"])
        assert [a.score for a in result.answers] == pytest.approx(list(rows["score"]))
        assert [a.probability for a in result.answers] == pytest.approx(list(rows["probability"]), abs=1e-6)
        assert [a.rank for a in result.answers] == list(rows["rank"])
        assert [a.other_score for a in result.answers] == pytest.approx(list(rows["other_score"]))
        assert [a.known for a in result.answers] == list(rows["known"]) == [False] * 4
        assert result == server.client.answer(*queries[number], k=4)


def test_operations(server):
    client = server.client
    best = client.answer("Joan Eibe", "cousin_of", k=1).answers[0]
    assert not best.known
    known = next(a for a in client.answer("Joan Eibe", "cousin_of", known=True).answers if a.known)
    why = client.explain("Joan Eibe", "cousin_of", known.entity, k=1, walks=True)
    for way in why.reasons[0], why.paths[0]:
        assert way.steps[0].from_ == "Joan Eibe" and way.steps[-1].to == known.entity
    assert 0 < why.reasons[0].support <= why.reasons[0].cases
    triple = client.score("Joan Eibe", "cousin_of", best.entity).triples[0]
    assert (triple.tail_score, triple.head_score) == pytest.approx((best.score, best.other_score))
    assert triple.probability == pytest.approx(best.probability, abs=1e-6)
    assert client.entities(prefix="joan e").entities == ["Joan Eibe"]
    assert len(client.relations().relations) == 12
    assert "~cousin_of" in client.relations(entity="Joan Eibe").relations
    assert client.types().types == []
    assert client.health().probabilities == "ready"
    assert client.health().status == client.reload().status == "ok"
    assert "go_goroutines" in client.metrics()
    one = client.answer_all(Request(source="Joan Eibe", relation="cousin_of", k=1))
    several = client.answer_all(Request(queries=[Query("Joan Eibe", "cousin_of")], k=1))
    assert isinstance(several, Results) and several.results == [one]


def test_errors(server):
    with pytest.raises(tagnet.ServeError, match="unknown entity") as raised:
        server.client.answer("Joan Eib", "cousin_of")
    assert raised.value.status == 404 and raised.value.closest[0] == "Joan Eibe"
    with pytest.raises(tagnet.ServeError, match=r"no answer from http://127.0.0.1:9.*tagnet.serve"):
        tagnet.Client("http://127.0.0.1:9").health()


def test_a_server_stops(sample):
    with tagnet.serve(workspace=sample, progress=None) as server:
        server.client.health()
    assert not server._process.running()
    assert any("every request was answered" in line for line in server._process.output)
    with pytest.raises(tagnet.ServeError):
        server.client.health()


def test_a_busy_server_is_tried_again():
    class Busy(http.server.BaseHTTPRequestHandler):
        requests = 0

        def do_GET(self):
            Busy.requests += 1
            self.send_response(429 if Busy.requests == 1 else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Retry-After", "1")
            self.end_headers()
            self.wfile.write(json.dumps({"error": "busy"} if Busy.requests == 1 else {"types": ["a"]}).encode())

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Busy) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        start = time.monotonic()
        assert tagnet.Client(url).types().types == ["a"]
        assert time.monotonic() - start >= 1 and Busy.requests == 2
        Busy.requests = 0
        with pytest.raises(tagnet.ServeError, match="busy") as raised:
            tagnet.Client(url, timeout=0.5).types()
        assert raised.value.status == 429
        server.shutdown()


def json_answer(body):
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


@pytest.mark.parametrize("begin", [b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: ", b""])
def test_timeout_bounds_the_whole_call(begin):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            connection, _ = server.accept()
            with connection, contextlib.suppress(OSError):
                connection.sendall(begin)
                while True:  # a body, or a header, without end
                    connection.sendall(b" ")
                    time.sleep(0.1)

        threading.Thread(target=serve, daemon=True).start()
        start = time.monotonic()
        with pytest.raises(tagnet.ServeError, match=r"no answer from .*timed out"):
            tagnet.Client(f"http://127.0.0.1:{server.getsockname()[1]}", timeout=0.7).types()
        assert time.monotonic() - start < 3


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://localhost/", "localhost:8080", "data:,x", ""])
def test_a_url_is_of_http(url):
    with pytest.raises(ValueError, match="it begins with http:// or https://"):
        tagnet.Client(url)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 6\r\n\r\n<html>",
        b"HTTP/1.1 503 Busy\r\nRetry-After: Thu, 26 Nov 2026 11:00:00 GMT\r\nContent-Length: 4\r\n\r\nbusy",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 503 Busy\r\nRetry-After: -5\r\nContent-Length: 4\r\n\r\nbusy",
        b"HTTP/1.1 503 Busy\r\nRetry-After: nan\r\nContent-Length: 100\r\n\r\nbusy",
        json_answer(b"[" * 100000),
        json_answer(b'{"types": "abc"}'),
        json_answer(b'{"types": [1]}'),
        json_answer(b'{"types": null}'),
        json_answer(b"[]"),
        b'HTTP/1.1 404 No\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{"error": 1}',
    ],
)
def test_what_does_not_answer_as_tagnet_is_an_error(answer):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        with pytest.raises(tagnet.ServeError):
            tagnet.Client(f"http://127.0.0.1:{server.getsockname()[1]}").types()


def test_the_generated_client_is_current():
    subprocess.run([sys.executable, str(GENERATOR), "--check"], check=True)
