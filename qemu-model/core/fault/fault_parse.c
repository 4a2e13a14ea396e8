/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The language of faults: one line, one fault.
 *
 *     ACTION [OBJECT] [KEY[=VALUE]]...
 *
 * What goes with what is in the tables below, and only there: an error names
 * the word that is wrong and lists what could stand in its place.
 */
#include <stdarg.h>
#include <stdio.h>

#include "fault.h"

/* ---- vocabulary ---- */

typedef enum ValueKind {
    VALUE_NUMBER,
    VALUE_MAYBE,                /* a number, or nothing: any */
    VALUE_PROB,
    VALUE_OPCODE,
    VALUE_NONE,
} ValueKind;

static const struct {
    const char *name;
    ValueKind kind;
    uint64_t max;
} keys[KEY_TOTAL] = {
    [KEY_QPN] = { "qpn", VALUE_NUMBER, 0xfffff },
    [KEY_CQN] = { "cqn", VALUE_NUMBER, 0xfffff },
    [KEY_EQN] = { "eqn", VALUE_NUMBER, ERDMA_MAX_VECTORS - 1 },
    [KEY_VECTOR] = { "vector", VALUE_NUMBER, ERDMA_MAX_VECTORS - 1 },
    [KEY_OPCODE] = { "opcode", VALUE_OPCODE, 0 },
    [KEY_OFFSET] = { "offset", VALUE_NUMBER, ERDMA_REG_SPACE - 1 },
    [KEY_AFTER] = { "after", VALUE_NUMBER, UINT32_MAX },
    [KEY_COUNT] = { "count", VALUE_NUMBER, UINT32_MAX },
    [KEY_PROB] = { "prob", VALUE_PROB, 0 },
    [KEY_SEED] = { "seed", VALUE_NUMBER, UINT64_MAX },
    [KEY_MS] = { "ms", VALUE_NUMBER, ERDMA_LIMIT_FAULT_MS },
    [KEY_US] = { "us", VALUE_NUMBER, ERDMA_LIMIT_FAULT_MS * 1000ull },
    [KEY_OVERTAKE] = { "overtake", VALUE_NONE, 0 },
    [KEY_VALUE] = { "value", VALUE_NUMBER, UINT64_MAX },
    [KEY_STATUS] = { "status", VALUE_MAYBE, 0xff },
    [KEY_SYNDROME] = { "syndrome", VALUE_MAYBE, 0xff },
    [KEY_KIND] = { "kind", VALUE_MAYBE, 0xff },
    [KEY_TYPE] = { "type", VALUE_MAYBE, 0xff },
    [KEY_INDEX] = { "index", VALUE_MAYBE, UINT32_MAX },
    [KEY_NUMBER] = { "number", VALUE_MAYBE, UINT32_MAX },
    [KEY_SIZE] = { "size", VALUE_MAYBE, UINT32_MAX },
    [KEY_IMM] = { "imm", VALUE_MAYBE, UINT32_MAX },
    [KEY_RESP0] = { "resp0", VALUE_MAYBE, UINT64_MAX },
    [KEY_RESP1] = { "resp1", VALUE_MAYBE, UINT64_MAX },
    [KEY_MAGIC] = { "magic", VALUE_MAYBE, 0xffff },
    [KEY_OWNER] = { "owner", VALUE_NONE, 0 },
    [KEY_MINLEN] = { "minlen", VALUE_NUMBER, UINT32_MAX },
};

#define K(name)     (1u << KEY_##name)

/* The words a line begins with. "wrong-owner" and "hostile-index" corrupt. */
typedef enum Verb {
    VERB_DROP, VERB_DELAY, VERB_DUPLICATE, VERB_CORRUPT, VERB_WRONG_OWNER,
    VERB_HOSTILE_INDEX, VERB_STALL, VERB_FLOOD, VERB_LINK, VERB_SILENT,
    VERB_REGISTERS, VERB_LOSS, VERB_LATENCY, VERB_REMOVE, VERB_TOTAL,
} Verb;

#define V(name)     (1u << VERB_##name)

static const struct {
    const char *name;
    FaultAction action;
    uint32_t keys;              /* besides those of the object */
    uint32_t points;            /* not 0: no object follows */
} verbs[VERB_TOTAL] = {
    [VERB_DROP] = { "drop", ACT_DROP, KEYS_WHEN, 0 },
    [VERB_DELAY] = { "delay", ACT_DELAY, KEYS_WHEN | K(MS) | K(US), 0 },
    [VERB_DUPLICATE] = { "duplicate", ACT_DUPLICATE, KEYS_WHEN, 0 },
    [VERB_CORRUPT] = { "corrupt", ACT_CORRUPT, KEYS_WHEN, 0 },
    [VERB_WRONG_OWNER] = { "wrong-owner", ACT_CORRUPT, KEYS_WHEN, 0 },
    [VERB_HOSTILE_INDEX] = { "hostile-index", ACT_CORRUPT,
                             KEYS_WHEN | K(VALUE), 0 },
    [VERB_STALL] = { "stall", ACT_STALL, K(MS) | K(US), 0 },
    [VERB_FLOOD] = { "flood", ACT_FLOOD, K(COUNT), 0 },
    [VERB_LINK] = { "link", ACT_CUT, K(MS) | K(US), 0 },
    [VERB_SILENT] = { "silent", ACT_CUT, K(MS) | K(US), 0 },
    [VERB_REGISTERS] = { "registers", ACT_ONES, K(MS) | K(US), 0 },
    [VERB_LOSS] = { "loss", ACT_LOSS, K(PROB) | K(SEED) | K(QPN) | K(MS) |
                    K(US) | K(MINLEN), ERDMA_POINT_LOSS },
    [VERB_LATENCY] = { "latency", ACT_LATENCY, K(QPN) | K(MS) | K(US),
                       ERDMA_POINT_LATENCY },
    [VERB_REMOVE] = { "remove", ACT_REMOVE, 0, ERDMA_POINT_REMOVE },
};

#define ENTRY_VERBS (V(DROP) | V(DELAY) | V(DUPLICATE) | V(CORRUPT) | \
                     V(WRONG_OWNER) | V(HOSTILE_INDEX))

static const struct {
    const char *name;
    uint32_t verbs;
    uint32_t points;
    uint32_t keys;
    uint32_t fields;            /* keys of KEYS_FIELD */
    uint32_t hostile;           /* the one that "hostile-index" means */
} objects[] = {
    { "command", ENTRY_VERBS, ERDMA_POINT_COMMAND, K(OPCODE),
      K(STATUS) | K(KIND) | K(TYPE) | K(INDEX) | K(OWNER) | K(MAGIC) |
      K(RESP0) | K(RESP1),
      KEY_INDEX },
    { "cqe", ENTRY_VERBS, ERDMA_POINT_CQE, K(QPN) | K(CQN) | K(OPCODE),
      K(SYNDROME) | K(KIND) | K(TYPE) | K(INDEX) | K(NUMBER) | K(SIZE) |
      K(IMM) | K(OWNER), KEY_INDEX },
    { "event", ENTRY_VERBS, ERDMA_POINT_EVENTS, 0,
      K(NUMBER) | K(OWNER), KEY_NUMBER },
    { "ceqe", ENTRY_VERBS, ERDMA_POINT_CEQE, K(CQN) | K(EQN),
      K(NUMBER) | K(INDEX) | K(OWNER), KEY_NUMBER },
    { "aeqe", ENTRY_VERBS, ERDMA_POINT_AEQE, K(QPN) | K(CQN),
      K(NUMBER) | K(TYPE) | K(OWNER), KEY_NUMBER },
    { "command-event", ENTRY_VERBS, ERDMA_POINT_CMDEQE, 0,
      K(NUMBER) | K(INDEX) | K(OWNER), KEY_NUMBER },
    { "irq", V(DROP) | V(DELAY) | V(DUPLICATE) | V(FLOOD), ERDMA_POINT_IRQ,
      K(VECTOR), 0, 0 },
    { "payload", V(DROP) | V(CORRUPT), ERDMA_POINT_PAYLOAD, K(QPN), 0, 0 },
    { "payload", V(DELAY), ERDMA_POINT_MESSAGE, K(QPN), 0, 0 },
    { "payload", V(DUPLICATE), ERDMA_POINT_TWICE, K(QPN), 0, 0 },
    { "cmdq", V(STALL) | V(FLOOD), ERDMA_POINT_CMDQ, 0, 0, 0 },
    { "sq", V(STALL), ERDMA_POINT_SQ, K(QPN), 0, 0 },
    { "rq", V(STALL), ERDMA_POINT_RQ, K(QPN), 0, 0 },
    { "ceq", V(STALL), ERDMA_POINT_CEQ, K(EQN), 0, 0 },
    { "ceq", V(FLOOD), ERDMA_POINT_CEQ, K(EQN) | K(CQN), 0, 0 },
    { "aeq", V(STALL), ERDMA_POINT_AEQ, 0, 0, 0 },
    { "aeq", V(FLOOD), ERDMA_POINT_AEQ, K(QPN) | K(CQN) | K(TYPE), 0, 0 },
    { "cq", V(FLOOD), ERDMA_POINT_CQ, K(CQN) | K(QPN), 0, 0 },
    { "register", V(CORRUPT), ERDMA_POINT_REGISTER, K(OFFSET) | K(VALUE),
      0, 0 },
    { "reset", V(DELAY), ERDMA_POINT_RESET, 0, 0, 0 },
    { "down", V(LINK), ERDMA_POINT_NETWORK, 0, 0, 0 },
    { "peer", V(SILENT), ERDMA_POINT_NETWORK, K(QPN), 0, 0 },
    { "all-ones", V(REGISTERS), ERDMA_POINT_REGISTER, K(OFFSET), 0, 0 },
};

#define COUNT(a)    (sizeof(a) / sizeof((a)[0]))

/* ---- saying what is wrong ---- */

typedef struct Why {
    char *text;
    size_t len, used;
} Why;

__attribute__((format(printf, 2, 3)))
static void parse_say(Why *w, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(w->text + w->used, w->len - w->used, fmt, ap);
    va_end(ap);
    if (n > 0) {
        w->used += n;
        w->used = w->used < w->len ? w->used : w->len - 1;
    }
}

static void parse_say_verbs(Why *w)
{
    for (unsigned i = 0; i < VERB_TOTAL; i++) {
        parse_say(w, "%s%s", i ? ", " : "", verbs[i].name);
    }
}

static void parse_say_objects(Why *w, unsigned verb)
{
    const char *sep = "";

    for (unsigned i = 0; i < COUNT(objects); i++) {
        if (objects[i].verbs & (1u << verb)) {
            parse_say(w, "%s%s", sep, objects[i].name);
            sep = ", ";
        }
    }
}

static void parse_say_keys(Why *w, uint32_t allowed)
{
    const char *sep = "";

    if (!allowed) {
        parse_say(w, "nothing");
    }
    for (unsigned i = 0; i < KEY_TOTAL; i++) {
        if (allowed & (1u << i)) {
            parse_say(w, "%s%s%s", sep, keys[i].name,
                      keys[i].kind == VALUE_NONE ? "" :
                      keys[i].kind == VALUE_MAYBE ? "[=]" : "=");
            sep = ", ";
        }
    }
}

/* ---- values ---- */

static bool parse_number(const char *s, uint64_t max, uint64_t *out)
{
    unsigned base = 10;
    uint64_t v = 0;

    if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
        base = 16;
        s += 2;
    }
    if (!*s) {
        return false;
    }
    for (; *s; s++) {
        unsigned digit = *s >= '0' && *s <= '9' ? *s - '0' :
                         *s >= 'a' && *s <= 'f' ? *s - 'a' + 10 :
                         *s >= 'A' && *s <= 'F' ? *s - 'A' + 10 : 99;

        if (digit >= base || v > (UINT64_MAX - digit) / base) {
            return false;
        }
        v = v * base + digit;
    }
    *out = v;
    return v <= max;
}

/* 0 to 1 with at most nine decimals; not strtod(), which knows locales */
static bool parse_probability(const char *s, uint64_t *out)
{
    uint64_t whole = 0, part = 0, scale = 1;
    bool digits = false;

    for (; *s >= '0' && *s <= '9'; s++) {
        whole = whole * 10 + (*s - '0');
        digits = true;
        if (whole > 1) {
            return false;
        }
    }
    if (*s == '.') {
        for (s++; *s >= '0' && *s <= '9'; s++) {
            if (scale == 1000000000) {
                return false;
            }
            part = part * 10 + (*s - '0');
            scale *= 10;
            digits = true;
        }
    }
    if (*s || !digits || (whole == 1 && part)) {
        return false;
    }
    *out = whole ? FAULT_ALWAYS : part * FAULT_ALWAYS / scale;
    return true;
}

/* Does @word spell @name? Case does not matter, and "-" is "_". */
static bool parse_spells(const char *word, const char *name)
{
    if (!name) {
        return false;
    }
    for (; *word && *name; word++, name++) {
        char a = *word >= 'a' && *word <= 'z' ? *word - 32 : *word;

        if ((a == '-' ? '_' : a) != *name) {
            return false;
        }
    }
    return !*word && !*name;
}

/* A command is submod * 256 + opcode, a completion its opcode */
static bool parse_opcode(const char *s, bool command, uint64_t *out)
{
    for (uint32_t i = 0; i < 512; i++) {
        if (parse_spells(s, command ? erdma_name_cmd(i >> 8, i & 255) :
                         i < 256 ? erdma_name_wr_opcode(i) : NULL)) {
            *out = i;
            return true;
        }
    }
    return parse_number(s, command ? 511 : 255, out);
}

static void parse_say_opcodes(Why *w, bool command)
{
    const char *sep = "";

    for (uint32_t i = 0; i < 512; i++) {
        const char *name = command ? erdma_name_cmd(i >> 8, i & 255) :
                           i < 256 ? erdma_name_wr_opcode(i) : NULL;

        if (name) {
            parse_say(w, "%s%s", sep, name);
            sep = ", ";
        }
    }
}

/* ---- words ---- */

static bool parse_value(Fault *f, unsigned key, const char *value, Why *w)
{
    bool command = f->points & ERDMA_POINT_COMMAND;
    bool good;

    switch (keys[key].kind) {
    case VALUE_PROB:
        if (!parse_probability(value, &f->v[key])) {
            parse_say(w, "'%s' is not a probability: prob=0 to 1, for instance "
                      "0.01", value);
            return false;
        }
        return true;
    case VALUE_OPCODE:
        if (!parse_opcode(value, command, &f->v[key])) {
            parse_say(w, "'%s' is not an opcode of a %s: a number, or ", value,
                      command ? "command" : "completion");
            parse_say_opcodes(w, command);
            return false;
        }
        return true;
    case VALUE_NONE:
        parse_say(w, "'%s' takes no value", keys[key].name);
        return false;
    default:
        good = parse_number(value, keys[key].max, &f->v[key]);
        if (!good) {
            parse_say(w, "'%s' is not a number for %s: 0 to %llu", value,
                      keys[key].name, (unsigned long long)keys[key].max);
        }
        return good;
    }
}

static bool parse_key(Fault *f, char *word, uint32_t allowed, Why *w)
{
    char *value = strchr(word, '=');
    unsigned key;

    if (value) {
        *value++ = '\0';
    }
    for (key = 0; key < KEY_TOTAL; key++) {
        if ((allowed & (1u << key)) && !strcmp(word, keys[key].name)) {
            break;
        }
    }
    if (key == KEY_TOTAL) {
        parse_say(w, "'%s' does not belong here; allowed: ", word);
        parse_say_keys(w, allowed);
        return false;
    }
    if (fault_has(f, key)) {
        parse_say(w, "'%s' is given twice", word);
        return false;
    }
    f->given |= 1u << key;
    if (value) {
        return parse_value(f, key, value, w);
    }
    if (keys[key].kind == VALUE_MAYBE) {
        f->v[key] = UINT64_MAX;         /* any */
    } else if (keys[key].kind != VALUE_NONE) {
        parse_say(w, "'%s' needs a value: %s=...", word, word);
        return false;
    }
    return true;
}

/* ---- the line ---- */

typedef struct Words {
    char text[ERDMA_LIMIT_FAULT_LINE];
    char *next;
} Words;

static char *parse_next_word(Words *words)
{
    char *s = words->next + strspn(words->next, " ");
    size_t n = strcspn(s, " ");

    if (!n) {
        return NULL;
    }
    words->next = s + n;
    if (*words->next) {
        *words->next++ = '\0';
    }
    return s;
}

static bool parse_verb(const char *word, unsigned *verb, Why *w)
{
    for (*verb = 0; word && *verb < VERB_TOTAL; ++*verb) {
        if (!strcmp(word, verbs[*verb].name)) {
            return true;
        }
    }
    if (word) {
        parse_say(w, "'%s' is not a fault; there are: ", word);
    } else {
        parse_say(w, "the line is empty; it begins with one of: ");
    }
    parse_say_verbs(w);
    return false;
}

static bool parse_object(const char *word, unsigned verb, unsigned *object,
                         Why *w)
{
    for (*object = 0; word && *object < COUNT(objects); ++*object) {
        if ((objects[*object].verbs & (1u << verb)) &&
            !strcmp(word, objects[*object].name)) {
            return true;
        }
    }
    if (word) {
        parse_say(w, "'%s' is nothing that '%s' goes with; there are: ", word,
                  verbs[verb].name);
    } else {
        parse_say(w, "'%s' needs one of: ", verbs[verb].name);
    }
    parse_say_objects(w, verb);
    return false;
}

/* What "corrupt" and its two short forms change; at most one field */
static bool parse_field(Fault *f, unsigned verb, unsigned object, Why *w)
{
    uint32_t fields = f->given & objects[object].fields;

    if (verb == VERB_WRONG_OWNER) {
        f->given |= K(OWNER);
    } else if (verb == VERB_HOSTILE_INDEX) {
        f->given |= 1u << objects[object].hostile;
        f->v[objects[object].hostile] =
            fault_has(f, KEY_VALUE) ? f->v[KEY_VALUE] : UINT32_MAX;
    } else if (fields & (fields - 1)) {
        parse_say(w, "one field at a time; there are: ");
        parse_say_keys(w, objects[object].fields);
        return false;
    }
    if (f->points & ERDMA_POINT_COMMAND && fault_has(f, KEY_MAGIC)) {
        f->points = ERDMA_POINT_MAGIC;
    }
    return true;
}

/* What cannot be left out */
static bool parse_complete(const Fault *f, unsigned verb, Why *w)
{
    uint32_t time = K(MS) | K(US);
    uint32_t need = 0;

    switch (f->action) {
    case ACT_DELAY:
    case ACT_LATENCY:
        need = time;
        break;
    case ACT_LOSS:
        need = K(PROB);
        break;
    case ACT_FLOOD:
        need = f->points & ERDMA_POINT_CQ ? K(CQN) : 0;
        break;
    case ACT_CORRUPT:
        need = f->points & ERDMA_POINT_REGISTER ? K(OFFSET) : 0;
        break;
    default:
        break;
    }
    if (need && !(f->given & need)) {
        parse_say(w, "'%s' needs ", verbs[verb].name);
        parse_say_keys(w, need);
        return false;
    }
    if ((f->given & time) == time) {
        parse_say(w, "either ms= or us=, not both");
        return false;
    }
    return true;
}

bool erdma_fault_parse(const char *line, Fault *f, char *why, size_t len)
{
    Why w = { .text = why, .len = len };
    unsigned verb, object = 0;
    uint32_t allowed, fields = 0;
    Words words;
    char *word;

    why[0] = '\0';
    if (strlen(line) >= sizeof(words.text)) {
        parse_say(&w, "the line is longer than %zu characters",
                  sizeof(words.text) - 1);
        return false;
    }
    for (size_t i = 0; i <= strlen(line); i++) {
        char ch = line[i];

        words.text[i] = f->line[i] = ch && (ch < ' ' || ch > '~') ? ' ' : ch;
    }
    words.next = words.text;
    word = parse_next_word(&words);
    if (!parse_verb(word, &verb, &w)) {
        return false;
    }
    f->action = verbs[verb].action;
    f->points = verbs[verb].points;
    allowed = verbs[verb].keys;
    if (!f->points) {
        if (!parse_object(parse_next_word(&words), verb, &object, &w)) {
            return false;
        }
        f->points = objects[object].points;
        fields = verb == VERB_CORRUPT ? objects[object].fields : 0;
        allowed |= objects[object].keys | fields;
        if (verb == VERB_DELAY && f->points &
            (ERDMA_POINT_COMMAND | ERDMA_POINT_CQE)) {
            allowed |= K(OVERTAKE);
        }
    }
    while ((word = parse_next_word(&words))) {
        if (!parse_key(f, word, allowed, &w)) {
            return false;
        }
    }
    if (fields || f->action == ACT_CORRUPT) {
        if (!parse_field(f, verb, object, &w)) {
            return false;
        }
    }
    return parse_complete(f, verb, &w);
}
