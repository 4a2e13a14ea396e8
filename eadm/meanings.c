// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The one table of codes and words, by namespace. What applications print comes first:
 * a bare number is explained in this order. Words of hardware and driver are those of the
 * shared headers.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "erdma/erdma_counters.h"
#include "erdma/erdma_hw.h"
#include "erdma/erdma_names.h"

#include "cmd.h"
#include "counters.h"
#include "decode.h"
#include "fallback.h"
#include "meanings.h"
#include "rules.h"
#include "schema.h"

/* enum ibv_wc_status and ib_wc_status: a part of the ABI of libibverbs */
#define VERBS_STATUSES(X) \
	X(0, "SUCCESS", "the request is complete") \
	X(1, "LOC_LEN_ERR", "local length error: a message larger than its buffer") \
	X(2, "LOC_QP_OP_ERR", "local QP operation error: a request that makes no sense") \
	X(3, "LOC_EEC_OP_ERR", "local EE context operation error") \
	X(4, "LOC_PROT_ERR", "local protection error: a buffer outside its memory region") \
	X(5, "WR_FLUSH_ERR", "the QP stopped before it executed this request; an earlier " \
	  "completion says why") \
	X(6, "MW_BIND_ERR", "memory window bind error") \
	X(7, "BAD_RESP_ERR", "unexpected response of the peer") \
	X(8, "LOC_ACCESS_ERR", "local access error: key, range or rights of a local buffer") \
	X(9, "REM_INV_REQ_ERR", "the peer does not accept such a request") \
	X(10, "REM_ACCESS_ERR", "remote access error: key, range or rights at the peer") \
	X(11, "REM_OP_ERR", "the peer could not complete the request") \
	X(12, "RETRY_EXC_ERR", "the peer did not answer in time, after all retries") \
	X(13, "RNR_RETRY_EXC_ERR", "the peer posted no receive in time") \
	X(14, "LOC_RDD_VIOL_ERR", "local RDD violation") \
	X(15, "REM_INV_RD_REQ_ERR", "remote invalid RD request") \
	X(16, "REM_ABORT_ERR", "the peer aborted the request") \
	X(17, "INV_EECN_ERR", "invalid EE context number") \
	X(18, "INV_EEC_STATE_ERR", "invalid state of an EE context") \
	X(19, "FATAL_ERR", "fatal error of the transport") \
	X(20, "RESP_TIMEOUT_ERR", "no response in time") \
	X(21, "GENERAL_ERR", "an error that fits none of the others") \
	X(22, "TM_ERR", "tag matching error") \
	X(23, "TM_RNDV_INCOMPLETE", "tag matching: rendezvous incomplete")

#define SPACE_WC	"wc"
#define SPACE_VENDOR	"vendor"
#define SPACE_SYNDROME	"syndrome"
#define SPACE_COUNTER	"counter"
#define SPACE_CMD_STATUS "cmd-status"
#define SPACE_RULE	"rule"
#define SPACE_MARK	"mark"

#define ERROR(number, text)	{ SPACE, number, #number, text }
#define WORD(word, text)	{ SPACE, -1, word, text }

static const struct meaning meanings[] = {
#define MEANING(code, word, text) { SPACE, code, word, text },
#define SPACE SPACE_WC
	VERBS_STATUSES(MEANING)
#undef SPACE
	/* Text from the syndromes, see meaning_text() */
#define VENDOR(code, status, vendor) { SPACE_VENDOR, vendor, NULL, NULL, true },
	ERDMA_SYNDROME_RESULTS(VENDOR)
#define SPACE SPACE_SYNDROME
	ERDMA_SYNDROMES(MEANING)
#undef SPACE
#define SPACE "event"
	ERDMA_AE_TYPES(MEANING)
#undef SPACE
#define SPACE "qp-state"
	ERDMA_QP_STATES(MEANING)
	WORD(QP_DEAD, "the device stopped it, whatever driver and application still think"),
#undef SPACE
#define SPACE "verbs-state"
	VERBS_QP_STATES(MEANING)
#undef SPACE
#define SPACE "cm-state"
	ERDMA_DIAG_CM_STATES(MEANING)
#undef SPACE
#define SPACE "log-kind"
	ERDMA_DIAG_LOGS(MEANING)
#undef SPACE
#define SPACE "opcode"
	ERDMA_WR_OPCODES(MEANING)
#undef SPACE
#define SPACE SPACE_CMD_STATUS
	{ SPACE, 0, "success", "the device executed the command" },
	ERROR(ENOENT, "refused: no such object"),
	ERROR(ENOMEM, "refused: no memory or no more objects"),
	ERROR(EBUSY, "refused: the object is in use"),
	ERROR(EEXIST, "refused: the number is in use"),
	ERROR(EINVAL, "refused: a bad value, or not in this state"),
	ERROR(EOPNOTSUPP, "refused: the device has no such command"),
#undef SPACE
#define SPACE "cmd-rdma"
	ERDMA_CMDS_RDMA(MEANING)
#undef SPACE
#define SPACE "cmd-common"
	ERDMA_CMDS_COMMON(MEANING)
#undef SPACE
#define SPACE "errno"
	ERROR(ENOENT, "the object does not exist (any more)"),
	ERROR(EPERM, "not allowed for this caller"),
	ERROR(EACCES, "the node may not be opened"),
	ERROR(EINTR, "interrupted"),
	ERROR(EIO, "the device refused, or failed"),
	ERROR(EBUSY, "others are asking the device, or timeouts keep too many commands"),
	ERROR(EAGAIN, "the object changed while it was read"),
	ERROR(ENODEV, "the adapter is gone, or not in this RDMA net namespace"),
	ERROR(EINVAL, "a value that can never be right"),
	ERROR(ENOTTY, "the driver has no such call"),
	ERROR(EPROTO, "a reply that makes no sense"),
	ERROR(E2BIG, "a structure that is newer than the driver"),
	ERROR(EMSGSIZE, "a buffer that is too small"),
	ERROR(EBADMSG, "an answer of the device that is none, or about another object"),
	ERROR(EOPNOTSUPP, "an object, ring or category that driver or device does not have"),
	ERROR(EHOSTDOWN, "the command queue is down: the device answers nothing any more"),
	ERROR(ETIMEDOUT, "no answer in time"),
#undef SPACE
#define EXIT_MEANING(code, word, text) { "exit-status", code, word, text },
	EXIT_CODES(EXIT_MEANING)
#define COUNTER(id, name, group, error, text) { SPACE_COUNTER, -1, name, text },
	ERDMA_DEVICE_COUNTERS(COUNTER)
	ERDMA_DRIVER_COUNTERS(COUNTER)
	ERDMA_SUM_COUNTERS(COUNTER)
	ERDMA_DETAIL_COUNTERS(COUNTER)
#define SPACE "counter-group"
	WORD("traffic", "counters of the device: requests, packets, bytes, drops"),
	WORD("cmdq", "commands to the device"),
	WORD("events", "events and interrupts, lost devices, recoveries"),
	WORD("cm", "listeners and connections"),
	WORD("verbs", "objects made, removed and refused"),
	WORD("other", "counters of a driver that eadm does not know"),
	WORD("errors", "counters of things that went wrong, of all groups"),
#undef SPACE
#define SPACE SPACE_MARK
	WORD("PI", "the producer writes here next"),
	WORD("CI", "the consumer reads here next"),
	WORD("app", "the application writes or reads here next"),
	WORD("driver", "the driver writes or reads here next"),
	WORD("card", "the device writes or reads here next"),
#undef SPACE
#define SPACE "entry-state"
	WORD("in-flight", "posted; the consumer has not reached it"),
	WORD("done", "the consumer is past it"),
	WORD("posted", "posted; nobody knows where the consumer is"),
	WORD("unread", "written by the device; the consumer has not reached it"),
	WORD("read", "written by the device; the consumer is past it"),
	WORD("written", "written by the device; nobody knows where the consumer is"),
	WORD("empty", "never written"),
	WORD("free", "where PI points to: written next"),
	WORD("unreadable", "no consistent header where a request should start"),
#undef SPACE
#define SPACE "index-source"
	WORD("driver", "the driver keeps the index"),
	WORD("doorbell-record", "the last value an application rang its doorbell with"),
	WORD("owner-bits", "found by the bit that the device inverts on every pass"),
	WORD("device", "the context that the device keeps of the object"),
	WORD("scan", "nobody knows; the longest chain of consistent requests ends there"),
#undef SPACE
#define SPACE "wqe-flag"
	WORD("CE", "signaled: a completion is wanted"),
	WORD("SE", "solicited event at the peer"),
	WORD("FENCE", "waits for earlier reads and atomics"),
	WORD("INLINE", "the data is in the request"),
	WORD("DWQE", "the request was written with its doorbell"),
#undef SPACE
#define SPACE "qp-flag"
	WORD("signal-all", "every send request is signaled"),
	WORD("own-doorbell-pages", "the QP may be rung only through its own doorbell pages"),
	WORD("active", "this side connected"),
	WORD("passive", "this side accepted the connection"),
#undef SPACE
#define SPACE "qp-type"
	WORD("RC", "reliable connection: the only type that this device has"),
	WORD("GSI", "general services of the RDMA core"),
	WORD("SMI", "subnet management, of InfiniBand"),
	WORD("UC", "unreliable connection"),
	WORD("UD", "unreliable datagram"),
	WORD("RAW_IPV6", "raw IPv6 datagrams"),
	WORD("RAW_ETHERTYPE", "raw frames of one EtherType"),
	WORD("RAW_PACKET", "raw Ethernet frames"),
	WORD("XRC_INI", "extended reliable connection, initiator"),
	WORD("XRC_TGT", "extended reliable connection, target"),
	WORD("DRIVER", "a type of the driver's own"),
#undef SPACE
#define SPACE "cm-role"
	WORD("listener", "waits for connections"),
#undef SPACE
#define SPACE "cq-notify"
	WORD("none", "nobody waits for an event"),
	WORD("next", "the next completion makes an event"),
	WORD("solicited", "the next solicited completion or error makes an event"),
#undef SPACE
#define SPACE "bad-doorbell"
	WORD("duplicate", "the device had seen this doorbell before"),
	WORD("out-of-order", "the device had seen a later doorbell before"),
#undef SPACE
#define SPACE "right"
	WORD("local-read", "the device may read for local requests"),
	WORD("local-write", "the device may write for local requests"),
	WORD("remote-read", "peers may read"),
	WORD("remote-write", "peers may write"),
	WORD("remote-atomic", "peers may execute atomics"),
#undef SPACE
#define SPACE "event-field"
	WORD("by_arm", "the event comes from the arm doorbell, not from a new completion"),
#undef SPACE
#define SPACE "cmdq-state"
	WORD("down", "not set up"),
	WORD("polling", "in use without interrupts, while the device is brought up"),
	WORD("running", "in use"),
	WORD("dead", "a command got no answer: every command fails"),
#undef SPACE
#define SPACE "dev-state"
	WORD("ok", "driver and diagnostics node work"),
	WORD("no-node", "its driver has no diagnostics node, or the node is not there"),
	WORD("no-rdma", "its driver has no RDMA device that belongs to the adapter"),
	WORD("no-driver", "no driver is bound"),
	WORD("no-access", "the node may not be opened"),
	WORD("other", "an RDMA device of another driver: what rdma netlink has of it is shown"),
	WORD("broken-node", "the node cannot be used"),
#undef SPACE
#define SPACE "link-reason"
	WORD("no-carrier", "the network interface is set up, and what is behind it says that nothing is "
	     "connected"),
#undef SPACE
#define SPACE "health"
	WORD("ok", "the driver knows of nothing that is wrong"),
	WORD("warning", "something is wrong, and the device works; the findings say what"),
	WORD("down", "nothing works: the card or its command queue is gone"),
#undef SPACE
#define SPACE "protocol"
	WORD("iWARP", "RDMA over TCP"),
	WORD("RoCEv2", "RDMA over UDP; this driver does not use it"),
	WORD("ipv4", "the addresses of a connection are those of IP version 4"),
#undef SPACE
#define SPACE "node-call"
	WORD("info", "identity, limits and use of a device"),
	WORD("list", "objects of a type"),
	WORD("context", "one object, with the context of the device"),
	WORD("ring-read", "entries of a ring"),
	WORD("debug", "levels of the driver's messages"),
	WORD("log", "entries of a recorder"),
	WORD("snapshot", "an object and what belongs to it, at one time"),
	WORD("recover", "handle what waits without an interrupt"),
#undef SPACE
#define SPACE "object"
	WORD("qp", "queue pair"),
	WORD("cq", "completion queue"),
	WORD("eq", "event queue"),
	WORD("cmdq", "command queue"),
	WORD("mr", "memory region"),
	WORD("pd", "protection domain"),
	WORD("ctx", "user context: a device that an application opened"),
	WORD("cm", "listener or connection"),
#undef SPACE
#define SPACE "queue"
	WORD("SQ", "send queue of a queue pair"),
	WORD("RQ", "receive queue of a queue pair"),
	WORD("CQ", "completion queue"),
	WORD("EQ", "event queue"),
	WORD("CMDQ", "command queue"),
	WORD("cmdq-sq", "ring of the commands"),
	WORD("cmdq-cq", "ring of the completions of commands"),
	WORD("AEQ", "event queue of asynchronous events"),
	WORD("CEQ", "event queue of completion events"),
#undef SPACE
#define SPACE "change"
	WORD("new", "the second snapshot has it, the first has not"),
	WORD("gone", "the first snapshot has it, the second has not"),
	WORD("changed", "it differs"),
#undef SPACE
#define SPACE "metric-type"
	WORD("counter", "only grows"),
	WORD("gauge", "grows and falls"),
	WORD("histogram", "counts by upper bound"),
#undef SPACE
#define SPACE "missing"
	WORD("?", "unknown: nobody knows it"),
	WORD("hidden", "withheld for want of a right"),
	WORD("-", "not asked: time or number are limited, or --no-hw"),
#undef SPACE
#define SPACE "process-state"
	WORD("R", "runs, or could"),
	WORD("S", "sleeps until something happens"),
	WORD("D", "waits in the kernel and cannot be interrupted"),
	WORD("I", "a thread of the kernel that waits"),
	WORD("T", "stopped by a signal"),
	WORD("t", "stopped by a debugger"),
	WORD("Z", "ended; its parent did not take notice"),
	WORD("X", "dead"),
#undef SPACE
#define SPACE "end-role"
	WORD("sender", "requests of this end wait, and none of the other's"),
	WORD("receiver", "requests of the other end wait, and none of this one's"),
	WORD("here", "the end that was asked about"),
	WORD("peer", "the other end"),
#undef SPACE
#define SPACE "level"
	WORD("note", "nothing is wrong, or nothing is known to be"),
	WORD("warning", "a risk, or something of the past"),
	WORD("fault", "it explains why nothing goes on"),
#undef SPACE
#define SPACE "confidence"
	WORD("CERTAIN", "the evidence is the fault itself"),
	WORD("LIKELY", "the evidence fits, and other causes are rare"),
	WORD("POSSIBLE", "the evidence fits, and fits other causes"),
#undef SPACE
#define SPACE "side"
	WORD("application", "the application of this end has to act"),
	WORD("driver", "the driver has to act"),
	WORD("card", "the card is at fault"),
	WORD("path", "the network between the two ends"),
	WORD("peer", "the application, or the host, of the other end"),
	WORD("admin", "whoever administers this host"),
#undef SPACE
#define SPACE "reg-status"
	WORD("reset-done", "the device finished a reset"),
	WORD("init-done", "the device is set up"),
	WORD("suspend", "the device is suspended"),
#undef SPACE
#define SPACE "warning"
	WORD("NARROW", "columns were left out: the terminal is too narrow"),
	WORD("NO_MATCH", "no object is like --pid, --comm and --peer ask for"),
	WORD("NO_ADAPTER", "the machine has no ERDMA adapter"),
	WORD("NO_NODE", "shown is what rdma netlink and sysfs know"),
	WORD("NO_COUNTERS", "the driver of this device offers no counters"),
	WORD("NO_VERSION", "the driver is not loaded, or states no version"),
	WORD("HIDDEN", "objects or keys were withheld for want of a right"),
	WORD("IDLE", "nothing is in flight"),
	WORD("GONE", "an object went while it was looked at"),
	WORD("NOTHING_FOUND", "nothing is wrong that eadm could see"),
	WORD("SUPPRESSED", "messages of the driver were left out: there were too many"),
	WORD("NOT_ASKED", "the device was not asked about everything: time or number are limited"),
	WORD("DEAD", "the device stopped queue pairs; 'eadm why' explains each"),
	WORD("SILENT", "the device does not answer in time"),
	WORD("TORN", "a ring moved while it was read: entries may be mixed up"),
	WORD("RECORDERS_OFF", "the driver records nothing: its parameter 'recorders' is N"),
	WORD("APART", "files of two hosts were not taken at the same time"),
	WORD("CHOSEN", "a file has only what was chosen when it was written"),
	WORD("BACK", "a device that was lost was replaced by a fresh one"),
#undef SPACE
#define SPACE "cm-stage"
	WORD("setup", "before the TCP connection"),
	WORD("tcp", "waits until TCP is connected"),
	WORD("mpa", "waits for the peer's frame"),
	WORD("application", "waits until the application accepts"),
	WORD("device", "the device makes the connection its own"),
	WORD("established", "connected"),
#undef SPACE
#define SPACE "reset-event"
	WORD("probed", "the driver has the adapter, the device is up"),
	WORD("lost", "the device is lost; the reason stands beside it"),
	WORD("recovered", "a fresh device is up"),
	WORD("failed", "a fresh device did not come up; the driver tries again"),
	WORD("gave-up", "a fresh device did not come up: too many tries, or the function left the bus"),
#undef SPACE
#define SPACE "log-event"
	WORD("connect", "this side connected"),
	WORD("accept", "this side accepted, or would have"),
	WORD("rejected", "the application of the accepting side said no"),
	WORD("deregistered", "the key of a memory region is not valid any more"),
	WORD("lost", "entries were replaced before they were read"),
#undef SPACE
#define SPACE "verb"
	WORD("alloc_ucontext", "open the device for an application"),
	WORD("mmap", "give an application a doorbell page"),
	WORD("alloc_pd", "make a protection domain"),
	WORD("create_cq", "make a completion queue"),
	WORD("destroy_cq", "remove a completion queue"),
	WORD("create_qp", "make a queue pair"),
	WORD("modify_qp", "change state or attributes of a queue pair"),
	WORD("destroy_qp", "remove a queue pair"),
	WORD("reg_user_mr", "register memory of an application"),
	WORD("get_dma_mr", "register all bus addresses, for the kernel"),
	WORD("alloc_mr", "make a region for fast registration"),
	WORD("dereg_mr", "deregister a memory region"),
	WORD("connect", "connect to a listener"),
	WORD("accept", "accept a connection"),
	WORD("reject", "reject a connection"),
	WORD("listen", "wait for connections on an address"),
#undef SPACE
#define SPACE "loss"
	WORD("cmdq-dead", "a command got no answer"),
	WORD("qp-stop", "the device did not stop or flush a queue pair"),
	WORD("eq-hidden", "an event queue cannot be read any more"),
	WORD("pci-error", "the PCI bus reported an error"),
	WORD("pci-reset", "the PCI function was reset: by request, or by the kernel"),
	WORD("suspend", "the system was suspended"),
	WORD("unplugged", "the device left the bus"),
#undef SPACE
#define SPACE "link-event"
	WORD("down", "the network interface has no link"),
	WORD("up", "the network interface has a link"),
	WORD("mtu", "a command set the MTU of the device to that of the network interface"),
	WORD("gone", "the network interface goes away"),
#undef SPACE
	/* Text from the rules, see meaning_text() */
#define RULE_NAME(id, name, ...) { SPACE_RULE, -1, name, NULL },
	RULES(RULE_NAME)
#define SPACE "debug-category"
	ERDMA_DIAG_DEBUG_CATS(MEANING)
#undef SPACE
#define SPACE "debug-level"
	ERDMA_DIAG_DEBUG_LEVELS(MEANING)
#undef SPACE
#define SPACE "cc"
	ERDMA_CCS(MEANING)
#undef SPACE
#define SPACE "mr-type"
	ERDMA_MR_TYPES(MEANING)
#undef SPACE
#define SPACE "mr-memory"
	WORD("user", "pinned memory of an application"),
	WORD("kernel", "memory of the kernel"),
	WORD("dma-buf", "memory of another device"),
	WORD("all", "all bus addresses, without a translation"),
#undef SPACE
#define SPACE "mr-pages"
	WORD("inline", "the pages stand in the request"),
	WORD("of-the-region", "the pages are those that the region has already"),
#undef SPACE
#define CAPABILITY(code, word, text) { "capability", code, word, text, true },
	ERDMA_CAP_FLAGS(CAPABILITY)
};

/* What is not written in a public source, by section of docs/erdma-hardware.md */
static const struct {
	const char *space;
	const char *word;		/* NULL = all but "success" */
	const char *doubt;
} doubts[] = {
#define WHICH_SIDE "whether a local receive or a remote request is meant (8.4)"
	{ SPACE_SYNDROME, "general-error", "that the peer's errors are among them (17 no. 14)" },
	{ SPACE_SYNDROME, "recv-key-invalid", WHICH_SIDE },
	{ SPACE_SYNDROME, "recv-out-of-bounds", WHICH_SIDE },
	{ SPACE_SYNDROME, "recv-no-right", WHICH_SIDE },
	{ SPACE_SYNDROME, "recv-wrong-pd", WHICH_SIDE },
	{ SPACE_SYNDROME, "recv-address-wrap", WHICH_SIDE },
	{ SPACE_SYNDROME, "ord-exceeded", "when the device reports it (17 no. 16)" },
	{ SPACE_SYNDROME, "retry-exceeded", "how long and how often it tries (17 no. 19)" },
	{ "event", "CQ_ERR", "its causes (17 no. 18)" },
	{ SPACE_CMD_STATUS, NULL, "that status words are errno numbers (17 no. 7)" },
	{ SPACE_COUNTER, "tx_bytes", "whether headers are counted (14)" },
	{ SPACE_COUNTER, "rx_bytes", "whether headers are counted (14)" },
	{ "event-field", "by_arm", "the meaning is taken from the name (7.2)" },
};

static const struct {
	uint32_t syndrome;
	const char *status;
	uint32_t vendor;
} results[] = {
#define RESULT(code, verbs, number) { code, #verbs, number },
	ERDMA_SYNDROME_RESULTS(RESULT)
};

#define N(array)	(sizeof(array) / sizeof((array)[0]))

/* Does a syndrome give this verbs status, or this vendor error? */
static bool gives(size_t i, const struct meaning *m)
{
	return !strcmp(m->space, SPACE_WC) ? !strcmp(results[i].status, m->word) :
	       !strcmp(m->space, SPACE_VENDOR) && results[i].vendor == m->code;
}

/* Several syndromes have no vendor error: one line is enough */
static bool is_repeated(size_t i)
{
	size_t j;

	if (strcmp(meanings[i].space, SPACE_VENDOR))
		return false;
	for (j = 0; j < i; j++)
		if (!strcmp(meanings[j].space, SPACE_VENDOR) &&
		    meanings[j].code == meanings[i].code)
			return true;
	return false;
}

/**
 * meaning_at - walk over all meanings
 * @i: number, from 0
 *
 * Return: a meaning, or NULL after the last one; one without space is to be skipped.
 */
const struct meaning *meaning_at(size_t i)
{
	static const struct meaning none;

	if (i >= N(meanings))
		return NULL;
	return is_repeated(i) ? &none : &meanings[i];
}

/* Each vendor error but 0 is that of one syndrome */
static const char *vendor_text(struct pool *p, const struct meaning *m)
{
	size_t i;

	for (i = 0; i < N(results) && !gives(i, m); i++)
		;
	return pool_printf(p, "given with syndrome %u %s: %s", results[i].syndrome,
			   erdma_name_syndrome(results[i].syndrome),
			   erdma_text_syndrome(results[i].syndrome));
}

/**
 * meaning_text - the sentence
 * @p: memory
 * @m: meaning
 *
 * What the verbs report says which syndromes of this device it stands for.
 *
 * Return: text.
 */
const char *meaning_text(struct pool *p, const struct meaning *m)
{
	const char *text = m->text, *sep = "; syndrome ";
	size_t i;

	if (!strcmp(m->space, SPACE_VENDOR))
		return m->code ? vendor_text(p, m) : "no reason given; the verbs' status says more";
	if (!strcmp(m->space, SPACE_RULE))
		return rule_text(p, rule_called(m->word));
	if (strcmp(m->space, SPACE_WC))
		return text;
	for (i = 0; i < N(results); i++)
		if (gives(i, m)) {
			text = pool_printf(p, "%s%s%u", text, sep, results[i].syndrome);
			sep = ", ";
		}
	return text == m->text ? pool_printf(p, "%s; never reported by this device", text) : text;
}

static const char *doubt_of(const char *space, const char *word, int64_t code)
{
	size_t i;

	for (i = 0; word && i < N(doubts); i++)
		if (!strcmp(doubts[i].space, space) &&
		    (doubts[i].word ? !strcmp(doubts[i].word, word) : code != 0))
			return doubts[i].doubt;
	return NULL;
}

/**
 * meaning_doubt - what of a meaning is not proven
 * @m: meaning
 *
 * Return: text with the section of the hardware reference, or NULL.
 */
const char *meaning_doubt(const struct meaning *m)
{
	const char *doubt = doubt_of(m->space, m->word, m->code);
	size_t i;

	/* A report of the verbs is as sure as the syndromes it stands for */
	for (i = 0; !doubt && m->code && i < N(results); i++)
		if (gives(i, m))
			doubt = doubt_of(SPACE_SYNDROME, erdma_name_syndrome(results[i].syndrome),
					 results[i].syndrome);
	return doubt;
}

/**
 * meaning_in - does a namespace have this meaning?
 * @m: meaning
 * @space: namespace, or a part of its name: "cmd" stands for "cmd-status" and others
 *
 * Return: true if it does.
 */
bool meaning_in(const struct meaning *m, const char *space)
{
	size_t n = strlen(space);
	const char *s = m->space;

	for (; s; s = strchr(s, '-')) {
		s += *s == '-';
		if (n && !strncasecmp(s, space, n) && (!s[n] || s[n] == '-'))
			return true;
	}
	return false;
}

/**
 * meaning_called - is this the word?
 * @m: meaning
 * @word: word in any case; a verbs status also as IBV_WC_ or IB_WC_, a counter also by its
 *	name in another driver, a mark as it is shown: "app>"
 *
 * Return: true if it is.
 */
bool meaning_called(const struct meaning *m, const char *word)
{
	static const char *const prefixes[] = { "IBV_WC_", "IB_WC_" };
	char name[64];
	size_t i, n;

	if (!m->word)
		return false;
	if (!strcasecmp(m->word, word))
		return true;
	for (i = 0; !strcmp(m->space, SPACE_WC) && i < N(prefixes); i++) {
		n = strlen(prefixes[i]);
		if (!strncasecmp(word, prefixes[i], n) && !strcasecmp(m->word, word + n))
			return true;
	}
	n = strlen(m->word);
	if (!strcmp(m->space, SPACE_MARK) && !strncasecmp(m->word, word, n) && !strcmp(word + n, ">"))
		return true;
	return !strcmp(m->space, SPACE_COUNTER) && counter_canonical(word, name, sizeof(name)) &&
	       !strcmp(m->word, name);
}
