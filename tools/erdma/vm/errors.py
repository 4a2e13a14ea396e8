# SPDX-License-Identifier: GPL-2.0-or-later
"""What can go wrong with a VM. All are VmError."""


class VmError(Exception):
    """Base of all errors of this package; the text is for the user."""


class VmLost(VmError):
    """The QEMU process ended, the guest's kernel died, or its agent is gone."""


class BootPanic(VmLost):
    """The guest's kernel panicked before the agent ran, thus before any driver for the card."""


class QmpError(VmError):
    """QEMU refused a command, or did not answer in time."""


class Timeout(VmError):
    """A limit was reached."""


class CommandFailed(VmError):
    """A command in the guest ended with another status than 0.

    result: the Result.
    """

    def __init__(self, result):
        self.result = result
        super().__init__(str(result))
