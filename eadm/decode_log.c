// SPDX-License-Identifier: GPL-2.0-or-later
/* Entries of the driver's recorders: records to facts. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "decode.h"
#include "erdma/erdma_names.h"
#include "schema.h"
#include "source.h"

#define WORD_BY_ID(id, name, ...) [id] = name,
#define VERB_NAME(id, nr, name) [nr] = name,

static const char *const kind_names[] = { ERDMA_DIAG_LOGS(WORD_BY_ID) };
static const char *const stage_names[] = { ERDMA_DIAG_CM_STAGE_NAMES(WORD_BY_ID) };
static const char *const reset_names[] = { ERDMA_DIAG_RESET_EVENTS(WORD_BY_ID) };
static const char *const link_names[] = { ERDMA_DIAG_LINK_EVENTS(WORD_BY_ID) };
static const char *const cat_names[] = { ERDMA_DIAG_DEBUG_CATS(WORD_BY_ID) };
static const char *const verb_names[] = { ERDMA_DIAG_VERBS(VERB_NAME) };

#define WORD(names, code)	((code) < COUNT_OF(names) ? (names)[code] : NULL)

/**
 * log_kind_name - name of a kind of entry
 * @kind: ERDMA_DIAG_LOG_*
 *
 * Return: name, or NULL for a kind that this program does not know.
 */
const char *log_kind_name(uint32_t kind)
{
	return WORD(kind_names, kind);
}

/**
 * log_verb_name - name of a verb in an entry
 * @verb: enum erdma_diag_verb
 *
 * Return: name, or NULL for a verb that this program does not know.
 */
const char *log_verb_name(uint32_t verb)
{
	return WORD(verb_names, verb);
}

/* Neither the name nor the time of an owner is more than bytes from outside */
static void set_head(struct obj *o, const struct erdma_diag_log_head *head, uint64_t wall_ns)
{
	time_t sec = (time_t)((wall_ns + head->time_ns) / 1000000000);
	char text[40];
	struct tm tm;

	obj_u64(o, LG_SEQ, head->seq);
	obj_u64(o, LG_TIME_NS, head->time_ns);
	if (gmtime_r(&sec, &tm) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
		obj_strf(o, LG_TIME, "%s.%06uZ", text,
			 (unsigned int)((wall_ns + head->time_ns) % 1000000000 / 1000));
	obj_u64(o, LG_KERNEL, !!head->owner.kernel);
	if (head->owner.pid)
		obj_u64(o, LG_PID, head->owner.pid);
	if (head->owner.comm[0])
		obj_strn(o, LG_COMM, head->owner.comm, sizeof(head->owner.comm));
}

static void set_result(struct obj *o, uint32_t err)
{
	obj_str(o, LG_RESULT, err ? errno_name((int)err) : "ok");
}

/* What the number of a command's object is */
static const char *object_of(uint32_t submod, uint32_t opcode)
{
	if (submod != ERDMA_SUBMOD_RDMA)
		return opcode == ERDMA_CMD_CREATE_EQ || opcode == ERDMA_CMD_DESTROY_EQ ||
		       opcode == ERDMA_CMD_QUERY_EQC ? "eq" : NULL;
	switch (opcode) {
	case ERDMA_CMD_CREATE_QP:
	case ERDMA_CMD_DESTROY_QP:
	case ERDMA_CMD_MODIFY_QP:
	case ERDMA_CMD_REFLUSH:
	case ERDMA_CMD_QUERY_QPC:
		return "qp";
	case ERDMA_CMD_CREATE_CQ:
	case ERDMA_CMD_DESTROY_CQ:
	case ERDMA_CMD_QUERY_CQC:
		return "cq";
	case ERDMA_CMD_REG_MR:
	case ERDMA_CMD_DEREG_MR:
		return "mr";
	default:
		return NULL;
	}
}

static void set_command(struct obj *o, unsigned int field, uint32_t submod, uint32_t opcode)
{
	decode_name(o, field, submod > 0xff || opcode > 0xff ? NULL :
		    erdma_name_cmd((uint8_t)submod, (uint8_t)opcode), opcode);
}

static void log_cmd(struct obj *o, const struct rec *rec)
{
	static const char *const outcomes[] = { "not sent", NULL, "not answered" };
	struct erdma_diag_log_cmd c;
	const char *object;

	rec_copy(rec, &c, sizeof(c));
	object = object_of(c.submod, c.opcode);
	set_command(o, LG_WHAT, c.submod, c.opcode);
	if (object)
		obj_strf(o, LG_OBJECT, "%s/%u", object, c.object);
	set_result(o, c.err);
	if (c.syndrome)
		obj_u64(o, LG_STATUS, c.syndrome);
	if (c.answer_ns)
		obj_u64(o, LG_TOOK, c.answer_ns - c.submit_ns);
	if (c.outcome < COUNT_OF(outcomes) && outcomes[c.outcome])
		obj_str(o, LG_TEXT, outcomes[c.outcome]);
}

/* A copy of a command that the timeline may have lost */
static void log_cmd_first(struct obj *o, const struct rec *rec)
{
	struct erdma_diag_log_cmd c;

	log_cmd(o, rec);
	rec_copy(rec, &c, sizeof(c));
	obj_u64(o, LG_CMD_SEQ, c.cmd_seq);
}

static void log_cmd_time(struct obj *o, const struct rec *rec)
{
	struct erdma_diag_log_cmd_time t;

	rec_copy(rec, &t, sizeof(t));
	set_command(o, LG_WHAT, t.submod, t.opcode);
	obj_u64(o, LG_TOOK, t.max_ns);
	obj_strf(o, LG_TEXT, "%llu commands, %llu refused, mean %llu us, slowest at this time",
		 (unsigned long long)t.count, (unsigned long long)t.failed,
		 t.count ? (unsigned long long)(t.sum_ns / t.count / 1000) : 0);
}

static void log_event(struct obj *o, const struct rec *rec)
{
	struct erdma_diag_log_event e;

	rec_copy(rec, &e, sizeof(e));
	decode_name(o, LG_WHAT, erdma_name_ae_type(e.type), e.type);
	obj_strf(o, LG_OBJECT, "%s/%u", e.obj == ERDMA_DIAG_OBJ_CQ ? "cq" : "qp", e.object);
	obj_strf(o, LG_TEXT, "subtype %u, data %#x%s", e.subtype, e.data,
		 e.known ? "" : ", no such object");
}

/* What the peer's frame said */
static char *frame_text(char *buf, size_t size, const struct erdma_diag_log_cm *c)
{
	const char *cc = erdma_name_cc(c->peer_cc);
	char number[16];

	snprintf(number, sizeof(number), "%u", c->peer_cc);
	snprintf(buf, size, "; peer: cookie %#x, congestion control %s, %u bytes of private data%s%s",
		 c->peer_cookie, cc ? cc : number, c->pdata_len,
		 c->flags & ERDMA_DIAG_CM_MARKERS ? ", wants markers" : "",
		 c->flags & ERDMA_DIAG_CM_CRC ? ", wants CRCs" : "");
	return buf;
}

static void set_frame(struct obj *o, const struct erdma_diag_log_cm *c)
{
	if (!(c->flags & ERDMA_DIAG_CM_FRAME))
		return;
	obj_u64(o, LG_FRAME_COOKIE, c->peer_cookie);
	decode_name(o, LG_FRAME_CC, erdma_name_cc(c->peer_cc), c->peer_cc);
	obj_u64(o, LG_FRAME_DATA, c->pdata_len);
	obj_u64(o, LG_FRAME_MARKERS, !!(c->flags & ERDMA_DIAG_CM_MARKERS));
	obj_u64(o, LG_FRAME_CRC, !!(c->flags & ERDMA_DIAG_CM_CRC));
}

/* Only who connects waits for TCP, and only who accepts for the application */
static bool has_stage(const struct erdma_diag_log_cm *c, uint32_t stage)
{
	return stage <= c->stage &&
	       stage != (c->flags & ERDMA_DIAG_CM_ACTIVE ? ERDMA_DIAG_CM_APP : ERDMA_DIAG_CM_TCP);
}

/* What the text has, too */
static void set_connection(struct obj *o, const struct erdma_diag_log_cm *c)
{
	uint32_t i;

	if (c->family == AF_INET) {
		decode_ipv4(o, LG_LOCAL_ADDR, c->saddr);
		obj_u64(o, LG_LOCAL_PORT, c->sport);
		decode_ipv4(o, LG_PEER_ADDR, c->daddr);
		obj_u64(o, LG_PEER_PORT, c->dport);
	}
	if (c->qpn)
		obj_u64(o, LG_COOKIE, c->cookie);
	decode_name(o, LG_STAGE, WORD(stage_names, c->stage), c->stage);
	for (i = 0; i < ERDMA_DIAG_CM_DONE; i++)
		if (has_stage(c, i))
			obj_u64(o, LG_STAGE_NS + i, c->stage_us[i] * 1000ULL);
	set_frame(o, c);
}

static void log_cm(struct obj *o, const struct rec *rec)
{
	char from[INET_ADDRSTRLEN] = "?", to[INET_ADDRSTRLEN] = "?";
	struct erdma_diag_log_cm c;
	const char *stage;
	char frame[160];

	rec_copy(rec, &c, sizeof(c));
	stage = WORD(stage_names, c.stage);
	if (c.family == AF_INET) {
		ipv4_text(c.saddr, from);
		ipv4_text(c.daddr, to);
	}
	obj_str(o, LG_WHAT, c.flags & ERDMA_DIAG_CM_REJECTED ? "rejected" :
		c.flags & ERDMA_DIAG_CM_ACTIVE ? "connect" : "accept");
	if (c.qpn)
		obj_strf(o, LG_OBJECT, "qp/%u", c.qpn);
	set_result(o, c.err);
	set_connection(o, &c);
	obj_strf(o, LG_TEXT,
		 "%s:%u > %s:%u, reached %s; us: tcp %u, mpa %u, application %u, device %u%s",
		 from, c.sport, to, c.dport, stage ? stage : "?",
		 c.stage_us[ERDMA_DIAG_CM_TCP], c.stage_us[ERDMA_DIAG_CM_MPA],
		 c.stage_us[ERDMA_DIAG_CM_APP], c.stage_us[ERDMA_DIAG_CM_DEVICE],
		 c.flags & ERDMA_DIAG_CM_FRAME ? frame_text(frame, sizeof(frame), &c) : "");
}

/* What the number of a verb's object is */
static const char *object_of_verb(uint32_t verb)
{
	switch (verb) {
	case ERDMA_DIAG_VERB_CREATE_QP:
	case ERDMA_DIAG_VERB_MODIFY_QP:
	case ERDMA_DIAG_VERB_DESTROY_QP:
	case ERDMA_DIAG_VERB_CONNECT:
	case ERDMA_DIAG_VERB_ACCEPT:
		return "qp";
	case ERDMA_DIAG_VERB_CREATE_CQ:
	case ERDMA_DIAG_VERB_DESTROY_CQ:
		return "cq";
	case ERDMA_DIAG_VERB_DEREG_MR:
		return "mr";
	default:
		return NULL;
	}
}

static void log_fail(struct obj *o, const struct rec *rec)
{
	struct erdma_diag_log_fail f;
	const char *object;

	rec_copy(rec, &f, sizeof(f));
	object = object_of_verb(f.verb);
	decode_name(o, LG_WHAT, log_verb_name(f.verb), f.verb);
	if (object && f.object)
		obj_strf(o, LG_OBJECT, "%s/%u", object, f.object);
	set_result(o, f.err);
	if (f.syndrome)
		obj_u64(o, LG_STATUS, f.syndrome);
	obj_strf(o, LG_TEXT, "failures so far: %u%s", f.count,
		 !f.cmd ? "" : f.syndrome ? ", the device refused" :
		 ", the device did not answer");
}

static void log_key(struct obj *o, const struct rec *rec)
{
	struct erdma_diag_log_key k;

	rec_copy(rec, &k, sizeof(k));
	obj_str(o, LG_WHAT, "deregistered");
	obj_strf(o, LG_OBJECT, "mr/%u", k.index);
	set_result(o, k.err);
	if (!(rec->flags & ERDMA_DIAG_REC_F_HIDDEN))
		obj_u64(o, LG_KEY, k.stag);
	obj_strf(o, LG_TEXT, "pd %u", k.pdn);
}

static void log_reset(struct obj *o, const struct rec *rec)
{
	struct erdma_diag_log_reset r;

	rec_copy(rec, &r, sizeof(r));
	r.reason[sizeof(r.reason) - 1] = '\0';
	decode_name(o, LG_WHAT, WORD(reset_names, r.event), r.event);
	if (r.err)
		set_result(o, r.err);
	obj_strf(o, LG_TEXT, "generation %u%s%s", r.generation, r.reason[0] ? ", " : "",
		 (const char *)r.reason);
}

static void log_link(struct obj *o, const struct rec *rec)
{
	struct erdma_diag_log_link l;

	rec_copy(rec, &l, sizeof(l));
	decode_name(o, LG_WHAT, WORD(link_names, l.event), l.event);
	if (l.event == ERDMA_DIAG_LINK_MTU)
		set_result(o, l.err);
	obj_strf(o, LG_TEXT, "MTU %u", l.mtu);
}

static void log_debug(struct obj *o, const struct rec *rec)
{
	struct erdma_diag_log_debug d;

	rec_copy(rec, &d, sizeof(d));
	decode_name(o, LG_WHAT, WORD(cat_names, d.category), d.category);
	obj_strn(o, LG_TEXT, d.text, sizeof(d.text));
}

/**
 * decode_log - an entry of a recorder
 * @o: of schema_log
 * @kind: ERDMA_DIAG_LOG_*
 * @rec: record
 * @wall_ns: wall clock minus CLOCK_MONOTONIC
 */
void decode_log(struct obj *o, uint32_t kind, const struct rec *rec, uint64_t wall_ns)
{
	static void (*const decoders[])(struct obj *o, const struct rec *rec) = {
		[ERDMA_DIAG_LOG_CMD] = log_cmd,
		[ERDMA_DIAG_LOG_CMD_FIRST] = log_cmd_first,
		[ERDMA_DIAG_LOG_CMD_TIME] = log_cmd_time,
		[ERDMA_DIAG_LOG_EVENT] = log_event,
		[ERDMA_DIAG_LOG_CM] = log_cm,
		[ERDMA_DIAG_LOG_FAIL] = log_fail,
		[ERDMA_DIAG_LOG_KEY] = log_key,
		[ERDMA_DIAG_LOG_RESET] = log_reset,
		[ERDMA_DIAG_LOG_LINK] = log_link,
		[ERDMA_DIAG_LOG_DEBUG] = log_debug,
	};
	struct erdma_diag_log_head head;

	rec_copy(rec, &head, sizeof(head));
	set_head(o, &head, wall_ns);
	decode_name(o, LG_KIND, log_kind_name(kind), kind);
	if (kind < COUNT_OF(decoders) && decoders[kind])
		decoders[kind](o, rec);
}
