// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Command lines in processes of their own: one that crashes, hangs in a call of the driver
 * or is interrupted ends, and who started it goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "run.h"
#include "shell.h"
#include "signals.h"

#define LEAVE_NS	1000000000ULL	/* two interrupts within this time */
#define OUTPUT_MAX	(64 * 1024)

/* ---- words ------------------------------------------------------------------ */

/**
 * line_add - one more word
 * @p: memory
 * @l: line; starts as zeros
 * @word: word
 */
void line_add(struct pool *p, struct line *l, const char *word)
{
	char **v = pool_alloc(p, ((size_t)l->n + 2) * sizeof(*v));

	if (l->n)
		memcpy(v, l->v, (size_t)l->n * sizeof(*v));
	v[l->n++] = pool_strdup(p, word);
	v[l->n] = NULL;
	l->v = v;
}

/* The next word from @s on, with quotes and backslashes as in sh; NULL: a quote has no end */
static const char *next_word(const char *s, char *word)
{
	char quote = '\0';

	for (; *s && (quote || !strchr(" \t\r\n", *s)); s++) {
		if (quote ? *s == quote : *s == '\'' || *s == '"') {
			quote = quote ? '\0' : *s;
			continue;
		}
		if (*s == '\\' && quote != '\'' && s[1])
			s++;
		*word++ = *s;
	}
	*word = '\0';
	return quote ? NULL : s;
}

/**
 * line_split - words of a line
 * @p: memory
 * @text: line; '#' begins a comment
 * @l: filled; only the program's name if there is no word
 *
 * Return: false if a quote has no end.
 */
bool line_split(struct pool *p, const char *text, struct line *l)
{
	char *word = pool_alloc(p, strlen(text) + 1);

	*l = (struct line){ 0 };
	line_add(p, l, "eadm");
	for (;;) {
		text += strspn(text, " \t\r\n");
		if (!*text || *text == '#')
			return true;
		text = next_word(text, word);
		if (!text)
			return false;
		line_add(p, l, word);
	}
}

/* ---- interrupts ------------------------------------------------------------- */

static volatile sig_atomic_t twice;
static volatile pid_t running;
static int interrupts[2] = { -1, -1 };	/* a pipe: poll() must not miss one */
static uint64_t last_ns;

/* The terminal has sent it to the command, too. A command that stays is killed. */
static void on_interrupt(int sig)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int err = errno;

	(void)sig;
	if (write(interrupts[1], "", 1) < 0)
		errno = err;	/* it is full: noticed all the same */
	if (last_ns && now - last_ns < LEAVE_NS) {
		twice = 1;
		if (running > 0)
			kill(running, SIGKILL);
	}
	last_ns = now;
}

/**
 * line_catch_interrupts - SIGINT ends commands, not this process
 *
 * Return: file to poll() for them, or -1: they are not caught.
 */
int line_catch_interrupts(void)
{
	struct sigaction act = { .sa_handler = on_interrupt };

	if (pipe2(interrupts, O_CLOEXEC | O_NONBLOCK))
		return -1;
	sigaction(SIGINT, &act, NULL);
	return interrupts[0];
}

/**
 * line_interrupted - was there a SIGINT since the last question?
 *
 * Return: true if there was.
 */
bool line_interrupted(void)
{
	char bytes[64];
	bool was = false;

	while (read(interrupts[0], bytes, sizeof(bytes)) > 0)
		was = true;
	return was;
}

/**
 * line_interrupted_twice - were there two within a second?
 *
 * Return: true if there were.
 */
bool line_interrupted_twice(void)
{
	return twice;
}

/* ---- signals that end or stop this process ----------------------------------- */

static const int held[] = { SIGHUP, SIGQUIT, SIGTERM, SIGTSTP };
static struct sigaction held_before[COUNT_OF(held)];
static bool held_caught[COUNT_OF(held)];
static volatile sig_atomic_t held_signal;

static void on_held(int sig)
{
	int err = errno;

	held_signal = sig;
	if (write(interrupts[1], "", 1) < 0)
		errno = err;	/* it is full: noticed all the same */
}

/**
 * line_hold_signals - signals that end or stop this process wait
 *
 * They end a poll() of what line_catch_interrupts() returned. For as long as the terminal is not
 * as it was.
 */
void line_hold_signals(void)
{
	size_t i;

	for (i = 0; i < COUNT_OF(held); i++)
		held_caught[i] = signal_catch(held[i], on_held, 0, &held_before[i]);
}

/**
 * line_held_signal - the signal that waits
 *
 * Return: the latest one, 0: there was none.
 */
int line_held_signal(void)
{
	return held_signal;
}

static void let_signals(void)
{
	size_t i;

	for (i = 0; i < COUNT_OF(held); i++) {
		if (held_caught[i])
			sigaction(held[i], &held_before[i], NULL);
		held_caught[i] = false;
	}
}

/**
 * line_let_signals - the end of line_hold_signals()
 *
 * Return: after the process was stopped and goes on, if that was the signal; never, if it was one
 * that ends it.
 */
void line_let_signals(void)
{
	int sig = held_signal;

	let_signals();
	held_signal = 0;
	if (!sig)
		return;
	line_interrupted();	/* the byte was not of an interrupt */
	raise(sig);
}

/* ---- processes -------------------------------------------------------------- */

static void redirect(const char *path, int flags, int fd)
{
	int file = open(path, flags | O_CLOEXEC);

	if (file >= 0)
		dup2(file, fd);
}

/* Of the child: never returns */
static void child(const struct line *l, const struct opts *opt, bool no_input)
{
	enum exit_code code;

	signal(SIGINT, SIG_DFL);
	let_signals();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (no_input)
		redirect("/dev/null", O_RDONLY, STDIN_FILENO);
	code = run_words(l->n, l->v, opt);
	fflush(NULL);
	_exit(code);
}

static enum exit_code exit_of_status(int status)
{
	if (WIFEXITED(status))
		return (enum exit_code)WEXITSTATUS(status);
	if (WTERMSIG(status) == SIGINT)
		return EX_INTERRUPTED;
	fprintf(stderr, "eadm: the command was ended by signal %d\n", WTERMSIG(status));
	return EX_FAILED;
}

static enum exit_code wait_for(pid_t pid)
{
	int status;

	running = pid;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return EX_FAILED;
	running = 0;
	return exit_of_status(status);
}

/**
 * line_run - run a command line and wait for its end
 * @l: its words
 * @opt: global options that hold unless the words set others
 * @no_input: its standard input is empty
 *
 * Return: exit status.
 */
enum exit_code line_run(const struct line *l, const struct opts *opt, bool no_input)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid)
		child(l, opt, no_input);
	if (pid < 0) {
		fprintf(stderr, "eadm: cannot start a process: %s\n", strerror(errno));
		return EX_FAILED;
	}
	return wait_for(pid);
}

/**
 * line_start - run a command line beside this process
 * @l: its words
 * @opt: global options
 * @out: where its output can be read; it has no input, and its messages are dropped
 *
 * Interrupts of the terminal do not reach it; it ends with this process.
 *
 * Return: process, or -1.
 */
pid_t line_start(const struct line *l, const struct opts *opt, int *out)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		dup2(ends[1], STDOUT_FILENO);
		redirect("/dev/null", O_WRONLY, STDERR_FILENO);
		child(l, opt, true);
	}
	close(ends[1]);
	*out = ends[0];
	if (pid < 0)
		close(ends[0]);
	return pid;
}

/* What comes from @fd until its end, or the limit */
static size_t read_all(int fd, char *text, size_t size, uint64_t until_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t now;
	size_t n = 0;
	ssize_t got;

	while (n < size) {
		now = ctx_now_ms();
		if (now >= until_ms || poll(&p, 1, (int)(until_ms - now)) <= 0)
			break;
		got = read(fd, text + n, size - n);
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	return n;
}

/**
 * line_output - what a command line prints
 * @p: memory
 * @l: its words
 * @opt: global options
 * @limit_ms: it is ended after this time
 *
 * Return: text, perhaps empty.
 */
char *line_output(struct pool *p, const struct line *l, const struct opts *opt,
		  unsigned int limit_ms)
{
	char *text = pool_alloc(p, OUTPUT_MAX + 1);
	size_t n = 0;
	pid_t pid;
	int fd;

	pid = line_start(l, opt, &fd);
	if (pid > 0) {
		n = read_all(fd, text, OUTPUT_MAX, ctx_now_ms() + limit_ms);
		close(fd);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	text[n] = '\0';
	return text;
}
