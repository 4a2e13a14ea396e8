/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The same objects several times, at irregular gaps: what does not move between the samples
 * stands still. What moves at the same pace as one gap does not at the others.
 */
#ifndef EADM_SAMPLER_H
#define EADM_SAMPLER_H

#include "card.h"
#include "cmd.h"

#define SAMPLES_MAX	4
/* Queue pairs that are looked at: each costs up to six queries of the device a sample */
#define WATCHED_QPS_MAX	64

/* Between the samples; nanoseconds */
extern const uint64_t sampler_gaps_ns[SAMPLES_MAX - 1];

/**
 * enum watch_kind - what is looked at
 * @WATCH_QP: a QP
 * @WATCH_CQ: a CQ
 * @WATCH_EQ: an event queue
 * @WATCH_CMDQ: the command queue
 * @WATCH_PROCESS: an owner
 */
enum watch_kind { WATCH_QP, WATCH_CQ, WATCH_EQ, WATCH_CMDQ, WATCH_PROCESS };

/**
 * struct moment - an object at one time
 * @there: it existed, and could be looked at
 * @torn: it changed while it was read
 * @card: whether the device answered
 * @qp: WATCH_QP: the driver's record
 * @card_qp: WATCH_QP: the device's context
 * @cq: WATCH_CQ: the driver's record
 * @card_pi: WATCH_CQ: the device's PI
 * @eq: WATCH_EQ: the driver's record
 * @card_eq: WATCH_EQ: the device's context
 * @cmdq: WATCH_CMDQ: the driver's record
 * @process: WATCH_PROCESS: state and CPU time
 */
struct moment {
	bool there;
	bool torn;
	enum card_answer card;
	union {
		struct {
			struct erdma_diag_qp qp;
			struct card_qp card_qp;
		};
		struct {
			struct erdma_diag_cq cq;
			uint32_t card_pi;
		};
		struct {
			struct erdma_diag_eq eq;
			struct card_eq card_eq;
		};
		struct erdma_diag_cmdq cmdq;
		struct process process;
	};
};

/**
 * struct watched - an object and its moments
 * @next: next one
 * @dev: device
 * @kind: what it is
 * @id: QPN, CQN, number of the event queue, process id
 * @silent: the device did not answer about it in time
 * @down: the device answers nothing: its command queue is dead, or it is gone
 * @once: a file has one moment of it, which is in all of @at
 * @at: as many moments as the sampler has
 */
struct watched {
	struct watched *next;
	struct dev *dev;
	enum watch_kind kind;
	uint32_t id;
	bool silent;
	bool down;
	bool once;
	struct moment at[SAMPLES_MAX];
};

/**
 * struct sampler - what is looked at, and how often it was
 * @c: run
 * @first: objects
 * @last: the newest of them
 * @n: samples taken
 * @span_ns: time between the first and the last, at least; 0: one moment
 */
struct sampler {
	struct ctx *c;
	struct watched *first;
	struct watched *last;
	unsigned int n;
	uint64_t span_ns;
};

struct watched *sampler_watch(struct sampler *s, struct dev *dev, enum watch_kind kind,
			      uint32_t id);
void sampler_begin(struct sampler *s);
void sampler_run(struct sampler *s);
void sampler_take(struct sampler *s);
void sampler_pass(struct sampler *s, uint64_t ns);
const struct moment *sampler_last(const struct sampler *s, const struct watched *w);
bool sampler_there(const struct sampler *s, const struct watched *w);
bool sampler_answered(const struct sampler *s, const struct watched *w);
bool sampler_silent(const struct sampler *s, const struct dev *dev);
bool sampler_can_compare(const struct sampler *s, const struct watched *w);

#endif /* EADM_SAMPLER_H */
