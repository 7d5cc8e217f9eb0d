"""Where does a listener listen?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from routecanary.errors import InputError

ADDRESS_FORM: Final = 'host:port such as "127.0.0.1:7450", "[::1]:7450"; port 0 takes any free one'

_ADDRESS: Final = re.compile(r"(?:\[([0-9A-Fa-f:.%]{2,64})\]|([A-Za-z0-9._-]{1,253})):([0-9]{1,5})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A host, as a name or a number, and a port."""

    host: str
    port: int  # 0 = any free one

    @property
    def is_loopback(self) -> bool:
        """Say whether only this machine can reach it; of a name other than `localhost` nobody knows."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str) -> Address:
    """Read an address.

    Raises:
        InputError: It has another form, or no such port.
    """
    found = _ADDRESS.fullmatch(text)
    if found is None or int(found[3]) > 65_535:
        raise InputError("not an address to listen at", value=text, allowed=ADDRESS_FORM)
    numeric, named, port = found.groups()
    if numeric is not None:
        try:
            ip_address(numeric)
        except ValueError:
            raise InputError("not an address to listen at", value=text, allowed=ADDRESS_FORM) from None
    return Address(host=numeric or named, port=int(port))
