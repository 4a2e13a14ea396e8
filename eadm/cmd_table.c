// SPDX-License-Identifier: GPL-2.0-or-later
/* The one table of commands and options: parser, help, man page, completion. */
#include "cmd.h"
#include "schema.h"
#include "schema_mem.h"

const struct opt_def global_opts[] = {
	{ 0, "device", 'd', "DEV", NULL,
	  "RDMA device, interface, PCI address, #INDEX or all; also EADM_DEVICE", TAKES_DEV },
	{ 'F', "from", 0, "FILE", NULL, "read a snapshot file instead of the kernel", TAKES_FILE },
	{ 0, "json", 'j', NULL, NULL, "same as --output json", TAKES_DOC },
	{ 0, "pretty", 'p', NULL, NULL, "indented JSON", TAKES_DOC, FORM_JSON },
	{ 0, "output", 'o', "FMT", "text|json|jsonl", "text, json, or jsonl: a line per object",
	  TAKES_DOC },
	{ 0, "verbose", 'v', NULL, NULL, "more columns and fields; twice: all of them", TAKES_MORE },
	{ 'C', "columns", 0, "LIST", NULL, "columns of tables: headings or JSON keys, by comma",
	  TAKES_COLUMNS, FORM_TEXT },
	{ 'H', "no-header", 0, NULL, NULL, "tables without headings", TAKES_HEADER, FORM_TEXT },
	{ 'E', "exact", 0, NULL, NULL, "numbers and times without units or rounding", TAKES_UNITS,
	  FORM_TEXT },
	{ 'K', "color", 0, "WHEN", "auto|always|never", "escape codes; NO_COLOR turns them off",
	  TAKES_COLOR, FORM_TEXT },
	{ 'U', "u64", 0, "FORM", "number|string", "how JSON shows 64-bit counters", TAKES_DEV,
	  FORM_JSON },
	{ 'W', "no-hw", 0, NULL, NULL, "never ask the device, only the driver", TAKES_HW },
	{ 'T', "timeout", 0, "TIME", NULL, "budget of one call; default 5s", TAKES_CALLS },
	{ 0, "quiet", 'q', NULL, NULL, "no notes on stderr" },
	{ 0, "help", 'h', NULL, NULL, "this help" },
	{ 0, "version", 'V', NULL, NULL, "version of eadm" },
	{ 0 }
};

/* Global options by kind of command */
#define LIST	(TAKES_TABLE | TAKES_ASKS | TAKES_MORE | TAKES_HW | TAKES_FILE)
#define BLOCK	(TAKES_DOC | TAKES_COLOR | TAKES_ASKS | TAKES_MORE | TAKES_HW | TAKES_FILE)
#define SIDES	(BLOCK | TAKES_HEADER)

#define SHELL	(BLOCK | TAKES_TABLE)

/* Exit status: of any command; of one that reads a file; of one that asks the driver */
#define EXITS_ANY	(EXIT_BIT(EX_DONE) | EXIT_BIT(EX_FAILED) | EXIT_BIT(EX_BAD_USAGE))
#define EXITS_FILE	(EXITS_ANY | EXIT_BIT(EX_NOT_FOUND) | EXIT_BIT(EX_DENIED) | EXIT_BIT(EX_PARTIAL))
#define EXITS_ASK	(EXITS_FILE | EXIT_BIT(EX_NO_DRIVER) | EXIT_BIT(EX_UNSUPPORTED) |	\
			 EXIT_BIT(EX_NO_ANSWER))
#define EXITS_LIVE	(EXITS_ASK | EXIT_BIT(EX_INTERRUPTED))
#define EXITS_HEALTH	(EXIT_BIT(EX_WARNING) | EXIT_BIT(EX_FAULT))

#define SORT	{ OPT_SORT, "sort", 0, "KEY", NULL, "order by a column or JSON key; -KEY: downwards" }

static const struct opt_def list_opts[] = { SORT, { 0 } };

/* What objects are like, instead of numbers */
#define CHOOSE										\
	{ OPT_PID, "pid", 0, "PID", NULL, "only those of this process" },		\
	{ OPT_COMM, "comm", 0, "PATTERN", NULL, "only those of programs with this name" }
#define CHOOSE_QP									\
	CHOOSE,										\
	{ OPT_PEER, "peer", 0, "IP[:PORT]", NULL, "only those connected to this peer" }

static const struct opt_def list_qp_opts[] = {
	{ OPT_STATE, "state", 0, "STATE", "IDLE|RTR|RTS|CLOSING|TERM|ERR|DEAD", "only QPs in this state" },
	CHOOSE_QP,
	SORT,
	{ 0 }
};

static const struct opt_def list_cq_opts[] = { CHOOSE, SORT, { 0 } };
static const struct opt_def info_qp_opts[] = { CHOOSE_QP, { 0 } };
static const struct opt_def info_cq_opts[] = { CHOOSE, { 0 } };

#define SELECTORS									\
	{ OPT_RANGE, "range", 0, "A-B", NULL, "these entries; numbers modulo the depth" },	\
	{ OPT_INFLIGHT, "inflight", 0, NULL, NULL, "all entries not consumed yet" },	\
	{ OPT_LAST, "last", 0, "N", NULL, "the newest N entries" },			\
	{ OPT_HEX, "hex", 0, NULL, NULL, "also the bytes of each entry" },		\
	{ OPT_RAW, "raw", 0, NULL, NULL, "only the bytes, binary" },			\
	{ OPT_STRICT, "strict", 0, NULL, NULL, "exit status 7 if a ring changed while it was read" }

static const struct opt_def dump_opts[] = { SELECTORS, { 0 } };
static const struct opt_def dump_cq_opts[] = { CHOOSE, SELECTORS, { 0 } };

static const struct opt_def dump_qp_opts[] = {
	{ OPT_SQ, "sq", 0, NULL, NULL, "only the send queue" },
	{ OPT_RQ, "rq", 0, NULL, NULL, "only the receive queue" },
	CHOOSE_QP,
	SELECTORS,
	{ 0 }
};

static const struct opt_def dump_cmdq_opts[] = {
	{ OPT_SQ, "sq", 0, NULL, NULL, "only the commands" },
	{ OPT_CQ, "cq", 0, NULL, NULL, "only their completions" },
	{ OPT_EQ, "eq", 0, NULL, NULL, "only their events" },
	SELECTORS,
	{ 0 }
};

static const struct opt_def stat_opts[] = {
	{ OPT_GROUP, "group", 0, "GROUP", "traffic|errors|cmdq|events|cm|verbs|other",
	  "only this group" },
	{ OPT_NONZERO, "nonzero", 0, NULL, NULL, "only counters that are not zero, with an interval that changed" },
	{ OPT_ERRORS, "errors", 0, NULL, NULL, "only counters of things that went wrong" },
	{ OPT_INTERVAL, "interval", 'i', "TIME", NULL, "again and again, with changes and rates" },
	{ OPT_COUNT, "count", 'n', "N", NULL, "stop after N intervals" },
	{ OPT_LIVE, "live", 'l', NULL, NULL, "a line per second of what moved, the most important first" },
	{ OPT_STYLE, "style", 0, "STYLE", "native|vendor",
	  "names of this driver, or of the vendor's as lines 'name : value'; also EADM_STYLE" },
	{ 0 }
};

static const struct opt_def top_opts[] = {
	{ OPT_INTERVAL, "interval", 'i', "TIME", NULL, "time between two readings; default 1s" },
	{ OPT_COUNT, "count", 'n', "N", NULL, "stop after N intervals" },
	{ OPT_BY, "by", 0, "WHAT", "dev|qp|pid|cgroup", "what a row is; default qp" },
	SORT,
	{ OPT_BATCH, "batch", 'b', NULL, NULL, "a block per interval, as in a pipe; no terminal needed" },
	{ 0 }
};

static const struct opt_def watch_opts[] = {
	{ OPT_UNTIL, "until", 0, "RULE,...", NULL, "names of rules, or warning (or worse), or fault" },
	{ OPT_FOR, "for", 0, "TIME", NULL, "end after this time; without it there is no limit" },
	{ OPT_INTERVAL, "interval", 'i', "TIME", NULL, "time from one look to the next; default 5s" },
	{ OPT_THEN, "then", 0, "WHAT", "snapshot", "snapshot: write all that can be known then to a file" },
	{ OPT_WRITE, "write", 0, "FILE", NULL, "its name; default: eadm-RULE-TIME.snap" },
	{ 0 }
};

static const struct opt_def log_opts[] = {
	{ OPT_KIND, "kind", 0, "KIND,...", NULL, "only these kinds of entries" },
	{ OPT_QP, "qp", 0, "QPN", NULL, "only entries about these QPs" },
	{ OPT_COUNT, "count", 'n', "N", NULL,
	  "only the newest N entries; 0 with --follow: only those to come" },
	{ OPT_FOLLOW, "follow", 0, NULL, NULL, "go on with new entries as they come" },
	{ 0 }
};

static const struct opt_def recover_opts[] = {
	{ OPT_YES, "yes", 0, NULL, NULL, "do not ask; needed without a terminal" },
	{ OPT_DRY_RUN, "dry-run", 0, NULL, NULL, "only show what would be done" },
	{ 0 }
};

static const struct opt_def doctor_opts[] = {
	{ OPT_ONLY, "only", 0, "RULE,...", NULL, "only these rules" },
	{ OPT_LIST, "list", 0, NULL, NULL, "the rules that it may report, as 'explain rule'" },
	{ 0 }
};

static const struct opt_def debug_opts[] = {
	{ OPT_FOR, "for", 0, "TIME", NULL, "back to the default after this time; default 10m, "
	  "0 = never" },
	{ OPT_DRY_RUN, "dry-run", 0, NULL, NULL, "only show what would change" },
	{ 0 }
};

static const struct opt_def snapshot_opts[] = {
	{ OPT_WRITE, "write", 0, "FILE", NULL, "the file; replaced as a whole if it exists" },
	{ OPT_QP, "qp", 0, "QPN", NULL, "only these QPs, with their CQs and event queues" },
	{ OPT_CQN, "cq", 0, "CQN", NULL, "only these CQs, with their event queues" },
	{ OPT_REDACT, "redact", 0, "HOW", "none|ids|full", "ids: pseudonyms for addresses, keys, "
	  "names and processes, no data; full: none of them, no rings" },
	{ 0 }
};

static const struct opt_def metrics_opts[] = {
	{ OPT_WRITE, "write", 0, "FILE", NULL, "the file, for the textfile collector of node_exporter; "
	  "replaced as a whole if it exists" },
	{ 0 }
};

static const struct opt_def report_opts[] = {
	{ OPT_WRITE, "write", 0, "FILE", NULL, "leave the snapshot that the text is made from there" },
	{ OPT_REDACT, "redact", 0, "HOW", "none|ids|full", "ids: pseudonyms for addresses, keys, "
	  "names and processes, the default; full: none of them; none: everything" },
	{ 0 }
};

static const struct opt_def shell_opts[] = {
	{ OPT_HISTORY, "history", 0, "FILE", NULL, "lines of earlier shells; root has none without it" },
	{ 0 }
};

static const struct opt_def batch_opts[] = {
	{ OPT_KEEP_GOING, "keep-going", 0, NULL, NULL, "go on behind a line that fails" },
	{ 0 }
};

static const char dump_more[] =
	"'app>', 'driver>' and 'card>' stand where each of them writes (PI) or reads (CI) next.\n"
	"Without a selector the entries in flight are shown, at most the newest 32, or the newest 8\n"
	"if nothing is in flight; -v has the mechanics of the ring and all of an entry. The rings of\n"
	"applications are in their memory: the driver knows neither PI nor CI there. PI is then taken\n"
	"from the doorbell record or found by the owner bits, CI from the device. A ring that changed\n"
	"while it was read is read again until --timeout; if it still does, a note says so.";

#define SEE	"See"
#define ANSWER	"Answers"
#define EVIDENCE "Evidence"
#define COUNT	"Counters"
#define SET	"Set"
#define TOOL	"Tool"

const struct cmd cmd_table[] = {
	{ .verb = "list", .object = "dev", .operands = "", .opts = list_opts, .section = SEE,
	  .help = "all adapters, also those without a working driver, and other RDMA devices",
	  .more = "State 'other': an RDMA device of another driver (EFA, mlx5, rxe, siw, ...). Of such a "
		  "device there\nis what rdma netlink and sysfs have: 'list dev|qp|cq|mr', 'stat', 'metrics' "
		  "and 'top --by dev' show\nit beside the adapters. All other commands are about adapters; "
		  "with -d and its name their exit\nstatus is 6.",
	  .schema = &schema_dev_list, .takes = LIST, .exits = EXITS_ASK, .run = cmd_list_dev },
	{ .verb = "list", .object = "qp", .operands = "", .opts = list_qp_opts, .section = SEE,
	  .help = "queue pairs: state, peer, use of the queues, owner",
	  .more = "State DEAD: the device stopped it, whatever driver and application still think. "
		  "ERROR is\nthe rule of 'why' that says why, of at most 64 queue pairs and 200 ms. Whether it "
		  "did, and the CI of\napplications' queues, is asked of the device for at "
		  "most 64 queue pairs and 100 ms. '=qp18' behind\na peer: it is queue pair 18 of this "
		  "host. Those of other drivers' devices have the states of the\nverbs (RESET INIT RTR RTS "
		  "SQD SQE ERR), and RQPN if they are connected; netlink has nothing else\nof them.",
	  .schema = &schema_qp_list, .takes = LIST, .exits = EXITS_ASK, .run = cmd_list_qp },
	{ .verb = "list", .object = "cq", .operands = "", .opts = list_cq_opts, .section = SEE,
	  .help = "completion queues",
	  .more = "CQN of other drivers' devices: the number that rdma(8) shows.",
	  .schema = &schema_cq_list, .takes = LIST, .exits = EXITS_ASK, .run = cmd_list_cq },
	{ .verb = "list", .object = "eq", .operands = "", .opts = list_opts, .section = SEE,
	  .help = "event queues and their interrupts",
	  .schema = &schema_eq_list, .takes = LIST, .exits = EXITS_ASK, .run = cmd_list_eq },
	{ .verb = "list", .object = "mr", .operands = "", .opts = list_opts, .section = SEE,
	  .help = "memory regions: keys, range, access, translation, owner",
	  .more = "The keys need CAP_NET_ADMIN. MR of other drivers' devices: the number that rdma(8) shows.",
	  .schema = &schema_mr_list, .takes = LIST & ~TAKES_HW, .exits = EXITS_ASK,
	  .run = cmd_list_mr },
	{ .verb = "list", .object = "pd", .operands = "", .opts = list_opts, .section = SEE,
	  .help = "protection domains and how much is in them",
	  .schema = &schema_pd_list, .takes = LIST & ~TAKES_HW, .exits = EXITS_ASK,
	  .run = cmd_list_pd },
	{ .verb = "list", .object = "ctx", .operands = "", .opts = list_opts, .section = SEE,
	  .help = "user contexts: doorbell pages, objects, owner",
	  .schema = &schema_ctx_list, .takes = LIST & ~TAKES_HW, .exits = EXITS_ASK,
	  .run = cmd_list_ctx },
	{ .verb = "list", .object = "cm", .operands = "", .opts = list_opts, .section = SEE,
	  .help = "listeners and connections: state, addresses, queue pair, owner",
	  .schema = &schema_cm_list, .takes = LIST & ~TAKES_HW, .exits = EXITS_ASK,
	  .run = cmd_list_cm },
	{ .verb = "info", .object = "dev", .operands = "", .section = SEE,
	  .help = "identity, firmware, capabilities, limits and use of a device",
	  .more = "'eadm info' without an object is the same.",
	  .schema = &schema_dev_info, .takes = BLOCK, .exits = EXITS_ASK, .run = cmd_info_dev },
	{ .verb = "info", .object = "qp", .operands = "QPN...", .min = 1, .max = -1,
	  .opts = info_qp_opts, .operand = OPERAND_QP, .section = SEE,
	  .help = "a queue pair as driver and device see it",
	  .more = "Numbers may be ranges: 5,8-12; --pid, --comm and --peer may stand in their "
		  "place. Fields on\nwhich the sides disagree are marked with '!'. PI and CI are never "
		  "marked: they move between the\ntwo questions. Addresses, doorbells and what was asked "
		  "for at creation are shown with -v.",
	  .schema = &schema_qp_info, .takes = SIDES, .exits = EXITS_ASK, .run = cmd_info_qp },
	{ .verb = "info", .object = "cq", .operands = "CQN...", .min = 1, .max = -1,
	  .opts = info_cq_opts, .operand = OPERAND_CQ, .section = SEE,
	  .help = "a completion queue as driver and device see it",
	  .schema = &schema_cq_info, .takes = SIDES, .exits = EXITS_ASK, .run = cmd_info_cq },
	{ .verb = "info", .object = "eq", .operands = "EQN|aeq|cmdq", .min = 1, .max = 1,
	  .operand = OPERAND_EQ, .section = SEE,
	  .help = "an event queue as driver and device see it",
	  .schema = &schema_eq_info, .takes = SIDES, .exits = EXITS_ASK, .run = cmd_info_eq },
	{ .verb = "info", .object = "cmdq", .operands = "", .section = SEE,
	  .help = "the command queue: contexts, commands in flight, timeouts",
	  .schema = &schema_cmdq_info, .takes = BLOCK, .exits = EXITS_ASK, .run = cmd_info_cmdq },
	{ .verb = "dump", .object = "qp", .operands = "[QPN...]", .max = -1,
	  .opts = dump_qp_opts, .operand = OPERAND_QP, .section = SEE,
	  .help = "work requests in the rings of queue pairs, decoded",
	  .more = dump_more, .schema = &schema_qp_dump, .takes = LIST, .exits = EXITS_ASK,
	  .run = cmd_dump_qp },
	{ .verb = "dump", .object = "cq", .operands = "CQN...", .min = 1, .max = -1,
	  .opts = dump_cq_opts, .operand = OPERAND_CQ, .section = SEE,
	  .help = "completions in the rings of completion queues, decoded",
	  .more = dump_more, .schema = &schema_cq_dump, .takes = LIST, .exits = EXITS_ASK,
	  .run = cmd_dump_cq },
	{ .verb = "dump", .object = "eq", .operands = "EQN|aeq|cmdq", .min = 1, .max = 1,
	  .opts = dump_opts, .operand = OPERAND_EQ, .section = SEE,
	  .help = "events in the ring of an event queue, decoded",
	  .more = dump_more, .schema = &schema_eq_dump, .takes = LIST, .exits = EXITS_ASK,
	  .run = cmd_dump_eq },
	{ .verb = "dump", .object = "cmdq", .operands = "", .opts = dump_cmdq_opts,
	  .section = SEE, .help = "commands and their results, completions, events, decoded",
	  .more = "The result of a command is beside it; as text the other two rings need -v, --cq or "
		  "--eq.",
	  .schema = &schema_cmdq_dump, .takes = LIST, .exits = EXITS_ASK, .run = cmd_dump_cmdq },
	{ .verb = "stat", .operands = "[COUNTER...]", .max = -1, .opts = stat_opts,
	  .operand = OPERAND_COUNTER, .section = COUNT,
	  .help = "counters of hardware and driver; never reset",
	  .more = "Counters may be named as this driver, the in-tree driver or the vendor's driver "
		  "calls them.\nWith --live a line has what went wrong first, then traffic, the fastest "
		  "first; '-' stands for a\ncounter that went down: it was reset. With an interval a "
		  "device that is lost is waited for.\nOther drivers' devices have the driver's names, of "
		  "each port; --style vendor leaves them out.",
	  .schema = &schema_stat, .takes = LIST & ~TAKES_HW, .exits = EXITS_LIVE, .run = cmd_stat },
	{ .verb = "metrics", .operands = "", .opts = metrics_opts, .section = COUNT,
	  .help = "metrics of all adapters, and of other RDMA devices, for Prometheus",
	  .more = "Counters, use and limits, health, the rules of 'doctor' that one look shows, times "
		  "of\ncommands. The text is Prometheus' own, which node_exporter's textfile collector "
		  "reads. The\ndevice is asked for nothing but its counters. A device that fails does "
		  "not lose the others:\nerdma_up and erdma_part_up are 0 then, and the exit status is "
		  "7.\nMetrics of other drivers' devices begin with rdma_.",
	  .schema = &schema_metrics, .takes = TAKES_DEV | TAKES_DOC | TAKES_CALLS | TAKES_FILE,
	  .exits = EXITS_ASK, .run = cmd_metrics },
	{ .verb = "top", .operands = "", .opts = top_opts, .section = COUNT,
	  .help = "who is busy now: queue pairs, processes, control groups, devices",
	  .more = "On a terminal a table that is drawn again and again; 'q' ends it. What did nothing "
		  "is left out\nwithout -v. Rates of queue pairs are those of the device's contexts. The "
		  "device is asked for\nas many of them as cost well under a hundredth of a core: in every "
		  "interval for those of queue\npairs that move, in turn for the others. OLD stands for "
		  "rates that were measured longer ago.\nThe contexts count with 16 bits; if those may have "
		  "gone round, rates are estimates (EST) by two\nmore contexts soon after the first. "
		  "Contexts have no bytes: only --by dev shows bits. SEND/S and\nRECV/S count completions, "
		  "POST/S blocks and receives that the driver sees posted. Numbers of\nprocesses and names "
		  "of groups are those of the caller. Other drivers' devices are in --by dev only,\nwith the "
		  "rates that their counters have.",
	  .schema = &schema_top, .takes = LIST & ~TAKES_FILE, .exits = EXITS_LIVE, .run = cmd_top },
	{ .verb = CMD_ALONE, .operands = "", .section = ANSWER,
	  .help = "devices at a glance: health, queue pairs, errors, the last failure; also eadm alone",
	  .more = "What counts errors is read twice, a second apart, and so are queue pairs: stuck is one "
		  "whose\nrequests waited both times while nothing of it moved. Without the diagnostic "
		  "node, and of a\nfile, less is known. The last failure is the newest within ten minutes: "
		  "a loss of the device,\nan attempt to connect, a verb. The exit status says nothing of "
		  "what was found.",
	  .schema = &schema_summary, .takes = BLOCK & ~TAKES_MORE, .exits = EXITS_ASK,
	  .run = cmd_summary },
	{ .verb = "why", .operands = "[QPN...] [FILE...]", .max = -1, .opts = info_qp_opts,
	  .operand = OPERAND_QP, .section = ANSWER,
	  .help = "why nothing goes on: the facts of both ends, a verdict, and what to do next",
	  .more = "For 'it hangs': eadm why --pid PID. Both ends are looked at if both are on this "
		  "host. What is\n"
		  "needed of the queue pairs, their completion and event queues and "
		  "their owners is read four times\nwithin two seconds: only what is equal in all "
		  "samples stands still. A file of --from has the\nsame; one of devcoredump has one moment, "
		  "and no verdict that needs more. Of several files,\nof several hosts, the adapters are "
		  "one list: both ends of a connection are known then. Behind\na verdict stand how sure it "
		  "is (CERTAIN, LIKELY, POSSIBLE) and who has to act; 'eadm explain\nrule' shows the "
		  "evidence of each. Without a choice all queue pairs, devices, and what failed within\nten "
		  "minutes, for the newest 16 processes of a device. At most 64 queue pairs are looked at, "
		  "those first\nthat the driver knows to be stopped, or whose process has exited. The exit "
		  "status says nothing of\nthe verdict.",
	  .schema = &schema_why, .takes = BLOCK & ~TAKES_MORE, .exits = EXITS_ASK, .run = cmd_why },
	{ .verb = "match", .operands = "FILE FILE", .min = 2, .max = 2, .section = ANSWER,
	  .help = "connections between two hosts, by a snapshot file of each, and why they hang",
	  .more = "As 'why FILE FILE', only of connections that have one end in each file. They are found "
		  "by\naddresses, ports and cookies; in files with pseudonyms by ports and cookies. If more "
		  "than ten\nseconds lie between the files, by the clocks of the hosts, a warning says so, and "
		  "what rests on both\nends is LIKELY at most.",
	  .schema = &schema_why, .takes = BLOCK & ~(TAKES_MORE | TAKES_FILE | TAKES_HW),
	  .exits = EXITS_FILE, .run = cmd_match },
	{ .verb = "doctor", .operands = "", .opts = doctor_opts, .section = ANSWER,
	  .help = "what is wrong with the adapters of this host, by every rule",
	  .more = "The rules of 'why', of all devices, of at most 64 queue pairs, first of those that the "
		  "driver knows\nto be stopped, or whose process has exited, and of what failed within ten "
		  "minutes, for the newest\n16 processes of a device; also adapters that have no driver for "
		  "two seconds, drivers without a\ndiagnostic node, and the host: module, headers for DKMS, "
		  "libibverbs, interrupts, limits of locked\nmemory. Only what is wrong is shown, and no "
		  "warning that is merely possible; what is wrong with a\ncompletion queue is shown with the "
		  "first of its queue pairs. Exit status 10: a warning, a fault\nthat is not certain, or a "
		  "failure of the past; 11: a fault that is certain, and there now.",
	  .schema = &schema_doctor, .takes = BLOCK & ~TAKES_MORE, .exits = EXITS_ASK | EXITS_HEALTH,
	  .run = cmd_doctor },
	{ .verb = "watch", .operands = "", .opts = watch_opts, .section = ANSWER,
	  .help = "wait until a rule of 'why' holds; show its verdict, and write a snapshot",
	  .more = "'eadm explain rule' has the names. A look takes two seconds, and is that of 'doctor': "
		  "all devices,\nat most 64 queue pairs. A rule that doctor does not show, as 'works', is "
		  "looked for as 'why' does.\nWhat holds now ends it at once; what failed before it began does "
		  "not. Exit status 0: the time of\n--for is over, and none of them held; 10 and 11 as with "
		  "doctor; 10 for a rule that is no warning.\nOnce watch has begun, devices may come and go.",
	  .schema = &schema_watch, .takes = BLOCK & ~(TAKES_MORE | TAKES_FILE),
	  .exits = EXITS_LIVE | EXITS_HEALTH, .run = cmd_watch },
	{ .verb = "debug-level", .operands = "[CATEGORY[=LEVEL][,...]]", .max = 1,
	  .opts = debug_opts, .operand = OPERAND_CAT, .section = SET,
	  .help = "show or set the level of the driver's messages",
	  .more = "'debug-level cm' shows, 'cm=dbg' sets. Levels: off err info dbg trace, and "
		  "default. The category\n'all' stands for every category; 'none' is short for "
		  "all=default.",
	  .schema = &schema_debug, .takes = LIST, .exits = EXITS_ASK,
	  .run = cmd_debug_level },
	{ .verb = "recover", .object = "dev", .operands = "", .opts = recover_opts, .section = SET,
	  .help = "reset the adapter: the driver puts a fresh device in its place",
	  .more = "By a reset of the PCI function in sysfs, which needs root. All queue pairs are lost: "
		  "applications\nget a fatal event and have to open the device again, kernel consumers "
		  "connect again. It is also the\nway back for an adapter that the driver gave up, which "
		  "has no RDMA device any more.",
	  .schema = &schema_recover, .takes = BLOCK & ~(TAKES_MORE | TAKES_HW | TAKES_FILE),
	  .exits = EXITS_ASK, .run = cmd_recover_dev },
	{ .verb = "recover", .object = "eq", .operands = "EQN|aeq|cmdq", .min = 1, .max = 1,
	  .opts = recover_opts, .operand = OPERAND_EQ, .section = SET,
	  .help = "handle the events that wait in an event queue, and ring its doorbell",
	  .more = "For events whose interrupt got lost. The driver takes them without an interrupt. "
		  "Nothing is lost by it:\na queue in which nothing waits is only armed again.",
	  .schema = &schema_recover_queue, .takes = BLOCK & ~(TAKES_HW | TAKES_FILE),
	  .exits = EXITS_ASK, .run = cmd_recover_eq },
	{ .verb = "recover", .object = "cq", .operands = "CQN", .min = 1, .max = 1,
	  .opts = recover_opts, .operand = OPERAND_CQ, .section = SET,
	  .help = "deliver the completion event that a completion queue lacks",
	  .more = "If the queue is armed and has a completion for which the card raised no event. One "
		  "that is not armed\nis left alone.",
	  .schema = &schema_recover_queue, .takes = BLOCK & ~(TAKES_HW | TAKES_FILE),
	  .exits = EXITS_ASK, .run = cmd_recover_cq },
	{ .verb = "log", .operands = "", .opts = log_opts, .section = EVIDENCE,
	  .help = "what the driver recorded, as one timeline",
	  .more = "Kinds: cmd, event, cm, fail, key, reset, link, debug; and only if they are named: "
		  "cmd-first,\nthe commands that led to the first failures, and cmd-time, a row per "
		  "opcode. Without\nCAP_NET_ADMIN one's own user's entries only.",
	  .schema = &schema_log, .takes = LIST & ~TAKES_HW, .exits = EXITS_LIVE, .run = cmd_log },
	{ .verb = "snapshot", .operands = "", .opts = snapshot_opts, .section = EVIDENCE,
	  .help = "write all that can be known now to a file, for --from",
	  .more = "Every command reads such a file instead of the kernel: eadm --from FILE list qp.\n"
		  "Only its owner may read the file: it has addresses, keys and contents of rings.",
	  .schema = &schema_snapshot, .takes = BLOCK & ~(TAKES_MORE | TAKES_FILE),
	  .exits = EXITS_ASK, .run = cmd_snapshot },
	{ .verb = "report", .operands = "", .opts = report_opts, .section = EVIDENCE,
	  .help = "all that a bug report needs, as text, with pseudonyms",
	  .more = "The output of the reading commands, of each adapter; all about QPs that the "
		  "device stopped.\nEqual pseudonyms stand for equal things, also in the file of "
		  "--write. Nothing shows what an\napplication sent. For JSON: eadm report --write "
		  "FILE, then eadm --from FILE list qp -j.\nA file of --from is shown if it hides what "
		  "is to be hidden.",
	  .takes = TAKES_ASKS | TAKES_HW | TAKES_FILE, .exits = EXITS_ASK, .run = cmd_report },
	{ .verb = "diff", .operands = "FILE FILE", .min = 2, .max = 2, .section = EVIDENCE,
	  .help = "what is different in two snapshot files, the older one first",
	  .more = "Objects are the same if adapter, number and time of creation are. What one of the "
		  "files does\nnot say is not compared, nor are times.",
	  .schema = &schema_diff, .takes = TAKES_TABLE | TAKES_MORE, .exits = EXITS_FILE,
	  .run = cmd_diff },
	{ .verb = "explain", .operands = "[NAMESPACE] [CODE|WORD]", .max = 2,
	  .operand = OPERAND_SPACE, .section = TOOL,
	  .help = "codes and words of applications, hardware, driver and eadm",
	  .more = "A number has many meanings: 'explain 12' shows them all, first that of the verbs' "
		  "completion\nstatus, which applications print; 'explain wc 12' only this one. "
		  "'explain vendor 0x31' is for a\nvendor_err, 'explain cmd 22' for commands and their "
		  "status. A namespace alone shows all of it.\nUNPROVEN says what of a meaning no public "
		  "source confirms, with the section of the hardware\nreference. With --no-header each "
		  "meaning is one line, however long.",
	  .schema = &schema_explain, .takes = TAKES_TABLE,
	  .exits = EXITS_ANY | EXIT_BIT(EX_NOT_FOUND), .run = cmd_explain },
	{ .verb = "ver", .operands = "", .section = TOOL,
	  .help = "versions of the loaded driver and of eadm",
	  .more = "The line of the driver is the one that the vendor's eadm prints. Without a loaded "
		  "driver it\nhas '-'.",
	  .schema = &schema_ver, .takes = TAKES_DOC | TAKES_FILE, .exits = EXITS_FILE,
	  .run = cmd_ver },
	{ .verb = "version", .operands = "", .section = TOOL,
	  .help = "version of eadm, without asking the kernel",
	  .schema = &schema_version, .takes = TAKES_DOC | TAKES_COLOR, .exits = EXITS_ANY,
	  .run = cmd_version },
	{ .verb = "shell", .operands = "[DEV]", .max = 1, .opts = shell_opts, .section = TOOL,
	  .help = "commands from a terminal, with completion and history",
	  .more = "Each line is a command without 'eadm'. Only here: 'use DEV' chooses the adapter of all "
		  "that\nfollows, 'set output text|json|jsonl', 'set events on|off', 'history', 'exit'. The "
		  "tab key\ncompletes words and the numbers of live objects. New events of the driver appear "
		  "above the\nprompt. An interrupt ends the command, two within a second the shell. Lines are "
		  "in\n$XDG_STATE_HOME/eadm/history. If standard input is no terminal: as 'batch -'.",
	  .takes = SHELL, .exits = EXITS_LIVE | EXITS_HEALTH, .run = cmd_shell },
	{ .verb = "batch", .operands = "FILE|-", .min = 1, .max = 1, .opts = batch_opts,
	  .section = TOOL, .help = "command lines of a file",
	  .more = "A line is a command without 'eadm', with quotes as in sh; '#' begins a comment. The "
		  "first line\nthat fails ends it; the exit status is that of this line.",
	  .takes = SHELL, .exits = EXITS_LIVE | EXITS_HEALTH, .run = cmd_batch },
	{ .verb = "schema", .operands = "[NAME]", .max = 1, .section = TOOL,
	  .help = "JSON schemas of the documents: their names, or one of them",
	  .schema = &schema_names, .takes = TAKES_TABLE,
	  .exits = EXITS_ANY | EXIT_BIT(EX_NOT_FOUND), .run = cmd_schema },
	{ .verb = "help", .operands = "[VERB [OBJECT]]", .max = 2, .operand = OPERAND_CMD,
	  .section = TOOL, .help = "commands and options", .exits = EXITS_ANY, .run = cmd_help },
	{ .verb = "completion", .operands = "bash", .min = 1, .max = 1, .operand = OPERAND_SHELL,
	  .section = TOOL, .help = "script for the completion of the shell",
	  .exits = EXITS_ANY, .run = cmd_completion },
	{ .verb = "__complete", .operands = "KIND", .min = 1, .max = 1, .section = TOOL,
	  .help = "words for completion", .takes = TAKES_DEV | TAKES_CALLS,
	  .hidden = true, .exits = EXITS_ANY, .run = cmd_complete },
	{ .verb = "__man", .operands = "PART [VERB]", .min = 1, .max = 2, .section = TOOL,
	  .help = "a generated part of a manual page", .hidden = true, .exits = EXITS_ANY,
	  .run = cmd_man },
	{ 0 }
};
