"""An HTTP/3 server over aioquic: it sends early hints before the response to `/hints`, and no hints otherwise.

Usage: quic.py CERTIFICATE KEY
"""

import asyncio
import sys

from aioquic.asyncio import QuicConnectionProtocol, serve
from aioquic.h3.connection import H3Connection
from aioquic.h3.events import HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated

BODY = b"x" * 20_000


class Server(QuicConnectionProtocol):
    http = None

    def quic_event_received(self, event):
        if isinstance(event, ProtocolNegotiated):
            self.http = H3Connection(self._quic)
        if self.http is None:
            return
        for message in self.http.handle_event(event):
            if isinstance(message, HeadersReceived):
                asyncio.ensure_future(self.answer(message.stream_id, dict(message.headers)))

    async def answer(self, stream, headers):
        if headers[b":path"] == b"/hints":
            hints = [(b":status", b"103"), (b"link", b"</a.css>; rel=preload")]
            self.http.send_headers(stream, hints)
            # The client acknowledges this ping after it has received the datagram with the hints.
            await self.ping()
        length = str(len(BODY)).encode()
        self.http.send_headers(stream, [(b":status", b"200"), (b"content-length", length)])
        self.http.send_data(stream, BODY, end_stream=True)
        self.transmit()


async def main():
    configuration = QuicConfiguration(is_client=False, alpn_protocols=["h3"])
    configuration.load_cert_chain(*sys.argv[1:])
    # aioquic does not expose its listen address; the transport does.
    server = await serve("127.0.0.1", 0, configuration=configuration, create_protocol=Server)
    address, port = server._transport.get_extra_info("sockname")
    print(f"listening on https://{address}:{port}/", file=sys.stderr, flush=True)
    await asyncio.Future()


asyncio.run(main())
