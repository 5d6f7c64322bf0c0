"""Round trip time of a request and a response of given sizes between two minimal programs.

python3 echo.py serve ANSWER           responds with ANSWER bytes on port 8091 until its client disconnects
python3 echo.py ask REQUEST ADDRESS    sends 40 sequential requests of REQUEST bytes; prints the median in ms
"""

import socket
import statistics
import sys
import time

PORT = 8091


def serve(answer):
    with socket.create_server(("", PORT)) as listener:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while connection.recv(4096):
            connection.sendall(answer)


def connect(address):
    for _ in range(50):
        try:
            return socket.create_connection((address, PORT))
        except ConnectionRefusedError:
            time.sleep(0.1)  # It does not listen yet.
    sys.exit("nobody answers")


def ask(request, address):
    connection = connect(address)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    took = []
    for _ in range(40):
        began = time.perf_counter()
        connection.sendall(request)
        connection.recv(4096)
        took.append((time.perf_counter() - began) * 1e3)
    print(statistics.median(took))


what, size, *address = sys.argv[1:]
serve(b"a" * int(size)) if what == "serve" else ask(b"q" * int(size), *address)
