"""Frames of RFC 6455, as a client sends and reads them."""

from __future__ import annotations

import enum
import os
import struct
from dataclasses import dataclass

_SHORT_MAX = 125
_MEDIUM_MAX = 0xFFFF


class Opcode(enum.IntEnum):
    CONTINUATION = 0x0
    TEXT = 0x1
    BINARY = 0x2
    CLOSE = 0x8
    PING = 0x9
    PONG = 0xA


class BadFrame(Exception):
    """What came is no frame that a server may send."""


@dataclass(frozen=True, slots=True)
class Head:
    """The first two bytes of a frame."""

    final: bool
    opcode: Opcode
    length: int
    """The length itself, or 126 or 127: it follows in two or eight bytes."""

    @property
    def is_control(self) -> bool:
        return self.opcode >= Opcode.CLOSE

    @property
    def length_bytes(self) -> int:
        """How many bytes of length follow."""
        return {126: 2, 127: 8}.get(self.length, 0)


def read_head(two: bytes) -> Head:
    """Reads the first two bytes, and refuses what no server may send."""
    first, second = two
    if first & 0x70:
        raise BadFrame("a reserved bit is set")
    if second & 0x80:
        raise BadFrame("a server's frame is masked")
    try:
        head = Head(bool(first & 0x80), Opcode(first & 0x0F), second & 0x7F)
    except ValueError as error:
        raise BadFrame(f"there is no opcode {first & 0x0F}") from error
    if head.is_control and (not head.final or head.length > _SHORT_MAX):
        raise BadFrame("a control frame is split or too long")
    return head


def client_frame(opcode: Opcode, payload: bytes) -> bytes:
    """A whole frame, masked as a client's has to be."""
    length = len(payload)
    if length <= _SHORT_MAX:
        head = struct.pack("!BB", 0x80 | opcode, 0x80 | length)
    elif length <= _MEDIUM_MAX:
        head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, length)
    else:
        head = struct.pack("!BBQ", 0x80 | opcode, 0x80 | 127, length)
    key = os.urandom(4)
    return b"".join((head, key, mask(payload, key)))


def mask(payload: bytes, key: bytes) -> bytes:
    """The payload under the key. As one large number: bytes one by one take a hundred times as long."""
    length = len(payload)
    whole_key = (key * (length // 4 + 1))[:length]
    masked = int.from_bytes(payload, "big") ^ int.from_bytes(whole_key, "big")
    return masked.to_bytes(length, "big")
