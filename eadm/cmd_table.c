// SPDX-License-Identifier: GPL-2.0-or-later
/* The one table of commands and options: parser, help, man page, completion. */
#include "cmd.h"
#include "schema.h"

const struct opt_def global_opts[] = {
	{ 0, "device", 'd', "DEV", NULL,
	  "RDMA device, interface, PCI address, #INDEX or all; also EADM_DEVICE" },
	{ 0, "json", 'j', NULL, NULL, "same as --output json" },
	{ 0, "pretty", 'p', NULL, NULL, "indented JSON" },
	{ 0, "output", 'o', "FMT", "text|json|jsonl", "text, json, or jsonl: a line per object" },
	{ 0, "verbose", 'v', NULL, NULL, "more columns and fields; twice: all of them" },
	{ 'C', "columns", 0, "LIST", NULL, "columns of tables: headings or JSON keys, by comma" },
	{ 'H', "no-header", 0, NULL, NULL, "tables without headings" },
	{ 'E', "exact", 0, NULL, NULL, "numbers and times without units or rounding" },
	{ 'K', "color", 0, "WHEN", "auto|always|never", "escape codes; NO_COLOR turns them off" },
	{ 'U', "u64", 0, "FORM", "number|string", "how JSON shows 64-bit counters" },
	{ 'W', "no-hw", 0, NULL, NULL, "never ask the device, only the driver" },
	{ 'T', "timeout", 0, "TIME", NULL, "budget of one call; default 5s" },
	{ 0, "quiet", 'q', NULL, NULL, "no notes on stderr" },
	{ 0, "help", 'h', NULL, NULL, "this help" },
	{ 0, "version", 'V', NULL, NULL, "version of eadm" },
	{ 0 }
};

#define SORT	{ OPT_SORT, "sort", 0, "KEY", NULL, "order by a column or JSON key; -KEY: downwards" }

static const struct opt_def list_opts[] = { SORT, { 0 } };

static const struct opt_def list_qp_opts[] = {
	{ OPT_STATE, "state", 0, "STATE", "IDLE|RTR|RTS|CLOSING|TERM|ERR|DEAD", "only QPs in this state" },
	{ OPT_PID, "pid", 0, "PID", NULL, "only QPs of this process" },
	{ OPT_COMM, "comm", 0, "PATTERN", NULL, "only QPs of programs with this name" },
	{ OPT_PEER, "peer", 0, "IP[:PORT]", NULL, "only QPs connected to this peer" },
	SORT,
	{ 0 }
};

#define SELECTORS									\
	{ OPT_RANGE, "range", 0, "A-B", NULL, "these entries; numbers modulo the depth" },	\
	{ OPT_INFLIGHT, "inflight", 0, NULL, NULL, "all entries not consumed yet" },	\
	{ OPT_LAST, "last", 0, "N", NULL, "the newest N entries" },			\
	{ OPT_HEX, "hex", 0, NULL, NULL, "also the bytes of each entry" },		\
	{ OPT_RAW, "raw", 0, NULL, NULL, "only the bytes, binary" },			\
	{ OPT_STRICT, "strict", 0, NULL, NULL, "exit status 7 if a ring changed while it was read" }

static const struct opt_def dump_opts[] = { SELECTORS, { 0 } };

static const struct opt_def dump_qp_opts[] = {
	{ OPT_SQ, "sq", 0, NULL, NULL, "only the send queue" },
	{ OPT_RQ, "rq", 0, NULL, NULL, "only the receive queue" },
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
	{ OPT_NONZERO, "nonzero", 0, NULL, NULL, "only counters that are not zero" },
	{ OPT_ERRORS, "errors", 0, NULL, NULL, "only counters of things that went wrong" },
	{ OPT_INTERVAL, "interval", 'i', "TIME", NULL, "again and again, with changes and rates" },
	{ OPT_COUNT, "count", 'n', "N", NULL, "stop after N intervals" },
	{ OPT_LIVE, "live", 'l', NULL, NULL, "same as --interval 1s" },
	{ OPT_STYLE, "style", 0, "STYLE", "native|vendor",
	  "names of this driver, or of the vendor's as lines 'name : value'; also EADM_STYLE" },
	{ 0 }
};

static const struct opt_def debug_opts[] = {
	{ OPT_FOR, "for", 0, "TIME", NULL, "back to the default after this time; default 10m, "
	  "0 = never" },
	{ OPT_DRY_RUN, "dry-run", 0, NULL, NULL, "only show what would change" },
	{ 0 }
};

static const char dump_more[] =
	"MARK names the entries that PI (where the producer writes next) and CI (where the\n"
	"consumer reads next) point to. Without a selector the entries in flight are shown, at\n"
	"most the newest 32, or the newest 8 if nothing is in flight. The rings of applications\n"
	"are in their memory: the driver knows neither PI nor CI there. PI is then taken from the\n"
	"doorbell record or found by the owner bits, CI from the device. A ring that changed while it\n"
	"was read is read again until --timeout; if it still does, a note says so.";

#define SEE	"See"
#define COUNT	"Counters"
#define SET	"Set"
#define TOOL	"Tool"

const struct cmd cmd_table[] = {
	{ .verb = "list", .object = "dev", .operands = "", .opts = list_opts, .section = SEE,
	  .help = "all adapters, also those without a working driver",
	  .schema = &schema_dev_list, .run = cmd_list_dev },
	{ .verb = "list", .object = "qp", .operands = "", .opts = list_qp_opts, .section = SEE,
	  .help = "queue pairs: state, peer, use of the queues, owner",
	  .more = "State DEAD: the device stopped it, whatever driver and application still think. "
		  "Whether it\ndid, and the CI of applications' queues, is asked of the device for at "
		  "most 64 queue pairs and\n100 ms.",
	  .schema = &schema_qp_list, .run = cmd_list_qp },
	{ .verb = "list", .object = "cq", .operands = "", .opts = list_opts, .section = SEE,
	  .help = "completion queues", .schema = &schema_cq_list, .run = cmd_list_cq },
	{ .verb = "list", .object = "eq", .operands = "", .opts = list_opts, .section = SEE,
	  .help = "event queues and their interrupts",
	  .schema = &schema_eq_list, .run = cmd_list_eq },
	{ .verb = "info", .object = "dev", .operands = "", .section = SEE,
	  .help = "identity, firmware, capabilities, limits and use of a device",
	  .more = "'eadm info' without an object is the same.",
	  .schema = &schema_dev_info, .run = cmd_info_dev },
	{ .verb = "info", .object = "qp", .operands = "QPN...", .min = 1, .max = -1,
	  .operand = OPERAND_QP, .section = SEE,
	  .help = "a queue pair as driver and device see it",
	  .more = "Numbers may be ranges: 5,8-12. Fields on which the sides disagree are marked "
		  "with '!'.\nPI and CI are never marked: they move between the two questions. Addresses, doorbells "
		  "and what\nwas asked for at creation are shown with -v.",
	  .schema = &schema_qp_info, .run = cmd_info_qp },
	{ .verb = "info", .object = "cq", .operands = "CQN...", .min = 1, .max = -1,
	  .operand = OPERAND_CQ, .section = SEE,
	  .help = "a completion queue as driver and device see it",
	  .schema = &schema_cq_info, .run = cmd_info_cq },
	{ .verb = "info", .object = "eq", .operands = "EQN|aeq|cmdq", .min = 1, .max = 1,
	  .operand = OPERAND_EQ, .section = SEE,
	  .help = "an event queue as driver and device see it",
	  .schema = &schema_eq_info, .run = cmd_info_eq },
	{ .verb = "info", .object = "cmdq", .operands = "", .section = SEE,
	  .help = "the command queue: contexts, commands in flight, timeouts",
	  .schema = &schema_cmdq_info, .run = cmd_info_cmdq },
	{ .verb = "dump", .object = "qp", .operands = "[QPN...]", .max = -1,
	  .opts = dump_qp_opts, .operand = OPERAND_QP, .section = SEE,
	  .help = "work requests in the rings of queue pairs, decoded",
	  .more = dump_more, .schema = &schema_qp_dump, .run = cmd_dump_qp },
	{ .verb = "dump", .object = "cq", .operands = "CQN...", .min = 1, .max = -1,
	  .opts = dump_opts, .operand = OPERAND_CQ, .section = SEE,
	  .help = "completions in the rings of completion queues, decoded",
	  .more = dump_more, .schema = &schema_cq_dump, .run = cmd_dump_cq },
	{ .verb = "dump", .object = "eq", .operands = "EQN|aeq|cmdq", .min = 1, .max = 1,
	  .opts = dump_opts, .operand = OPERAND_EQ, .section = SEE,
	  .help = "events in the ring of an event queue, decoded",
	  .more = dump_more, .schema = &schema_eq_dump, .run = cmd_dump_eq },
	{ .verb = "dump", .object = "cmdq", .operands = "", .opts = dump_cmdq_opts,
	  .section = SEE, .help = "commands, their completions and events, decoded",
	  .more = dump_more, .schema = &schema_cmdq_dump, .run = cmd_dump_cmdq },
	{ .verb = "stat", .operands = "[COUNTER...]", .max = -1, .opts = stat_opts,
	  .operand = OPERAND_COUNTER, .section = COUNT,
	  .help = "counters of hardware and driver; never reset",
	  .more = "Counters may be named as this driver, the in-tree driver or the vendor's driver "
		  "calls them.",
	  .schema = &schema_stat, .run = cmd_stat },
	{ .verb = "debug-level", .operands = "[CATEGORY[=LEVEL][,...]]", .max = 1,
	  .opts = debug_opts, .operand = OPERAND_CAT, .section = SET,
	  .help = "show or set the level of the driver's messages",
	  .more = "Levels: off err info dbg trace; without a level dbg. The category 'all' stands "
		  "for every\ncategory, 'none' puts every category back to its default.",
	  .schema = &schema_debug, .run = cmd_debug_level },
	{ .verb = "explain", .operands = "[CODE|WORD]", .max = 1, .section = TOOL,
	  .help = "codes and words of the hardware, exit codes",
	  .schema = &schema_explain, .run = cmd_explain },
	{ .verb = "ver", .operands = "", .section = TOOL,
	  .help = "versions of the loaded driver and of eadm",
	  .more = "The line of the driver is the one that the vendor's eadm prints. Without a loaded "
		  "driver it\nhas '-'.",
	  .schema = &schema_ver, .run = cmd_ver },
	{ .verb = "version", .operands = "", .section = TOOL,
	  .help = "version of eadm, without asking the kernel",
	  .schema = &schema_version, .run = cmd_version },
	{ .verb = "schema", .operands = "[NAME]", .max = 1, .section = TOOL,
	  .help = "JSON schemas of the documents: their names, or one of them",
	  .schema = &schema_names, .run = cmd_schema },
	{ .verb = "help", .operands = "[VERB [OBJECT]]", .max = 2, .operand = OPERAND_CMD,
	  .section = TOOL, .help = "commands and options", .run = cmd_help },
	{ .verb = "completion", .operands = "bash", .min = 1, .max = 1, .operand = OPERAND_SHELL,
	  .section = TOOL, .help = "script for the completion of the shell",
	  .run = cmd_completion },
	{ .verb = "__complete", .operands = "KIND", .min = 1, .max = 1, .section = TOOL,
	  .help = "words for completion", .hidden = true, .run = cmd_complete },
	{ .verb = "__man", .operands = "PART", .min = 1, .max = 1, .section = TOOL,
	  .help = "generated parts of the manual page", .hidden = true, .run = cmd_man },
	{ 0 }
};
