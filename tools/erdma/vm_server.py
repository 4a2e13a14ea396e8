# SPDX-License-Identifier: GPL-2.0-or-later
"""The process that VMs of erdma-vm belong to, from up to down, and its socket.

A request is one line of JSON on a connection of its own; answers are lines of JSON, the last has
"status" or "error". Whoever closes the connection of a command that runs ends the command.
"""
import base64
import json
import os
import queue
import select
import signal
import socketserver
import threading
import time

from .vm import QmpError, Timeout, VmError

#: Bytes of output that wait for who asked for them; more ends the command.
MAX_WAITING = 64 << 20
#: Seconds in which a VM has to answer what status asks.
PATIENCE = 5
#: Facts about a VM that did not.
NO_ANSWER = {'state': 'no answer', 'device': None, 'cards': []}
#: They end the VMs.
SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


class Network:
    """VMs that are up, and what may be asked of them."""

    def __init__(self, hosts):
        self.hosts = hosts
        self.begin = time.monotonic()
        self.over = threading.Event()       # it shall end
        self.gone = threading.Event()       # it has ended

    def vm(self, number):
        """VM @number, from 1."""
        if not isinstance(number, int) or not 1 <= number <= len(self.hosts):
            raise VmError(f'there is no VM {number}; there are 1 to {len(self.hosts)}')
        return self.hosts[number - 1]

    def card(self, request):
        """The card that a request names."""
        vm = self.vm(request['vm'])
        number = request.get('card', 1)
        if not 1 <= number <= len(vm.cards):
            raise VmError(f'VM {vm.index} has no card {number}')
        return vm.cards[number - 1]

    @staticmethod
    def ask(vm):
        """What one VM must be asked for: its devices, of its cards or of its only interface."""
        facts = {'state': 'ended', 'device': None, 'cards': []}
        if not vm.running or vm.agent.gone:
            return facts
        try:
            for card in vm.cards:
                facts['cards'].append({'card': card.number, 'address': vm.address(card.number),
                                       'device': vm.driver.find_device(card.number, PATIENCE),
                                       'faults': card.get('faults')})
            facts['device'] = facts['cards'][0]['device'] if vm.cards else \
                vm.driver.find_device(1, PATIENCE)
            facts['state'] = 'running'
        except VmError:
            if vm.running and not vm.agent.gone:
                return NO_ANSWER
        return facts

    def ask_all(self):
        """The same of each, all at once: what a monitor and a guest wait for is more than PATIENCE."""
        found = [NO_ANSWER] * len(self.hosts)

        def ask(i, vm):
            found[i] = self.ask(vm)
        threads = [threading.Thread(target=ask, args=x, daemon=True) for x in enumerate(self.hosts)]
        end = time.monotonic() + PATIENCE
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0, end - time.monotonic()))
        return list(found)

    def status(self, request):
        """All facts; brief: those for which no VM need be asked."""
        hosts = self.hosts
        asked = [{}] * len(hosts) if request.get('brief') else self.ask_all()
        return {'name': hosts.name, 'pid': os.getpid(), 'accelerator': hosts.accelerator,
                'seconds': int(time.monotonic() - self.begin), 'folder': hosts.dir,
                'shares': [{'guest': '/' + name, 'host': path}
                           for name, path in hosts.specs[0].writable],
                'vms': [{'vm': vm.index, 'pid': vm.proc.pid, 'address': vm.address(),
                         'log': vm.console, **more} for vm, more in zip(hosts, asked)]}

    def fault(self, request):
        """Set a fault, or clear all; the faults then in force."""
        card, line = self.card(request), request.get('line')
        try:
            if line == 'clear':
                card.clear_faults()
            elif line:
                card.fault(line)
        except QmpError as e:
            raise VmError(str(e).removeprefix('qom-set: ')) from e
        return {'faults': card.get('faults')}

    def down(self, _request):
        """End everything."""
        self.over.set()
        return {}


class Handler(socketserver.StreamRequestHandler):
    """One request."""

    def handle(self):
        try:
            request = json.loads(self.rfile.readline())
            word = request['do']
            if word == 'run':
                self.run(request)
            elif word in ('status', 'fault', 'down'):
                self.answer(status=0, **getattr(self.server.network, word)(request))
                if word == 'down':          # who asked waits for the end of the connection
                    self.server.network.gone.wait()
            else:
                self.answer(error=f'unknown request "{word}"')
        except VmError as e:
            self.answer(error=str(e), late=isinstance(e, Timeout))
        except (OSError, ValueError, KeyError, TypeError) as e:
            self.answer(error=f'{type(e).__name__}: {e}')

    def answer(self, **fields):
        """One line, if anybody reads it."""
        try:
            self.wfile.write(json.dumps(fields).encode() + b'\n')
        except OSError:
            pass

    def run(self, request):
        """A command of a guest: what it prints as it comes, then its status."""
        vm = self.server.network.vm(request['vm'])
        waiting, size = queue.Queue(), [0]

        def take(which, data):
            size[0] += len(data)
            waiting.put((which, data))
        data = base64.b64decode(request['input']) if request.get('input') else None
        program = vm.popen(request['argv'], input=data, env=request.get('env'),
                           cwd=request.get('cwd'), on_output=take, retain=False)
        try:
            while program.running or not waiting.empty():
                if self.asked_to_stop(program):
                    return
                if size[0] > MAX_WAITING:
                    raise VmError(f'{size[0]} bytes of output wait to be read')
                try:
                    which, data = waiting.get(timeout=0.05)
                except queue.Empty:
                    continue
                size[0] -= len(data)
                self.wfile.write(json.dumps(
                    {'out' if which == 0 else 'err': base64.b64encode(data).decode()}).encode() +
                    b'\n')
            self.answer(status=program.status)
        finally:
            self.end(vm, program)

    @staticmethod
    def end(vm, program):
        """Nobody waits for a program any more."""
        try:
            if program.status is None:
                program.kill()
        except VmError:
            pass                        # the VM has ended
        vm.agent.forget(program)

    def asked_to_stop(self, program):
        """A signal for the program, or the end of the connection (True)?"""
        if not select.select([self.connection], [], [], 0)[0]:
            return False
        line = self.rfile.readline()
        if line:
            program.signal(int(json.loads(line)['signal']))
        return not line


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Takes requests for a Network. The folder of the socket is the user's alone."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, path, network):
        self.network = network
        super().__init__(path, Handler)


def load_drivers(hosts, kind):
    """The driver in all guests, and a device for each of its cards. Soft-RoCE needs no card."""
    for vm in hosts:
        vm.driver.kind = kind
        if vm.spec.cards or kind == 'rxe':
            vm.driver.insert()
    for vm in hosts:
        for card in vm.cards:
            vm.driver.wait_device(card.number)


def end_by_signal():
    """SIGTERM and its like raise an exception, once: what cleans up is not disturbed."""
    def end(number, _frame):
        for other in SIGNALS:
            signal.signal(other, signal.SIG_IGN)
        raise KeyboardInterrupt(f'ended by {signal.Signals(number).name}')
    for number in SIGNALS:
        signal.signal(number, end)


def serve(network, report):
    """Take requests until the end."""
    with Server(os.path.join(network.hosts.dir, 'control'), network) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            report(network.status({}))
            network.over.wait()
        finally:
            server.shutdown()


def live(hosts, driver, report):
    """Boot, say so, serve until the end. A signal ends it at any time, and nothing is left; of what
    fails the logs are.

    report: a function for one line of JSON.
    """
    end_by_signal()
    try:
        hosts.start(tty=True)
        network = Network(hosts)
        if driver != 'none':
            load_drivers(hosts, driver)
        serve(network, report)
    except VmError:
        hosts.stop(failed=True)
        raise
    finally:
        hosts.stop(remove=True)


def detach():
    """This process no longer belongs to a terminal."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.chdir('/')


class Answer:
    """To who started this process: one line of JSON, once."""

    def __init__(self, fd):
        self._fd = fd

    def give(self, facts):
        """What the first call has is the answer."""
        if self._fd is None:
            return
        try:
            os.write(self._fd, json.dumps(facts).encode())
        except OSError:
            pass
        os.close(self._fd)
        self._fd = None


def start(hosts, driver):
    """Have the VMs brought up by a process of their own. Returns what status() says.

    Raises VmError. An interrupt ends what has begun.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        answer = Answer(writer)
        try:
            detach()
            live(hosts, driver, answer.give)
        except BaseException as e:      # pylint: disable=broad-exception-caught
            answer.give({'error': str(e) or type(e).__name__})
        finally:
            os._exit(0)
    os.close(writer)
    try:
        with open(reader, encoding='utf-8') as f:
            text = f.read()
    except BaseException:
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)
        raise
    facts = json.loads(text) if text else {'error': 'the process of the VMs ended'}
    if 'error' in facts:
        os.waitpid(child, 0)
        raise VmError(facts['error'])
    return facts
