"""Files that are forbidden to us, also where the tests run as root."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_VERSION = 0x20080522  # _LINUX_CAPABILITY_VERSION_3: two 32-bit words of each set
_OVERRIDES = (1 << 1) | (1 << 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Data(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


@contextmanager
def bound_by_permissions() -> Iterator[None]:
    """Let this thread be bound by file permissions for a while, as every user but root is."""
    if os.geteuid() != 0:
        yield
        return
    assert sys.platform == "linux", "root is bound by permissions on Linux only"
    libc = ctypes.CDLL(None, use_errno=True)
    header, data = _Header(_VERSION, 0), (_Data * 2)()

    def must(result: int) -> None:
        if result != 0:
            raise OSError(ctypes.get_errno(), "capabilities")

    must(libc.capget(ctypes.byref(header), data))
    before = data[0].effective
    data[0].effective = before & ~_OVERRIDES
    must(libc.capset(ctypes.byref(header), data))
    try:
        yield
    finally:
        data[0].effective = before
        must(libc.capset(ctypes.byref(header), data))
