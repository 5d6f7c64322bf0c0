"""How long a request of 51 bytes and an answer of 184 take between two programs that do nothing else: their sizes in a speed test.

python3 echo.py serve          answers on port 8091 until its client goes
python3 echo.py ask ADDRESS    asks 40 times, one after the other; prints the median in ms
"""

import socket
import statistics
import sys
import time

REQUEST, ANSWER = b"q" * 51, b"a" * 184
PORT = 8091


def serve():
    with socket.create_server(("", PORT)) as listener:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while connection.recv(4096):
            connection.sendall(ANSWER)


def connect(address):
    for _ in range(50):
        try:
            return socket.create_connection((address, PORT))
        except ConnectionRefusedError:
            time.sleep(0.1)  # It does not listen yet.
    sys.exit("nobody answers")


def ask(address):
    connection = connect(address)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    took = []
    for _ in range(40):
        began = time.perf_counter()
        connection.sendall(REQUEST)
        connection.recv(4096)
        took.append((time.perf_counter() - began) * 1e3)
    print(statistics.median(took))


serve() if sys.argv[1] == "serve" else ask(sys.argv[2])
