# SPDX-License-Identifier: GPL-2.0-or-later
"""What the commands of docs/runbooks have to answer in a guest, command -> {pattern of rules: what}.
Commands are those of pages and of NEXT, with words of runbooks.PLACES for what is of a case.

Without an entry a command succeeds and prints at least a row.
"""

#: Exit statuses of an answer of eadm (man/eadm.8): doctor's are 10 and 11.
EADM = (0, 10, 11)

#: What the output must have: regular expressions; %(pid)s is a word of the case.
SHOWS = {
    'ps -o pid,stat,wchan:32,comm -p {pid}': {
        'process-stopped': r'(?m)^ *%(pid)s T', 'process-blocked': r'(?m)^ *%(pid)s D',
        'application-asleep': r'(?m)^ *%(pid)s S', 'event-not-taken': r'(?m)^ *%(pid)s S'},
    'cat /proc/{pid}/cgroup': {'process-frozen': ':/kubepods', 'cpu-limit': ':/kubepods'},
    'eadm why --pid {pid}': {'*': r'(?m)^VERDICT .*\n.*\nRUNBOOK +runbooks/application'},
    'eadm log --kind cm,fail': {'cm-*': r'(?m)  cm  .* [A-Z]+ .* %(pid)s  '},
    'eadm stat --group cm --nonzero': {'cm-*': r'cm_(?:connect|accept)_failed '},
    'ss -tln': {'cm-*-request': r':%(listener)s '},
    'ip route get {ip}': {'cm-no-syn': 'dev %(netdev)s ', 'cm-unreachable': 'dev %(netdev)s '},
    'ping -c 3 -M do -s 8972 {ip}': {'mtu-*': r'message too long, mtu=\d+'},
    'ip -br address show dev {netdev}': {
        'link-down': r'DOWN', 'no-carrier': 'DOWN', 'no-address': r'(?m)^%(netdev)s +UP *$'},
    'ip -br link show dev {netdev}': {
        'link-down': r'DOWN(?!.*NO-CARRIER)', 'no-carrier': 'NO-CARRIER,.*UP', 'no-address': r' UP '},
    'eadm log --kind link': {
        'link-down': '  down  ', 'no-carrier': '  down  ', 'no-address': '  up  ', 'mtu-refused': 'MTU 1400'},
    'ip link show dev {netdev}': {'mtu-refused': 'mtu 1400', 'mtu-*': r'mtu \d+'},
    'ibv_devices': {'provider-missing': r'\A(?!(?s:.*)%(dev)s)', 'provider-old': '%(dev)s'},
    'grep . /sys/module/erdma/version /sys/module/erdma/srcversion': {
        'module-old': r'/version:.*\n.*/srcversion:'},
    'grep . /sys/module/erdma/parameters/compat_mode': {'compat-mode': 'Y'},
    'grep -r erdma /etc/modprobe.d': {'compat-mode': 'compat_mode=Y'},
    'ls /etc/libibverbs.d /usr/lib/*/libibverbs': {
        'provider-missing': r'\A(?!(?s:.*)erdma\.driver)(?s:.*)liberdma'},
    'ls -l /usr/lib/*/libibverbs.so.1': {'provider-old': r'\.39\.\d+$'},
    'rdma system': {'netns-hidden': 'exclusive', 'wrong-netns': 'shared'},
    'ls -l /proc/{pid}/ns/net /proc/self/ns/net': {
        'wrong-netns': r'(net:\[\d+\])\n.*(?!\1)net:\[\d+\]'},
    'cat /sys/module/erdma/parameters/recorders': {'recorders-off': 'N'},
    'grep . /proc/irq/*/erdma-ceq*/../*affinity_list': {
        'irqs-one-cpu': r'ceq0\S*/smp_affinity_list:(\d+)\n(?s:.*)ceq1\S*/smp_affinity_list:\1\n'},
    'grep VmPin /proc/{pid}/status': {'pinned-*': r'[1-9]\d* kB'},
    'eadm dump cq {cqn}': {'key-deregistered': 'recv-key-invalid'},
    'eadm log --kind key,event': {'key-deregistered': r'(?m)  deregistered  .* %(pid)s  .*'},
    'eadm dump eq {eq} --inflight': {'irq-lost': r'driver>.* unread'},
    'eadm list eq -v': {'irq-lost*': r'(?m)^\S+ +%(eq)s(?: +\d+){8} +[1-9]'},      # LOST-IRQS
    'eadm stat --group events --errors --nonzero -i 1 -n 5': {
        'irq-lost*': 'ceq_lost_irqs', 'cq-event-lost-found': r'events +\S+ +\d+ +[1-9]'},
    'eadm log --kind reset': {'card-re*': '  lost  '},
    'eadm info dev': {
        'limit-*': r'(?m) [1-9]\d* of \d+$', 'card-re*': r'recovered, times +[1-9]',
        'mtu-refused': r'last MTU command +E', 'mtu-*': r'MTU +\d+'},
    'eadm list ctx': {'limit-*': r'many_\w+'},
    'eadm log --kind cmd-first,reset': {
        'cmdq-dead': '  lost  ', 'cmdq-unanswered': r'ETIMEDOUT .*not answered'},
    'eadm stat --group cmdq --errors': {'cmdq-unanswered': r'cmdq_timeouts +[1-9]'},
    'eadm log --kind cmd-time': {'cmdq-slow': r'  \d+\.\ds  '},
    'eadm dump cmdq --inflight': {'cmdq-*': 'in-flight'},
    'eadm stat --errors --nonzero -i 1 -n 5': {'rate-limited': r'_[bp]ps_'},
    'eadm list qp --state DEAD': {
        'qp-stopped': ' %(qpn)s +RC +DEAD', 'cq-broken': ' %(qpn)s +RC +DEAD'},
    'eadm log --kind event': {'qp-stopped': r'qp/%(qpn)s ', 'cq-broken': 'CQ_ERR .*cq/%(cqn)s'},
    'eadm dump qp {qpn} --sq': {'card-stuck': 'WRITE'},
    'eadm log --kind fail,cmd': {'verb-failed': r'(?m)  fail  .*(?:reg_user_mr|create_cq)'},
    'eadm explain cmd {status}': {'verb-failed': r'cmd-status +%(status)s '},
    'eadm info qp {qpn} -v': {'cq-*': r'send requests asked for +\d'},
    # RTO/S, in front of DROP/S
    'eadm top -b -n 3 -v': {
        'not-acknowledged': r'(?m)^ *\S+ +%(qpn)s  .*  (?!0 )[\d.]+ +\d+ *(?:yes)?$'},
    'eadm info qp {qpn}': {'not-acknowledged': r'retransmission timeouts +[1-9]'},
    'eadm list dev': {'card-gone': r'adapter at %(pci)s .* made no RDMA device'},
    'eadm info cmdq': {'cmdq-stuck': r'in flight +[1-9]'},
}

#: Another exit status, or "nothing" for a success without a row, and why.
OTHERWISE = {
    'eadm list dev': {'card-gone': (5, 'it says that the adapter has no device')},
    'dmesg | grep -i erdma': {'no-driver': (1, 'nobody loaded the driver')},
    'modinfo -F filename erdma': {'no-*': (1, 'guests load the module from the checkout')},
    'modinfo erdma': {'*': (1, 'the same')},
    "modinfo erdma | grep -E '^(filename|version|srcversion):'": {'*': (1, 'the same')},
    'ls -d /lib/modules/$(uname -r)/build': {'*': (2, 'guests have no headers')},
    'grep . /sys/module/erdma/parameters/compat_mode': {
        'module-other': (2, "the kernel's own driver has no such parameter")},
    'grep . /sys/module/erdma/version /sys/module/erdma/srcversion': {
        'module-other': (2, 'it states no version')},
    'grep -r erdma /etc/modprobe.d': {
        'module-*': (1, 'there is no option'), 'headers-*': (1, 'there is no option')},
    'grep -r recorders /etc/modprobe.d': {'recorders-off': (1, 'they were switched off later')},
    'eadm log --kind fail': {'pinned-near': ('nothing', 'nothing failed yet')},
    'eadm list qp --sort pid': {'limit-*': ('nothing', 'another kind of object came to its end')},
    'eadm stat --group verbs --errors --nonzero': {
        'limit-*': ('nothing', 'nobody asked for one more')},
    'eadm stat --errors --nonzero -i 1 -n 5': {'*-stuck': ('nothing', 'no counter of errors rises')},
    'eadm stat --errors --nonzero': {
        'not-acknowledged': ('nothing', 'there is no limit of rate'),
        'retry-exceeded': ('nothing', 'the same'), 'peer-*': ('nothing', 'the same')},
    'eadm stat --group events --errors --nonzero -i 1 -n 5': {
        'completion-hidden': ('nothing', 'each event came'),
        'event-hidden': ('nothing', 'each interrupt came')},
    'cat /proc/{pid}/stack': {'no-receive': ('nothing', 'it runs')},
    'ping -c 3 -M do -s 8972 {ip}': {'mtu-*': (1, 'the size is for an MTU of 9000')},
    'ping {ip}': {'cm-no-syn': (1, 'nobody is there')},
}

#: Commands of which a verdict does not have a word, and why.
LEFT_OUT = {
    'ps -o pid,stat,wchan:32,comm -p {pid}': {'cq-not-taken': 'it is of a consumer in the kernel'},
    'cat /proc/{pid}/stack': {'cq-not-taken': 'the same'},
    'eadm why --pid {pid}': {'cq-not-taken': 'the same'},
    'ping -c 3 -M do -s 8972 {ip}': {'mtu-refused': 'it is about no peer'},
    'ls -l /proc/{pid}/ns/net /proc/self/ns/net': {'netns-hidden': 'it is about no process'},
    'eadm explain cmd {status}': {'verb-failed': 'the card did not refuse it'},
    'eadm info cq {cqn}': {
        'irq-lost*': 'it is about no completion queue', 'event-hidden': 'the same',
        'cq-event-lost-found': 'it does not know which'},
    'eadm recover cq {cqn} --dry-run': {
        'irq-lost*': 'it is about no completion queue', 'event-hidden': 'the same',
        'cq-event-lost-found': 'it does not know which'},
}
