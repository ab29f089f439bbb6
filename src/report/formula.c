#include "report/formula.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

/* ---------------------------------------------------------------- languages */

/* In the order of KB_FUNCTION_TABLE; `f` stands before names that all languages share. */
#define CALLS(f, abs, asin, acos, atan, sign, step)                                                                    \
    {                                                                                                                  \
        {f "sin(", ")"}, {f "cos(", ")"}, {f "tan(", ")"}, {f "exp(", ")"}, {f "log(", ")"}, {f "sqrt(", ")"},         \
            {abs, ")"}, {f "tanh(", ")"}, {f "sinh(", ")"}, {f "cosh(", ")"}, {asin, ")"}, {acos, ")"}, {atan, ")"},   \
            sign, step, {f "erf(", ")"},                                                                               \
        {                                                                                                              \
            f "floor(", ")"                                                                                            \
        }                                                                                                              \
    }
#define CALL(open, close)                                                                                              \
    {                                                                                                                  \
        open, close                                                                                                    \
    }
#define PLAIN_CALLS CALLS("", "abs(", "asin(", "acos(", "atan(", CALL("sign(", ")"), CALL("step(", ")"))
#define PLAIN_PAIRS                                                                                                    \
    {                                                                                                                  \
        {"min(", ")"}, { "max(", ")" }                                                                                 \
    }
#define FUNCTION_WORDS                                                                                                 \
    "sinh", "cosh", "asin", "acos", "atan", "sign", "step", "erf", "floor", "min", "max", "fmin", "fmax", "copysign"

static const char *const python_words[] = {
    "False",    "None",   "True",  "and",  "as",     "assert",   "async",     "await",   "break", "class",
    "continue", "def",    "del",   "elif", "else",   "except",   "finally",   "for",     "from",  "global",
    "if",       "import", "in",    "is",   "lambda", "nonlocal", "not",       "or",      "pass",  "raise",
    "return",   "try",    "while", "with", "yield",  "sp",       "equations", "initial", "span",  NULL};
static const char *const julia_words[] = {
    "baremodule", "begin",  "break",   "catch",     "const",    "continue", "do",  "else",   "elseif", "end",
    "export",     "false",  "finally", "for",       "function", "global",   "if",  "import", "let",    "local",
    "macro",      "module", "quote",   "return",    "struct",   "true",     "try", "using",  "while",  "D",
    "pi",         "im",     "system",  "equations", "initial",  "span",     NULL};
static const char *const matlab_words[] = {
    "break",    "case",   "catch", "classdef",  "continue",       "else",        "elseif", "end",    "for",
    "function", "global", "if",    "otherwise", "parfor",         "persistent",  "return", "spmd",   "switch",
    "try",      "while",  "do",    "until",     "unwind_protect", "endfunction", "endif",  "endfor", "endwhile",
    "state",    "rate",   "zeros", "size",      FUNCTION_WORDS,   NULL};
static const char *const c_words[] = {
    "auto",   "break",    "case",     "char",      "const",   "continue",     "default", "do",     "double",
    "else",   "enum",     "extern",   "float",     "for",     "goto",         "if",      "inline", "int",
    "long",   "register", "restrict", "return",    "short",   "signed",       "sizeof",  "static", "struct",
    "switch", "typedef",  "union",    "unsigned",  "void",    "volatile",     "while",   "bool",   "true",
    "false",  "alignas",  "alignof",  "constexpr", "nullptr", "typeof",       "asm",     "size_t", "pow",
    "fabs",   "state",    "rate",     "n",         "i",       FUNCTION_WORDS, NULL};

const kb_language kb_plain = {"*", "/", {"", "^", ""}, {"(", ")"}, PLAIN_CALLS, PLAIN_PAIRS, "", NULL};
const kb_language kb_sympy = {
    "*",
    "/",
    {"", "**", ""},
    {"(", ")"},
    CALLS("sp.", "sp.Abs(", "sp.asin(", "sp.acos(", "sp.atan(", CALL("sp.sign(", ")"), CALL("sp.Heaviside(", ", 1)")),
    {{"sp.Min(", ")"}, {"sp.Max(", ")"}},
    "#",
    python_words};
const kb_language kb_julia = {
    "*",
    "/",
    {"", "^", ""},
    {"(", ")"},
    CALLS("", "abs(", "asin(", "acos(", "atan(", CALL("sign(", ")"), CALL("ifelse((", ") >= 0, 1.0, 0.0)")),
    PLAIN_PAIRS,
    "#",
    julia_words};
const kb_language kb_matlab = {
    ".*",
    "./",
    {"", ".^", ""},
    {"(", ")"},
    CALLS("", "abs(", "asin(", "acos(", "atan(", CALL("sign(", ")"), CALL("double((", ") >= 0)")),
    PLAIN_PAIRS,
    "%",
    matlab_words};
const kb_language kb_c = {
    "*",
    "/",
    {"pow(", ", ", ")"},
    {"(", ")"},
    CALLS("", "fabs(", "asin(", "acos(", "atan(", CALL("kbass_sign(", ")"), CALL("(double)((", ") >= 0)")),
    {{"fmin(", ")"}, {"fmax(", ")"}},
    "//",
    c_words};
#define LATEX(name)                                                                                                    \
    {                                                                                                                  \
        name "\\left(", "\\right)"                                                                                     \
    }
const kb_language kb_latex = {"\\, ",
                              NULL,
                              {"", "^{", "}"},
                              {"\\left(", "\\right)"},
                              {LATEX("\\sin"),
                               LATEX("\\cos"),
                               LATEX("\\tan"),
                               LATEX("\\exp"),
                               LATEX("\\log"),
                               {"\\sqrt{", "}"},
                               {"\\left|", "\\right|"},
                               LATEX("\\tanh"),
                               LATEX("\\sinh"),
                               LATEX("\\cosh"),
                               LATEX("\\arcsin"),
                               LATEX("\\arccos"),
                               LATEX("\\arctan"),
                               LATEX("\\operatorname{sign}"),
                               LATEX("\\operatorname{step}"),
                               LATEX("\\operatorname{erf}"),
                               {"\\left\\lfloor ", "\\right\\rfloor"}},
                              {LATEX("\\min"), LATEX("\\max")},
                              "%",
                              NULL};

/* ---------------------------------------------------------------- polys */

typedef struct {
    kb_buffer *out;
    const kb_language *language;
    const char *const *names;
} writer;

static void put_poly(const writer *w, const kb_poly *a);

static void put_bracketed(const writer *w, const kb_poly *a, bool is_needed)
{
    if (is_needed) kb_buffer_put(w->out, w->language->brackets.open);
    put_poly(w, a);
    if (is_needed) kb_buffer_put(w->out, w->language->brackets.close);
}

static bool is_plain(const kb_poly *a)
{
    double number;
    if (kb_poly_is_number(a, &number)) return number >= 0;
    if (a->n != 1 || a->terms[0].n != 1 || a->terms[0].coefficient != 1) return false;
    const kb_factor *only = a->terms[0].factors;
    return only->exponent == 1 && only->atom->kind != KB_GROUP && only->atom->kind != KB_POWER;
}

static bool has_calls(const kb_language *language) { return *language->raise[0] != '\0'; }

static void put_power(const writer *w, const kb_poly *base, const kb_poly *exponent)
{
    bool is_closed = *w->language->raise[2] != '\0'; /* the exponent stands within brackets already */
    kb_buffer_put(w->out, w->language->raise[0]);
    put_bracketed(w, base, !is_plain(base) && !has_calls(w->language));
    kb_buffer_put(w->out, w->language->raise[1]);
    put_bracketed(w, exponent, !is_plain(exponent) && !is_closed);
    kb_buffer_put(w->out, w->language->raise[2]);
}

static void put_atom(const writer *w, const kb_atom *atom)
{
    switch (atom->kind) {
    case KB_VARIABLE: kb_buffer_put(w->out, w->names[atom->index]); break;
    case KB_FUNCTION:
        kb_buffer_put(w->out, w->language->calls[atom->index].open);
        put_poly(w, atom->inside);
        kb_buffer_put(w->out, w->language->calls[atom->index].close);
        break;
    case KB_GROUP: put_bracketed(w, atom->inside, true); break;
    case KB_POWER: put_power(w, atom->inside, atom->exponent); break;
    case KB_PAIR:
        kb_buffer_put(w->out, w->language->pairs[atom->index].open);
        put_poly(w, atom->inside);
        kb_buffer_put(w->out, ", ");
        put_poly(w, atom->exponent);
        kb_buffer_put(w->out, w->language->pairs[atom->index].close);
        break;
    }
}

static void put_factor(const writer *w, const kb_factor *factor)
{
    double power = fabs(factor->exponent);
    bool is_bracketed = factor->atom->kind == KB_POWER && power != 1;
    if (power != 1) kb_buffer_put(w->out, w->language->raise[0]);
    if (is_bracketed) kb_buffer_put(w->out, w->language->brackets.open);
    put_atom(w, factor->atom);
    if (is_bracketed) kb_buffer_put(w->out, w->language->brackets.close);
    if (power == 1) return;
    kb_buffer_put(w->out, w->language->raise[1]);
    kb_buffer_number(w->out, power);
    kb_buffer_put(w->out, w->language->raise[2]);
}

static void put_factors(const writer *w, const kb_product *a, bool is_below, bool has_number)
{
    bool follows = has_number;
    for (size_t i = 0; i < a->n; i++) {
        if ((a->factors[i].exponent < 0) != is_below) continue;
        if (follows) kb_buffer_put(w->out, w->language->times);
        put_factor(w, &a->factors[i]);
        follows = true;
    }
}

/* The group below a fraction that is nothing else: its brackets are not needed. NULL when there is more. */
static const kb_poly *only_group_below(const kb_product *a)
{
    const kb_poly *group = NULL;
    for (size_t i = 0; i < a->n; i++) {
        const kb_factor *factor = &a->factors[i];
        if (factor->exponent >= 0) continue;
        if (group || factor->exponent != -1 || factor->atom->kind != KB_GROUP) return NULL;
        group = factor->atom->inside;
    }
    return group;
}

/* The product without its sign. */
static void put_product(const writer *w, const kb_product *a)
{
    size_t n_below = 0;
    for (size_t i = 0; i < a->n; i++) n_below += a->factors[i].exponent < 0;
    bool has_number = fabs(a->coefficient) != 1 || n_below == a->n, is_fraction = n_below && !w->language->over;
    if (is_fraction) kb_buffer_put(w->out, "\\frac{");
    if (has_number) kb_formula_number(w->out, w->language, fabs(a->coefficient));
    put_factors(w, a, false, has_number);
    if (!n_below) return;
    bool is_bracketed = !is_fraction && n_below > 1;
    kb_buffer_put(w->out, is_fraction ? "}{" : w->language->over);
    if (is_bracketed) kb_buffer_put(w->out, w->language->brackets.open);
    if (is_fraction && only_group_below(a)) put_poly(w, only_group_below(a));
    else put_factors(w, a, true, false);
    if (is_bracketed) kb_buffer_put(w->out, w->language->brackets.close);
    if (is_fraction) kb_buffer_put(w->out, "}");
}

static void put_poly(const writer *w, const kb_poly *a)
{
    if (!a->n) kb_buffer_put(w->out, "0");
    for (size_t i = 0; i < a->n; i++) {
        if (a->terms[i].coefficient < 0) kb_buffer_put(w->out, i ? " - " : "-");
        else if (i) kb_buffer_put(w->out, " + ");
        put_product(w, &a->terms[i]);
    }
}

void kb_formula_poly(kb_buffer *out, const kb_language *language, const char *const *names, const kb_poly *poly)
{
    writer w = {out, language, names};
    put_poly(&w, poly);
}

bool kb_formula_calls(const kb_poly *poly, size_t function)
{
    for (size_t i = 0; i < poly->n; i++)
        for (size_t j = 0; j < poly->terms[i].n; j++) {
            const kb_atom *atom = poly->terms[i].factors[j].atom;
            if (atom->kind == KB_FUNCTION && atom->index == function) return true;
            if (atom->inside && kb_formula_calls(atom->inside, function)) return true;
            if (atom->exponent && kb_formula_calls(atom->exponent, function)) return true;
        }
    return false;
}

bool kb_formula_is_sum(const kb_poly *poly) { return poly->n > 1 || (poly->n == 1 && poly->terms[0].coefficient < 0); }

bool kb_formula_is_one(const kb_poly *poly)
{
    double number;
    return kb_poly_is_number(poly, &number) && number == 1;
}

/* ---------------------------------------------------------------- numbers */

static void put_power_of_ten(kb_buffer *out, const kb_language *language, int power)
{
    if (power && language == &kb_latex) kb_buffer_print(out, " \\times 10^{%d}", power);
    else if (power) kb_buffer_print(out, "e%d", power);
}

void kb_formula_number(kb_buffer *out, const kb_language *language, double value)
{
    char text[KB_NUMBER_SIZE];
    kb_number_print(value, text);
    char *power = language == &kb_latex ? strchr(text, 'e') : NULL;
    int ten = 0;
    if (power && sscanf(power + 1, "%d", &ten) == 1) *power = '\0';
    kb_buffer_put(out, text);
    put_power_of_ten(out, language, ten);
}

static int decade(double value) { return (int)floor(log10(value)); }

/* value with so many decimals, whatever the locale */
static void put_decimals(kb_buffer *out, double value, int decimals)
{
    double scale = pow(10, decimals), whole = round(fabs(value) * scale);
    if (value < 0) kb_buffer_put(out, "-");
    kb_buffer_print(out, "%.0f", floor(whole / scale));
    if (decimals > 0) kb_buffer_print(out, ".%0*.0f", decimals, fmod(whole, scale));
}

void kb_formula_measured(kb_buffer *out, const kb_language *language, double value, double sd)
{
    enum { LOWEST = -3, HIGHEST = 5 }; /* decades written without a power of ten */
    double larger = fabs(value) > sd ? fabs(value) : sd;
    if (!(sd > 0 && isfinite(sd) && sd > 1e-12 * fabs(value) && larger < 1e300 && larger > 1e-290)) {
        char text[KB_NUMBER_SIZE];
        kb_number_round(value, 6, text);
        kb_number_parse(text, &value);
        kb_formula_number(out, language, value);
        return;
    }
    int power = decade(larger) < LOWEST || decade(larger) >= HIGHEST ? decade(larger) : 0;
    value /= pow(10, power);
    sd /= pow(10, power);
    int decimals = -decade(sd) + (sd / pow(10, decade(sd)) < 1.95);
    if (decimals < 0) { /* 1234(250) is 1200(300) */
        double unit = pow(10, -decimals);
        value = round(value / unit) * unit;
        sd = round(sd / unit) * unit;
        decimals = 0;
    }
    put_decimals(out, value, decimals);
    kb_buffer_print(out, "(%.0f)", round(sd * pow(10, decimals)));
    put_power_of_ten(out, language, power);
}
