/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands: the table they are described in, what they are given, what they
 * leave behind. A command asks the source, fills objects (ctx_add) and reports
 * problems (ctx_problem); main() prints both and chooses the exit status.
 */
#ifndef EADM_CMD_H
#define EADM_CMD_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "model.h"
#include "source.h"

/**
 * enum exit_code - exit status; the texts are in EXIT_CODES()
 * @EX_DONE: all was done
 * @EX_FAILED: driver, device or I/O error
 * @EX_BAD_USAGE: unknown command or option, bad value
 * @EX_NOT_FOUND: no such device or object
 * @EX_DENIED: permission denied
 * @EX_NO_DRIVER: driver not loaded, or without the diagnostic node
 * @EX_UNSUPPORTED: driver, firmware or kernel cannot do it
 * @EX_PARTIAL: some objects failed, or changed meanwhile
 * @EX_NO_ANSWER: the device did not answer in time
 * @EX_WARNING: doctor, watch: something should be looked at
 * @EX_FAULT: doctor, watch: something is certainly wrong now
 * @EX_INTERRUPTED: by a signal
 */
enum exit_code {
	EX_DONE		= 0,
	EX_FAILED	= 1,
	EX_BAD_USAGE	= 2,
	EX_NOT_FOUND	= 3,
	EX_DENIED	= 4,
	EX_NO_DRIVER	= 5,
	EX_UNSUPPORTED	= 6,
	EX_PARTIAL	= 7,
	EX_NO_ANSWER	= 8,
	EX_WARNING	= 10,
	EX_FAULT	= 11,
	EX_INTERRUPTED	= 130,
};

/* Sets of them */
#define EXIT_BIT(code)	(1U << ((code) == EX_INTERRUPTED ? 31 : (code)))

#define EXIT_CODES(X) \
	X(EX_DONE, "done", "done; an empty list is an answer") \
	X(EX_FAILED, "failed", "failed: driver, device or I/O error not listed below") \
	X(EX_BAD_USAGE, "usage", "usage: unknown command or option, bad value") \
	X(EX_NOT_FOUND, "not-found", "device or object does not exist") \
	X(EX_DENIED, "denied", "permission denied") \
	X(EX_NO_DRIVER, "no-driver", "driver not loaded, or without the diagnostic node") \
	X(EX_UNSUPPORTED, "unsupported", "not supported by this driver, firmware or kernel") \
	X(EX_PARTIAL, "partial", \
	  "partial: some objects failed, or changed while they were read") \
	X(EX_NO_ANSWER, "no-answer", \
	  "the device did not answer in time, or its command queue is down") \
	X(EX_WARNING, "warning", \
	  "doctor, watch: a warning, a fault that is not certain, or a failure of the past") \
	X(EX_FAULT, "fault", "doctor, watch: a fault that is certain, and there now") \
	X(EX_INTERRUPTED, "interrupted", "interrupted")

/**
 * enum out_format - format of the output
 * @FMT_TEXT: for people
 * @FMT_JSON: one document
 * @FMT_JSONL: one document per line
 */
enum out_format { FMT_TEXT, FMT_JSON, FMT_JSONL };

/**
 * enum counter_lines - counters as text
 * @LINES_TABLE: as a table
 * @LINES_VENDOR: as lines "name : value"
 * @LINES_MOVED: one line of those that moved
 */
enum counter_lines { LINES_TABLE, LINES_VENDOR, LINES_MOVED };

/**
 * struct opts - global options
 * @device: -d, or EADM_DEVICE, or NULL
 * @from: --from: snapshot file instead of the kernel, or NULL
 * @format: -o, -j
 * @pretty: -p
 * @verbose: number of -v
 * @columns: --columns or NULL
 * @no_header: --no-header
 * @exact: --exact
 * @color: escape codes wanted
 * @color_err: ditto on standard error
 * @width: columns of the terminal, 0 if standard output is none
 * @u64_string: --u64 string
 * @no_hw: --no-hw
 * @timeout_ms: --timeout
 * @quiet: -q
 * @help: -h
 * @version: -V
 */
struct opts {
	const char *device;
	const char *from;
	enum out_format format;
	bool pretty;
	int verbose;
	const char *columns;
	bool no_header;
	bool exact;
	bool color;
	bool color_err;
	unsigned int width;
	bool u64_string;
	bool no_hw;
	unsigned int timeout_ms;
	bool quiet;
	bool help;
	bool version;
};

/**
 * struct problem - something that went wrong
 * @next: next one
 * @exit: exit status if nothing else was achieved
 * @code: symbolic error name
 * @object: "erdma_0/qp/99", or NULL
 * @text: what happened
 * @hint: what to do, or NULL
 * @note: only worth mentioning; does not change the exit status
 */
struct problem {
	struct problem *next;
	enum exit_code exit;
	const char *code;
	const char *object;
	const char *text;
	const char *hint;
	bool note;
};

struct cmd;

/**
 * struct ctx - one run of one command
 * @pool: all memory
 * @opt: global options
 * @src: source of facts
 * @out: where documents go
 * @cmd: command
 * @data: objects found
 * @problems: what went wrong
 * @last_problem: end of that list
 * @files: snapshot files that are operands, by dev->file; NULL without any
 * @good: objects or devices that worked
 * @found: doctor: EX_WARNING or EX_FAULT, else 0
 * @driver: "erdma 0.1.0", once a node was opened
 * @time_ns: wall clock of the driver's host
 * @raw_mode: bytes are written instead of a document
 * @raw: these bytes
 * @raw_len: their number
 * @raw_cap: room for them
 * @printed: a document is out already (streaming)
 * @looked: @src knows the adapters
 * @lost: a call of another source did not come back, and may still write to @pool
 * @closed: nobody reads the output any more
 * @lines: how counters become text
 * @given: global options that were given, a bit for each place in global_opts
 * @since_ns: failures in front of it are of no interest: CLOCK_MONOTONIC; 0: all are
 */
struct ctx {
	struct pool pool;
	struct opts opt;
	struct source src;
	FILE *out;
	const struct cmd *cmd;
	struct list data;
	struct problem *problems;
	struct problem *last_problem;
	char *const *files;
	unsigned int good;
	enum exit_code found;
	const char *driver;
	uint64_t time_ns;
	bool raw_mode;
	uint8_t *raw;
	size_t raw_len;
	size_t raw_cap;
	bool printed;
	bool looked;
	bool lost;
	bool closed;
	enum counter_lines lines;
	unsigned int given;
	uint64_t since_ns;
};

/**
 * enum opt_id - options of commands; what they do is in the table of options
 * @OPT_STATE: --state
 * @OPT_PID: --pid
 * @OPT_COMM: --comm
 * @OPT_PEER: --peer
 * @OPT_SORT: --sort
 * @OPT_SQ: --sq
 * @OPT_RQ: --rq
 * @OPT_CQ: --cq
 * @OPT_EQ: --eq
 * @OPT_RANGE: --range
 * @OPT_INFLIGHT: --inflight
 * @OPT_LAST: --last
 * @OPT_HEX: --hex
 * @OPT_RAW: --raw
 * @OPT_STRICT: --strict
 * @OPT_GROUP: --group
 * @OPT_NONZERO: --nonzero
 * @OPT_ERRORS: --errors
 * @OPT_INTERVAL: --interval
 * @OPT_COUNT: --count
 * @OPT_LIVE: --live
 * @OPT_STYLE: --style
 * @OPT_WRITE: --write
 * @OPT_REDACT: --redact
 * @OPT_QP: --qp
 * @OPT_CQN: --cq with numbers
 * @OPT_FOR: --for
 * @OPT_DRY_RUN: --dry-run
 * @OPT_KIND: --kind
 * @OPT_FOLLOW: --follow
 * @OPT_KEEP_GOING: --keep-going
 * @OPT_HISTORY: --history
 * @OPT_LIST: --list
 * @OPT_ONLY: --only
 * @OPT_YES: --yes
 * @OPT_BY: --by
 * @OPT_BATCH: --batch
 * @OPT_UNTIL: --until
 * @OPT_THEN: --then
 * @OPT_MAX: their number
 */
enum opt_id {
	OPT_STATE, OPT_PID, OPT_COMM, OPT_PEER, OPT_SORT, OPT_SQ, OPT_RQ, OPT_CQ, OPT_EQ,
	OPT_RANGE, OPT_INFLIGHT, OPT_LAST, OPT_HEX, OPT_RAW, OPT_STRICT, OPT_GROUP,
	OPT_NONZERO, OPT_ERRORS,
	OPT_INTERVAL, OPT_COUNT, OPT_LIVE, OPT_STYLE, OPT_WRITE,
	OPT_REDACT, OPT_QP, OPT_CQN, OPT_FOR, OPT_DRY_RUN, OPT_KIND, OPT_FOLLOW, OPT_LIST, OPT_ONLY, OPT_YES,
	OPT_KEEP_GOING, OPT_HISTORY,
	OPT_BY, OPT_BATCH, OPT_UNTIL, OPT_THEN,
	OPT_MAX
};

/**
 * struct opt_def - an option
 * @id: enum opt_id, or a key of the global parser
 * @name: long name
 * @key: short name or 0
 * @arg: name of its value, NULL if it takes none
 * @words: values it may have, separated by '|', for completion; or NULL
 * @help: one line
 * @needs: global options: TAKES_*, what a command must have for it
 * @form: global options: FORM_*, the output it is for; 0 = any
 */
struct opt_def {
	int id;
	const char *name;
	char key;
	const char *arg;
	const char *words;
	const char *help;
	unsigned int needs;
	unsigned int form;
};

/* What global options have an effect on */
#define TAKES_DEV	(1 << 0)	/* devices, whose numbers may have 64 bits */
#define TAKES_DOC	(1 << 1)	/* objects */
#define TAKES_MORE	(1 << 2)	/* fields that only -v shows */
#define TAKES_COLUMNS	(1 << 3)	/* a table whose columns can be chosen */
#define TAKES_HEADER	(1 << 4)	/* headings */
#define TAKES_UNITS	(1 << 5)	/* sizes, times, rates */
#define TAKES_HW	(1 << 6)	/* facts that the device may be asked for */
#define TAKES_CALLS	(1 << 7)	/* calls of the driver */
#define TAKES_COLOR	(1 << 8)	/* headings or titles */
#define TAKES_FILE	(1 << 9)	/* facts that a file may have */

#define TAKES_TABLE	(TAKES_DOC | TAKES_COLUMNS | TAKES_HEADER | TAKES_COLOR)
#define TAKES_ASKS	(TAKES_DEV | TAKES_CALLS | TAKES_UNITS)

#define FORM_TEXT	1
#define FORM_JSON	2

/**
 * enum operand - what the operands of a command are, for completion
 * @OPERAND_NONE: nothing that can be completed
 * @OPERAND_QP: QPNs
 * @OPERAND_CQ: CQNs
 * @OPERAND_EQ: numbers of event queues
 * @OPERAND_CAT: debug categories
 * @OPERAND_CMD: commands
 * @OPERAND_SHELL: names of shells
 * @OPERAND_COUNTER: names of counters
 * @OPERAND_SPACE: namespaces of explain
 */
enum operand { OPERAND_NONE, OPERAND_QP, OPERAND_CQ, OPERAND_EQ, OPERAND_CAT, OPERAND_CMD,
	       OPERAND_SHELL, OPERAND_COUNTER, OPERAND_SPACE };

/**
 * struct args - operands and options of one call
 * @v: operands
 * @n: their number
 * @opt: values of options by enum opt_id; "" for those without value, NULL if
 *	 not given
 */
struct args {
	char **v;
	int n;
	const char *opt[OPT_MAX];
};

/**
 * struct cmd - a command
 * @verb: first word
 * @object: second word, or NULL
 * @alias: other name of the verb, or NULL
 * @operands: synopsis of the operands, "" for none
 * @min: operands needed
 * @max: operands allowed, -1 = any number
 * @opts: options, ended by one without name; NULL for none
 * @operand: what the operands are
 * @section: heading in the help
 * @help: one line
 * @more: paragraphs, or NULL
 * @schema: of its documents
 * @takes: TAKES_*, which global options have an effect
 * @exits: EXIT_BIT() of each status it may end with
 * @hidden: not in help and completion
 * @run: does it; 0 or negative after ctx_problem()
 */
struct cmd {
	const char *verb;
	const char *object;
	const char *alias;
	const char *operands;
	int min;
	int max;
	const struct opt_def *opts;
	enum operand operand;
	const char *section;
	const char *help;
	const char *more;
	const struct schema *schema;
	unsigned int takes;
	unsigned int exits;
	bool hidden;
	int (*run)(struct ctx *c, const struct args *a);
};

#define CMD_ALONE	"summary"	/* verb of a command line without one */

/* cmd_table.c */
extern const struct cmd cmd_table[];
extern const struct opt_def global_opts[];

/* cmd.c: from words to a command */
int cmd_parse(struct ctx *c, int argc, char **argv, struct args *a);
const struct cmd *cmd_find(const char *verb, const char *object);
bool cmd_wants_json(int argc, char **argv);

/* cmd_check.c: does what was asked for fit the command? */
int cmd_check(struct ctx *c, const struct args *a);
int cmd_refuse(struct ctx *c, unsigned int needs, const char *why);
bool args_choose(const struct args *a);
const char *nearest_word(struct pool *p, const char *word, const char *const *words, size_t n);

/* help.c: words about commands; none of it needs a kernel */
void help_overview(FILE *f);
void help_command(FILE *f, const struct cmd *cmd);
void help_verb(FILE *f, const char *verb);
void help_completion(FILE *f);
const char *operand_kind(enum operand o);
char *cmd_synopsis(struct pool *p, const struct cmd *cmd);
const char *cmd_name(struct pool *p, const struct cmd *cmd);
const struct cmd *cmd_next(const char *verb, const struct cmd *cmd);
const char *opt_objects(struct pool *p, const struct cmd *cmd, const struct opt_def *o);

/* man.c: generated parts of manual pages */
int man_part(FILE *f, const char *part, const char *verb);

/* parse.c: operands and values */
/**
 * struct id_range - numbers first..last
 * @first: lowest
 * @last: highest
 * @single: written as one number: it must exist
 */
struct id_range {
	uint32_t first;
	uint32_t last;
	bool single;
};

/**
 * struct id_set - ranges of numbers
 * @r: ranges
 * @n: their number
 */
struct id_set {
	struct id_range *r;
	size_t n;
};

bool parse_u32(const char *s, uint32_t *v);
bool parse_duration(const char *s, uint64_t *ms);
bool parse_range(const char *s, uint32_t *first, uint32_t *last);
bool parse_ids(struct pool *p, char *const *v, int n, struct id_set *out, const char **bad);
bool ids_have(const struct id_set *ids, uint32_t id);
bool parse_eq(const char *s, uint32_t *eqn);
bool parse_peer(const char *s, char addr[46], uint32_t *port, bool *have_port);

/* ctx.c: problems, devices */
int ctx_problem(struct ctx *c, int err, const char *object, const char *hint,
		const char *fmt, ...) __attribute__((format(printf, 5, 6)));
int ctx_problem_exit(struct ctx *c, enum exit_code code, int err, const char *object,
		     const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
int ctx_usage(struct ctx *c, const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void ctx_note(struct ctx *c, const char *code, const char *object, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
uint64_t ctx_now_ms(void);
void ctx_add(struct ctx *c, struct obj *o);
enum exit_code ctx_exit(const struct ctx *c);
bool exit_with_data(enum exit_code code);
enum exit_code exit_of_errno(int err);

/**
 * enum target - what a call is about
 * @TARGET_DEV: the device
 * @TARGET_QP: a QP
 * @TARGET_CQ: a CQ
 * @TARGET_EQ: an event queue
 * @TARGET_CMDQ: the command queue
 * @TARGET_DEBUG: debug levels
 * @TARGET_STAT: counters
 * @TARGET_MR: a memory region
 * @TARGET_PD: a protection domain
 * @TARGET_CTX: a user context
 * @TARGET_CM: a listener or connection
 */
enum target { TARGET_DEV, TARGET_QP, TARGET_CQ, TARGET_EQ, TARGET_CMDQ, TARGET_DEBUG,
	      TARGET_STAT, TARGET_MR, TARGET_PD, TARGET_CTX, TARGET_CM };

const char *target_path(struct ctx *c, const struct dev *dev, enum target t, uint32_t id);
int ctx_call_failed(struct ctx *c, const struct dev *dev, int err, enum target t, uint32_t id);
int ctx_ring_denied(struct ctx *c, const struct dev *dev, int err, enum target t, uint32_t id,
		    const struct erdma_diag_owner *owner);

void note_hidden(struct ctx *c, const struct dev *dev, enum target t, uint32_t seen, uint32_t n);

#define DEVS_MANY	(1 << 0)	/* without -d all devices */
#define DEVS_NODE	(1 << 1)	/* the node is needed */
#define DEVS_FALLBACK	(1 << 2)	/* without it rdma netlink will do: info.size is 0 */
#define DEVS_ANY	(1 << 3)	/* also those that are of no use */
#define DEVS_OTHERS	(1 << 4)	/* also RDMA devices of other drivers */

int ctx_each_dev(struct ctx *c, unsigned int flags,
		 int (*fn)(struct ctx *c, struct dev *dev, void *arg), void *arg);
int ctx_devices(struct ctx *c);
void ctx_forget_devices(struct ctx *c);
int ctx_open_dev(struct ctx *c, struct dev *d);
const char *dev_title(const struct dev *dev);
const char *ctx_others(struct ctx *c, unsigned int *n);
uint64_t dev_wall_ns(const struct dev *dev, uint64_t mono_ns);
const char *dev_foreign(struct ctx *c, const struct dev *d);

/* objects.c: numbers to objects */
int each_object(struct ctx *c, struct dev *dev, enum target t, const struct id_set *ids,
		int (*fn)(struct ctx *c, struct dev *dev, uint32_t id, void *arg), void *arg);
int list_objects(struct ctx *c, struct dev *dev, enum target t,
		 void (*fn)(void *arg, uint32_t id, const struct rec *rec), void *arg);
void sort_data(struct ctx *c, const struct args *a);

/**
 * struct context - records of one object
 * @buf: all of them
 * @len: their bytes
 * @rec: the driver's
 */
struct context {
	const uint8_t *buf;
	uint32_t len;
	struct rec rec;
};

int object_numbers(struct ctx *c, const struct args *a, const char *kind, struct id_set *ids);
int option_numbers(struct ctx *c, const char *kind, const char *word, struct id_set *ids);
int read_context(struct ctx *c, struct dev *dev, enum target t, uint32_t id, bool hw,
		 struct context *x);
int info_object(struct ctx *c, struct dev *dev, enum target t, uint32_t id);

/* cmd_dev.c */
struct obj *dev_row(struct ctx *c, struct dev *d);
int each_adapter(struct ctx *c, bool others, int (*fn)(struct ctx *c, struct dev *d, void *arg),
		 void *arg);

/* cmd_eq.c */
int eq_number(struct ctx *c, const struct args *a, uint32_t *eqn);

/* cmd_cmdq.c */
int cmdq_context(struct ctx *c, struct dev *dev, struct erdma_diag_cmdq *cmdq, struct rec *rec);

/* emit.c: to the outside */
void emit_document(struct ctx *c);
void emit_problems(struct ctx *c, FILE *f);
int emit_flush(struct ctx *c);

/* The commands */
int cmd_summary(struct ctx *c, const struct args *a);
int cmd_why(struct ctx *c, const struct args *a);
int cmd_doctor(struct ctx *c, const struct args *a);
int cmd_list_dev(struct ctx *c, const struct args *a);
int cmd_list_qp(struct ctx *c, const struct args *a);
int cmd_list_cq(struct ctx *c, const struct args *a);
int cmd_list_eq(struct ctx *c, const struct args *a);
int cmd_list_mr(struct ctx *c, const struct args *a);
int cmd_list_pd(struct ctx *c, const struct args *a);
int cmd_list_ctx(struct ctx *c, const struct args *a);
int cmd_list_cm(struct ctx *c, const struct args *a);
int cmd_info_dev(struct ctx *c, const struct args *a);
int cmd_info_qp(struct ctx *c, const struct args *a);
int cmd_info_cq(struct ctx *c, const struct args *a);
int cmd_info_eq(struct ctx *c, const struct args *a);
int cmd_info_cmdq(struct ctx *c, const struct args *a);
int cmd_dump_qp(struct ctx *c, const struct args *a);
int cmd_dump_cq(struct ctx *c, const struct args *a);
int cmd_dump_eq(struct ctx *c, const struct args *a);
int cmd_dump_cmdq(struct ctx *c, const struct args *a);
int cmd_stat(struct ctx *c, const struct args *a);
int cmd_recover_dev(struct ctx *c, const struct args *a);
int cmd_recover_eq(struct ctx *c, const struct args *a);
int cmd_recover_cq(struct ctx *c, const struct args *a);
int cmd_metrics(struct ctx *c, const struct args *a);
int cmd_top(struct ctx *c, const struct args *a);
int cmd_watch(struct ctx *c, const struct args *a);
int cmd_debug_level(struct ctx *c, const struct args *a);
int cmd_snapshot(struct ctx *c, const struct args *a);
int cmd_log(struct ctx *c, const struct args *a);
int cmd_report(struct ctx *c, const struct args *a);
int cmd_diff(struct ctx *c, const struct args *a);
int cmd_version(struct ctx *c, const struct args *a);
int cmd_ver(struct ctx *c, const struct args *a);
int cmd_schema(struct ctx *c, const struct args *a);
int cmd_explain(struct ctx *c, const struct args *a);
size_t explain_spaces(const char **names, size_t max);
int cmd_help(struct ctx *c, const struct args *a);
int cmd_completion(struct ctx *c, const struct args *a);
int cmd_complete(struct ctx *c, const struct args *a);
int cmd_man(struct ctx *c, const struct args *a);
int cmd_match(struct ctx *c, const struct args *a);
int cmd_shell(struct ctx *c, const struct args *a);
int cmd_batch(struct ctx *c, const struct args *a);

#endif /* EADM_CMD_H */
