# SPDX-License-Identifier: GPL-2.0-or-later
"""The QMP monitor of one QEMU process."""
import json
import threading

from .errors import QmpError

MAX_LINE = 16 << 20
MAX_EVENTS = 200
SECONDS = 20


def lines(sock, limit=MAX_LINE):
    """Lines out of a socket until it closes; a longer one than @limit ends it."""
    rest = b''
    while True:
        try:
            data = sock.recv(65536)
        except OSError:
            return
        if not data:
            return
        *whole, rest = (rest + data).split(b'\n')
        for line in whole:
            yield line.decode(errors='replace').strip()
        if len(rest) > limit:
            return


class Qmp:
    """Commands to and events of QEMU, on a connected socket."""

    def __init__(self, sock):
        self._sock = sock
        self._lock = threading.Lock()           # one command at a time
        self._changed = threading.Condition()
        self._events = []
        self._answers = {}
        self._next_id = 0
        self._over = False
        threading.Thread(target=self._read, daemon=True).start()
        try:
            self._send({'execute': 'qmp_capabilities'})
        except QmpError:
            pass                                # QEMU ended at once, and says why itself

    def _read(self):
        for line in lines(self._sock):
            try:
                msg = json.loads(line)
            except ValueError:
                continue
            with self._changed:
                if 'event' in msg:
                    self._events.append(msg)
                    del self._events[:-MAX_EVENTS]
                elif 'id' in msg:
                    self._answers[msg['id']] = msg
                self._changed.notify_all()
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def _send(self, command):
        self._next_id += 1
        try:
            self._sock.sendall(json.dumps(dict(command, id=self._next_id)).encode() + b'\n')
        except OSError as e:
            raise QmpError(f'QEMU is gone: {e}') from e
        return self._next_id

    def execute(self, command, **arguments):
        """Run a command; an underscore in an argument's name stands for itself.

        Returns what QEMU returned. Raises QmpError.
        """
        request = {'execute': command}
        if arguments:
            request['arguments'] = arguments
        with self._lock:
            number = self._send(request)
            with self._changed:
                self._changed.wait_for(lambda: number in self._answers or self._over, SECONDS)
                answer = self._answers.pop(number, None)
                self._answers.clear()           # late ones
        if answer is None:
            raise QmpError('QEMU is gone' if self._over else
                           f'{command}: no answer from QEMU in {SECONDS} s')
        if 'error' in answer:
            raise QmpError(f'{command}: {answer["error"].get("desc", "?")}')
        return answer['return']

    def event(self, name, timeout=0):
        """The oldest event of this name not returned before; None: none came in time."""
        def take():
            for i, e in enumerate(self._events):
                if e['event'] == name:
                    return self._events.pop(i)
            return None
        with self._changed:
            found = []

            def ready():
                e = take()
                if e:
                    found.append(e)
                return bool(found) or self._over
            self._changed.wait_for(ready, timeout)
            return found[0] if found else None

    def get(self, path, name):
        """A property of a QOM object."""
        return self.execute('qom-get', path=path, property=name)

    def set(self, path, name, value):
        """Set a property of a QOM object."""
        return self.execute('qom-set', path=path, property=name, value=value)
