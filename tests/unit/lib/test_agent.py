# SPDX-License-Identifier: GPL-2.0-or-later
"""The host's side of a guest's agent, with a guest that never answers."""
import socket

import pytest

from erdma.vm.agent import Agent
from erdma.vm.errors import Timeout

pytestmark = pytest.mark.group('unit')


def test_guest_that_hangs_is_looked_at_once():
    """Looking starts a command, which does not end either."""
    looks = []

    def look():
        looks.append(1)
        with pytest.raises(Timeout):
            agent.popen(['ps']).wait(0.05)

    host, guest = socket.socketpair()
    with host, guest:
        agent = Agent(host, on_timeout=look)
        with pytest.raises(Timeout, match='"true" did not end'):
            agent.popen(['true']).wait(0.05)
        assert len(looks) == 1
        with pytest.raises(Timeout):
            agent.popen(['true']).wait(0.05)
        assert len(looks) == 2, 'the next command that hangs is looked at'
