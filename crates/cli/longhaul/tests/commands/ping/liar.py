"""Replies to echo requests instead of a kernel that ignores them; some replies are false.

Usage: liar.py STRANGER, the address that forged answers come from
"""

import socket
import struct
import sys

ECHO_REPLY, ECHO_REQUEST = 0, 8


def checksum(message):
    """RFC 1071."""
    total = sum(struct.unpack(f"!{len(message) // 2}H", message))
    while total > 0xFFFF:
        total = (total >> 16) + (total & 0xFFFF)
    return ~total & 0xFFFF


def message(ident, sequence, payload):
    """An echo reply; its payload has an even length."""
    head = struct.pack("!HH", ident, sequence & 0xFFFF)
    total = checksum(struct.pack("!BBH", ECHO_REPLY, 0, 0) + head + payload)
    return struct.pack("!BBH", ECHO_REPLY, 0, total) + head + payload


def from_elsewhere(source, to, reply):
    """A packet of IPv4 from another address; the kernel fills in its length and checksum."""
    ends = socket.inet_aton(source) + socket.inet_aton(to)
    return struct.pack("!BBHHHBBH", 0x45, 0, 0, 0, 0, 64, socket.IPPROTO_ICMP, 0) + ends + reply


class Liar:
    def __init__(self):
        self.payloads = []
        self.held = {}

    def answers(self, ident, sequence, payload):
        """The replies to send after the next ping, each with a flag whether its source address is another one."""
        number = len(self.payloads)
        self.payloads.append(payload)
        honest = message(ident, sequence, payload)
        self.held[number] = honest
        match number:
            case 1:  # Three times.
                return [(honest, False)] * 3
            case 2 | 16:  # Later: with ping 20, and with ping 17.
                return []
            case 3:  # A payload with another last byte, and then the right one.
                return [(message(ident, sequence, payload[:-1] + b"!"), False), (honest, False)]
            case 4:  # A payload without its end, and no right one.
                return [(message(ident, sequence, payload[:-2]), False)]
            case 5:  # The payload of an earlier ping, and then the right one.
                return [(message(ident, sequence, self.payloads[0]), False), (honest, False)]
            case 6:  # The answer to somebody else's ping, a message that is cut off, and the right one.
                return [(message(ident ^ 1, sequence, payload), False), (honest[:6], False), (honest, False)]
            case 7:  # From elsewhere, and then the right one.
                return [(honest, True), (honest, False)]
            case 8:  # From elsewhere, and no right one.
                return [(honest, True)]
            case 17:
                return [(honest, False), (self.held[16], False)]
            case 20:
                return [(self.held[2], False), (self.held[2], False), (honest, False)]
        return [(honest, False)]


def main(stranger):
    socket_ = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    forger = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    liar = Liar()
    print("listening on ICMP", file=sys.stderr, flush=True)
    while True:
        packet, (client, _) = socket_.recvfrom(65_535)
        # The payload follows the IPv4 header, whose length is in words.
        request = packet[(packet[0] & 15) * 4 :]
        kind, _, _, ident, sequence = struct.unpack("!BBHHH", request[:8])
        if kind != ECHO_REQUEST:
            continue
        for reply, is_from_elsewhere in liar.answers(ident, sequence, request[8:]):
            if is_from_elsewhere:
                forger.sendto(from_elsewhere(stranger, client, reply), (client, 0))
            else:
                socket_.sendto(reply, (client, 0))


main(sys.argv[1])
