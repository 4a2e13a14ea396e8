# SPDX-License-Identifier: GPL-2.0-or-later
"""sos: what the driver erdma and its devices are doing."""
from sos.report.plugins import IndependentPlugin, Plugin


class Erdma(Plugin, IndependentPlugin):
    """Elastic RDMA Adapters: devices, objects, counters. Contents of rings are left out."""

    short_desc = 'Elastic RDMA Adapter'
    plugin_name = 'erdma'
    profiles = ('hardware', 'network')
    kernel_mods = ('erdma',)
    commands = ('eadm',)

    def setup(self):
        """If the module is loaded or eadm is installed; each command has a limit of time and
        size.
        """
        self.add_cmd_output([
            'eadm ver', 'eadm report',
            'eadm list dev', 'eadm info dev', 'eadm -j info dev',
            'eadm list qp', 'eadm list cq', 'eadm list eq',
            'eadm info cmdq', 'eadm stat', 'eadm stat --errors --nonzero', 'eadm debug-level',
            'rdma -d link', 'rdma -d resource show', 'rdma statistic show',
        ], timeout=30, sizelimit=10)
        self.add_copy_spec(['/sys/module/erdma/version', '/sys/module/erdma/srcversion',
                            '/sys/module/erdma/parameters/*'])
