"""Counts of what was exchanged with each host."""

from __future__ import annotations

import threading

from benchproof.http.traffic import Traffic
from unit.http.conftest import (
    Client,
    Server,
    answer,
)


def test_traffic_counts_what_was_sent(client: Client, server: Server) -> None:
    server.script = [answer(503, b"1234"), answer(429, b"12", Retry_After="3"), answer(body=b"1")]
    client.get(server.url)
    assert client.traffic.rows("list") == [
        {
            "stage": "list",
            "host": server.url.removeprefix("http://"),
            "requests": 3,
            "bytes_in": 7,
            "retries": 2,
            "throttled": 1,
            "waited_s": 3.5,
        }
    ]


def test_traffic_of_threads_is_summed() -> None:
    traffic, more = Traffic(), Traffic()

    def add() -> None:
        for _ in range(1000):
            traffic.add("b", requests=1, bytes_in=2)

    threads = [threading.Thread(target=add) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    more.add("a", waited_s=0.0004)
    more.merge(traffic)
    more.merge(traffic)
    assert [row["host"] for row in more.rows("x")] == ["a", "b"]
    assert (more.hosts()["b"].requests, more.hosts()["b"].bytes_in) == (16_000, 32_000)
    assert more.rows("x")[0]["waited_s"] == 0.0
