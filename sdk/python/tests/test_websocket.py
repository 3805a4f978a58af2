"""Our WebSocket client against a server of the `websockets` package."""

from __future__ import annotations

import asyncio
import ssl

import pytest
import trustme
from scripted import ScriptedServer

from isolith import ConnectionFailed, RequestError
from isolith._channel import Channel, ChannelLost
from isolith._frames import BadFrame, Opcode, client_frame, mask, read_head
from isolith._websocket import WebSocketConnector


async def open_channel(server: ScriptedServer) -> Channel:
    channel = await WebSocketConnector(server.url).connect()
    assert '"hello"' in await channel.receive()
    return channel


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536, 3 << 20])
async def test_messages_of_every_length_arrive_whole(size: int) -> None:
    async with ScriptedServer() as server:
        channel = await open_channel(server)
        peer = await server.peer()
        text = ("ä" + "x" * (size - 2)) if size >= 2 else "x" * size
        sending = asyncio.create_task(channel.send(text))
        assert await peer.connection.recv() == text
        await sending
        await peer.connection.send(text)
        assert await channel.receive() == text
        await channel.close()
        peer.done.set()


async def test_parts_of_a_message_and_pings_between_them() -> None:
    async with ScriptedServer() as server:
        channel = await open_channel(server)
        peer = await server.peer()
        pong = await peer.connection.ping("are you there")
        await peer.connection.send(["", "one ", "two ", "", "three"])
        assert await channel.receive() == "one two three"
        await asyncio.wait_for(pong, 5)
        peer.done.set()
        await channel.close()


async def test_a_closed_connection_says_why() -> None:
    async with ScriptedServer() as server:
        channel = await open_channel(server)
        peer = await server.peer()
        closing = asyncio.create_task(peer.connection.close(1001, "going home"))
        with pytest.raises(ChannelLost, match=r"closed the connection \(1001: going home\)"):
            await channel.receive()
        await channel.close()
        peer.done.set()
        await closing


async def test_a_broken_connection_and_binary_messages_end_it() -> None:
    async with ScriptedServer() as server:
        channel = await open_channel(server)
        (await server.peer()).drop()
        with pytest.raises(ChannelLost, match="the connection broke"):
            await channel.receive()
        await channel.close()

        channel = await open_channel(server)
        peer = await server.peer()
        await peer.connection.send(b"binary")
        with pytest.raises(ChannelLost, match="a binary frame where none can be"):
            await channel.receive()
        await channel.close()
        peer.done.set()


async def test_tls_is_checked() -> None:
    authority = trustme.CA()
    for_server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(for_server)
    for_client = ssl.create_default_context()
    authority.configure_trust(for_client)
    async with ScriptedServer(tls=for_server) as server:
        channel = await WebSocketConnector(server.url, ssl=for_client).connect()
        assert '"hello"' in await channel.receive()
        await channel.close()
        (await server.peer()).done.set()
        with pytest.raises(ConnectionFailed, match="certificate verify failed"):
            await WebSocketConnector(server.url).connect()


async def test_the_key_is_sent_and_a_wrong_one_is_told() -> None:
    async with ScriptedServer(key="isk_right") as server:
        channel = await WebSocketConnector(server.url, "isk_right").connect()
        await channel.close()
        (await server.peer()).done.set()
        with pytest.raises(RequestError, match="a key is needed") as refused:
            await WebSocketConnector(server.url, "isk_wrong").connect()
        assert (refused.value.code, refused.value.hint, refused.value.status) == ("auth.missing", "make one", 401)
        assert "isk_right" not in repr(WebSocketConnector(server.url, "isk_right"))


async def test_what_is_no_websocket_is_said_so() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answers.pop(0))
        writer.close()

    answers = [b"SSH-2.0\r\n\r\n", b"HTTP/1.1 101 Yes\r\n\r\n", b"HTTP/1.1 503 Busy\r\n\r\n", b""]
    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    for message in ("does not speak HTTP", "does not speak WebSocket", "status 503", "cannot connect"):
        with pytest.raises(ConnectionFailed, match=message):
            await WebSocketConnector(url).connect()
    server.close()


@pytest.mark.parametrize("two", [b"\xc1\x00", b"\x81\x80", b"\x83\x00", b"\x09\x00", b"\x89\x7e"])
def test_frames_that_no_server_may_send_are_refused(two: bytes) -> None:
    with pytest.raises(BadFrame):
        read_head(two)


def test_masking_is_its_own_inverse() -> None:
    for payload in (b"", b"a", b"abcdefg", bytes(range(256)) * 3):
        assert mask(mask(payload, b"\x01\x00\xff\x7f"), b"\x01\x00\xff\x7f") == payload
    assert client_frame(Opcode.TEXT, b"hi")[:2] == b"\x81\x82"
