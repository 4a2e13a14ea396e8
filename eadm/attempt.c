// SPDX-License-Identifier: GPL-2.0-or-later
/* An attempt to connect that the recorder has: which rule is about it, and in which words. */
#include <errno.h>
#include <sys/socket.h>

#include "decode.h"
#include "why.h"

#define LATE_US		5000000U	/* peers wait 10 s for an answer, as both drivers do */
#define CAUSE_ERRORS	5

#define AT(stage)	(1U << ERDMA_DIAG_CM_##stage)
#define AT_ANY		(~0U)

/* Which side this host was of the attempt */
#define ACTIVE		(1U << 0)	/* it connected */
#define PASSIVE		(1U << 1)	/* it was asked for a connection */
#define UNASKED		(1U << 2)	/* TCP came to a listener, and no request with it yet */

/**
 * struct cause - what it means that an attempt ended there in this way
 * @stages: AT() of the last stage that it reached
 * @sides: ACTIVE, PASSIVE, UNASKED
 * @errors: errno values
 * @rule: rule
 * @why: what its sentence adds, or NULL
 */
struct cause {
	uint32_t stages;
	uint32_t sides;
	uint32_t errors[CAUSE_ERRORS];
	enum rule_id rule;
	const char *why;
};

/*
 * All that the driver records (driver/erdma_cm.c and what it calls); tests/cli/test_attempts.py
 * has the same pairs. The first that fits counts.
 */
static const struct cause causes[] = {
	{ AT(MPA), UNASKED, { ECONNRESET, EPIPE }, RULE_CM_NO_REQUEST, "it closed the connection" },
	{ AT(MPA), UNASKED, { ETIMEDOUT }, RULE_CM_NO_REQUEST, "this side closed the connection" },
	{ AT(MPA), UNASKED, { ECONNABORTED }, RULE_CM_NO_REQUEST, "this side closed its listener" },
	{ AT(MPA), UNASKED, { ENODEV }, RULE_CM_NO_REQUEST, "the device went away" },
	{ AT(MPA), UNASKED | PASSIVE, { EPROTO }, RULE_CM_FOREIGN_REQUEST, NULL },
	{ AT(MPA), ACTIVE, { EPROTO, ECONNREFUSED }, RULE_CM_FOREIGN, NULL },
	{ AT(APP), PASSIVE, { EPROTO }, RULE_CM_EARLY_DATA, NULL },
	{ AT(TCP) | AT(MPA) | AT(APP) | AT(DEVICE), ACTIVE | PASSIVE, { ECONNRESET, EPIPE },
	  RULE_CM_PEER_CLOSED, NULL },

	{ AT(TCP), ACTIVE, { ECONNREFUSED }, RULE_CM_REFUSED, NULL },
	{ AT(TCP), ACTIVE, { ETIMEDOUT }, RULE_CM_NO_SYN, NULL },
	{ AT(SETUP) | AT(TCP), ACTIVE, { ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, ENONET },
	  RULE_CM_UNREACHABLE, NULL },
	{ AT(SETUP) | AT(TCP), ACTIVE, { EADDRINUSE, EADDRNOTAVAIL }, RULE_CM_NO_PORT, NULL },
	{ AT(SETUP) | AT(TCP), ACTIVE, { EPERM, EACCES }, RULE_CM_NOT_PERMITTED, NULL },
	{ AT(MPA), ACTIVE, { ETIMEDOUT }, RULE_CM_NO_REPLY, NULL },

	{ AT(APP), PASSIVE, { ETIMEDOUT }, RULE_CM_NOT_ACCEPTED, NULL },
	{ AT(APP), PASSIVE, { EPERM }, RULE_CM_CALL_REFUSED,
	  "the queue pair is another process's" },
	{ AT(SETUP), ACTIVE, { EAFNOSUPPORT }, RULE_CM_CALL_REFUSED, "the addresses are not IPv4" },
	{ AT(SETUP) | AT(APP), ACTIVE | PASSIVE, { EINVAL }, RULE_CM_CALL_REFUSED,
	  "there is no such queue pair, it cannot be connected in its state, or private data, IRD "
	  "or ORD are too large" },
	{ AT(SETUP) | AT(APP), ACTIVE | PASSIVE, { EISCONN }, RULE_CM_CALL_REFUSED,
	  "the queue pair has a connection" },
	{ AT(SETUP) | AT(APP), ACTIVE | PASSIVE, { ESHUTDOWN }, RULE_CM_CALL_REFUSED,
	  "the queue pair is being destroyed" },
	{ AT(TCP) | AT(MPA), ACTIVE, { ECONNABORTED }, RULE_CM_GIVEN_UP,
	  "its queue pair was destroyed, or stopped" },
	{ AT(APP), PASSIVE, { ECONNABORTED }, RULE_CM_GIVEN_UP, "its listener was closed" },

	{ AT(DEVICE), ACTIVE | PASSIVE, { ECONNABORTED, EINVAL }, RULE_CM_QP_STOPPED, NULL },
	{ AT(DEVICE), ACTIVE | PASSIVE, { EIO, ETIMEDOUT }, RULE_CM_NO_RTS, NULL },
	{ AT_ANY, ACTIVE | PASSIVE, { ENODEV }, RULE_CM_DEVICE_GONE, NULL },
	{ AT_ANY, ACTIVE | PASSIVE | UNASKED, { ENOMEM, ENOBUFS, EAGAIN, ENFILE },
	  RULE_CM_NO_MEMORY, NULL },
};

static bool is_rejected(const struct erdma_diag_log_cm *cm)
{
	return cm->flags & ERDMA_DIAG_CM_REJECTED;
}

/* The application's own decision, whether or not that reached the peer */
static bool is_rejected_here(const struct erdma_diag_log_cm *cm)
{
	return is_rejected(cm) && !attempt_is_active(cm) && cm->stage == ERDMA_DIAG_CM_APP;
}

static uint32_t side_of(const struct erdma_diag_log_cm *cm)
{
	if (attempt_is_active(cm))
		return ACTIVE;
	return cm->stage == ERDMA_DIAG_CM_MPA && !(cm->flags & ERDMA_DIAG_CM_FRAME) ? UNASKED :
	       PASSIVE;
}

static bool fits(const struct cause *k, const struct erdma_diag_log_cm *cm)
{
	size_t i;

	if (cm->stage >= ERDMA_DIAG_CM_STAGES || !(k->stages >> cm->stage & 1) ||
	    !(k->sides & side_of(cm)))
		return false;
	for (i = 0; i < CAUSE_ERRORS && k->errors[i]; i++)
		if (k->errors[i] == cm->err)
			return true;
	return false;
}

static uint32_t stage_us(const struct erdma_diag_log_cm *cm)
{
	return cm->stage < ERDMA_DIAG_CM_STAGES ? cm->stage_us[cm->stage] : 0;
}

/* The peer waited, and gave up before the application here answered */
static bool is_late(const struct erdma_diag_log_cm *cm)
{
	return cm->stage == ERDMA_DIAG_CM_APP && stage_us(cm) >= LATE_US;
}

static struct cause cause_of(const struct erdma_diag_log_cm *cm)
{
	struct cause k = { .rule = RULE_CM_FAILED };
	size_t i;

	for (i = 0; i < COUNT_OF(causes); i++)
		if (fits(&causes[i], cm)) {
			k = causes[i];
			break;
		}
	if (attempt_is_active(cm) && is_rejected(cm))
		k.rule = RULE_CM_REJECTED;
	else if (k.rule == RULE_CM_PEER_CLOSED && is_late(cm))
		k.rule = RULE_CM_ACCEPT_LATE;
	return k;
}

/**
 * attempt_is_active - which side was this host?
 * @cm: entry of the recorder
 *
 * Return: true if it connected, false if it accepted.
 */
bool attempt_is_active(const struct erdma_diag_log_cm *cm)
{
	return cm->flags & ERDMA_DIAG_CM_ACTIVE;
}

/**
 * attempt_failed - did no connection come of it, although somebody wanted one?
 * @cm: entry of the recorder
 *
 * Return: true if so; false also if the application here rejected it.
 */
bool attempt_failed(const struct erdma_diag_log_cm *cm)
{
	if (attempt_is_active(cm) && is_rejected(cm))
		return true;
	return cm->err && !is_rejected_here(cm) && !attempt_is_idle(cm);
}

/**
 * attempt_is_idle - was it a TCP connection that brought no request?
 * @cm: entry of the recorder
 *
 * Return: true for what a health check or a port scan leaves.
 */
bool attempt_is_idle(const struct erdma_diag_log_cm *cm)
{
	return cm->err && cause_of(cm).rule == RULE_CM_NO_REQUEST;
}

/**
 * attempt_came_about - did it become a connection?
 * @cm: entry of the recorder
 *
 * Return: true if so.
 */
bool attempt_came_about(const struct erdma_diag_log_cm *cm)
{
	return !cm->err && !is_rejected(cm) && cm->stage == ERDMA_DIAG_CM_DONE;
}

static const char *stage_text(uint32_t stage)
{
	static const char *const texts[] = {
		"in front of TCP", "in TCP", "in the exchange of MPA frames",
		"before the application answered", "as the device took over", "when established",
	};

	return stage < COUNT_OF(texts) ? texts[stage] : "in an unknown stage";
}

static const char *foreign_text(const struct erdma_diag_log_cm *cm)
{
	return cm->flags & ERDMA_DIAG_CM_MARKERS ? ": it wants markers" :
	       cm->flags & ERDMA_DIAG_CM_CRC ? ": it wants CRCs" : "";
}

/**
 * attempt_say - the rule that is about an attempt holds
 * @q: inquiry
 * @dev: device
 * @e: entry of the recorder of connections
 * @f: findings
 */
void attempt_say(struct inquiry *q, const struct dev *dev, struct log_entry *e,
		 struct findings *f)
{
	const struct erdma_diag_log_cm *cm = &e->cm;
	bool known = cm->family == AF_INET;
	struct cause k = cause_of(cm);
	struct ctx *c = q->c;

	e->said = true;
	found(f, k.rule, "peer", known ? text_peer(c, cm->daddr, cm->dport) : "an unknown peer",
	      "ip", known ? text_ip(c, cm->daddr) : "ADDRESS", "port", text_u(c, cm->sport), "age",
	      text_ago(c, dev, e->head.time_ns), "took", text_ns(c, stage_us(cm) * 1000ULL),
	      "errno", errno_name((int)cm->err), "error", k.why ? k.why : foreign_text(cm),
	      "call", attempt_is_active(cm) ? "rdma_connect()" : "rdma_accept()", "stage",
	      stage_text(cm->stage), "n", text_u(c, cm->pdata_len), NULL);
}
