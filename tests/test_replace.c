/* Files that take their place when they are whole: against the plain reading of what is on the disk. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/replace.h"
#include "check.h"

static char folder[] = "/tmp/kbass-replace-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(in_folder(name), "w");
    CHECK(file != NULL);
    fputs(text, file);
    fclose(file);
}

static void check_text(const char *name, const char *expected)
{
    char found[64] = "";
    FILE *file = fopen(in_folder(name), "r");
    CHECK(file != NULL);
    found[fread(found, 1, sizeof found - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(found, expected);
}

static size_t count_files(void)
{
    char command[256], number[32] = "";
    snprintf(command, sizeof command, "ls -A %s | wc -l", folder);
    FILE *pipe = popen(command, "r");
    CHECK(fgets(number, sizeof number, pipe) != NULL);
    pclose(pipe);
    return (size_t)atoi(number);
}

static void test_new_and_old(void **state)
{
    (void)state;
    kbass_error error;
    assert_int_equal(kbass_file_write(in_folder("new"), 3, "one", &error), KBASS_OK);
    check_text("new", "one");
    assert_int_equal(chmod(in_folder("new"), 0604), 0);
    assert_int_equal(kbass_file_write(in_folder("new"), 0, NULL, &error), KBASS_OK);
    check_text("new", "");
    struct stat there;
    assert_int_equal(stat(in_folder("new"), &there), 0);
    assert_int_equal(there.st_mode & 07777, 0604);
    assert_int_equal(count_files(), 1);
    unlink(in_folder("new"));
}

static void test_links(void **state)
{
    (void)state;
    kbass_error error;
    char link[300];
    snprintf(link, sizeof link, "%s", in_folder("link"));
    put("target", "old");
    assert_int_equal(symlink("target", link), 0);
    assert_int_equal(kbass_file_write(link, 3, "new", &error), KBASS_OK);
    struct stat there;
    assert_int_equal(lstat(link, &there), 0);
    CHECK(S_ISLNK(there.st_mode));
    check_text("target", "new");
    unlink(link);
    assert_int_equal(symlink("link", link), 0); /* round and round */
    assert_int_equal(kbass_file_check(link, &error), KBASS_ERROR_FILE);
    unlink(link);
    unlink(in_folder("target"));
}

/* What is given up leaves the old file, and nothing beside it. */
static void test_given_up(void **state)
{
    (void)state;
    kbass_error error;
    kb_replacement r;
    put("kept", "old");
    assert_int_equal(kb_replace_begin(in_folder("kept"), &r, &error), KBASS_OK);
    fputs("half", r.file);
    assert_int_equal(kb_replace_end(&r, KBASS_ERROR_NUMERICAL, &error), KBASS_ERROR_NUMERICAL);
    check_text("kept", "old");
    assert_int_equal(count_files(), 1);
    unlink(in_folder("kept"));
}

static void test_refusals(void **state)
{
    (void)state;
    kbass_error error;
    assert_int_equal(kbass_file_check(folder, &error), KBASS_ERROR_FILE);
    assert_int_equal(kbass_file_check("", &error), KBASS_ERROR_FILE);
    assert_int_equal(kbass_file_check(in_folder("no/such/folder"), &error), KBASS_ERROR_FILE);
    assert_int_equal(kbass_file_check(in_folder("new/"), &error), KBASS_ERROR_FILE);
    assert_int_equal(kbass_file_check(in_folder("new"), &error), KBASS_OK);
    assert_int_equal(kbass_file_write("/dev/full", 3, "one", &error), KBASS_ERROR_FILE);
    CHECK(strstr(error.message, "No space left") != NULL);
    assert_int_equal(kbass_file_write("/dev/null", 3, "one", &error), KBASS_OK);
    assert_int_equal(kbass_file_write("/dev/fd/999999", 3, "one", &error), KBASS_ERROR_FILE);
    assert_int_equal(count_files(), 0);
}

static void test_without_memory(void **state)
{
    (void)state;
    kbass_error error;
    put("kept", "old");
    for (long n = 0;; n++) {
        kb_memory_fail_after(n);
        kbass_status status = kbass_file_write(in_folder("kept"), 3, "new", &error);
        kb_memory_fail_after(-1);
        check_text("kept", status == KBASS_OK ? "new" : "old");
        assert_int_equal(count_files(), 1);
        if (status == KBASS_OK) break;
        assert_int_equal(status, KBASS_ERROR_MEMORY);
    }
    unlink(in_folder("kept"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_new_and_old), cmocka_unit_test(test_links),
                                       cmocka_unit_test(test_given_up), cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_without_memory)};
    if (!mkdtemp(folder)) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
