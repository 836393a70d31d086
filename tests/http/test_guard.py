"""Tests of what may be connected to: a table of hostile addresses, and names that change their mind."""

import ipaddress
import socket
from typing import Any

import pytest
from standins.raw_server import Rough, plain, saying
from standins.server import deaf_port

from fathom.errors import Refused
from fathom.http import guard
from fathom.http.fetch import Fetcher
from fathom.http.guard import is_public

PUBLIC = "93.184.216.34"
NAMES = {
    "public.example": [PUBLIC],
    "inside.example": ["10.0.0.5"],
    "mixed.example": [PUBLIC, "10.0.0.5"],
    "mixed6.example": ["2606:4700::1111", "fd00::1"],
    "mapped.example": ["::ffff:10.0.0.5"],
    "metadata.google.internal": ["169.254.169.254"],
    "localtest.example": ["127.0.0.1"],
    "zone.example": ["fe80::1%eth0"],
    "localhost": ["127.0.0.1"],
}


async def resolve(host: str, port: int) -> list[str]:
    """A name as the machine's resolver would have it: numbers in every dress, and a small book of names."""
    plain = host.rstrip(".")
    if ":" in plain:
        return [plain]
    if plain in NAMES:
        return NAMES[plain]
    return [socket.inet_ntoa(socket.inet_aton(plain))]


GUARDED = Fetcher(limit_s=5, resolve=resolve)


@pytest.mark.parametrize(
    "address",
    [
        # plain
        "http://127.0.0.1/",
        "https://127.0.0.1/",
        "http://127.1.2.3:8080/",
        "http://localhost/",
        "http://LOCALHOST/",
        "http://0.0.0.0/",
        "http://[::1]/",
        "http://[::]/",
        "http://10.0.0.5/",
        "http://172.16.0.1/",
        "http://192.168.1.1/",
        "http://100.64.0.5/",
        "http://192.0.2.1/",
        "http://198.18.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://224.0.0.1/",
        "http://240.0.0.1/",
        "http://255.255.255.255/",
        # numbers in disguise
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.0x0.0x0.0x1/",
        "http://017700000001/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://127.0.1/",
        "http://0/",
        "http://127.0.0.1./",
        "http://localhost./",
        "http://１２７.０.０.１/",
        "http://①②⑦.⓪.⓪.①/",
        "http://127。0。0。1/",
        "http://ｌｏｃａｌｈｏｓｔ/",
        "http://%31%32%37.0.0.1/",
        # IPv6 that is IPv4 underneath, or not of the open internet
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[::127.0.0.1]/",
        "http://[2002:7f00:1::]/",
        "http://[2002:a00:5::1]/",
        "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[64:ff9b:1::a00:5]/",
        "http://[fe80::1]/",
        "http://[fe80::1%25eth0]/",
        "http://[fec0::1]/",
        "http://[fd00::1]/",
        "http://[ff02::1]/",
        "http://[2001:db8::1]/",
        # names
        "http://inside.example/",
        "http://mixed.example/",
        "http://mixed6.example/",
        "http://mapped.example/",
        "http://zone.example/",
        "http://localtest.example/",
        "http://metadata.google.internal/computeMetadata/v1/",
        # user names
        f"http://user:secret@{PUBLIC}/",
        f"http://{PUBLIC}@127.0.0.1/",
        f"http://{PUBLIC}:80@127.0.0.1/",
        "http://public.example%40127.0.0.1/",
        f"http://{PUBLIC}\\@127.0.0.1/",
        "http://public.example#@127.0.0.1/x y",
        # ports that are not the web's
        *(f"http://public.example:{port}/" for port in (0, 21, 22, 25, 445, 3306, 5432, 6379, 9200, 11211)),
        "http://public.example:99999/",
        "http://public.example:８０80/",
        # other schemes
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        "ftp://public.example/",
        "gopher://public.example:80/_GET",
        "dict://public.example/",
        "data:text/html,x",
        "javascript:alert(1)",
        "jar:http://public.example!/",
        "//127.0.0.1/",
        # broken
        "",
        "http://",
        "http:///etc/passwd",
        "http:public.example",
        "http://[::1",
        "http://[public.example]/",
        "http://a b/",
        "http://public.example/\r\nHost: inside.example",
        "http://public.example\r\nX: y/",
        "http://public.example\t/",
        "http://public.example\u2028/",
        "http://public.example\u200b/",
        "http://public.example\\.inside.example/",
        "http://public.example/..\\..\\x",
        "http://public.example/" + "a" * 3000,
    ],
)
async def test_hostile_addresses_are_refused(address: str) -> None:
    with pytest.raises(Refused) as caught:
        await GUARDED(address)
    assert "secret" not in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "target",
    [
        "file:///etc/passwd",
        "ftp://127.0.0.1/",
        "gopher://127.0.0.1/",
        "http://u:p@127.0.0.1/",
        "http://10.0.0.5/admin",
        "//10.0.0.5/admin",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://2130706434:8080/",
        "http://127.0.0.2./",
        "http://mixed.example/",
        "http://public.example:22/",
        "http://public.example:6379/",
        "\\\\10.0.0.5\\share",
    ],
)
async def test_a_redirect_to_a_hostile_address_is_refused(
    site: Any, reply: Any, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    # The only patch here: the first hop must be on loopback, so this one address and port are called public.
    monkeypatch.setattr(guard, "is_public", lambda ip: str(ip) == "127.0.0.1" or is_public(ip))
    site.pages["/a"] = reply(status=302, headers={"Location": target})

    async def first_hop(host: str, port: int) -> list[str]:
        return ["127.0.0.1"] if host == "start.example" else await resolve(host, port)

    fetcher = Fetcher(limit_s=5, resolve=first_hop, ports={80, 443, 8080, site.port})
    with pytest.raises(Refused):
        await fetcher(f"http://start.example:{site.port}/a")
    assert len(site.seen) == 1


async def test_a_name_that_turns_private_at_the_second_look_is_refused(
    site: Any, reply: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "is_public", lambda ip: str(ip) == "127.0.0.1" or is_public(ip))
    site.pages["/a"] = reply(status=302, headers={"Location": "/b", "Connection": "close"})
    site.pages["/b"] = reply(b"secret")
    answers = [["127.0.0.1"], ["127.0.0.2"]]

    async def rebinding(host: str, port: int) -> list[str]:
        return answers.pop(0)

    with pytest.raises(Refused, match=r"rebind\.example leads to an address that is not public"):
        await Fetcher(limit_s=5, resolve=rebinding, ports={site.port})(f"http://rebind.example:{site.port}/a")
    assert [path for path, _ in site.seen] == ["/a"]


@pytest.mark.parametrize("port", [80, 443, 8080, 8443])
async def test_the_ports_of_the_web_pass_the_guard(port: int) -> None:
    assert await guard.GuardedBackend(resolve).check("public.example", port) == [PUBLIC]


async def test_private_addresses_on_any_port_pass_if_the_operator_asks(site: Any, reply: Any) -> None:
    site.pages["/a"] = reply(b"words")
    assert (await Fetcher(is_private_allowed=True, resolve=resolve)(f"{site.url}/a")).body == b"words"


@pytest.mark.parametrize("others", [["127.0.0.2"], ["::1", "127.0.0.4"]])
async def test_of_several_addresses_the_one_that_listens_is_taken(
    site: Any, reply: Any, others: list[str]
) -> None:
    site.pages["/a"] = reply(b"words")

    async def several(host: str, port: int) -> list[str]:
        return [*others, "127.0.0.1"]

    fetcher = Fetcher(is_private_allowed=True, resolve=several, limit_s=5)
    assert (await fetcher(f"http://several.example:{site.port}/a")).body == b"words"


async def test_an_address_that_never_answers_does_not_hold_up_the_others(
    site: Any, reply: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "_NEXT_ADDRESS_S", 0.1)

    async def several(host: str, port: int) -> list[str]:
        return ["127.0.0.1", "127.0.0.2"]

    with deaf_port() as port:
        async with Rough(saying(plain(b"words")), host="127.0.0.2", port=port):
            fetcher = Fetcher(is_private_allowed=True, resolve=several, limit_s=20)
            assert (await fetcher(f"http://several.example:{port}/a")).body == b"words"


async def test_a_unix_socket_is_never_connected_to() -> None:
    with pytest.raises(NotImplementedError):
        await guard.GuardedBackend(resolve).connect_unix_socket("/run/docker.sock")


@pytest.mark.parametrize(
    ("ip", "expected"),
    [("93.184.216.34", True), ("2606:4700::1111", True), ("192.0.2.1", False), ("240.0.0.1", False)],
)
def test_only_the_open_internet_is_public(ip: str, expected: bool) -> None:
    assert is_public(ipaddress.ip_address(ip)) is expected
