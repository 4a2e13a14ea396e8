
HXCOMM SPDX-License-Identifier: GPL-2.0-or-later

    {
        .name       = "erdma",
        .args_type  = "view:S?",
        .params     = "[view]",
        .help       = "show ERDMA cards: all, or one view of each",
    },

SRST
  ``info erdma`` [*view*]
    Show what the ERDMA cards do. *view* is registers, statistics, queues, qps,
    cqs, mrs, connections, faults, an object like ``qp 17``, or entries of a
    ring like ``ring cq 3``.
ERST
