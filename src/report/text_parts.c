#include "report/text_parts.h"

#include <math.h>
#include <string.h>

const char *kb_text_bold(const kb_text_page *to, bool on) { return !to->has_bold ? "" : on ? "\033[1m" : "\033[0m"; }

/* ---------------------------------------------------------------- numbers */

/* Decimals that show two significant digits of sd. */
static int decimals_of(double sd) { return 1 - (int)floor(log10(sd)); }

/* `value` to the precision that `sd` gives it; without an sd, six significant digits. */
void kb_text_number(double value, double sd, char text[KB_TEXT_NUMBER])
{
    bool is_plain = fabs(value) < 1e6 && fabs(value) >= 1e-4;
    if (!(sd > 0) || !isfinite(sd) || !isfinite(value) || value == 0) {
        snprintf(text, KB_TEXT_NUMBER, "%.6g", value);
        return;
    }
    int decimals = decimals_of(sd);
    if (is_plain && decimals <= 12) {
        snprintf(text, KB_TEXT_NUMBER, "%.*f", decimals > 0 ? decimals : 0, value);
    } else {
        int digits = decimals + (int)floor(log10(fabs(value)));
        snprintf(text, KB_TEXT_NUMBER, "%.*e", digits < 1 ? 1 : digits > 14 ? 14 : digits, value);
    }
}

void kb_text_sd(double sd, char text[KB_TEXT_NUMBER])
{
    if (!isfinite(sd)) snprintf(text, KB_TEXT_NUMBER, "-");
    else if (sd == 0) snprintf(text, KB_TEXT_NUMBER, "0");
    else if (sd >= 1e-4 && sd < 1e6)
        snprintf(text, KB_TEXT_NUMBER, "%.*f", decimals_of(sd) > 0 ? decimals_of(sd) : 0, sd);
    else snprintf(text, KB_TEXT_NUMBER, "%.1e", sd);
}

/* Never "1" or "0": only the models that were compared are in it. */
void kb_text_probability(double p, char text[KB_TEXT_NUMBER])
{
    if (!isfinite(p)) snprintf(text, KB_TEXT_NUMBER, "-");
    else if (p > 0.999) snprintf(text, KB_TEXT_NUMBER, ">0.999");
    else if (p < 0.001) snprintf(text, KB_TEXT_NUMBER, "<0.001");
    else snprintf(text, KB_TEXT_NUMBER, "%.3f", p);
}

/* Two numbers that differ clearly in their size: "1 : 7.4" */
void kb_text_odds(double log_odds, char text[KB_TEXT_NUMBER])
{
    double ratio = exp(fmin(fabs(log_odds), 300));
    const char *format = log_odds <= 0 ? "1 : %.*f" : "%.*f : 1";
    if (ratio < 1e6) snprintf(text, KB_TEXT_NUMBER, format, ratio < 100 ? 1 : 0, ratio);
    else snprintf(text, KB_TEXT_NUMBER, log_odds <= 0 ? "1 : %.1e" : "%.1e : 1", ratio);
}

/* ---------------------------------------------------------------- equations */

const char *kb_text_face(const kbass_term *term) { return term->form ? term->form : term->term; }

bool kb_text_is_definition(const kbass_equation *equation)
{
    return equation->known && equation->n_terms == 1 && !strcmp(equation->terms[0].term, equation->lhs);
}

/* A sum, or a product that begins with a number, needs parentheses behind a weight. */
static bool needs_parentheses(const char *term)
{
    int depth = 0;
    if (*term >= '0' && *term <= '9') return true;
    for (const char *c = term; *c; c++) {
        if (*c == '(') depth++;
        if (*c == ')') depth--;
        if (depth == 0 && (*c == '+' || *c == '-')) return true;
    }
    return false;
}

/* "- 2.497 x^2*y"; the first term of an equation keeps its sign close: "-0.9996 x" */
static void format_term(const kbass_term *term, bool is_first, char *text, size_t size)
{
    char number[KB_TEXT_NUMBER];
    const char *name = kb_text_face(term);
    bool is_constant = !strcmp(name, "1"), wraps = needs_parentheses(name);
    bool is_unit = fabs(term->weight) == 1 && term->sd == 0 && !is_constant;
    kb_text_number(fabs(term->weight), term->sd, number);
    const char *sign = term->weight < 0 ? (is_first ? "-" : "- ") : is_first ? " " : "+ ";
    if (is_constant) snprintf(text, size, "%s%s", sign, number);
    else
        snprintf(text, size, "%s%s%s%s%s%s", sign, is_unit ? "" : number, is_unit ? "" : " ", wraps ? "(" : "", name,
                 wraps ? ")" : "");
    if (term->verdict == KBASS_UNDECIDED && strlen(text) + 2 < size) strcat(text, "?");
}

static void print_equation(const kb_text_page *to, const kbass_equation *equation, int lhs_width)
{
    size_t n_shown = 0;
    int column = fprintf(to->out, "  %s%*s =", kb_text_bold(to, true), lhs_width, equation->lhs) -
                 (int)strlen(kb_text_bold(to, true));
    int indent = column + 1;
    for (size_t i = 0; i < equation->n_terms; i++) {
        char text[400];
        if (!equation->terms[i].selected) continue;
        format_term(&equation->terms[i], n_shown == 0, text, sizeof text);
        if (column + 1 + (int)strlen(text) > KB_TEXT_WIDTH && n_shown) {
            fprintf(to->out, "\n%*s", indent, "");
            column = indent;
        }
        column += fprintf(to->out, " %s", text);
        n_shown++;
    }
    fprintf(to->out, "%s%s%s\n", n_shown ? "" : "  0", kb_text_bold(to, false), equation->known ? "   (given)" : "");
}

const char *kb_text_lhs(const kbass_data *data, const kbass_result *result, size_t state)
{
    const char *name = kbass_data_state_name(data, state);
    size_t length = strlen(name);
    for (size_t i = 0; i < result->n_equations; i++)
        if (!strncmp(result->equations[i].lhs, name, length) && result->equations[i].lhs[length] == '_')
            return result->equations[i].lhs;
    return name;
}

int kb_text_widest_lhs(const kbass_result *result)
{
    size_t width = 0;
    for (size_t i = 0; i < result->n_equations; i++)
        if (strlen(result->equations[i].lhs) > width) width = strlen(result->equations[i].lhs);
    return (int)width;
}

void kb_text_equations(const kb_text_page *to, const kbass_result *result)
{
    for (size_t i = 0; i < result->n_equations; i++)
        if (!kb_text_is_definition(&result->equations[i]))
            print_equation(to, &result->equations[i], kb_text_widest_lhs(result));
}

/* "-1.05 to -0.95" */
void kb_text_interval(const kbass_term *term, char text[2 * KB_TEXT_NUMBER + 4])
{
    char low[KB_TEXT_NUMBER], high[KB_TEXT_NUMBER];
    kb_text_number(term->low, term->sd, low);
    kb_text_number(term->high, term->sd, high);
    if (isfinite(term->sd)) snprintf(text, 2 * KB_TEXT_NUMBER + 4, "%s to %s", low, high);
    else snprintf(text, 2 * KB_TEXT_NUMBER + 4, "-");
}

void kb_text_wrapped(const kb_text_page *to, int indent, const char *text)
{
    int column = 0;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column && column + 1 + (int)length > KB_TEXT_WIDTH) column = 0, fputc('\n', to->out);
        column += fprintf(to->out, "%*s%.*s", column ? 1 : indent, "", (int)length, text);
        text += length + strspn(text + length, " ");
    }
    fputc('\n', to->out);
}
