"""Asks a running `tagnet serve`, with nothing but the standard library."""

from __future__ import annotations

import http.client
import json
import queue
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from .openapi import Failure, Operations, Query, Request, Result, Results

T = TypeVar("T")
MOST_BYTES = 1 << 28
"""How long a body may be."""


class ServeError(RuntimeError):
    """An answer of the server that is an error.

    Attributes:
        status: the HTTP status, or 0 if the server could not be reached.
        message: what the server said, in one line.
        closest: names of the graph that are similar to an unknown one.
    """

    def __init__(self, status: int, message: str, closest: Iterable[str] = ()) -> None:
        super().__init__(f"{message} (status {status})" if status else message)
        self.status, self.message, self.closest = status, message, list(closest)


class Client(Operations):
    """A client of a server at a URL; its methods are those of the OpenAPI document, and `answers`.

    A request that the server is too busy for is repeated after the time that it names, for `timeout` seconds in all.

    Args:
        url: where the server listens, of http or https.
        timeout: the seconds that an operation may take.

    Raises:
        ValueError: the URL is another one.
    """

    def __init__(self, url: str = "http://127.0.0.1:8080", timeout: float = 60) -> None:
        super().__init__(self._send)
        if not url.lower().startswith(("http://", "https://")):
            raise ValueError(f"{url!r} is no URL of a server: it begins with http:// or https://")
        self.url, self.timeout = url.rstrip("/"), timeout

    def answers(
        self, queries: Iterable[tuple[str, str]], *, k: int = 10, known: bool = False, candidates: str | None = None
    ) -> list[Result]:
        """Answers any number of queries (source, relation), 100 a request; the results are in their order."""
        pairs, results = [Query(source, relation) for source, relation in queries], []
        for start in range(0, len(pairs), 100):
            request = Request(queries=pairs[start : start + 100], k=k, known=known, candidates=candidates)
            answered = self.answer_all(request)
            assert isinstance(answered, Results)
            results += answered.results
        return results

    def _send(self, method: str, path: str, parameters: dict[str, Any], body: dict[str, Any] | None, read: Callable[[Any], T]) -> T:
        given = {k: str(v).lower() if isinstance(v, bool) else v for k, v in parameters.items() if v is not None}
        url = self.url + path + ("?" + urllib.parse.urlencode(given) if given else "")
        request = urllib.request.Request(url, method=method)
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        end = time.monotonic() + self.timeout
        while True:
            try:
                response, content = _exchange(request, end)
            except (OSError, http.client.HTTPException) as error:
                reason = getattr(error, "reason", error)
                raise ServeError(0, f"no answer from {self.url}: {reason}; tagnet.serve(...) starts a server") from error
            if isinstance(response, urllib.error.HTTPError):
                wait = _seconds(response.headers.get("Retry-After"))
                if not wait or time.monotonic() + wait > end:
                    raise _failure(response, content)
                time.sleep(wait)
                continue
            try:
                return read(json.loads(content) if "json" in response.headers.get_content_type() else content.decode())
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
                raise ServeError(0, f"{self.url} does not answer as tagnet does: {type(error).__name__}: {error}") from error


def _exchange(request: urllib.request.Request, end: float) -> tuple[Any, bytes]:
    """Returns the response, or the error that is one, and its body. It ends at a time, however slowly the server answers."""
    results: queue.SimpleQueue[tuple[Any, bytes] | Exception] = queue.SimpleQueue()

    def work() -> None:
        try:
            results.put(_receive(request, end))
        except Exception as error:
            results.put(error)

    threading.Thread(target=work, daemon=True).start()
    try:
        result = results.get(timeout=max(end - time.monotonic(), 0.001))
    except queue.Empty:
        raise TimeoutError("timed out") from None
    if isinstance(result, Exception):
        raise result
    return result


def _receive(request: urllib.request.Request, end: float) -> tuple[Any, bytes]:
    try:
        response = urllib.request.urlopen(request, timeout=max(end - time.monotonic(), 0.001))
    except urllib.error.HTTPError as error:
        response = error
    content = bytearray()
    with response:
        while part := response.read1(1 << 16):
            content += part
            if time.monotonic() > end:
                raise TimeoutError("timed out")
            if len(content) > MOST_BYTES:
                raise http.client.HTTPException(f"a body of more than {MOST_BYTES >> 20} MiB")
        if response.length:
            raise http.client.IncompleteRead(bytes(content), response.length)
    return response, bytes(content)


def _seconds(retry_after: str | None) -> float:
    """Returns how long to wait, or 0 if the server does not say it in seconds."""
    try:
        seconds = float(retry_after or 0)
    except ValueError:
        return 0
    return seconds if 0 < seconds < float("inf") else 0


def _failure(response: urllib.error.HTTPError, content: bytes) -> ServeError:
    try:
        failure = Failure.read(json.loads(content))
        return ServeError(response.code, failure.error, failure.closest or ())
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return ServeError(response.code, content.decode(errors="replace").strip() or response.reason)
