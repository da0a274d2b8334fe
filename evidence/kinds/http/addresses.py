"""Which addresses a source may be read at: everybody's, and those that its definition names.

What is not everybody's is taken from the registries of special-purpose addresses (IANA, RFC 6890 and its successors).
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from ipaddress import IPv4Network as Four
from ipaddress import IPv6Network as Six
from queue import Empty, SimpleQueue
from typing import Any

from evidence.errors import Refused

Address = IPv4Address | IPv6Address
Network = Four | Six

WIDEST = {4: 8, 6: 16}  # a network that a definition names is no wider
SPECIAL_4 = tuple(
    Four(text)
    for text in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    )
)  # fmt: skip
# Only this part of IPv6 is handed out. It leaves out mapped and translated IPv4 (::ffff:0:0/96, 64:ff9b::/96), unique
# local, link-local, site-local and multicast addresses, and whatever is kept for later.
GLOBAL_6 = Six("2000::/3")
SPECIAL_6 = tuple(Six(text) for text in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"))
# Where a machine asks for credentials of its own. Such an address is reached only if it is itself named, never as a
# part of a named network.
ALONE: tuple[Network, ...] = (
    Four("169.254.0.0/16"), Four("100.100.100.200/32"), Four("168.63.129.16/32"),
    Six("fe80::/10"), Six("fd00:ec2::/32"), Six("fd20:ce::254/128"),
)  # fmt: skip


def network(text: Any) -> Network:
    """A network, or one address, that a definition names. Raises ValueError with a sentence."""
    try:
        found = ip_network(text) if isinstance(text, str) and "%" not in text else None
    except ValueError:
        found = None
    if found is None or str(found) not in (text, f"{text}/{found.max_prefixlen}"):
        raise ValueError(
            "addresses lists addresses and networks as they are usually spelled, like 10.0.0.5 or 10.2.0.0/16."
        )
    if found.prefixlen < WIDEST[found.version] or _is_translated(found.network_address):
        raise ValueError(f"{text[:60]} is too much to be named; name the addresses of the source's server.")
    return found


def is_public(address: Address) -> bool:
    """Whether an address is everybody's."""
    if isinstance(address, IPv4Address):
        return not any(address in special for special in SPECIAL_4)
    return address in GLOBAL_6 and not any(address in special for special in SPECIAL_6)


def is_allowed(address: Address, named: Sequence[Network]) -> bool:
    """Whether the definition that names these networks lets the address be reached."""
    if getattr(address, "scope_id", None) is not None or _is_translated(address):
        return False
    if any(address in lonely for lonely in ALONE):
        return ip_network(address) in named
    return is_public(address) or any(address in one for one in named)


def _is_translated(address: Address) -> bool:
    """Whether it is an IPv4 address in other clothes, which a check of IPv6 addresses would take for something else."""
    if isinstance(address, IPv4Address):
        return False
    prefixes = (Six("::/96"), Six("::ffff:0:0/96"), Six("64:ff9b::/96"), Six("64:ff9b:1::/48"), Six("2002::/16"))
    return any(address in prefix for prefix in prefixes) and address not in (IPv6Address("::"), IPv6Address("::1"))


def checked(host: str, port: int, named: Sequence[Network], seconds: float) -> list[Address]:
    """The addresses of a host, all of which may be reached. The caller connects to one of them, not to the name.

    A name that leads to an allowed and to a forbidden address is refused: which one counts would be luck. Raises
    Refused.
    """
    found = literal(host) or _resolved(host, port, seconds)
    forbidden = next((address for address in found if not is_allowed(address, named)), None)
    if forbidden is not None:
        raise Refused(
            "address_refused",
            f"{host} leads to {forbidden}, which is not everybody's address; an admin can name it in the source's"
            " addresses.",
        )
    return found


def literal(host: str) -> list[Address]:
    """The address that a host is written as; none for a name."""
    try:
        return [ip_address(host)]
    except ValueError:
        return []


def _resolved(host: str, port: int, seconds: float) -> list[Address]:
    """The name's addresses, in the order of the resolver, which itself knows no limit of time. Raises Refused."""
    answers: SimpleQueue[list[Address] | None] = SimpleQueue()
    threading.Thread(target=_ask, args=(host, port, answers), daemon=True, name="resolver").start()
    try:
        found = answers.get(timeout=max(seconds, 0.001))
    except Empty:
        raise Refused("too_slow", f"The name {host} was not resolved in time.") from None
    if not found:
        raise Refused("unreachable", f"The name {host} leads nowhere; look at the source's url.")
    return found


def _ask(host: str, port: int, answers: SimpleQueue[list[Address] | None]) -> None:
    try:
        answers.put(_unique(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)))
    except (OSError, ValueError):  # UnicodeError, which a name without sense gives, is a ValueError
        answers.put(None)


def _unique(infos: Iterable[Any]) -> list[Address]:
    """Each address once. A scope that the resolver names apart is put back, so that it is seen and refused."""
    texts = [f"{place[0]}%{place[3]}" if len(place) == 4 and place[3] and "%" not in place[0] else place[0]
             for *_, place in infos]  # fmt: skip
    return list(dict.fromkeys(ip_address(text) for text in texts))
