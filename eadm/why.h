/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From evidence to verdicts: what was found about devices, queue pairs, processes, and the
 * findings that rules made of it.
 */
#ifndef EADM_WHY_H
#define EADM_WHY_H

#include "cmd.h"
#include "filter.h"
#include "rules.h"
#include "sampler.h"

/* ---- findings ----------------------------------------------------------------- */

/**
 * struct finding - a rule that holds
 * @next: next one
 * @rule: rule
 * @side: who has to act, as seen from what the question is about; that of the rule unless
 *	finding_at() knows better
 * @sure: how sure it is; that of the rule unless finding_of_both() knows better
 * @text: its sentence
 * @step: what to do next, as the rule has it; step_text() has it as it is shown
 * @dev: device that it is about, or NULL
 * @place: host of the step, if there are two; else NULL
 * @explained: another one is its cause: it is not the verdict
 */
struct finding {
	struct finding *next;
	const struct rule *rule;
	enum rule_side side;
	enum rule_sure sure;
	const char *text;
	const char *step;
	const struct dev *dev;
	const char *place;
	bool explained;
};

/**
 * struct findings - what holds of one subject
 * @c: run
 * @dev: device that those are about which are made without an end, or NULL
 * @first: findings, in the order in which they were made
 */
struct findings {
	struct ctx *c;
	const struct dev *dev;
	struct finding *first;
};

/* found(&f, RULE_X, "word", value, ..., NULL) */
struct finding *found(struct findings *f, enum rule_id id, ...) __attribute__((sentinel));
bool is_found(const struct findings *f, enum rule_id id);
const struct finding *findings_verdict(const struct findings *f);
void findings_keep_bad(struct findings *f, const bool *only);
bool rule_is_bad(const struct rule *r);
void findings_move(struct findings *to, struct findings *from);
void findings_repeat(struct findings *to, const struct findings *from);
enum exit_code rule_exit(const struct rule *r, enum rule_sure sure);
enum exit_code findings_exit(const struct findings *f);
void findings_fill(const struct findings *f, struct obj *o);
void finding_fill(struct ctx *c, struct obj *o, const struct finding *n);

struct end;
struct pair;
void finding_side(struct finding *n, const struct end *e);
void finding_place(struct finding *n, const struct end *e);
void finding_at(struct finding *n, const struct end *e);
void finding_of_both(struct finding *n, const struct pair *p);

/* ---- words -------------------------------------------------------------------- */

const char *text_n(struct ctx *c, uint64_t n, const char *what);
const char *text_u(struct ctx *c, uint64_t v);
const char *text_ns(struct ctx *c, uint64_t ns);
const char *text_ago(struct ctx *c, const struct dev *dev, uint64_t then_ns);
bool is_recent(const struct ctx *c, const struct dev *dev, uint64_t then_ns);
const char *text_owner(struct ctx *c, const struct erdma_diag_owner *owner);
const char *text_peer(struct ctx *c, const uint8_t *addr, uint16_t port);
const char *text_ip(struct ctx *c, const uint8_t *addr);
const char *text_qp(struct ctx *c, uint32_t qpn);

/* ---- recorders ---------------------------------------------------------------- */

#define LOG_ENTRIES	1024	/* the newest of a kind that are looked at */

/**
 * struct log_entry - an entry of a recorder
 * @flags: ERDMA_DIAG_REC_F_*
 * @said: a finding is about it
 * @head: of all kinds
 * @cmd: CMD_FIRST
 * @event: EVENT
 * @cm: CM
 * @fail: FAIL
 * @key: KEY
 * @reset: RESET
 */
struct log_entry {
	uint16_t flags;
	bool said;
	union {
		struct erdma_diag_log_head head;
		struct erdma_diag_log_cmd cmd;
		struct erdma_diag_log_event event;
		struct erdma_diag_log_cm cm;
		struct erdma_diag_log_fail fail;
		struct erdma_diag_log_key key;
		struct erdma_diag_log_reset reset;
	};
};

/**
 * struct log_kind - entries of one kind
 * @n: entries that there were
 * @e: room for the newest LOG_ENTRIES; NULL without any
 */
struct log_kind {
	size_t n;
	struct log_entry *e;
};

/**
 * struct logs - recorders of a device
 * @kind: by ERDMA_DIAG_LOG_*
 */
struct logs {
	struct log_kind kind[ERDMA_DIAG_LOG_COUNT];
};

void logs_read(struct ctx *c, struct dev *dev, struct logs *l);
void logs_read_kind(struct ctx *c, struct dev *dev, uint32_t kind, struct logs *l);
struct log_entry *logs_newest(const struct logs *l, uint32_t kind, size_t i);
const struct log_entry *logs_event(const struct logs *l, uint32_t obj, uint32_t id,
				   uint64_t since_ns);

/* ---- one end of a connection -------------------------------------------------- */

/**
 * struct queue_state - a work queue at the end
 * @known: @pi, @ci and @used are known
 * @pi: producer index, 16 bits
 * @ci: the device's consumer index, 16 bits
 * @used: entries, or blocks, between the two
 */
struct queue_state {
	bool known;
	uint16_t pi;
	uint16_t ci;
	uint32_t used;
};

/**
 * struct end - a queue pair with all that belongs to it
 * @dev: device
 * @side: what its application is to the question: the application, or the peer
 * @place: device as it is named in the answer, if the two ends are in two files; else NULL
 * @w: the queue pair
 * @send_cq: its send CQ
 * @recv_cq: its receive CQ
 * @process: its owner, NULL if that is the kernel or not known
 * @qp: record, at the end
 * @card: the device showed its context, in all samples
 * @sq: send queue
 * @rq: receive queue
 * @can_compare: there are samples enough for the four that follow
 * @still: nothing moved in all samples
 * @stuck: requests waited in all samples, and the send queue's CI did not move
 * @progress: an index of the device, or one of the driver, moved
 * @traffic: packets were counted
 * @timeouts: how many more there are than in the first sample
 * @state: of the process in all samples, 0 if it changed or is not known
 * @held_ns: for so long the CPU limits of its control groups held back threads meanwhile, summed over
 *	CPUs
 * @asleep: the process lives, used no CPU time and was not running, in all samples
 * @ended: it has ended, and another one has its file
 */
struct end {
	struct dev *dev;
	enum rule_side side;
	const char *place;
	const struct watched *w;
	const struct watched *send_cq;
	const struct watched *recv_cq;
	const struct watched *process;
	const struct erdma_diag_qp *qp;
	bool card;
	struct queue_state sq;
	struct queue_state rq;
	bool can_compare;
	bool still;
	bool stuck;
	bool progress;
	bool traffic;
	uint32_t timeouts;
	char state;
	uint64_t held_ns;
	bool asleep;
	bool ended;
};

void end_of(const struct sampler *s, struct end *e);
bool qp_waits(const struct sampler *s, const struct watched *w);
const char *end_who(struct ctx *c, const struct end *e);
const char *end_text(struct ctx *c, const struct sampler *s, const struct end *e);

/**
 * struct pair - a connection
 * @me: this end
 * @peer: the other one, if it is on this host, or in another file
 * @here: there is one
 * @one_host: both are on it
 * @one_process: they have the same owner
 * @apart: of two files: more than PAIR_APART_NS lie between them, or nobody knows how much
 * @apart_ns: that time, 0: not known
 */
struct pair {
	struct end me;
	struct end peer;
	bool here;
	bool one_host;
	bool one_process;
	bool apart;
	uint64_t apart_ns;
};

/* A file takes two seconds, and the clocks of two hosts are not quite the same */
#define PAIR_APART_NS	10000000000ULL

void pair_places(struct pair *p, bool both);

/* ---- the whole ---------------------------------------------------------------- */

/**
 * struct counts - counters of a device that rules compare
 * @dropped: packets that the card dropped because of a limit
 * @lost_events: completion events that the driver delivered itself
 */
struct counts {
	uint64_t dropped;
	uint64_t lost_events;
};

/**
 * struct why_dev - a device in an inquiry
 * @next: next one
 * @dev: device
 * @logs: recorders
 * @cmdq: command queue
 * @down: why nothing works on it, NULL if it does
 * @holders: who has files of the verbs open, in words; NULL: nobody looked yet
 * @counts: in front of the samples and behind them
 * @counted: @counts are known, both
 */
struct why_dev {
	struct why_dev *next;
	struct dev *dev;
	struct logs logs;
	const struct watched *cmdq;
	const struct finding *down;
	const char *holders;
	struct counts counts[2];
	bool counted;
};

/**
 * struct known_qp - a queue pair of the lists
 * @dev: device
 * @qp: record
 */
struct known_qp {
	struct dev *dev;
	struct erdma_diag_qp qp;
};

struct judged_cq;

/**
 * struct inquiry - one run
 * @c: run
 * @choice: what it is about
 * @any: no number and no option chose
 * @doctor: only what is wrong, also with devices that are of no use
 * @only: doctor: the rules that are asked about, by number; NULL: all
 * @into: findings are collected there, and there is no document; or NULL
 * @s: samples
 * @devs: devices
 * @qps: all queue pairs of these devices
 * @n_qps: their number
 * @cap_qps: room in @qps
 * @judged_cqs: completion queues that were judged, of judge_cq.c
 */
struct inquiry {
	struct ctx *c;
	const struct choice *choice;
	bool any;
	bool doctor;
	const bool *only;
	struct findings *into;
	struct sampler s;
	struct why_dev *devs;
	struct known_qp *qps;
	size_t n_qps;
	size_t cap_qps;
	struct judged_cq *judged_cqs;
};

struct why_dev *why_dev_of(const struct inquiry *q, const struct dev *dev);

/* judge_dev.c: devices and their event queues */
void count_errors(struct inquiry *q, struct why_dev *d, unsigned int when);
void judge_device(struct inquiry *q, struct why_dev *d, struct findings *f);
uint32_t eq_behind(const struct moment *m);
struct finding *judge_eq_stands(struct inquiry *q, const struct watched *w, struct findings *f);
void judge_eq(struct inquiry *q, const struct watched *w, struct findings *f);
bool judge_loss(struct inquiry *q, const struct why_dev *d, struct findings *f);
/* judge_host.c: what is around them */
void judge_host(struct inquiry *q, struct findings *f);
bool host_hides(struct ctx *c, const struct dev *dev);
void judge_surroundings(struct inquiry *q, struct dev *dev, struct findings *f);
/* judge_qp.c: connections */
void judge_pair(struct inquiry *q, const struct pair *p, struct findings *f);
/* judge_progress.c: do they get on? */
void judge_progress(struct inquiry *q, const struct pair *p, struct findings *f);
/* judge_mtu.c: do packets fit? */
bool mtus_differ(const struct inquiry *q, const struct end *e);
void say_mtus(struct inquiry *q, const struct end *e, enum rule_id id, struct findings *f);
/* judge_stop.c: did the card stop them, and why? */
void judge_stop(struct inquiry *q, const struct pair *p, const struct end *e, struct findings *f);
bool judge_stopped(struct inquiry *q, const struct pair *p, const struct end *e,
		   struct findings *f);
/* judge_cq.c: completion queues */
void judge_cq(struct inquiry *q, const struct end *e, const struct watched *cq, bool stopped,
	      struct findings *f);
bool judge_cq_unseen(struct inquiry *q, const struct end *e, const struct watched *cq,
		     struct findings *f);
bool judge_cq_asleep(struct inquiry *q, const struct end *e, enum rule_id id, struct findings *f);
/* attempt.c: what the recorder of connections has */
bool attempt_is_active(const struct erdma_diag_log_cm *cm);
bool attempt_failed(const struct erdma_diag_log_cm *cm);
bool attempt_is_idle(const struct erdma_diag_log_cm *cm);
bool attempt_came_about(const struct erdma_diag_log_cm *cm);
void attempt_say(struct inquiry *q, const struct dev *dev, struct log_entry *e,
		 struct findings *f);
/* judge_past.c: what the recorders have */
bool judge_attempt(struct inquiry *q, const struct end *e, struct findings *f);
bool judge_last(struct inquiry *q, const struct why_dev *d, struct findings *f);
void judge_owners(struct inquiry *q, const struct why_dev *d);

/* cmd_why.c: which devices and queue pairs it is about */
struct collect;
struct collect *collect_new(struct ctx *c, const struct choice *choice);
struct inquiry *collect_inquiry(struct collect *l);
int collect_dev(struct ctx *c, struct dev *dev, void *arg);
void collect_answer(struct collect *l);
/* judge_now.c: one look */
bool judge_adapter(struct ctx *c, const struct dev *dev, struct findings *f);
void judge_now(struct ctx *c, struct dev *dev, struct findings *f);

struct obj *why_object(struct inquiry *q, const struct dev *dev, const char *subject);
void why_add(struct inquiry *q, struct obj *o, struct findings *f);

#endif /* EADM_WHY_H */
