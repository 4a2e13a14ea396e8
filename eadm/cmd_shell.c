// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Command lines from a terminal, with completion, history and new events above the
 * prompt. The words are those of the command line; what else there is stands in
 * shell_words.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "clock.h"
#include "shell.h"
#include "shell_history.h"

#define EVENTS_AGAIN_NS	5000000000ULL	/* after this time they are followed again */
#define EVENTS_ROOM	4096	/* what is longer than this becomes several lines */

const char *const shell_words[] = { "use", "set", "history", "exit", "quit", NULL };

/**
 * struct shell - the shell
 * @opt: global options of each command
 * @device: of "use", in memory of its own; NULL: none
 * @history: file, or NULL
 * @follow: events are wanted
 * @events: process that follows them, 0 = none
 * @events_fd: its output
 * @events_ns: when it was started
 * @event_text: what it wrote that was not shown
 * @event_len: bytes of that
 * @interrupts: of line_catch_interrupts()
 * @leave: no more lines
 * @prompting: readline has the terminal; signals that end or stop this process wait
 */
static struct shell {
	struct opts opt;
	char *device;
	const char *history;
	bool follow;
	pid_t events;
	int events_fd;
	uint64_t events_ns;
	char event_text[EVENTS_ROOM];
	size_t event_len;
	int interrupts;
	bool leave;
	bool prompting;
} sh;

/**
 * shell_opts - global options that a command line of the shell begins with
 *
 * Return: options.
 */
struct opts shell_opts(void)
{
	return sh.opt;
}

/* ---- events ------------------------------------------------------------------ */

static void events_stop(void)
{
	if (!sh.events)
		return;
	kill(sh.events, SIGKILL);
	waitpid(sh.events, NULL, 0);
	close(sh.events_fd);
	sh.events = 0;
	sh.event_len = 0;
}

/* Time left until they may be followed again, 0: now */
static uint64_t events_wait_ns(void)
{
	uint64_t past = clock_ns(CLOCK_MONOTONIC) - sh.events_ns;

	return sh.events_ns && past < EVENTS_AGAIN_NS ? EVENTS_AGAIN_NS - past : 0;
}

/* Are there any that nobody follows? Of a file there are none that are new */
static bool events_wanted(void)
{
	return sh.follow && !sh.events && !sh.opt.from;
}

static void events_start(void)
{
	static const char *const words[] = {
		"eadm", "log", "--follow", "--count", "0", "--kind", "event,fail,reset,link",
		"--no-header", "--columns", "TIME,KIND,WHAT,OBJECT,RESULT,DETAILS",
	};
	struct opts opt = sh.opt;
	struct pool p = { NULL };
	struct line l = { 0 };
	size_t i;

	if (!events_wanted() || events_wait_ns())
		return;
	opt.format = FMT_TEXT;
	opt.color = false;
	opt.width = 0;
	for (i = 0; i < COUNT_OF(words); i++)
		line_add(&p, &l, words[i]);
	sh.events = line_start(&l, &opt, &sh.events_fd);
	sh.events_ns = clock_ns(CLOCK_MONOTONIC);
	if (sh.events < 0)
		sh.events = 0;
	pool_free(&p);
}

/* Bytes of whole lines */
static size_t events_whole(void)
{
	size_t n = sh.event_len;

	while (n && sh.event_text[n - 1] != '\n')
		n--;
	return n || sh.event_len < sizeof(sh.event_text) ? n : sh.event_len;
}

/* The line that is being written moves down */
static void events_show(void)
{
	ssize_t n = read(sh.events_fd, sh.event_text + sh.event_len,
			 sizeof(sh.event_text) - sh.event_len);
	size_t whole;

	if (n <= 0) {
		events_stop();
		return;
	}
	sh.event_len += (size_t)n;
	whole = events_whole();
	if (!whole)
		return;
	rl_clear_visible_line();
	fwrite(sh.event_text, 1, whole, stdout);
	if (sh.event_text[whole - 1] != '\n')
		fputc('\n', stdout);
	fflush(stdout);
	sh.event_len -= whole;
	memmove(sh.event_text, sh.event_text + whole, sh.event_len);
	rl_on_new_line();
	rl_redisplay();
}

/* ---- the shell's own words ----------------------------------------------------- */

static void say_bad(const char *text, const char *hint)
{
	fprintf(stderr, "eadm: %s\nHint: %s\n", text, hint);
}

/* Only a device that is there; "all" and none are always */
static void do_use(const struct line *l)
{
	static char *const words[] = { "eadm", "list", "dev", "--columns", "DEV", "--no-header" };
	const struct line look = { (char **)words, COUNT_OF(words) };
	struct opts opt = sh.opt;
	struct pool p = { NULL };

	if (l->n > 3) {
		say_bad("'use' takes one device", "'use' alone chooses none.");
		return;
	}
	opt.format = FMT_TEXT;
	opt.device = l->n == 3 ? l->v[2] : NULL;
	if (opt.device && strcmp(opt.device, "all") && !*line_output(&p, &look, &opt, 5000)) {
		say_bad("there is no such device", "'list dev' shows all.");
	} else {
		free(sh.device);
		sh.device = opt.device ? strdup(opt.device) : NULL;
		sh.opt.device = sh.device;
		events_stop();
		sh.events_ns = 0;
	}
	pool_free(&p);
}

static bool set_output(const char *value)
{
	static const char *const names[] = { [FMT_TEXT] = "text", [FMT_JSON] = "json",
					     [FMT_JSONL] = "jsonl" };
	size_t i;

	for (i = 0; i < COUNT_OF(names); i++)
		if (!strcmp(value, names[i]))
			sh.opt.format = (enum out_format)i;
	return !strcmp(value, names[sh.opt.format]);
}

static bool set_events(const char *value)
{
	bool on = !strcmp(value, "on");

	if (!on && strcmp(value, "off"))
		return false;
	sh.follow = on;
	if (!on)
		events_stop();
	return true;
}

static void do_set(const struct line *l)
{
	const char *what = l->n == 4 ? l->v[2] : "";

	if ((!strcmp(what, "output") && set_output(l->v[3])) ||
	    (!strcmp(what, "events") && set_events(l->v[3])))
		return;
	say_bad("'set' does not know this", "set output text|json|jsonl, set events on|off");
}

static void do_history(const struct line *l)
{
	HIST_ENTRY **list = history_list();
	int i;

	(void)l;
	for (i = 0; list && list[i]; i++)
		printf("%5d  %s\n", i + history_base, list[i]->line);
}

static void do_exit(const struct line *l)
{
	(void)l;
	sh.leave = true;
}

/* In the order of shell_words */
static void (*const own[])(const struct line *l) = { do_use, do_set, do_history, do_exit, do_exit };

static void run_line(const struct line *l)
{
	size_t i;

	for (i = 0; shell_words[i]; i++)
		if (!strcmp(l->v[1], shell_words[i])) {
			own[i](l);
			return;
		}
	if (!strcmp(l->v[1], "shell") || !strcmp(l->v[1], "batch")) {
		say_bad("this is the shell already", "'exit' leaves it.");
		return;
	}
	line_run(l, &sh.opt, false);
	if (!strcmp(l->v[1], "help") && l->n == 2)
		puts("\nOnly here\n  use [DEV]  set output FMT  set events on|off  history  exit");
}

/* ---- lines ------------------------------------------------------------------- */

static void hide_prompt(void)
{
	if (!sh.prompting)
		return;
	rl_callback_handler_remove();
	sh.prompting = false;
	line_let_signals();
}

/* readline has one line, or its end */
static void on_line(char *text)
{
	struct pool p = { NULL };
	struct line l;

	hide_prompt();
	if (!text) {
		putchar('\n');
		sh.leave = true;
		return;
	}
	if (!line_split(&p, text, &l)) {
		say_bad("a quote has no end", "\\' is a quote as it is.");
	} else if (l.n > 1) {
		shell_history_add(sh.history, text);
		run_line(&l);
	}
	if (line_interrupted())
		putchar('\n');
	pool_free(&p);
	free(text);
}

static void show_prompt(void)
{
	struct pool p = { NULL };

	if (sh.prompting)
		return;
	events_start();
	line_hold_signals();
	rl_callback_handler_install(sh.device ? pool_printf(&p, "eadm(%s)> ", sh.device) : "eadm> ",
				    on_line);
	sh.prompting = true;
	pool_free(&p);
}

/* ^C at the prompt: the line is dropped */
static void drop_line(void)
{
	rl_callback_sigcleanup();
	fputs("^C\n", stdout);
	hide_prompt();
}

/* A signal at the prompt ends or stops this process, with the terminal as it was */
static void let_signal(void)
{
	(*rl_deprep_term_function)();
	fputc('\n', stdout);
	fflush(stdout);
	line_let_signals();
	/* Here it stops, and goes on with the line as it was */
	line_hold_signals();
	(*rl_prep_term_function)(1);
	rl_on_new_line();
	rl_redisplay();
}

/* While readline itself waits, for the answer to a question */
static int on_signal(void)
{
	if (line_held_signal())
		let_signal();
	return 0;
}

/* Devices come and go while nobody writes a line: milliseconds, or -1 */
static int wait_limit(void)
{
	return events_wanted() ? (int)(events_wait_ns() / 1000000 + 1) : -1;
}

static void wait_for_input(void)
{
	struct pollfd fds[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = sh.events ? sh.events_fd : -1, .events = POLLIN },
		{ .fd = sh.interrupts, .events = POLLIN },
	};
	int ret = poll(fds, COUNT_OF(fds), wait_limit());

	if (line_held_signal()) {
		let_signal();
		return;
	}
	if (line_interrupted()) {
		drop_line();
		return;
	}
	events_start();
	if (ret <= 0)
		return;
	if (fds[1].revents)
		events_show();
	if (fds[0].revents)
		rl_callback_read_char();
}

static void set_up(struct ctx *c, const struct args *a)
{
	sh.opt = c->opt;
	if (a->n)
		sh.opt.device = a->v[0];
	sh.device = sh.opt.device ? strdup(sh.opt.device) : NULL;
	sh.opt.device = sh.device;
	sh.follow = true;
	sh.history = shell_history_open(&c->pool, a->opt[OPT_HISTORY]);
	rl_readline_name = "eadm";
	rl_catch_signals = 0;
	rl_signal_event_hook = on_signal;
	rl_attempted_completion_function = shell_complete;
	rl_completer_word_break_characters = " \t\n";
	sh.interrupts = line_catch_interrupts();
}

/**
 * cmd_shell - command lines from a terminal; without one as batch
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_shell(struct ctx *c, const struct args *a)
{
	if (a->n)
		c->opt.device = a->v[0];
	if (!isatty(STDIN_FILENO))
		return batch_run(c, stdin, "standard input", false);
	c->printed = true;
	set_up(c, a);
	while (!sh.leave && !line_interrupted_twice()) {
		show_prompt();
		wait_for_input();
	}
	hide_prompt();
	events_stop();
	free(sh.device);
	return 0;
}
