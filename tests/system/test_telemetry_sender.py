"""Telemetry on its way out: batches, bad receivers, forks and ends, over real sockets."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import routecanary
from routecanary.client.telemetry import MAX_RECORDS, Sender
from tests.hooked import TOKEN, Receiver, a_receiver

SOURCE = str(Path(routecanary.__file__).parents[1])


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with a_receiver() as running:
        yield running


def numbers(receiver: Receiver) -> list[int]:
    return [record["n"] for body in receiver.bodies for record in json.loads(body)["generations"]]


def test_records_come_in_batches_and_in_order(receiver: Receiver) -> None:
    """With the token as a bearer, to the path below the address, no more than so many at once."""
    sender = Sender(receiver.url + "/", TOKEN, interval=60)
    for n in range(2 * MAX_RECORDS + 10):
        sender.put({"n": n})
    assert sender.flush(20)
    assert numbers(receiver) == list(range(2 * MAX_RECORDS + 10))
    assert max(len(json.loads(body)["generations"]) for body in receiver.bodies) <= MAX_RECORDS
    assert {asked["path"] for asked in receiver.asked_with} == {"/v1/telemetry"}
    assert {asked["Authorization"] for asked in receiver.asked_with} == {f"Bearer {TOKEN}"}
    assert sender.status() == {
        "waiting": 0,
        "problem": None,
        "sent": 2 * MAX_RECORDS + 10,
        "dropped": 0,
        "refused": 0,
        "attempts_failed": 0,
    }
    sender.close()
    assert TOKEN not in repr(sender) + json.dumps(sender.status())


def test_with_nobody_there_the_oldest_are_dropped_and_counted() -> None:
    """Putting goes on at once, whatever happened to the receiver."""
    sender = Sender("http://127.0.0.1:9", TOKEN, interval=0.01, limit=100)
    for n in range(1000):
        sender.put({"n": n})
    assert not sender.flush(5)
    status = sender.status()
    assert status["waiting"] == 100
    assert status["dropped"] == 900
    assert "Refused" in status["problem"]
    sender.close(0.1)
    assert sender.status()["dropped"] == 1000
    sender.put({"n": 1000})
    assert sender.status()["dropped"] == 1001


@pytest.mark.parametrize("status", [401, 403, 404, 409, 301])
def test_what_is_refused_is_not_sent_again(status: int, receiver: Receiver) -> None:
    """A wrong token or address costs the records, and is told in the status."""
    receiver.status = status
    sender = Sender(receiver.url, TOKEN, interval=60)
    for n in range(3):
        sender.put({"n": n})
    assert sender.flush(20)
    assert sender.status()["refused"] == 3
    assert str(status) in sender.status()["problem"]
    assert len(receiver.asked_with) <= 2
    sender.close()


def test_one_bad_record_costs_only_itself(receiver: Receiver) -> None:
    """A batch that is refused for its content is halved until the culprit stands alone."""
    sender = Sender(receiver.url, TOKEN, interval=60)
    sender.put({"n": -1})
    assert sender.flush(20)  # the thread waits from here on
    receiver.status = 400
    for n in range(5):
        sender.put({"n": n})
    sender.put({"n": float("nan")})
    sender.put({"n": object()})
    assert sender.flush(20)
    assert sender.status()["refused"] == 5 + 2
    assert len(receiver.asked_with) == 1 + 9
    sender.close()


def test_a_receiver_that_is_busy_is_asked_again_when_it_said(receiver: Receiver) -> None:
    """After 503 nothing is lost, and nothing is asked before `Retry-After` has passed."""
    receiver.status, receiver.headers = 503, {"Retry-After": "2"}
    sender = Sender(receiver.url, TOKEN, interval=0.01)
    sender.put({"n": 1})
    began = time.monotonic()
    assert not sender.flush(0.5)
    receiver.status = 202
    while not receiver.bodies:
        assert time.monotonic() - began < 30
        sender.flush(0.1)
    assert time.monotonic() - began > 1.5
    assert len(receiver.asked_with) == 2
    assert sender.flush(5)
    assert sender.status()["attempts_failed"] == 1
    sender.close()


def test_a_forked_child_sends_its_own_and_not_its_parents(receiver: Receiver) -> None:
    """What waited in the parent comes once, from the parent."""
    sender = Sender(receiver.url, TOKEN, interval=60)
    sender.put({"n": 0})
    assert sender.flush(20)
    for n in range(1, 4):
        sender.put({"n": n})
    code = (
        "import os, sys\n"
        "from routecanary.client.telemetry import Sender\n"
        f"sender = Sender({receiver.url!r}, interval=60)\n"
        "sender.put({'n': 10}); assert sender.flush(20)\n"
        "sender.put({'n': 11})\n"
        "child = os.fork()\n"
        "sender.put({'n': 12 if child else 13})\n"
        "assert sender.flush(20)\n"
        "if child: assert os.waitpid(child, 0)[1] == 0\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], env={"PYTHONPATH": SOURCE}, timeout=60, check=False
    )
    assert done.returncode == 0
    assert sorted(n for n in numbers(receiver) if n >= 10) == [10, 11, 12, 13]
    sender.close()
    assert sorted(n for n in numbers(receiver) if n < 10) == [0, 1, 2, 3]


def test_the_end_of_the_process_sends_what_waits(receiver: Receiver) -> None:
    """An application that just ends loses nothing that can be sent in two seconds."""
    code = (
        "from routecanary.client.telemetry import Sender\n"
        f"sender = Sender({receiver.url!r}, interval=600)\n"
        "sender.put({'n': 0}); sender.flush()\n"
        "sender.put({'n': 1})\n"
    )
    subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": SOURCE}, timeout=60, check=True)
    assert numbers(receiver) == [0, 1]


def test_many_threads_put_at_once_and_none_is_lost(receiver: Receiver) -> None:
    """Each record comes once."""
    sender = Sender(receiver.url, TOKEN, interval=0.01)

    def put(first: int) -> None:
        for n in range(first, first + 500):
            sender.put({"n": n})

    threads = [threading.Thread(target=put, args=(1000 * number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sender.flush(20)
    assert sorted(numbers(receiver)) == sorted(1000 * a + b for a in range(6) for b in range(500))
    sender.close()


@pytest.mark.parametrize(
    "url", ["", "ftp://host", "127.0.0.1:7450", "http://", "http://u:p@host", "http://h?x"]
)
def test_an_address_that_is_none_is_refused_at_once(url: str) -> None:
    """It is a mistake of whoever writes the application, found when it starts."""
    with pytest.raises(ValueError, match="url must be"):
        Sender(url)


def test_a_sender_that_nobody_holds_ends_its_thread(receiver: Receiver) -> None:
    """A thread holds its owner weakly."""
    sender = Sender(receiver.url, interval=0.01)
    sender.put({"n": 0})
    assert sender.flush(20)
    thread = sender._thread
    assert thread is not None
    del sender
    thread.join(20)
    assert not thread.is_alive()
