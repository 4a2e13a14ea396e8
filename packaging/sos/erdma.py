# SPDX-License-Identifier: GPL-2.0-or-later
"""sos: what the driver erdma and its devices are doing."""
from sos.report.plugins import DebianPlugin, IndependentPlugin, Plugin


# sos 4.0 takes no independent plugins on Debian
class Erdma(Plugin, IndependentPlugin, DebianPlugin):
    """Elastic RDMA Adapters: what a bug report needs, with pseudonyms for addresses, keys, names and
    processes. Whoever wants more asks for it: the report goes to others than the administrator.
    """

    short_desc = 'Elastic RDMA Adapter'
    plugin_name = 'erdma'
    profiles = ('hardware', 'network')
    kernel_mods = ('erdma',)
    commands = ('eadm',)

    def setup(self):
        """If the module is loaded or eadm is installed; each command has a limit of time and
        size.
        """
        self.add_cmd_output('eadm report --redact ids', timeout=60, sizelimit=10)
        self.add_copy_spec(['/sys/module/erdma/version', '/sys/module/erdma/srcversion',
                            '/sys/module/erdma/parameters/*'])
