"""However the bytes of a connection are cut into reads, they hold the same requests."""

from __future__ import annotations

from itertools import pairwise

from httptools import HttpParserError, HttpRequestParser
from hypothesis import example, given, settings
from hypothesis import strategies as st

from routecanary.web.head import RefusedError
from routecanary.web.reader import RequestReader

Read = tuple[str, str, str, tuple[tuple[bytes, bytes], ...], bytes]

PIECES = [
    b"GET / HTTP/1.1\r\n",
    b"POST /v1/chat/completions?x=%20 HTTP/1.1\r\n",
    b"PUT /a HTTP/1.0\r\n",
    b"Host: h\r\n",
    b"host:\r\n",
    b"X-Name: some value \r\n",
    b"Connection: close\r\n",
    b"Content-Length: 3\r\n",
    b"Content-Length: 0\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"\r\n",
    b"\r\n\r\n",
    b"abc",
    b"3\r\nabc\r\n",
    b"1;x=y\r\nz\r\n",
    b"0\r\n\r\n",
    b"0\r\nT: r\r\n\r\n",
    b"\n",
    b"\r",
    b" ",
    b"\0",
    b":",
]
WHOLE = [
    b"GET /one?two HTTP/1.1\r\nHost: h\r\nX: y\r\n\r\n",
    b"POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 7\r\n\r\n\r\n\r\nabc",
    b"POST /b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n\r\n0\r\n0\r\n\r\n",
    b"\r\n",
]


def read(portions: list[bytes]) -> tuple[list[Read], bool]:
    """Read whole requests; say whether what follows them was refused."""
    reader, found, head, body = RequestReader(), list[Read](), None, b""
    try:
        for portion in portions:
            reader.feed(portion)
            while True:
                if head is None:
                    head = reader.head()
                    if head is None:
                        break
                piece = reader.body()
                body += piece
                if reader.complete:
                    found.append((head.method, head.path, head.query, tuple(head.fields.items()), body))
                    head, body = None, b""
                elif not piece:
                    break
    except RefusedError:
        return found, True
    return found, False


streams = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=14).map(b"".join),
    st.lists(st.one_of(st.sampled_from(WHOLE), st.sampled_from(PIECES)), max_size=6).map(b"".join),
)


@settings(max_examples=400, deadline=None)
@given(data=streams, cuts=st.lists(st.integers(0, 400), max_size=8))
@example(data=b"".join(WHOLE), cuts=[])
def test_any_split_gives_the_same_requests(data: bytes, cuts: list[int]) -> None:
    """Whole, cut anywhere, or one byte at a time: the same requests, and the same refusal after them."""
    whole = read([data])
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    assert read([data[start:end] for start, end in pairwise(edges)]) == whole
    assert read([data[at : at + 1] for at in range(len(data))]) == whole


class Listener:
    """Notes what another reader takes the bytes for."""

    def __init__(self) -> None:
        self.found: list[tuple[str, bytes]] = []
        self.url = self.body = b""

    def on_message_begin(self) -> None:
        self.url = self.body = b""

    def on_url(self, url: bytes) -> None:
        self.url += url

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        self.found.append((self.url.decode("latin-1"), self.body))


@settings(max_examples=400, deadline=None)
@given(data=streams)
@example(data=b"".join(WHOLE))
def test_another_strict_reader_finds_no_other_requests(data: bytes) -> None:
    """Whatever is taken for requests here, llhttp takes for the very same ones: nothing can be smuggled."""
    found, _ = read([data])
    other = Listener()
    parser = HttpRequestParser(other)
    try:
        parser.feed_data(data)
    except HttpParserError:
        pass  # what follows the requests
    ours = [(f"{path}?{query}" if query else path, body) for _, path, query, _, body in found]
    assert other.found[: len(ours)] == ours or not other.found
