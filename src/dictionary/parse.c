/* From text to a poly, by recursive descent:
 *
 *     sum     = product { (+ | -) product }
 *     product = signed { (* | /) signed }
 *     signed  = (+ | -) signed | power
 *     power   = primary [ ^ signed ]
 *     primary = number | variable | function ( sum { , sum } ) | ( sum )
 *
 * min, step and other newer functions may be names of variables too: a bracket behind the name makes the function.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/status.h"
#include "dictionary/algebra.h"
#include "dictionary/text.h"

enum { LONGEST_TEXT = 8192, LONGEST_SUM = 13, DEEPEST = 100, QUOTED = 60, WORD_SIZE = 64 }; /* 2^13 characters */

typedef struct {
    kb_arena *arena;
    kb_variables variables;
    const char *text;
    size_t position;
    size_t depth;
    kbass_status status;
    kbass_error *error;
} parser;

static const kb_poly *parse_sum(parser *p);
static const kb_poly *parse_signed(parser *p);

/* ---------------------------------------------------------------- refusals */

__attribute__((format(printf, 3, 4))) static const kb_poly *refuse(parser *p, size_t position, const char *format, ...)
{
    char message[sizeof p->error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    bool is_short = strlen(p->text) <= QUOTED;
    p->status = is_short ? kb_text_fail(p->error, p->text, position, "%s in \"%s\"", message, p->text)
                         : kb_text_fail(p->error, p->text, position, "%s", message);
    return NULL;
}

/* The character at the position as the reader sees it, with all bytes of its UTF-8 sequence. */
static void describe(const char *text, char found[WORD_SIZE])
{
    unsigned char c = (unsigned char)*text;
    int n = 1;
    while (c >= 0xc2 && n < 4 && ((unsigned char)text[n] & 0xc0) == 0x80) n++;
    if (!c) snprintf(found, WORD_SIZE, "the end");
    else if ((c >= ' ' && c < 0x7f) || n > 1) snprintf(found, WORD_SIZE, "\"%.*s\"", n, text);
    else snprintf(found, WORD_SIZE, "the byte 0x%02x", c);
}

static const kb_poly *refuse_found(parser *p, const char *needed)
{
    char found[WORD_SIZE];
    describe(p->text + p->position, found);
    return refuse(p, p->position, "found %s, needed %s", found, needed);
}

kbass_status kb_arena_fail(const kb_arena *arena, const char *text, size_t position, kbass_error *error)
{
    switch (arena->problem) {
    case KB_NO_MEMORY: return kb_out_of_memory(error, "an expression");
    case KB_TOO_LARGE:
        return kb_text_fail(error, text, position, "\"%.*s\" multiplies out to more than %d terms or powers above %d",
                            QUOTED, text, KB_EXPANSION_LIMIT, KB_EXPANSION_POWER);
    default: return kb_text_fail(error, text, position, "a number in \"%.*s\" is not finite", QUOTED, text);
    }
}

/* Hands on a result of the algebra; `position` is where the operation stands. */
static const kb_poly *checked(parser *p, size_t position, const kb_poly *result)
{
    if (!result && p->status == KBASS_OK) p->status = kb_arena_fail(p->arena, p->text, position, p->error);
    return result;
}

/* ---------------------------------------------------------------- tokens */

static char peek(parser *p)
{
    while (kb_is_blank(p->text[p->position])) p->position++;
    return p->text[p->position];
}

static bool take(parser *p, char symbol)
{
    if (peek(p) != symbol) return false;
    p->position++;
    return true;
}

static size_t digits(const char *text)
{
    size_t n = 0;
    while (kb_is_digit(text[n])) n++;
    return n;
}

/* The length of the number at the text; 0 when there is none. */
static size_t number_length(const char *text)
{
    size_t whole = digits(text), length = whole;
    if (text[length] == '.') length += 1 + digits(text + length + 1);
    if (length == 0 || (whole == 0 && length == 1)) return 0;
    if (text[length] != 'e' && text[length] != 'E') return length;
    size_t sign = text[length + 1] == '-' || text[length + 1] == '+';
    size_t exponent = digits(text + length + 1 + sign);
    return exponent ? length + 1 + sign + exponent : length;
}

static const kb_poly *parse_number(parser *p)
{
    size_t start = p->position, length = number_length(p->text + start);
    double number = NAN;
    if (!length) return refuse_found(p, "a number, a name or \"(\"");
    char *digits_only = kb_arena_allocate(p->arena, length + 1);
    if (!digits_only) return checked(p, start, NULL);
    memcpy(digits_only, p->text + start, length);
    digits_only[length] = '\0';
    p->position += length;
    if (!kb_number_parse(digits_only, &number) || !isfinite(number))
        return refuse(p, start, "the number \"%.*s\" is too large", QUOTED, digits_only);
    return checked(p, start, kb_poly_number(p->arena, number));
}

static size_t find(const char *word, size_t length, size_t n, const char *const *names)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(names[i]) == length && !memcmp(names[i], word, length)) return i;
    return n;
}

/* ---------------------------------------------------------------- names */

/* Functions that stand for longer expressions. */
enum { HILL, MONOD, N_FORMS };
static const char *const form_names[N_FORMS] = {"hill", "monod"};
enum { PAIRS = KB_FUNCTION_COUNT, FORMS = PAIRS + KB_PAIR_COUNT, N_CALLS = FORMS + N_FORMS };

/* One list of everything that can be called: functions of one argument, pairs, forms. */
static void list_calls(const char *names[N_CALLS])
{
    memcpy(names, kb_function_names, KB_FUNCTION_COUNT * sizeof *names);
    memcpy(names + PAIRS, kb_pair_names, KB_PAIR_COUNT * sizeof *names);
    memcpy(names + FORMS, form_names, N_FORMS * sizeof *names);
}

static const kb_poly *refuse_name(parser *p, size_t start, size_t length, bool is_call)
{
    char word[WORD_SIZE], advice[240];
    const char *kind = is_call ? "function" : "name", *calls[N_CALLS];
    size_t n = is_call ? N_CALLS : p->variables.n;
    const char *const *names = is_call ? calls : p->variables.names;
    list_calls(calls);
    snprintf(word, sizeof word, "%.*s", (int)length, p->text + start);
    kb_name_advice(word, n, names, advice, sizeof advice);
    p->status =
        kb_text_fail(p->error, p->text, start, "unknown %s \"%s\" in \"%.*s\"%s", kind, word, QUOTED, p->text, advice);
    return NULL;
}

static size_t count_arguments(size_t call)
{
    if (call < PAIRS) return 1;
    return call == FORMS + HILL ? 3 : 2;
}

/* monod(x, K) = x/(K + x), hill(x, K, n) = x^n/(K^n + x^n) */
static const kb_poly *call_of(kb_arena *arena, size_t call, const kb_poly *const *arguments)
{
    const kb_poly *x = arguments[0], *level = arguments[1];
    if (call < PAIRS) return kb_poly_function(arena, call, x);
    if (call < FORMS) return kb_poly_pair(arena, call - PAIRS, x, level);
    if (call == FORMS + HILL) {
        x = kb_poly_power(arena, x, arguments[2]);
        level = kb_poly_power(arena, level, arguments[2]);
    }
    return kb_poly_divide(arena, x, kb_poly_add(arena, level, x));
}

static const kb_poly *parse_call(parser *p, size_t call)
{
    size_t start = p->position, n = count_arguments(call);
    const kb_poly *arguments[3] = {NULL};
    if (!take(p, '(')) return refuse_found(p, "\"(\" after the name of a function");
    for (size_t i = 0; i < n; i++) {
        if (i && !take(p, ','))
            return refuse_found(p, n == 2 ? "a comma and the second of two arguments"
                                          : "a comma and the next of three arguments");
        arguments[i] = parse_sum(p);
        if (!arguments[i]) return NULL;
    }
    if (!take(p, ')'))
        return refuse_found(p, n == 1 ? "\")\" after the function's argument" : "\")\" after the function's arguments");
    return checked(p, start, call_of(p->arena, call, arguments));
}

static const kb_poly *parse_name(parser *p)
{
    size_t start = p->position, length = 0;
    const char *word = p->text + start, *calls[N_CALLS];
    while (kb_is_letter(word[length]) || kb_is_digit(word[length])) length++;
    p->position += length;
    list_calls(calls);
    size_t call = find(word, length, N_CALLS, calls), variable = find(word, length, p->variables.n, p->variables.names);
    bool is_call = peek(p) == '(', is_variable = variable < p->variables.n;
    if (call < N_CALLS && (is_call || !is_variable)) return parse_call(p, call);
    if (!is_variable) return refuse_name(p, start, length, is_call);
    if (is_call) return refuse_found(p, "an operator (products are written with *)");
    return checked(p, start, kb_poly_variable(p->arena, variable));
}

/* ---------------------------------------------------------------- grammar */

static const kb_poly *parse_primary(parser *p)
{
    if (kb_is_letter(peek(p))) return parse_name(p);
    if (!take(p, '(')) return parse_number(p);
    const kb_poly *inside = parse_sum(p);
    if (inside && !take(p, ')')) return refuse_found(p, "an operator or \")\"");
    return inside;
}

static const kb_poly *parse_power(parser *p)
{
    const kb_poly *base = parse_primary(p);
    size_t position = p->position;
    if (!base || !take(p, '^')) return base;
    const kb_poly *exponent = parse_signed(p);
    return exponent ? checked(p, position, kb_poly_power(p->arena, base, exponent)) : NULL;
}

/* Every nesting passes here, so that the depth of the recursion is known. */
static const kb_poly *parse_signed(parser *p)
{
    const kb_poly *result = NULL;
    if (++p->depth > DEEPEST) return refuse(p, p->position, "nested more than %d deep", DEEPEST);
    bool is_negative = peek(p) == '-';
    if (take(p, '-') || take(p, '+')) result = parse_signed(p);
    else result = parse_power(p);
    p->depth--;
    return result && is_negative ? checked(p, p->position, kb_poly_scale(p->arena, result, -1)) : result;
}

static const kb_poly *parse_product(parser *p)
{
    const kb_poly *result = parse_signed(p);
    for (char symbol = peek(p); result && (symbol == '*' || symbol == '/'); symbol = peek(p)) {
        size_t position = p->position++;
        if (p->text[p->position] == '*') return refuse_found(p, "a factor (powers are written with ^)");
        const kb_poly *right = parse_signed(p);
        if (!right) return NULL;
        result = symbol == '*' ? kb_poly_multiply(p->arena, result, right) : kb_poly_divide(p->arena, result, right);
        checked(p, position, result);
    }
    return result;
}

/* The terms so far: slot k holds the sum of 2^k of them where bit k of n is set. Long sums are added up in pairs of the
   same length: one after the other would copy the whole sum for each term. */
typedef struct {
    size_t n;
    const kb_poly *slots[LONGEST_SUM];
} terms;

static const kb_poly *add_term(parser *p, size_t position, terms *t, const kb_poly *term)
{
    size_t slot = 0;
    for (; term && t->n >> slot & 1; slot++) term = checked(p, position, kb_poly_add(p->arena, t->slots[slot], term));
    t->slots[slot] = term;
    t->n++;
    return term;
}

static const kb_poly *add_up(parser *p, const terms *t)
{
    const kb_poly *sum = NULL;
    for (size_t slot = 0; t->n >> slot; slot++) {
        if (!(t->n >> slot & 1)) continue;
        sum = sum ? checked(p, p->position, kb_poly_add(p->arena, t->slots[slot], sum)) : t->slots[slot];
        if (!sum) return NULL;
    }
    return sum;
}

static const kb_poly *parse_sum(parser *p)
{
    terms t = {0};
    const kb_poly *term = add_term(p, p->position, &t, parse_product(p));
    for (char symbol = peek(p); term && (symbol == '+' || symbol == '-'); symbol = peek(p)) {
        size_t position = p->position++;
        term = parse_product(p);
        if (term && symbol == '-') term = checked(p, position, kb_poly_scale(p->arena, term, -1));
        if (term) term = add_term(p, position, &t, term);
    }
    return term ? add_up(p, &t) : NULL;
}

kbass_status kb_poly_parse(kb_arena *arena, const char *text, kb_variables variables, const kb_poly **out,
                           kbass_error *error)
{
    parser p = {arena, variables, text, 0, 0, KBASS_OK, error};
    size_t length = strnlen(text, LONGEST_TEXT + 1);
    if (length > LONGEST_TEXT)
        return kb_text_fail(error, text, LONGEST_TEXT, "the expression \"%.*s...\" has more than %d characters", QUOTED,
                            text, LONGEST_TEXT);
    const kb_poly *result = parse_sum(&p);
    if (result && peek(&p)) result = refuse_found(&p, "an operator or the end");
    if (result) *out = result;
    return p.status;
}
