/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules by which evidence becomes a verdict: one table, from which "why", its JSON,
 * "explain rule" and the manual take identifiers, sentences and next steps.
 *
 * Words in braces are replaced by what was found.
 */
#ifndef EADM_RULES_H
#define EADM_RULES_H

#include "model.h"

/**
 * enum rule_level - how bad it is
 * @LEVEL_NOTE: nothing is wrong, or nothing is known to be
 * @LEVEL_WARNING: a risk, or something of the past
 * @LEVEL_FAULT: it explains why nothing goes on
 */
enum rule_level { LEVEL_NOTE, LEVEL_WARNING, LEVEL_FAULT };

/**
 * enum rule_sure - how sure a verdict is
 * @SURE_POSSIBLE: the evidence fits, and fits others
 * @SURE_LIKELY: the evidence fits, and others are rare
 * @SURE_CERTAIN: the evidence is the fault itself
 */
enum rule_sure { SURE_POSSIBLE, SURE_LIKELY, SURE_CERTAIN };

/**
 * enum rule_side - who has to act
 * @SIDE_APPLICATION: the application that the question is about
 * @SIDE_DRIVER: the driver
 * @SIDE_CARD: the card
 * @SIDE_PATH: the network between the two
 * @SIDE_PEER: the other end: its application, or its host
 * @SIDE_ADMIN: whoever administers this host
 */
enum rule_side {
	SIDE_APPLICATION, SIDE_DRIVER, SIDE_CARD, SIDE_PATH, SIDE_PEER, SIDE_ADMIN,
};

/*
 * X(identifier, name, level, confidence, side, sentence, next step, paragraph).
 * Of two that are as bad and as sure, the one that stands first is the verdict.
 */
#define RULES(X) \
	RULES_OF_HOST(X) \
	RULES_OF_DEVICE(X) \
	RULES_OF_SURROUNDINGS(X) \
	RULES_OF_STOPPED_QP(X) \
	RULES_OF_CONNECTION(X) \
	RULES_OF_PROGRESS(X) \
	RULES_OF_VERBS(X) \
	RULES_OF_STATE(X)

#define RULES_OF_HOST(X) \
	X(NO_DRIVER, "no-driver", FAULT, CERTAIN, ADMIN, \
	  "no driver is bound to the adapter at {pci}", \
	  "modprobe erdma; dmesg | grep {pci}", \
	  "The adapter is on the bus, and nobody drives it.") \
	X(NO_RDMA, "no-rdma", FAULT, CERTAIN, ADMIN, \
	  "the adapter at {pci} is bound to driver '{driver}', which made no RDMA device that " \
	  "belongs to it", \
	  "dmesg | grep {pci}; modinfo erdma", \
	  "The probe failed, the driver is one for pass-through, or it is the kernel's own.") \
	X(NO_NODE, "no-node", WARNING, CERTAIN, ADMIN, \
	  "the driver of {dev} has no diagnostic node: nothing but its counters can be seen", \
	  "load the erdma driver that comes with eadm; modinfo erdma shows which one modprobe " \
	  "takes", \
	  "Another driver of the same name has the adapter.") \
	X(NETNS_HIDDEN, "netns-hidden", FAULT, LIKELY, ADMIN, \
	  "the RDMA device of the adapter at {pci} is not in this network namespace: RDMA devices " \
	  "belong to one namespace each", \
	  "rdma system; ip netns exec NAME rdma dev", \
	  "This driver is bound, its RDMA device cannot be seen, and the mode of namespaces is " \
	  "exclusive. A probe that failed looks the same.") \
	X(MODULE_OTHER, "module-other", WARNING, CERTAIN, ADMIN, \
	  "the loaded module erdma is the kernel's own or the vendor's: it states no " \
	  "version{disk}", \
	  "modprobe -r erdma; modprobe erdma; modinfo erdma", \
	  "Modules of the same name exclude each other. The one that eadm comes with has a " \
	  "version in /sys/module/erdma.") \
	X(MODULE_OLD, "module-old", WARNING, CERTAIN, ADMIN, \
	  "the loaded module erdma {version} was built from other sources than {file}, {other}, " \
	  "which modprobe would load", \
	  "modprobe -r erdma; modprobe erdma, when no application uses the device", \
	  "Version or checksum of the sources in /sys/module/erdma differ from those in the file, as " \
	  "after an update without a reboot. Packed files are not looked into.") \
	X(HEADERS_MISSING, "headers-missing", WARNING, CERTAIN, ADMIN, \
	  "DKMS cannot build erdma for Linux {release}, which runs: its headers are not " \
	  "installed", \
	  "apt install linux-headers-{release}, or dnf install kernel-devel-{release}; dkms " \
	  "autoinstall", \
	  "The sources are in /usr/src, the kernel has no such module, and its directory of " \
	  "modules has no 'build'.") \
	X(PROVIDER_MISSING, "provider-missing", WARNING, CERTAIN, ADMIN, \
	  "applications of this host cannot open the device: libibverbs has no provider for it", \
	  "apt install ibverbs-providers, or dnf install libibverbs; ibv_devices", \
	  "There is a libibverbs, but no liberdma in its folder of providers, or no " \
	  "/etc/libibverbs.d/erdma.driver. Containers have a libibverbs of their own.") \
	X(PROVIDER_OLD, "provider-old", WARNING, LIKELY, ADMIN, \
	  "libibverbs of this host is of rdma-core {release}; the oldest that is known to work " \
	  "is {min}", \
	  "install a newer rdma-core", \
	  "By the name of the file that libibverbs.so.1 is a link to.") \
	X(COMPAT_MODE, "compat-mode", WARNING, CERTAIN, ADMIN, \
	  "the module erdma was loaded with compat_mode=Y, which has no effect: connections need " \
	  "rdma_cm, and there is no RoCE", \
	  "grep -r compat_mode /etc/modprobe.d", \
	  "It is a parameter of the vendor's driver, which makes another kind of device then.") \
	X(HEALTHY, "healthy", NOTE, CERTAIN, ADMIN, \
	  "no rule finds fault with the device {dev} itself", \
	  "eadm why --pid PID if a program hangs", \
	  "Command queue, interface, limits and event queues; queue pairs and processes have " \
	  "verdicts of their own.")

#define RULES_OF_DEVICE(X) \
	X(CARD_GONE, "card-gone", FAULT, CERTAIN, CARD, \
	  "the card of {dev} has left the bus: its registers read as all ones", \
	  "dmesg | grep {pci}", \
	  "The STATUS register reads as all ones, which no card that is there returns.") \
	X(CMDQ_DEAD, "cmdq-dead", FAULT, CERTAIN, CARD, \
	  "the command queue of {dev} is dead: {reason}{first}", \
	  "eadm log --kind cmd-first,reset", \
	  "The driver gave the command queue up, in all samples. The first command without an " \
	  "answer, and whoever waited for it, are in the record of the command queue.") \
	X(CMDQ_STUCK, "cmdq-stuck", FAULT, CERTAIN, CARD, \
	  "the command queue of {dev} stands still: the oldest of {commands}{which} waits for " \
	  "{age}{who}", \
	  "eadm dump cmdq --inflight", \
	  "Commands are in flight, the oldest for more than a second, and in none of the " \
	  "samples had another one been answered. Which is the oldest is in the ring; who " \
	  "waits for it no recorder has before it is answered or given up.") \
	X(CMDQ_SLOW, "cmdq-slow", WARNING, CERTAIN, CARD, \
	  "the card answers commands of {dev} slowly: the oldest of {commands}{which} waits " \
	  "for {age}{who}", \
	  "eadm log --kind cmd-time", \
	  "A command waits for more than a second while others are answered.") \
	X(CMDQ_FULL, "cmdq-full", WARNING, CERTAIN, CARD, \
	  "all {max} command contexts of {dev} are taken: {n} in flight, {lost} without an " \
	  "answer{who}", \
	  "eadm dump cmdq --inflight; eadm log --kind cmd", \
	  "In all samples. Further commands wait for a context. That of a command that timed " \
	  "out is free again when its answer comes after all.") \
	X(CMDQ_UNANSWERED, "cmdq-unanswered", WARNING, CERTAIN, CARD, \
	  "the card never answered {commands} of {dev}{first}", \
	  "eadm log --kind cmd-first", \
	  "Commands timed out, and their answers did not come later either.") \
	X(LINK_DOWN, "link-down", FAULT, CERTAIN, ADMIN, \
	  "the port of {dev} is down, and so is every connection through {netdev}", \
	  "ip link set {netdev} up", \
	  "The port of the RDMA device follows its network interface, which is not set up. A " \
	  "driver older than eadm says the same of one without a carrier.") \
	X(NO_CARRIER, "no-carrier", FAULT, CERTAIN, ADMIN, \
	  "{netdev} of {dev} has no carrier: its port is down, and so is every connection through " \
	  "it", \
	  "ip -br link show dev {netdev}; check that the instance has the network interface attached, " \
	  "or cable and switch: to set it up does not help", \
	  "The network interface is set up, and what is behind it says that nothing is connected.") \
	X(NO_ADDRESS, "no-address", FAULT, CERTAIN, ADMIN, \
	  "{netdev} of {dev} has no IPv4 address: nothing can connect", \
	  "ip address add ADDRESS/PREFIX dev {netdev}", \
	  "Connections are between IPv4 addresses of the network interface.") \
	X(CARD_REPLACED, "card-replaced", WARNING, CERTAIN, CARD, \
	  "{dev} was lost {age} ago ({reason}); {after}", \
	  "eadm log --kind reset", \
	  "A device that is lost is replaced by a fresh one. Objects of the lost one are of " \
	  "no use any more; applications have to open the device again.") \
	X(CARD_RESET, "card-reset", WARNING, CERTAIN, ADMIN, \
	  "{dev} was reset {age} ago ({reason}); {after}", \
	  "eadm log --kind reset", \
	  "Somebody reset the PCI function, or suspended the host. Applications have to open " \
	  "the device again.") \
	X(MTU_REFUSED, "mtu-refused", WARNING, CERTAIN, CARD, \
	  "the card of {dev} did not take the MTU {mtu}: {errno}", \
	  "eadm log --kind link", \
	  "The card is given the MTU of the network interface by a command, which failed.") \
	X(LIMIT_REACHED, "limit-reached", FAULT, CERTAIN, ADMIN, \
	  "{dev} has no {what} left: {n} of {max} are in use{who}", \
	  "eadm info dev -d {dev}", \
	  "Creating one more fails until somebody destroys one.") \
	X(LIMIT_NEAR, "limit-near", WARNING, CERTAIN, ADMIN, \
	  "{dev} will soon have no {what} left: {n} of {max} are in use{who}", \
	  "eadm info dev -d {dev}", \
	  "At least nine tenths are in use.") \
	X(RATE_LIMITED, "rate-limited", WARNING, CERTAIN, ADMIN, \
	  "the card of {dev} drops what is above its limits of bandwidth or packets: {packets} " \
	  "in {still}", \
	  "eadm stat --errors --nonzero -i 1; a larger instance has higher limits", \
	  "The counters of packets dropped by a limit rose between the first and the last " \
	  "sample. Which queue pair it concerns is not counted.") \
	X(EVENT_HIDDEN, "event-hidden", FAULT, CERTAIN, CARD, \
	  "the card wrote {events} to event queue {eq} of {dev} that cannot be seen: the " \
	  "first has the wrong owner bit", \
	  "eadm dump eq {eq} --inflight", \
	  "The card's index is past the driver's in all samples, and the entry at the " \
	  "driver's has not the owner bit of this pass.") \
	X(IRQ_LOST, "irq-lost", FAULT, CERTAIN, CARD, \
	  "event queue {eq} of {dev} has {events} for which no interrupt came, for {still}", \
	  "eadm recover eq {eq}", \
	  "The card's index is past the driver's and no handler ran, in all samples. The " \
	  "driver's own look for that, every 50 ms, did not help.") \
	X(IRQ_LOST_FOUND, "irq-lost-found", WARNING, LIKELY, CARD, \
	  "interrupts of event queue {eq} of {dev} get lost: {n} more while this looked", \
	  "eadm list eq -v", \
	  "The driver found events without an interrupt, by the look that it takes every 50 ms, " \
	  "or every second while there are no events. Each one costs up to 100 ms, the first " \
	  "after a second without events up to 1.1 s. A virtual processor that its host gives " \
	  "no time to takes its interrupts as late: from here the two look the same.") \
	X(CQ_EVENT_LOST_FOUND, "cq-event-lost-found", WARNING, CERTAIN, CARD, \
	  "completion events of {dev} get lost: the driver delivered {n} itself while this looked", \
	  "eadm stat --group events --errors --nonzero -i 1", \
	  "The driver found completion queues that were armed and got completions without an " \
	  "event, by the look that it takes every 50 ms, or every second while there are no " \
	  "events. Each one costs up to 100 ms, the first after a second without events up to " \
	  "1.1 s.")

/* In doctor only */
#define RULES_OF_SURROUNDINGS(X) \
	X(RECORDERS_OFF, "recorders-off", WARNING, CERTAIN, ADMIN, \
	  "the recorders of {dev} are off: of what fails, nothing is left to look at", \
	  "echo Y > /sys/module/erdma/parameters/recorders", \
	  "The driver says so. Verdicts about failures of the past need the recorders.") \
	X(IRQS_ONE_CPU, "irqs-one-cpu", WARNING, CERTAIN, ADMIN, \
	  "the {n} completion interrupts of {dev} all go to CPU {cpu}, and the host has {cpus}", \
	  "systemctl status irqbalance; eadm list eq -v; echo CPU > " \
	  "/proc/irq/IRQ/smp_affinity_list", \
	  "The effective affinity of the interrupts of all completion event queues is the same " \
	  "single CPU. The driver spreads them when it is loaded.") \
	X(PINNED_NEAR, "pinned-near", WARNING, LIKELY, ADMIN, \
	  "{who} has pinned {pinned} of the {max} that it may", \
	  "ulimit -l, or LimitMEMLOCK= of its unit", \
	  "VmPin of a process with queue pairs is at least nine tenths of its soft limit of " \
	  "locked memory, and not above it. With CAP_IPC_LOCK there is no limit.")

#define RULES_OF_STOPPED_QP(X) \
	X(KEY_DEREGISTERED, "key-deregistered", FAULT, CERTAIN, APPLICATION, \
	  "the card stopped {qp}: {request} named key {key}, which {who} had deregistered " \
	  "{age} before", \
	  "eadm dump cq {cq}; eadm log --kind key", \
	  "The completion with the error names a request, and its key is that of a region " \
	  "which is recorded as deregistered.") \
	X(ACCESS_REFUSED, "access-refused", FAULT, CERTAIN, APPLICATION, \
	  "the card stopped {qp}: {request} was refused: {error}{region}", \
	  "eadm dump cq {cq}; eadm list mr", \
	  "A completion has a syndrome of a key, range, right or protection domain. That it " \
	  "was refused is certain. Region and owner are those of the key in the request. Of a send " \
	  "request with one of the syndromes 3 to 7 the target at the peer is meant: where that is not " \
	  "known, or the request names no key of it, side and cause are likely.") \
	X(BAD_REQUEST, "bad-request", FAULT, CERTAIN, APPLICATION, \
	  "the card stopped {qp}: {request} makes no sense to it: {error}", \
	  "eadm dump qp {qpn} --sq --last 32", \
	  "A completion has a syndrome of a malformed request. It was written by the library " \
	  "or the kernel module that posted it.") \
	X(RETRY_EXCEEDED, "retry-exceeded", FAULT, LIKELY, PATH, \
	  "the card stopped {qp}: the peer did not acknowledge {request} in time", \
	  "ping -M do -s 1472 {peer}; then eadm why at the other end", \
	  "Syndrome 16: the path or the peer was silent for all retransmissions. A peer that " \
	  "posts no receive looks the same.") \
	X(PEER_ERROR, "peer-error", FAULT, LIKELY, PEER, \
	  "the card stopped {qp}: the other end reported an error of {request}", \
	  "eadm why at the other end", \
	  "Syndrome 1: an error of the peer, or one without a reason.") \
	X(CQ_BROKEN, "cq-broken", FAULT, CERTAIN, CARD, \
	  "the card cannot use cq {cq} of {qp} any more", \
	  "eadm log --kind event", \
	  "An asynchronous event of type CQ_ERR names the completion queue.") \
	X(QP_STOPPED, "qp-stopped", FAULT, CERTAIN, CARD, \
	  "the card stopped {qp}{error}; driver and application may not have noticed{unread}", \
	  "eadm dump cq {cq}; eadm log --kind event", \
	  "An asynchronous event, or the flush flags of the card's context, say so; no " \
	  "completion that can be read says why. LIKELY where not all can be read: a request " \
	  "that the application got wrong would be in one.") \
	X(OWNER_EXITED, "owner-exited", WARNING, CERTAIN, APPLICATION, \
	  "the process that made {qp} has exited; another one holds it{holders}", \
	  "fuser -v /dev/infiniband/uverbs*", \
	  "A file of the verbs outlives the process that opened it in a child that inherited " \
	  "it. The child cannot use the queue pair. Which process has such files open is in " \
	  "/proc/PID/fd; one that made no queue pair itself has them of another. A zombie (state Z) " \
	  "has none: that its parent waits for it changes nothing.")

#define RULES_OF_CONNECTION(X) \
	X(WRONG_NETNS, "wrong-netns", FAULT, CERTAIN, ADMIN, \
	  "{who} cannot connect {qp}: it is in another network namespace than {netdev}, the " \
	  "interface of {dev}", \
	  "start it in the namespace of {netdev}, or move {netdev}; ls -l /proc/{pid}/ns/net", \
	  "The driver compares the namespace of the process with that of the caller, and so it " \
	  "does with the interface. rdma_cm finds a device by its interface only in the " \
	  "namespace of the process.") \
	X(CM_REFUSED, "cm-refused", FAULT, LIKELY, PEER, \
	  "{peer} refused the connection {age} ago: nobody listens there, or a firewall rejects it", \
	  "start the server, or check address and port; check firewalls for a rule that rejects " \
	  "the port", \
	  "The SYN was answered by a reset, as of a host without a listener on the port, or by an " \
	  "ICMP message that the port is unreachable, as of a firewall whose rule says REJECT. The " \
	  "errno is the same.") \
	X(CM_NO_SYN, "cm-no-syn", FAULT, CERTAIN, PATH, \
	  "{peer} did not answer the TCP connection of {age} ago, within {took}", \
	  "ping {ip}; check firewalls and security groups for the port", \
	  "The SYN got no answer at all: a firewall drops it, or there is no such host.") \
	X(CM_UNREACHABLE, "cm-unreachable", FAULT, LIKELY, PATH, \
	  "{peer} could not be reached {age} ago: there is no route, or a firewall rejects the " \
	  "connection ({errno})", \
	  "ip route get {ip}; check firewalls for a rule that rejects the port", \
	  "This host, a router on the way or the peer reports that the address cannot be reached. " \
	  "A firewall that rejects what is prohibited, as firewalld does, is reported with the same " \
	  "errno, and the route is good then.") \
	X(CM_NO_REPLY, "cm-no-reply", FAULT, CERTAIN, PEER, \
	  "{peer} took the TCP connection of {age} ago and sent no MPA reply within {took}", \
	  "check that an RDMA server, not a TCP server, listens there, and that it accepts", \
	  "TCP is established, and the reply to the MPA request did not come. The listener " \
	  "is mute, or its application does not accept.") \
	X(CM_REJECTED, "cm-rejected", FAULT, CERTAIN, PEER, \
	  "the application at {peer} rejected the connection {age} ago", \
	  "look at the log of the server: its answer has {n} bytes of private data", \
	  "The peer's MPA reply has the reject bit.") \
	X(CM_FOREIGN, "cm-foreign", FAULT, CERTAIN, PEER, \
	  "{peer} answered the connection of {age} ago with something else than ERDMA's " \
	  "MPA{error}", \
	  "check address and port: another service, or another kind of RDMA device, listens " \
	  "there", \
	  "The frame is no MPA frame, or asks for markers or CRCs, which this device does " \
	  "not do.") \
	X(CM_FOREIGN_REQUEST, "cm-foreign-request", WARNING, CERTAIN, PEER, \
	  "{peer} asked port {port} for a connection {age} ago with something else than ERDMA's " \
	  "MPA{error}", \
	  "look what at {ip} connects to port {port}: a program that takes it for a TCP service, " \
	  "or another kind of RDMA device", \
	  "What came to the listener is no request of MPA, or asks for markers or CRCs, which " \
	  "this device does not do. Others are served meanwhile.") \
	X(CM_NO_REQUEST, "cm-no-request", NOTE, CERTAIN, PEER, \
	  "{peer} opened a TCP connection to port {port} {age} ago, and no MPA request came " \
	  "within {took}: {error}", \
	  "nothing, if it was a health check, a port scan or 'nc -z'; else eadm log --kind cm at " \
	  "the other end", \
	  "TCP came to the listener and ended without a complete MPA request: nobody asked for an " \
	  "RDMA connection, and the application did not hear of it.") \
	X(CM_EARLY_DATA, "cm-early-data", FAULT, CERTAIN, PEER, \
	  "{peer} sent bytes {age} ago before its connection was accepted, and it was closed", \
	  "look what at {ip} connects to port {port}: it does not wait for the reply", \
	  "Between its MPA request and the reply a peer sends nothing: the card could not " \
	  "continue the connection behind bytes that it never saw.") \
	X(CM_PEER_CLOSED, "cm-peer-closed", FAULT, CERTAIN, PEER, \
	  "{peer} closed the connection of {age} ago before it was established ({stage})", \
	  "eadm log --kind cm at the other end", \
	  "TCP was reset or ended after a request for a connection, and before it was " \
	  "established.") \
	X(CM_NOT_ACCEPTED, "cm-not-accepted", FAULT, CERTAIN, APPLICATION, \
	  "the server did not accept the connection that {peer} asked for {age} ago ({errno})", \
	  "the server has to take the connect request from its event channel and call " \
	  "rdma_accept()", \
	  "The request of the peer was complete and waited for the application.") \
	X(CM_ACCEPT_LATE, "cm-accept-late", FAULT, LIKELY, APPLICATION, \
	  "{peer} gave up {age} ago: the server had not answered its request for {took}", \
	  "the server has to take connect requests from its event channel at once, in a thread of " \
	  "its own if need be", \
	  "The request was complete and waited for the application for five seconds or more when " \
	  "the peer closed the connection. Peers wait ten seconds.") \
	X(CM_CALL_REFUSED, "cm-call-refused", FAULT, CERTAIN, APPLICATION, \
	  "{call} for the connection with {peer} failed {age} ago: {error} ({errno})", \
	  "eadm log --kind cm,fail; eadm list qp", \
	  "The driver refused the call by what the application handed over, before anything was " \
	  "sent.") \
	X(CM_NOT_PERMITTED, "cm-not-permitted", FAULT, POSSIBLE, ADMIN, \
	  "the connection to {peer} was not permitted {age} ago ({errno}): another network " \
	  "namespace than the interface's, a security module or control group, or the queue pair " \
	  "of another process", \
	  "eadm log --kind cm,fail; rdma system; journalctl -k -g denied", \
	  "EPERM or EACCES in front of TCP or in it: by the driver, or by what may refuse a socket " \
	  "to the process. The errno does not say which.") \
	X(CM_GIVEN_UP, "cm-given-up", FAULT, LIKELY, APPLICATION, \
	  "this side gave up the connection with {peer} {age} ago ({stage}): {error}", \
	  "eadm log --kind cm,event", \
	  "The application ended, or destroyed its objects, in the middle of the attempt. A device " \
	  "that goes away or stops the queue pair, and a listener's address that is removed, look " \
	  "the same.") \
	X(CM_QP_STOPPED, "cm-qp-stopped", FAULT, LIKELY, APPLICATION, \
	  "the queue pair for the connection with {peer} could not be connected any more {age} " \
	  "ago: it was stopped before ({errno})", \
	  "eadm log --kind event,cm; the application has to make a new queue pair for each " \
	  "connection", \
	  "TCP and MPA were done, and the card was not asked: the queue pair had been connected " \
	  "before, or moved to an error state. A fatal event of the card does that as well.") \
	X(CM_NO_RTS, "cm-no-rts", FAULT, CERTAIN, CARD, \
	  "the card did not take over the connection with {peer} {age} ago: {errno}", \
	  "eadm log --kind cmd", \
	  "TCP and MPA were done; the command that makes the queue pair ready to send failed.") \
	X(CM_DEVICE_GONE, "cm-device-gone", FAULT, LIKELY, ADMIN, \
	  "the device went away {age} ago while the connection with {peer} was made ({stage})", \
	  "eadm log --kind reset; the application has to open the device again", \
	  "The driver closed the attempt with ENODEV: the device was unbound, reset, or lost and " \
	  "replaced.") \
	X(CM_NO_MEMORY, "cm-no-memory", FAULT, LIKELY, ADMIN, \
	  "the kernel had no memory for the connection with {peer} {age} ago ({stage}): {errno}", \
	  "free -m; dmesg | grep -i 'out of memory'", \
	  "A socket, its buffer, or an event for the iWARP connection manager could not be made. " \
	  "That manager has as many events for a listener as its backlog has places.") \
	X(CM_NO_PORT, "cm-no-port", FAULT, CERTAIN, ADMIN, \
	  "there was no local address and port for the connection to {peer} {age} ago: {errno}", \
	  "sysctl net.ipv4.ip_local_port_range; ss -s; ip address", \
	  "Connections use TCP's own ports, and another socket had the one that was asked " \
	  "for, or all were in use, or the local address was not this host's any more.") \
	X(CM_FAILED, "cm-failed", FAULT, POSSIBLE, APPLICATION, \
	  "the connection with {peer} failed {age} ago ({stage}): {errno}", \
	  "eadm log --kind cm,fail", \
	  "The recorder has stage and errno of the attempt; no other rule is about them.")

#define RULES_OF_PROGRESS(X) \
	X(CQE_HIDDEN, "completion-hidden", FAULT, CERTAIN, CARD, \
	  "the card wrote completion {index} of cq {cq} so that nobody sees it, or those behind " \
	  "it: it has the wrong owner bit", \
	  "eadm dump cq {cq}; the application has to destroy the queue and make a new one", \
	  "The card's index is past the entry, and stands still in all samples; the entry was " \
	  "written, and has not the owner bit of its pass.") \
	X(CQ_EVENT_LOST, "cq-event-lost", FAULT, CERTAIN, CARD, \
	  "the card raised no event for cq {cq}, which was armed at {armed} and got " \
	  "{completions} since", \
	  "eadm recover cq {cq}", \
	  "The doorbell record says that the completion queue is armed for any completion, no " \
	  "event came since or waits in its event queue, and the card's index is past the armed " \
	  "one in all samples.") \
	X(NO_RECEIVE, "no-receive", FAULT, CERTAIN, PEER, \
	  "the application of {peer} posts no receive: {request} of {qp} waits for one, with " \
	  "{blocks} in its queue, and nothing moved for {still}", \
	  "look why {who} posts none; eadm dump qp {peerqpn} --rq", \
	  "Both ends are here: the sender has a request that needs a receive, the receive " \
	  "queue of the other end is empty, and nothing moved in all samples.") \
	X(CQ_NOT_TAKEN, "cq-not-taken", FAULT, CERTAIN, APPLICATION, \
	  "{who} does not take completions: cq {cq} has {completions} that it did not look " \
	  "at, and the consumer index stands still for {still}", \
	  "eadm dump cq {cq}; the stack of its threads", \
	  "A completion queue of the kernel, whose consumer index the driver knows: it " \
	  "stands still in all samples while the card's index is past it.") \
	X(PROCESS_STOPPED, "process-stopped", FAULT, LIKELY, APPLICATION, \
	  "the process of {qp}, {who}, is stopped (state {state}){so}", \
	  "kill -CONT {pid}", \
	  "A signal or a debugger stopped the process, in all samples. What it does not post " \
	  "or take, nobody does. If requests wait for something else, as for the card or the path, " \
	  "that is the verdict.") \
	X(PROCESS_FROZEN, "process-frozen", FAULT, LIKELY, ADMIN, \
	  "the process of {qp}, {who}, is frozen with its control group{so}", \
	  "cat /proc/{pid}/cgroup; look who paused that group: docker unpause or systemctl thaw " \
	  "continues it", \
	  "Somebody paused the container or the unit (docker pause, systemctl freeze): its control " \
	  "group, or one above it, is frozen in all samples. What it does not post or take, nobody " \
	  "does.") \
	X(PROCESS_BLOCKED, "process-blocked", FAULT, LIKELY, APPLICATION, \
	  "the process of {qp}, {who}, does not run (state {state})", \
	  "cat /proc/{pid}/stack", \
	  "State D, in all samples, and none of its threads used CPU time: it waits in the kernel, " \
	  "for storage in most cases, or to close its files if it was killed.") \
	X(EVENT_NOT_TAKEN, "event-not-taken", FAULT, LIKELY, APPLICATION, \
	  "{who} got an event of cq {cq} and sleeps: it did not arm it again, and " \
	  "{completions} came since it was armed", \
	  "the stack of {who}: it has to take events, poll, and arm again", \
	  "The doorbell record has the sequence number of an arm that was answered by an " \
	  "event; the queue was not armed since, its receive queue is empty, and the process " \
	  "used no CPU time.") \
	X(APPLICATION_ASLEEP, "application-asleep", FAULT, LIKELY, APPLICATION, \
	  "{who} has no receive posted on {qp} and does not run: no CPU time for {still}", \
	  "the stack of {who}: cat /proc/{pid}/stack", \
	  "An application that polls uses CPU time. This one uses none, and its peer waits " \
	  "for it.") \
	X(MTU_STUCK, "mtu-stuck", FAULT, LIKELY, ADMIN, \
	  "requests of {qp} stand still, and the MTUs of the two ends differ: {mtu} {where}, " \
	  "{mss} bytes per segment at {peer}", \
	  "ip link set mtu the same on both hosts, and on all that is between", \
	  "The maximum segment size that the peer announced does not fit the MTU of this " \
	  "interface, and requests stand still: large packets get lost, small ones do not.") \
	X(NOT_ACKNOWLEDGED, "not-acknowledged", FAULT, LIKELY, PATH, \
	  "{qp} repeats what is not acknowledged: {timeouts} in {still}", \
	  "ping -M do -s 1472 {ip}; eadm top -b -n 3 -v; eadm why at the other end", \
	  "The card's count of timeouts of this queue pair rises, and its consumer index " \
	  "stands still.") \
	X(CARD_STUCK, "card-stuck", FAULT, LIKELY, CARD, \
	  "the card does not execute {request} of {qp}: {peer} is here and ready, and " \
	  "nothing moved for {still}", \
	  "eadm dump qp {qpn} --sq; eadm snapshot --write stuck.eadm", \
	  "Both ends are here, the request needs no receive or has one, and nothing moved in " \
	  "all samples.") \
	X(LOCAL_STUCK, "local-stuck", FAULT, LIKELY, CARD, \
	  "the card does not execute {request} of {qp}, which needs no peer: nothing moved " \
	  "for {still}", \
	  "eadm dump qp {qpn} --sq; eadm info cmdq", \
	  "The first request registers or invalidates a key: the card does that alone. " \
	  "Nothing moved in all samples.") \
	X(PEER_NO_ANSWER, "peer-no-answer", FAULT, LIKELY, PATH, \
	  "{peer} does not answer {request} of {qp}: nothing moved for {still}", \
	  "ping {ip}; eadm why at the other end", \
	  "The request needs nothing of the peer's application: the peer's card, its host or " \
	  "the path is silent.") \
	X(PEER_SILENT, "peer-silent", FAULT, POSSIBLE, PEER, \
	  "{peer} posts no receive for {request} of {qp}, or the path to it is silent: from " \
	  "this end they look the same; nothing moved for {still}", \
	  "eadm why at the other end; ping {ip}", \
	  "The request needs a receive at the peer, which is on another host, and nothing " \
	  "moved in all samples.")

#define RULES_OF_VERBS(X) \
	X(PINNED_LIMIT, "pinned-limit", FAULT, LIKELY, ADMIN, \
	  "{who} may not pin more memory: {verb} failed {age} ago with {errno}; {pinned} of " \
	  "{max} are pinned", \
	  "ulimit -l, or LimitMEMLOCK= of its unit", \
	  "A region or a queue could not be made, and the process is near its limit of " \
	  "locked memory.") \
	X(VERB_FAILED, "verb-failed", WARNING, CERTAIN, APPLICATION, \
	  "{verb} of {who} failed {age} ago with {errno}, {times} so far{error}", \
	  "eadm log --kind fail,cmd", \
	  "The recorder has the last failure of each verb and process. The reason says the side: " \
	  "no memory and no room are the administrator's, no answer and most of the card's status " \
	  "codes are the card's. That these are errno numbers is not proven: a refusal by the card " \
	  "is LIKELY.") \
	X(CQ_OVERRUN, "cq-overrun", WARNING, CERTAIN, APPLICATION, \
	  "cq {cq} can overrun: {n} requests that are all signaled, and room for {max} " \
	  "completions", \
	  "the application has to create it with at least {n} entries", \
	  "The receives, and the sends of queue pairs that signal each, are more than the " \
	  "completion queue holds.") \
	X(CQ_SMALL, "cq-small", WARNING, POSSIBLE, APPLICATION, \
	  "cq {cq} can overrun if each send is signaled: {n} requests, and room for {max} " \
	  "completions", \
	  "the application has to create it with {n} entries, or to signal fewer sends", \
	  "The requests that fit in the queue pairs are more than the completion queue " \
	  "holds; an application that signals only some of its sends may be right.") \
	X(MTU_DIFFERS, "mtu-differs", WARNING, LIKELY, ADMIN, \
	  "the MTUs of the two ends of {qp} differ: {mtu} {where}, {mss} bytes per segment at " \
	  "{peer}", \
	  "ip link set mtu the same on both hosts, and on all that is between", \
	  "The maximum segment size of the handshake does not fit the MTU of this interface. " \
	  "A router that clamps it looks the same. " \
	  "Within a host it is that of lo, and says nothing.")

#define RULES_OF_STATE(X) \
	X(IDLE_BOTH, "idle-both", NOTE, CERTAIN, APPLICATION, \
	  "neither application posted anything to send: both cards have done all that they " \
	  "were given", \
	  "look at what the two applications wait for; the connection is idle, not stuck", \
	  "Both send queues are empty. That is the most frequent reason for a program that " \
	  "hangs.") \
	X(IDLE, "idle", NOTE, CERTAIN, APPLICATION, \
	  "the application has nothing posted to send: the card has done all that it was " \
	  "given", \
	  "look at what {who} waits for, and at the other end", \
	  "The send queue is empty. A queue pair with an empty send queue is idle, never " \
	  "stuck.") \
	X(EVENT_UNTAKEN, "event-untaken", NOTE, POSSIBLE, APPLICATION, \
	  "{who} got an event of cq {cq} and sleeps: it did not arm it again, and may not have " \
	  "taken the {completions} that came since it was armed", \
	  "the stack of {who}: it has to take events, poll, and arm again", \
	  "The same evidence as for event-not-taken, of a queue pair that has receives posted, so that " \
	  "nothing waits. An application that polls from time to time need not arm the queue again.") \
	X(CPU_LIMIT, "cpu-limit", NOTE, CERTAIN, ADMIN, \
	  "the CPU limit of its control group holds back {who}, the process of {qp}: threads of the " \
	  "group waited {held} in {still}", \
	  "cat /proc/{pid}/cgroup; look at cpu.max of that group, and of those above it", \
	  "The throttled time in cpu.stat of the group, or of one above it (cgroup v2), rose by a " \
	  "quarter of the time of the samples or more; it counts each CPU. What polls uses up its " \
	  "limit in no time, and then nothing is posted or taken for the rest of each period.") \
	X(WORKS, "works", NOTE, CERTAIN, APPLICATION, \
	  "{qp} works: in {still} {done}", \
	  "eadm stat -l shows rates", \
	  "Indices or packet counts moved between the samples.") \
	X(ONE_MOMENT, "one-moment", NOTE, POSSIBLE, APPLICATION, \
	  "{qp} had {blocks} waiting when the file was taken{first}; one moment does not " \
	  "show whether they stand still", \
	  "take a second file some seconds later; eadm diff FILE FILE", \
	  "A file has the card's context of one time.") \
	X(SLOW, "slow", NOTE, POSSIBLE, PATH, \
	  "{qp} has {blocks} waiting, and not all of the card's counts stand still: it is " \
	  "slow, or it begins again and again", \
	  "eadm why {qpn} again; eadm stat -l", \
	  "The consumer index did not move, and other counts did.") \
	X(NOT_CONNECTED, "not-connected", NOTE, CERTAIN, APPLICATION, \
	  "{qp} is not connected, and no attempt to connect it that failed is recorded", \
	  "eadm list cm; eadm log --kind cm", \
	  "A queue pair in IDLE waits for rdma_connect() or rdma_accept().") \
	X(CONNECTING, "connecting", NOTE, CERTAIN, PEER, \
	  "{qp} is being connected with {peer}: {state}, {left} left", \
	  "eadm list cm", \
	  "An attempt to connect is on its way; the driver ends it after its limit.") \
	X(CLOSED, "closed", NOTE, CERTAIN, APPLICATION, \
	  "the connection of {qp} was closed {age} ago, and the card did not stop it", \
	  "the application has to destroy it, or to connect again", \
	  "The driver moved the queue pair to an error state: the application or the peer " \
	  "disconnected.") \
	X(UNKNOWN, "unknown", NOTE, POSSIBLE, CARD, \
	  "unknown: {reason}", \
	  "eadm dump qp {qpn}", \
	  "Where the card is in a queue is only in the card's context of the queue pair.")

/**
 * enum rule_id - rules, in the order of the table
 * @RULE_COUNT: their number
 */
enum rule_id {
#define RULE_ENUM(id, ...) RULE_##id,
	RULES(RULE_ENUM)
#undef RULE_ENUM
	RULE_COUNT
};

/**
 * struct rule - a rule
 * @name: as JSON and "explain rule" have it
 * @level: how bad
 * @sure: how sure
 * @side: who has to act, if the question is about the end that the sentence begins with or
 *	whose request waits; finding_side() has it of the other one
 * @sentence: the verdict, without full stop
 * @next: what to do
 * @text: what the evidence is, for the manual
 */
struct rule {
	const char *name;
	enum rule_level level;
	enum rule_sure sure;
	enum rule_side side;
	const char *sentence;
	const char *next;
	const char *text;
};

/**
 * struct rule_word - a word in braces and what stands for it
 * @name: word
 * @value: text; NULL: unknown
 */
struct rule_word {
	const char *name;
	const char *value;
};

extern const struct rule rules[RULE_COUNT];

const struct rule *rule_called(const char *name);
const char *rule_level_name(enum rule_level level);
const char *rule_sure_name(enum rule_sure sure);
enum rule_sure rule_sure_called(const char *name);
const char *rule_side_name(enum rule_side side);
const char *rule_text(struct pool *p, const struct rule *r);
const char *rule_runbook(struct pool *p, const struct rule *r);
const char *rule_fill(struct pool *p, const char *pattern, const struct rule_word *words,
		      size_t n);

#endif /* EADM_RULES_H */
