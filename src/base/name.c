#include "base/name.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

enum { REPLACEMENT = 0xfffd };

static bool is_digit(unsigned c) { return c >= '0' && c <= '9'; }
static bool is_letter(unsigned c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool kb_is_identifier(const char *name)
{
    if (!*name || is_digit((unsigned char)*name)) return false;
    while (is_letter((unsigned char)*name) || is_digit((unsigned char)*name) || *name == '_') name++;
    return !*name;
}

bool kb_is_reserved(const char *name)
{
    static const char *const functions[] = {"sin", "cos", "tan", "exp", "log", "sqrt", "abs", "tanh"};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(name, functions[i]) == 0) return true;
    return !strcasecmp(name, "nan") || !strcasecmp(name, "inf") || !strcasecmp(name, "infinity");
}

/* ---------------------------------------------------------------- UTF-8 */

/* The bytes of the character at the front, 0 when they are no UTF-8. */
static size_t decode(const char *text, const char *end, uint32_t *code)
{
    const unsigned char *c = (const unsigned char *)text;
    size_t n = c[0] < 0x80                   ? 1
               : c[0] >= 0xc2 && c[0] < 0xe0 ? 2
               : c[0] >= 0xe0 && c[0] < 0xf0 ? 3
               : c[0] >= 0xf0 && c[0] < 0xf5 ? 4
                                             : 0;
    if (!n || (size_t)(end - text) < n) return 0;
    *code = n == 1 ? c[0] : c[0] & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((c[i] & 0xc0) != 0x80) return 0;
        *code = *code << 6 | (c[i] & 0x3f);
    }
    bool is_long = (n == 3 && *code < 0x800) || (n == 4 && *code < 0x10000);
    return is_long || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000) ? 0 : n;
}

/* Those that a terminal obeys, and those that turn the order of reading. */
static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200b && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

static bool is_utf8(const char *text)
{
    const char *end = text + strlen(text);
    uint32_t code;
    while (text < end) {
        size_t n = decode(text, end, &code);
        if (!n) return false;
        text += n;
    }
    return true;
}

void kb_text_disarm(char *text, bool keeps_lines)
{
    const char *end = text + strlen(text);
    char *to = text;
    for (const char *from = text; from < end;) {
        uint32_t code = 0;
        size_t n = decode(from, end, &code);
        bool is_kept = n && (!is_control(code) || (keeps_lines && (code == '\n' || code == '\t')));
        if (is_kept) memmove(to, from, n);
        else *to = '?';
        to += is_kept ? n : 1;
        from += n ? n : 1;
    }
    *to = '\0';
}

char *kb_face_copy(const char *text)
{
    bool is_latin = !is_utf8(text);
    char *copy = KB_NEW(char, 2 * strlen(text) + 1), *to = copy;
    if (!copy) return NULL;
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (!is_latin || *c < 0x80) {
            *to++ = (char)*c;
        } else {
            *to++ = (char)(0xc0 | *c >> 6);
            *to++ = (char)(0x80 | (*c & 0x3f));
        }
    }
    *to = '\0';
    kb_text_disarm(copy, false);
    return copy;
}

/* ---------------------------------------------------------------- identifiers */

/* What the character is in ASCII; NULL for those that only separate. */
static const char *spelled(uint32_t code, char single[2])
{
    static const char latin[] = "AAAAAA_CEEEEIIIIDNOOOOO_OUUUUY__aaaaaa_ceeeeiiiidnooooo_ouuuuy_y";
    static const char extended[] =
        "AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIiIiJjKkkLlLlLlLlLlNnNnNnnNnOoOoOoOoRrRrRr"
        "SsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs";
    static const char *const greek[] = {"Alpha",   "Beta", "Gamma", "Delta",  "Epsilon", "Zeta", "Eta",
                                        "Theta",   "Iota", "Kappa", "Lambda", "Mu",      "Nu",   "Xi",
                                        "Omicron", "Pi",   "Rho",   "Sigma",  "Sigma",   "Tau",  "Upsilon",
                                        "Phi",     "Chi",  "Psi",   "Omega"};
    static const char *const small_greek[] = {"alpha",   "beta", "gamma", "delta",  "epsilon", "zeta", "eta",
                                              "theta",   "iota", "kappa", "lambda", "mu",      "nu",   "xi",
                                              "omicron", "pi",   "rho",   "sigma",  "sigma",   "tau",  "upsilon",
                                              "phi",     "chi",  "psi",   "omega"};
    static const struct {
        uint32_t code;
        const char *text;
    } others[] = {{0xb5, "mu"}, {0xb2, "2"},  {0xb3, "3"},  {0xb9, "1"},  {0xc4, "Ae"},
                  {0xd6, "Oe"}, {0xdc, "Ue"}, {0xe4, "ae"}, {0xf6, "oe"}, {0xfc, "ue"},
                  {0xdf, "ss"}, {0xc6, "Ae"}, {0xe6, "ae"}, {0xde, "Th"}, {0xfe, "th"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].code == code) return others[i].text;
    single[0] = single[1] = '\0';
    if (is_letter(code) || is_digit(code)) single[0] = (char)code;
    else if (code >= 0xc0 && code < 0x100 && latin[code - 0xc0] != '_') single[0] = latin[code - 0xc0];
    else if (code >= 0x100 && code < 0x180) single[0] = extended[code - 0x100];
    else if (code >= 0x2080 && code <= 0x2089) single[0] = (char)('0' + code - 0x2080);
    else if (code >= 0x2074 && code <= 0x2079) single[0] = (char)('4' + code - 0x2074);
    else if (code >= 0x391 && code <= 0x3a9) return greek[code - 0x391];
    else if (code >= 0x3b1 && code <= 0x3c9) return small_greek[code - 0x3b1];
    return single[0] ? single : NULL;
}

void kb_identifier_of(const char *face, size_t length, char identifier[KB_IDENTIFIER_SIZE])
{
    const char *end = face + length;
    char single[2];
    size_t n = 0;
    bool is_apart = false; /* a separator waits for what follows it */
    if (length < KB_IDENTIFIER_SIZE) {
        memcpy(identifier, face, length);
        identifier[length] = '\0';
        if (kb_is_identifier(identifier)) return;
    }
    while (face < end) {
        uint32_t code = REPLACEMENT;
        size_t size = decode(face, end, &code);
        const char *text = spelled(code, single);
        face += size ? size : 1;
        if (!text) is_apart = true;
        if (!text) continue;
        bool needs_mark = n ? is_apart : is_digit((unsigned char)*text);
        if (n + needs_mark + strlen(text) >= KB_IDENTIFIER_SIZE) break;
        if (needs_mark) identifier[n++] = '_';
        memcpy(identifier + n, text, strlen(text));
        n += strlen(text);
        is_apart = false;
    }
    identifier[n] = '\0';
}

/* ---------------------------------------------------------------- units */

bool kb_looks_like_unit(const char *text, size_t length)
{
    static const char *const words[] = {"cells",   "counts", "percent", "hours",  "minutes",
                                        "seconds", "years",  "months",  "kelvin", "celsius"};
    size_t letters = 0, longest = 0;
    bool has_mark = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && strncasecmp(text, words[i], length) == 0) return true;
    for (size_t i = 0; i < length; i++) {
        letters = is_letter((unsigned char)text[i]) ? letters + 1 : 0;
        if (letters > longest) longest = letters;
        has_mark |= strchr("/^%*", text[i]) != NULL || (unsigned char)text[i] >= 0x80;
    }
    return length > 0 && length <= 24 && (has_mark ? longest <= 10 : longest >= 1 && longest <= 4);
}

static size_t trimmed(const char *face, size_t length)
{
    while (length && (face[length - 1] == ' ' || face[length - 1] == '_' || face[length - 1] == ',')) length--;
    return length;
}

/* Where the bracket that the face ends with begins; NULL when it does not end with one. */
static const char *find_bracket(const char *face, size_t length)
{
    char close = length ? face[length - 1] : '\0', open = close == ']' ? '[' : '(';
    size_t depth = 0;
    if (close != ']' && close != ')') return NULL;
    for (const char *c = face + length; c-- > face;) {
        if (*c == close) depth++;
        if (*c == open && --depth == 0) return c > face ? c : NULL;
    }
    return NULL;
}

/* x[1], r[1,2]: no units; but "Gain [1]", with a blank, has the unit of what has none. */
static bool is_index(const char *text, size_t length)
{
    bool is_near = text[-2] != ' ';
    for (size_t i = 0; i < length; i++) is_near = is_near && strchr("0123456789,", text[i]);
    return is_near;
}

/* V(out), I(R1) of circuit simulators; but V(mL), I(mA) and v(m/s) have units. */
static bool is_of_circuit(const char *face, const char *bracket, const char *text, size_t length)
{
    static const char *const units[] = {"V",  "mV", "kV", "uV", "A", "mA", "kA", "uA", "nA", "pA",   "L",
                                        "mL", "uL", "l",  "ml", "m", "mm", "km", "pu", "au", "a.u.", "arb"};
    if (bracket != face + 1 || !strchr("VvIi", *face)) return false;
    for (size_t i = 0; i < length; i++)
        if (strchr("/^%*", text[i]) || (unsigned char)text[i] >= 0x80) return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i]) == length && strncmp(text, units[i], length) == 0) return false;
    return true;
}

size_t kb_face_length(const char *face, const char **unit, size_t *unit_length)
{
    size_t length = trimmed(face, strlen(face));
    const char *bracket = find_bracket(face, length), *slash = strstr(face, " / ");
    *unit = "";
    *unit_length = 0;
    if (bracket) {
        *unit = bracket + 1;
        *unit_length = (size_t)(face + length - 1 - *unit);
        bool is_unit = *bracket == '[' ? *unit_length > 0 && !is_index(*unit, *unit_length)
                                       : kb_looks_like_unit(*unit, *unit_length) && !memchr(*unit, '[', *unit_length) &&
                                             !is_of_circuit(face, bracket, *unit, *unit_length);
        if (is_unit && trimmed(face, (size_t)(bracket - face))) return trimmed(face, (size_t)(bracket - face));
    } else if (slash && slash > face && slash + 3 < face + length && !strstr(slash + 1, " / ")) {
        *unit = slash + 3;
        *unit_length = (size_t)(face + length - *unit);
        if (kb_looks_like_unit(*unit, *unit_length)) return trimmed(face, (size_t)(slash - face));
    }
    *unit = "";
    *unit_length = 0;
    return length;
}

bool kb_face_is(const char *face, const char *asked)
{
    char identifier[KB_IDENTIFIER_SIZE];
    const char *unit;
    size_t unit_length, length = kb_face_length(face, &unit, &unit_length);
    if (strcasecmp(face, asked) == 0) return true;
    if (strlen(asked) == length && strncasecmp(face, asked, length) == 0) return true;
    kb_identifier_of(face, length, identifier);
    if (*identifier && strcasecmp(identifier, asked) == 0) return true;
    kb_identifier_of(face, strlen(face), identifier);
    return *identifier && strcasecmp(identifier, asked) == 0;
}
