"""An HTTP/2 server over hyper-h2 and OpenSSL that sends early hints and then the response to each request.

Usage: http2.py CERTIFICATE KEY
"""

import socket
import ssl
import sys
import threading

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import PingAckReceived, RequestReceived

BODY = b"x" * 20_000


def speak(stream):
    http = H2Connection(H2Configuration(client_side=False))
    http.initiate_connection()
    stream.sendall(http.data_to_send())
    while data := stream.recv(65_536):
        for event in http.receive_data(data):
            if isinstance(event, RequestReceived):
                hints = [(":status", "103"), ("link", "</a.css>; rel=preload")]
                http.send_headers(event.stream_id, hints)
                # The client acknowledges this ping after it has read the hints.
                http.ping(event.stream_id.to_bytes(8, "big"))
            elif isinstance(event, PingAckReceived):
                number = int.from_bytes(event.ping_data, "big")
                http.send_headers(number, [(":status", "200"), ("content-length", str(len(BODY)))])
                # Both frames fit the initial window of a stream, and no frame exceeds 16 384 bytes.
                http.send_data(number, BODY[:10_000])
                http.send_data(number, BODY[10_000:], end_stream=True)
        stream.sendall(http.data_to_send())


def serve(context, listener):
    while True:
        stream, _ = listener.accept()
        wrapped = context.wrap_socket(stream, server_side=True)
        threading.Thread(target=speak, args=[wrapped], daemon=True).start()


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(*sys.argv[1:])
context.set_alpn_protocols(["h2"])
listener = socket.create_server(("127.0.0.1", 0))
print("listening on https://%s:%d/" % listener.getsockname(), file=sys.stderr, flush=True)
serve(context, listener)
