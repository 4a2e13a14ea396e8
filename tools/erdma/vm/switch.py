# SPDX-License-Identifier: GPL-2.0-or-later
"""A network of more than two VMs: a switch that learns MAC addresses.

Each VM has a "-netdev dgram" whose remote end is a socket of its own here, so
that the sender of a frame is known. Two VMs need none: they are each other's
remote end. RDMA traffic does not come this way.
"""
import os
import selectors
import socket
import threading

MAX_FRAME = 70000               # with offloads a frame can be 64 KiB long


class Switch:
    """Frames between the sockets FOLDER/net0-CARD, net1-CARD, ... of the VMs."""

    def __init__(self, folder, ports, card):
        self.vm_path = [os.path.join(folder, f'net{i}-{card}') for i in range(ports)]
        self.path = [os.path.join(folder, f'switch{i}-{card}') for i in range(ports)]
        self.where = {}                 # MAC -> port
        self.stop_read, self.stop_write = os.pipe()
        self.sockets = []
        for path in self.path:
            s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
            s.bind(path)
            self.sockets.append(s)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        sel = selectors.DefaultSelector()
        sel.register(self.stop_read, selectors.EVENT_READ, None)
        for port, s in enumerate(self.sockets):
            sel.register(s, selectors.EVENT_READ, port)
        while True:
            for key, _ in sel.select():
                if key.data is None:
                    return
                self.take(key.data)

    def take(self, port):
        """Some frames of one port; the others shall have their turn."""
        for _ in range(64):
            try:
                frame = self.sockets[port].recv(MAX_FRAME)
            except OSError:
                return
            if len(frame) >= 14:
                self.forward(port, frame)

    def forward(self, port, frame):
        to, sender = frame[:6], frame[6:12]
        if not sender[0] & 1 and (sender in self.where or len(self.where) < 1024):
            self.where[sender] = port
        known = self.where.get(to)
        for i in range(len(self.sockets)) if known is None else (known,):
            if i != port:
                try:
                    self.sockets[i].sendto(frame, self.vm_path[i])
                except OSError:
                    pass                # full, or the VM is off: lost, as on any network

    def close(self):
        os.write(self.stop_write, b'x')
        self.thread.join(5)
        for s in self.sockets:
            s.close()
        os.close(self.stop_read)
        os.close(self.stop_write)
