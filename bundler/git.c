/* git.c - see git.h. */
#include "bundler/git.h"

#include <fcntl.h>
#include <spawn.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Run git with its output in a small buffer; what does not fit is read and dropped.
 * Bytes in the buffer, or -1 when it did not end well. */
static ssize_t ask(const char *const *words, char *out, size_t room)
{
    posix_spawn_file_actions_t files;
    size_t len = 0;
    ssize_t n = 1;
    char rest[4096];
    int ends[2], status = -1;
    pid_t pid = -1;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&pid, "git", &files, NULL, (char *const *)(const void *)words,
                     environ) != 0)
        pid = -1;
    posix_spawn_file_actions_destroy(&files);
    (void)close(ends[1]);
    while (pid > 0 && n > 0) {
        n = len < room ? read(ends[0], out + len, room - len)
                       : read(ends[0], rest, sizeof rest);
        len += n > 0 && len < room ? (size_t)n : 0;
    }
    (void)close(ends[0]);
    if (pid > 0)
        (void)waitpid(pid, &status, 0);
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? (ssize_t)len : -1;
}

bool git_look(const char *dir, char sha[GIT_SHA_TEXT], bool *dirty)
{
    const char *const head[] = {"git", "-C", dir, "rev-parse", "--verify", "HEAD", NULL};
    const char *const status[] = {"git",
                                  "-C",
                                  dir,
                                  "--no-optional-locks",
                                  "-c",
                                  "core.fsmonitor=false",
                                  "status",
                                  "--porcelain",
                                  "--untracked-files=no",
                                  NULL};
    char first[1];
    ssize_t len = ask(head, sha, GIT_SHA_TEXT);

    if (len < 2 || sha[len - 1] != '\n')
        return false;
    sha[len - 1] = '\0';
    if (strspn(sha, "0123456789abcdef") != (size_t)len - 1)
        return false;
    len = ask(status, first, sizeof first);
    *dirty = len > 0;
    return len >= 0;
}
