"""The transport: one send a call, within its time, through the proxy that was named, and no key told."""

import asyncio
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from provider_cases import KEY, Recorder, Said

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import TransientError
from fieldwork.generation.providers.http import Http, HttpReply, HttpSettings

WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n12345678"


def call(url: str, n: int = 1, method: str = "POST", **settings: Any) -> HttpReply:
    async def session() -> HttpReply:
        http = Http(HttpSettings(**{"timeout_s": 5.0, **settings}), url)
        try:
            for _ in range(n - 1):
                await http.call(method, url, b"{}")
            return await http.call(method, url, b"{}")
        finally:
            await http.close()

    return asyncio.run(session())


@contextmanager
def behaving(
    behave: Callable[[socket.socket], None], tls: ssl.SSLContext | None = None
) -> Iterator[str]:
    """A server that reads one call's head and then does as it likes."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):
                connection, _ = server.accept()
                if tls is not None:
                    connection = tls.wrap_socket(connection, server_side=True)
                with connection:
                    connection.recv(65536)
                    behave(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http{'s' if tls else ''}://127.0.0.1:{server.getsockname()[1]}/x"
        server.close()
        thread.join(5)


def test_the_environment_names_the_proxy(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder.replies = [Said({})]
    for value in (recorder.url, recorder.url.removeprefix("http://")):
        monkeypatch.setenv("http_proxy", value)
        call("http://model.invalid/v1")  # reached by the proxy or not at all
    assert [seen.path for seen in recorder.calls] == ["http://model.invalid/v1"] * 2
    monkeypatch.setenv("no_proxy", "model.invalid")
    with pytest.raises(TransientError, match=r"model\.invalid"):
        call("http://model.invalid/v1")


def test_the_setting_wins_over_the_environment(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder.replies = [Said({})]
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "*")
    call("http://model.invalid/v1", proxy=recorder.url.replace("//", "//me:pass%20word@"))
    assert recorder.calls[0].headers["proxy-authorization"].startswith("Basic ")


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_wants_a_password(scheme: str) -> None:
    refusal = b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n"
    with behaving(lambda connection: connection.sendall(refusal)) as proxy:
        proxy = proxy.replace("//", "//me:hidden-word@")
        with pytest.raises(StudyError, match=r"the proxy asks for.*models\.\*\.proxy") as caught:
            call(f"{scheme}://model.invalid/", proxy=proxy)
    assert "hidden" not in str(caught.value)


PROXY, ADDRESS = r"models\.\*\.proxy", r"is not a valid URL; check models\.\*\.base_url"
FILE = r"models\.\*\.ca_file"


@pytest.mark.parametrize(
    ("address", "settings", "words"),
    [
        *(("http://host", {"proxy": f"{at}:9"}, PROXY) for at in ("socks5://h", "127.0.0.1")),
        ("http://host", {"proxy": "http://127.0.0.1:99999"}, PROXY),
        *((at, {}, ADDRESS) for at in ("http://host:port/v1", "http:///v1", "ftp://host", "")),
        (f"https://user:{KEY}@host/v1", {}, "api_key_env"),
        ("https://host", {"ca_file": "absent.pem"}, FILE),
        ("https://host", {"ca_file": __file__}, FILE),
    ],
)
def test_what_cannot_be_called_is_said_at_once(
    address: str, settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(StudyError, match=words) as caught:
        Http(HttpSettings(**settings), address)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("status", [302, 307])
def test_a_redirect_is_not_followed(recorder: Recorder, status: int) -> None:
    target = f"{recorder.url}/elsewhere?token={KEY}"
    recorder.replies = [Said({}, status, {"Location": target})]
    with pytest.raises(StudyError, match=rf"HTTP {status}.*elsewhere.*base_url") as caught:
        call(recorder.url)
    assert len(recorder.calls) == 1
    assert KEY not in str(caught.value)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that nobody trusts, with its key in the same file."""
    file = tmp_path_factory.mktemp("tls") / "server.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    name = ["-subj", "/CN=x", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", file, "-out", f"{file}.crt"]
    try:
        subprocess.run([*command.split(), *name, *files], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no openssl command that makes certificates")
    file.write_bytes(file.read_bytes() + Path(f"{file}.crt").read_bytes())
    return file


@pytest.mark.parametrize("is_trusted", [True, False])
def test_a_certificate_is_trusted_where_the_setting_names_it(
    certificate: Path, is_trusted: bool
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with behaving(lambda connection: connection.sendall(WHOLE), context) as url:
        if is_trusted:
            assert call(url, ca_file=f"{certificate}.crt").raw == b"12345678"
        else:
            with pytest.raises(StudyError, match=r"certificate.*models\.\*\.ca_file"):
                call(url)


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        WHOLE[:-4],
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
    ],
)
def test_a_reply_that_is_not_whole_is_tried_again(reply: bytes) -> None:
    with behaving(lambda connection: connection.sendall(reply)) as url:
        with pytest.raises(TransientError) as caught:
            call(url)
        assert caught.value.maybe_billed
        assert not caught.value.is_throttled
