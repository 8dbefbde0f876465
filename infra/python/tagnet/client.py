"""Asks a running `tagnet serve`, with nothing but the standard library."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable
from typing import Any

from .openapi import Failure, Operations, Query, Request, Result, Results


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
        url: where the server listens.
        timeout: the seconds that an operation may take.
    """

    def __init__(self, url: str = "http://127.0.0.1:8080", timeout: float = 60) -> None:
        super().__init__(self._send)
        self.url, self.timeout = url.rstrip("/"), timeout

    def answers(
        self, queries: Iterable[tuple[str, str]], *, k: int = 10, only_new: bool = False, candidates: str | None = None
    ) -> list[Result]:
        """Answers any number of queries (source, relation), 100 a request; the results are in their order."""
        pairs, results = [Query(source, relation) for source, relation in queries], []
        for start in range(0, len(pairs), 100):
            request = Request(queries=pairs[start : start + 100], k=k, only_new=only_new, candidates=candidates)
            answered = self.answer_all(request)
            assert isinstance(answered, Results)
            results += answered.results
        return results

    def _send(self, method: str, path: str, parameters: dict[str, Any], body: dict[str, Any] | None) -> Any:
        given = {k: str(v).lower() if isinstance(v, bool) else v for k, v in parameters.items() if v is not None}
        url = self.url + path + ("?" + urllib.parse.urlencode(given) if given else "")
        request = urllib.request.Request(url, method=method)
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        end = time.monotonic() + self.timeout
        while True:
            try:
                with urllib.request.urlopen(request, timeout=max(end - time.monotonic(), 0.001)) as response:
                    text = response.read()
                    return json.loads(text) if "json" in response.headers.get_content_type() else text.decode()
            except urllib.error.HTTPError as error:
                wait = _seconds(error.headers.get("Retry-After"))
                if not wait or time.monotonic() + wait > end:
                    raise _failure(error) from None
                error.close()
                time.sleep(wait)
            except (urllib.error.URLError, OSError, http.client.HTTPException) as error:
                reason = getattr(error, "reason", error)
                raise ServeError(0, f"no answer from {self.url}: {reason}; tagnet.serve(...) starts a server") from error
            except ValueError as error:
                raise ServeError(0, f"{self.url} does not answer as tagnet does: {error}") from error


def _seconds(retry_after: str | None) -> float:
    """Returns how long to wait, or 0 if the server does not say it in seconds."""
    try:
        return float(retry_after or 0)
    except ValueError:
        return 0


def _failure(error: urllib.error.HTTPError) -> ServeError:
    with error:
        text = error.read().decode(errors="replace")
    try:
        failure = Failure.read(json.loads(text))
        return ServeError(error.code, failure.error, failure.closest or ())
    except (ValueError, KeyError, TypeError):
        return ServeError(error.code, text.strip() or error.reason)
