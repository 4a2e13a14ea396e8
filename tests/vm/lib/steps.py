# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests that build upon each other leave to those behind them."""
import pytest


class Steps(dict):
    """Names and values of the steps that succeeded."""

    def done(self, name, value=True):
        """A step has succeeded; its value is for later ones."""
        self[name] = value
        return value

    def need(self, name):
        """The value of an earlier step; the test fails if that failed or did not run."""
        if name not in self:
            pytest.fail(f'there is no "{name}": the test of it failed, or was not selected',
                        pytrace=False)
        return self[name]

    def end(self, name):
        """The value of an earlier step, which is over with this."""
        value = self.need(name)
        del self[name]
        return value
