/* Decimal numbers w 10^k read fast and rounded right: w < 10^19 fits 64 bits and 5^|k| does up to |k| = 27, so that
 * product and quotient are known exactly in 128 bits and rounded once. The bits that do not fit leave their mark in the
 * lowest one, which decides ties. */
#include <stdint.h>
#include <string.h>

#include "base/number.h"

enum { MOST_DIGITS = 19, MOST_FIVES = 27, MOST_TENS = 22, DOUBLE_BITS = 53, MOST_EXPONENT = 9999 };

__extension__ typedef unsigned __int128 wide;

static const uint64_t fives[MOST_FIVES + 1] = {1u,
                                               5u,
                                               25u,
                                               125u,
                                               625u,
                                               3125u,
                                               15625u,
                                               78125u,
                                               390625u,
                                               1953125u,
                                               9765625u,
                                               48828125u,
                                               244140625u,
                                               1220703125u,
                                               6103515625u,
                                               30517578125u,
                                               152587890625u,
                                               762939453125u,
                                               3814697265625u,
                                               19073486328125u,
                                               95367431640625u,
                                               476837158203125u,
                                               2384185791015625u,
                                               11920928955078125u,
                                               59604644775390625u,
                                               298023223876953125u,
                                               1490116119384765625u,
                                               7450580596923828125u};

static const double tens[MOST_TENS + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                           1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* 2^exponent, far from the ends of the range. */
static double power_of_two(int exponent)
{
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

static double multiplied(uint64_t w, int k)
{
    wide product = (wide)w * fives[k];
    uint64_t high = (uint64_t)(product >> 64);
    int shift = high ? 64 - __builtin_clzll(high) : 0;
    uint64_t top = (uint64_t)(product >> shift);
    if (product != (wide)top << shift) top |= 1;
    return (double)top * power_of_two(k + shift);
}

/* The quotient has at least 62 bits: both are shifted to the top of their words first. */
static double divided(uint64_t w, int k)
{
    int up = __builtin_clzll(w), divisor_up = __builtin_clzll(fives[k]);
    wide dividend = (wide)(w << up) << 63;
    uint64_t divisor = fives[k] << divisor_up;
    uint64_t quotient = (uint64_t)(dividend / divisor);
    if (dividend != (wide)quotient * divisor) quotient |= 1;
    return (double)quotient * power_of_two(divisor_up - up - 63 - k);
}

/* w 10^k; numbers and powers of ten that are doubles themselves need a single operation. */
static double scaled(uint64_t w, int k)
{
    if (w >> DOUBLE_BITS == 0 && k >= -MOST_TENS && k <= MOST_TENS)
        return k < 0 ? (double)w / tens[-k] : (double)w * tens[k];
    return k < 0 ? divided(w, -k) : multiplied(w, k);
}

static const char *scan_digits(const char *c, const char *end, uint64_t *w, int *n_digits)
{
    for (; c < end; c++) {
        unsigned digit = (unsigned)*c - '0';
        if (digit > 9) break;
        *w = 10 * *w + digit;
        *n_digits += *w != 0;
    }
    return c;
}

/* After the e; NULL when no digits follow. */
static const char *scan_exponent(const char *c, const char *end, int *exponent)
{
    bool is_negative = c < end && *c == '-';
    int value = 0;
    if (c < end && (*c == '-' || *c == '+')) c++;
    const char *first = c;
    for (; c < end && *c >= '0' && *c <= '9'; c++)
        if (value < MOST_EXPONENT) value = 10 * value + (*c - '0');
    *exponent += is_negative ? -value : value;
    return c > first ? c : NULL;
}

const char *kb_number_scan(const char *text, const char *end, char point, double *value)
{
    uint64_t w = 0;
    int n_digits = 0, k = 0;
    const char *c = text;
    bool is_negative = c < end && *c == '-';
    if (c < end && (*c == '-' || *c == '+')) c++;

    const char *first = c;
    c = scan_digits(c, end, &w, &n_digits);
    ptrdiff_t length = c - first;
    if (c < end && *c == point) {
        const char *fraction = ++c;
        c = scan_digits(c, end, &w, &n_digits);
        length += c - fraction;
        if (c - fraction > MOST_EXPONENT) return NULL;
        k = -(int)(c - fraction);
    }
    if (!length || n_digits > MOST_DIGITS) return NULL;
    if (c < end && (*c == 'e' || *c == 'E') && !(c = scan_exponent(c + 1, end, &k))) return NULL;
    if (w && (k > MOST_FIVES || k < -MOST_FIVES)) return NULL;
    double size = w ? scaled(w, k) : 0;
    *value = is_negative ? -size : size;
    return c;
}
