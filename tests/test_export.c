/* Exports, by a second road: each is compiled or run by the language's own tool and compared with our evaluation of the
   same terms. Tools that are missing here are skipped with a message. */
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "check.h"
#include "dictionary/expression.h"
#include "report/formula.h"

enum { N_POINTS = 4, MOST = 64 };
static char folder[] = "/tmp/kbass-export-XXXXXX";

/* ---------------------------------------------------------------- two result files */

/* States with names that the languages reserve; every function; quotients, powers, sums as terms. */
static const char *const ode_names[] = {"x", "lambda", "end", "int", "time"};
static const char *const ode_terms[][8] = {
    {"x^2*lambda", "sin(x)", "x/(1+lambda^2)", "exp(-x)*end", "1", NULL},
    {"abs(int)^1.5", "sqrt(abs(end))", "tanh(x*int)", "log(1+x^2)", "cos(time)", NULL},
    {"1/(x*end)", "(x+lambda)^2", "2^x", "tan(int/3)", "sinh(x)*cosh(end)", "erf(x)*floor(3*int)", NULL},
    {"x+sin(end)", "x^2/lambda^3", "(x^2)^lambda", "end/(x*(1+int)^2)", "sign(x-int)*max(x,end)",
     "step(x-2)*min(0.3,x)*atan(int)*asin(tanh(x))*acos(tanh(end))", NULL}};
static const double ode_weights[] = {1.5, -0.25, 1e-7, -3, 0.125, 1.0 / 3};
static const char ode_head[] =
    "{\"data\": {\"source\": \"odd \\\\ name\\n*/.csv\", \"sha256\": \"00\", \"states\": [\"x\", \"lambda\", \"end\", "
    "\"int\"], "
    "\"axes\": [\"time\"], \"time_name\": \"time\", \"first_time\": 0, \"last_time\": 2},\n"
    "\"initial\": {\"x\": 1, \"lambda\": 2, \"end\": 0.5, \"int\": 3}, \"windows\": 1, \"equations\": [";

/* A field and a potential over two axes; the second equation is only a number. */
static const char *const pde_names[] = {"u", "v1", "u_x", "u_xxy", "v1_yy", "t", "x"};
static const char *const pde_terms[][8] = {{"u*u_x", "u_xxy", "sin(x)*v1_yy", "t*u^2", NULL}, {"1", NULL}};
static const char pde_head[] =
    "{\"data\": {\"source\": \"\", \"sha256\": \"00\", \"states\": [\"u\", \"v1\"], \"axes\": [\"t\", \"x\", \"y\"], "
    "\"time_name\": \"t\", \"first_time\": 0, \"last_time\": 2}, \"initial\": null, \"equations\": [";

static void path_of(const char *name, char path[256]) { snprintf(path, 256, "%s/%s", folder, name); }

static void write_file(const char *name, const char *text)
{
    char path[256];
    path_of(name, path);
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0);
    fclose(file);
}

static void write_result(const char *name, const char *head, size_t n, const char *const (*terms)[8],
                         const char *const *lhs)
{
    char path[256];
    path_of(name, path);
    FILE *file = fopen(path, "w");
    CHECK(file);
    fputs(head, file);
    for (size_t i = 0; i < n; i++) {
        fprintf(file, "%s{\"lhs\": \"%s\", \"terms\": [", i ? ", " : "", lhs[i]);
        for (size_t j = 0; terms[i][j]; j++)
            fprintf(file, "%s{\"term\": \"%s\", \"weight\": %.17g, \"sd\": 0.03125, \"selected\": true}", j ? ", " : "",
                    terms[i][j], ode_weights[j]);
        fputs(", {\"term\": \"x\", \"weight\": 9, \"sd\": null, \"selected\": false}]}", file);
    }
    fputs("]}\n", file);
    fclose(file);
}

static const char *const ode_lhs[] = {"x_t", "lambda_t", "end_t", "int_t"}, *const pde_lhs[] = {"u_tt", "v1_tt"};

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    write_result("ode.json", ode_head, 4, ode_terms, ode_lhs);
    write_result("pde.json", pde_head, 2, pde_terms, pde_lhs);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* ---------------------------------------------------------------- our own evaluation */

static double coordinate(size_t point, size_t variable) { return 0.3 + 0.17 * (double)point + 0.41 * (double)variable; }

/* expected[point * n + equation] */
static void evaluate(size_t n, const char *const (*terms)[8], size_t n_names, const char *const *names,
                     double *expected)
{
    kbass_error error;
    double values[MOST], points[N_POINTS * MOST], work[1024];
    for (size_t p = 0; p < N_POINTS; p++)
        for (size_t v = 0; v < n_names; v++) points[p + v * N_POINTS] = coordinate(p, v);
    for (size_t i = 0; i < n; i++) {
        for (size_t p = 0; p < N_POINTS; p++) expected[p * n + i] = 0;
        for (size_t j = 0; terms[i][j]; j++) {
            kb_expression *term = NULL;
            CHECK_OK(kb_expression_parse(terms[i][j], (kb_variables){n_names, names}, &term, &error));
            CHECK(kb_expression_work(term, N_POINTS) <= 1024);
            kb_expression_values(term, N_POINTS, points, N_POINTS, values, work);
            for (size_t p = 0; p < N_POINTS; p++) expected[p * n + i] += ode_weights[j] * values[p];
            kb_expression_destroy(term);
        }
    }
}

/* Runs the command in the folder; it prints the numbers. */
static void check_output(const char *command, size_t n, const double *expected)
{
    char line[1200];
    double found = NAN;
    snprintf(line, sizeof line, "cd %s && %s", folder, command);
    FILE *pipe = popen(line, "r");
    CHECK(pipe);
    for (size_t i = 0; i < n; i++) {
        if (fscanf(pipe, "%lf", &found) != 1) fail_msg("%s: number %zu is missing", command, i);
        CHECK_CLOSE(found, expected[i],
                    1e-11 * (1 + fabs(expected[i]))); /* a few dozen roundings, weights of 15 digits */
    }
    CHECK(pclose(pipe) == 0);
}

static void check_ode(const char *command)
{
    double expected[N_POINTS * MOST];
    evaluate(4, ode_terms, 5, ode_names, expected);
    check_output(command, 4 * N_POINTS, expected);
}

static void check_pde(const char *command)
{
    double expected[N_POINTS * MOST];
    evaluate(2, pde_terms, 7, pde_names, expected);
    check_output(command, 2 * N_POINTS, expected);
}

static char *export_of(const char *result, const char *format)
{
    char path[256], *text = NULL;
    kbass_error error;
    path_of(result, path);
    CHECK_OK(kbass_export(path, format, NULL, NULL, &text, &error));
    return text;
}

static void export_to(const char *result, const char *format, const char *name)
{
    char *text = export_of(result, format);
    write_file(name, text);
    kbass_free(text);
}

static void needs(const char *test, const char *tool)
{
    char command[200];
    snprintf(command, sizeof command, "%s > /dev/null 2>&1", test);
    if (system(command) == 0) return;
    SKIP("%s is not here", tool);
}

/* ---------------------------------------------------------------- languages */

static void c_compiles_and_agrees(void **state)
{
    (void)state;
    needs("cc --version", "a C compiler");
    export_to("ode.json", "c", "ode.c");
    write_file("ode_main.c", "#include <stdio.h>\n#include \"ode.c\"\nint main(void)\n{\n"
                             "    for (int p = 0; p < 4; p++) {\n        double s[5], r[4];\n"
                             "        for (int v = 0; v < 5; v++) s[v] = 0.3 + 0.17 * p + 0.41 * v;\n"
                             "        kbass_rhs(s[4], s, r);\n"
                             "        for (int i = 0; i < 4; i++) printf(\"%.17g\\n\", r[i]);\n    }\n}\n");
    check_ode("cc -std=c17 -Wall -Wextra -Werror ode_main.c -o ode -lm && ./ode");

    export_to("pde.json", "c", "pde.c");
    write_file(
        "pde_main.c",
        "#include <stdio.h>\n#include \"pde.c\"\nint main(void)\n{\n    double a[7][4], r[2][4];\n"
        "    for (int p = 0; p < 4; p++)\n        for (int v = 0; v < 7; v++) a[v][p] = 0.3 + 0.17 * p + 0.41 * v;\n"
        "    kbass_rhs(4, a[0], a[1], a[2], a[4], a[3], a[5], a[6], r[0], r[1]);\n"
        "    for (int p = 0; p < 4; p++) printf(\"%.17g %.17g\\n\", r[0][p], r[1][p]);\n}\n");
    check_pde("cc -std=c17 -Wall -Wextra -Werror pde_main.c -o pde -lm && ./pde");
}

static void sympy_agrees(void **state)
{
    (void)state;
    needs("python3 -c 'import sympy'", "python3-sympy");
    export_to("ode.json", "sympy", "ode.py");
    write_file("ode_main.py", "from ode import *\nimport ode\nassert span == (0, 2) and initial[ode.x] == 1\n"
                              "states = [ode.x, ode.lambda_, ode.end, ode.int, ode.time]\nfor p in range(4):\n"
                              "    at = {s: sp.Float(0.3 + 0.17 * p + 0.41 * v) for v, s in enumerate(states)}\n"
                              "    for e in equations:\n        print(sp.N(e.rhs.xreplace(at), 17))\n");
    check_ode("python3 ode_main.py");

    export_to("pde.json", "sympy", "pde.py");
    write_file("pde_main.py", "from pde import *\nassert equations[0].lhs == u.diff(t, 2)\n"
                              "names = [u, v1, u.diff(x), u.diff(x, 2, y), v1.diff(y, 2), t, x]\nfor p in range(4):\n"
                              "    at = {s: sp.Float(0.3 + 0.17 * p + 0.41 * v) for v, s in enumerate(names)}\n"
                              "    for e in equations:\n        print(sp.N(sp.sympify(e.rhs).xreplace(at), 17))\n");
    check_pde("python3 pde_main.py");
}

static void octave_agrees(void **state)
{
    (void)state;
    needs("octave-cli --version", "octave");
    export_to("ode.json", "matlab", "kbass_rhs.m");
    write_file("ode_main.m", "for p = 0:3\n  s = 0.3 + 0.17*p + 0.41*(0:4)';\n"
                             "  printf('%.17g\\n', kbass_rhs(s(5), s(1:4)));\nend\n");
    check_ode("octave-cli -q ode_main.m 2> log");

    export_to("pde.json", "matlab", "kbass_rhs.m");
    write_file("pde_main.m", "a = 0.3 + 0.17*(0:3)' + 0.41*(0:6);\n"
                             "[f, g] = kbass_rhs(a(:,1), a(:,2), a(:,3), a(:,5), a(:,4), a(:,6), a(:,7));\n"
                             "for p = 1:4, printf('%.17g %.17g\\n', f(p), g(p)); end\n");
    check_pde("octave-cli -q pde_main.m 2> log");
}

static void latex_becomes_a_page(void **state)
{
    (void)state;
    needs("pdflatex --version", "pdflatex");
    export_to("ode.json", "latex", "ode.tex");
    export_to("pde.json", "latex", "pde.tex");
    write_file("page.tex",
               "\\documentclass{article}\n\\usepackage{amsmath}\n\\begin{document}\n\\input{ode}\n\\input{pde}\n"
               "\\end{document}\n");
    check_output("pdflatex -halt-on-error page.tex > log && test -s page.pdf", 0, NULL);
}

static void expect(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("\"%s\" is not in:\n%s", part, text);
}

static void latex_has_uncertainties_and_subscripts(void **state)
{
    (void)state;
    char *ode = export_of("ode.json", "latex"), *pde = export_of("pde.json", "latex");
    expect(ode, "\\frac{\\mathrm{d} x}{\\mathrm{d} \\mathrm{time}} &= 1.50(3)\\, x^{2}\\, \\lambda - 0.25(3)\\, "
                "\\sin\\left(x\\right)");
    expect(ode, "\\frac{x}{1 + \\lambda^{2}}");
    expect(ode, "\\left|\\mathrm{int}\\right|^{1.5}");
    expect(ode, "in \"odd \\ name?*/.csv\""); /* no line end within the comment */
    expect(pde, "\\frac{\\partial^{2} u}{\\partial t^{2}} &= 1.50(3)\\, u\\, u_{x} - 0.25(3)\\, u_{xxy}");
    expect(pde, "v_{1,yy}");
    kbass_free(ode);
    kbass_free(pde);
}

/* There is no Julia in Debian: only the text is looked at. */
static void julia_states_the_system(void **state)
{
    (void)state;
    char *text = export_of("ode.json", "julia");
    expect(text, "@variables x(time) lambda(time) end_(time) int(time)");
    expect(text, "D(x) ~ 1.5*x^2*lambda - 0.25*sin(x) + 1e-07*x/(1 + lambda^2)");
    expect(text, "initial = [x => 1, lambda => 2, end_ => 0.5, int => 3]");
    kbass_free(text);
}

static void csv_is_the_integrated_law(void **state)
{
    (void)state;
    write_file("decay.json",
               "{\"data\": {\"states\": [\"x\"], \"axes\": [\"s\"], \"time_name\": \"s\", \"first_time\": 1, "
               "\"last_time\": 3}, \"initial\": {\"x\": 2}, \"windows\": 1, \"equations\": [{\"lhs\": \"x_t\", "
               "\"terms\": [{\"term\": "
               "\"x\", \"weight\": -0.5, \"sd\": 0.1, \"selected\": true}]}]}");
    char *text = export_of("decay.json", "csv"), *last = strstr(text, "\n3,");
    CHECK(!strncmp(text, "s,x\n1,2\n", 8) && last);
    CHECK_CLOSE(strtod(last + 3, NULL), 2 * exp(-1), 1e-8); /* the integrator's tolerance */
    kbass_free(text);
}

/* ---------------------------------------------------------------- numbers, refusals, memory */

static void check_measured(double value, double sd, const char *expected)
{
    kb_buffer out = {0};
    kb_formula_measured(&out, &kb_plain, value, sd);
    CHECK_TEXT(out.text, expected);
    kb_buffer_clear(&out);
}

static void spreads_stand_in_parentheses(void **state)
{
    (void)state;
    check_measured(1.0712, 0.034, "1.07(3)");
    check_measured(1.0712, 0.0134, "1.071(13)");
    check_measured(-0.0248, 0.0017, "-0.0248(17)");
    check_measured(0.02, 0.3, "0.0(3)");
    check_measured(1234, 250, "1200(300)");
    check_measured(9.996, 0.03, "10.00(3)");
    check_measured(2.34e-7, 3e-8, "2.3(3)e-7");
    check_measured(123456789, 30000, "1.2346(3)e8");
    check_measured(0.12345678, NAN, "0.123457");
    check_measured(1, 0.0096, "1.000(10)");
}

static kbass_status try_export(const char *result, const char *format, const char *function, kbass_error *error)
{
    char path[256], *text = NULL;
    path_of(result, path);
    kbass_status status = kbass_export(path, format, function, NULL, &text, error);
    kbass_free(text);
    return status;
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    kbass_error error;
    CHECK_FAILS(try_export("ode.json", "latx", NULL, &error), KBASS_ERROR_ARGUMENT, "did you mean \"latex\"?");
    CHECK_FAILS(try_export("ode.json", "c", "1st", &error), KBASS_ERROR_ARGUMENT, "function name \"1st\"");
    CHECK_FAILS(try_export("none.json", "c", NULL, &error), KBASS_ERROR_FILE, "none.json");
    CHECK_FAILS(try_export("pde.json", "julia", NULL, &error), KBASS_ERROR_ARGUMENT, "boundary values");
    CHECK_FAILS(try_export("pde.json", "csv", NULL, &error), KBASS_ERROR_DATA, "what a field starts from");
    write_file("half.json", "{\"equations\": [{\"lhs\": \"x_t\", \"terms\": []}]}");
    CHECK_FAILS(try_export("half.json", "c", NULL, &error), KBASS_ERROR_DATA, "data.states");
    write_file(
        "odd.json",
        "{\"data\": {\"states\": [\"x\"], \"axes\": [\"t\"], \"first_time\": 0, \"last_time\": 1}, \"equations\": "
        "[{\"lhs\": \"x_t\", \"terms\": [{\"term\": \"x*q\", \"weight\": 1, \"selected\": true}]}]}");
    CHECK_FAILS(try_export("odd.json", "c", NULL, &error), KBASS_ERROR_SYNTAX, "odd.json");
    write_file(
        "other.json",
        "{\"data\": {\"states\": [\"x\"], \"axes\": [\"t\"], \"first_time\": 0, \"last_time\": 1}, \"equations\": "
        "[{\"lhs\": \"z_t\", \"terms\": []}]}");
    CHECK_FAILS(try_export("other.json", "c", NULL, &error), KBASS_ERROR_DATA, "\"z_t\"");
}

static void lack_of_memory_is_an_error(void **state)
{
    (void)state;
    static const char *const formats[] = {"latex", "sympy", "julia", "matlab", "c"};
    kbass_error error;
    for (size_t f = 0; f < 5; f++) {
        kbass_status status = KBASS_ERROR_MEMORY;
        for (long n = 0; status == KBASS_ERROR_MEMORY && n < 2000; n++) {
            kb_memory_fail_after(n);
            status = try_export("ode.json", formats[f], NULL, &error);
            kb_memory_fail_after(-1);
        }
        CHECK(status == KBASS_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c_compiles_and_agrees),
        cmocka_unit_test(sympy_agrees),
        cmocka_unit_test(octave_agrees),
        cmocka_unit_test(latex_becomes_a_page),
        cmocka_unit_test(latex_has_uncertainties_and_subscripts),
        cmocka_unit_test(julia_states_the_system),
        cmocka_unit_test(csv_is_the_integrated_law),
        cmocka_unit_test(spreads_stand_in_parentheses),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(lack_of_memory_is_an_error),
    };
    return RUN_TESTS(tests, set_up, tear_down);
}
