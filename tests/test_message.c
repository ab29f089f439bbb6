#include "base/memory.h"
#include "base/random.h"
#include "check.h"
#include "dense.h"
#include "weights/message.h"

enum { MOST = 10, ROWS = 30 };
static kbass_error error;

/* Columns made by hand: the first half belongs to equation 0, the rest to equation 1. */
typedef struct {
    kb_columns columns;
    kb_message *message;
    size_t equation[MOST];
    double log_odds[MOST], slab[MOST];
    bool required[MOST];
    double work[4 * MOST * MOST + 10 * MOST];
} fixture;

static void begin(fixture *f, size_t n, uint64_t seed)
{
    kb_random random;
    double X[ROWS * MOST], y[ROWS];
    *f = (fixture){0};
    f->columns = (kb_columns){
        .n = n, .equation = f->equation, .log_odds = f->log_odds, .required = f->required, .slab = f->slab};
    CHECK_OK(kb_message_create(n, &f->message, &error));
    kb_random_seed(&random, seed);
    for (size_t row = 0; row < ROWS; row++) y[row] = kb_random_normal(&random);
    for (size_t j = 0; j < n; j++) {
        double w = kb_random_uniform(&random) < 0.5 ? 2 * kb_random_normal(&random) : 0;
        for (size_t row = 0; row < ROWS; row++) {
            X[row + j * ROWS] = kb_random_normal(&random) + (j ? 0.5 * X[row + (j - 1) * ROWS] : 0);
            y[row] += w * X[row + j * ROWS];
        }
        f->equation[j] = j >= n / 2;
        f->slab[j] = 1 + kb_random_uniform(&random);
        f->log_odds[j] = -1 - kb_random_uniform(&random);
    }
    for (size_t j = 0; j < n; j++)
        for (size_t row = 0; row < ROWS; row++) {
            for (size_t i = 0; i < n; i++) f->message->G[i + j * n] += X[row + i * ROWS] * X[row + j * ROWS];
            f->message->b[j] += X[row + j * ROWS] * y[row];
        }
}

static void end(fixture *f) { kb_message_destroy(f->message); }

static void set_support(unsigned bits, size_t n, kb_support *support)
{
    support->n = 0;
    for (size_t j = 0; j < n; j++)
        if (bits >> j & 1) support->column[support->n++] = j;
}

static double evidence(fixture *f, const kb_support *support)
{
    return kb_message_evidence(f->message, &f->columns, support, NULL, f->work);
}

static double evidence_of(fixture *f, unsigned bits)
{
    size_t columns[MOST];
    kb_support support = {0, columns};
    set_support(bits, f->columns.n, &support);
    return evidence(f, &support);
}

/* ---------------------------------------------------------------- evidence */

/* b'(G+D)^{-1}b/2 - log|I + S G|/2 + odds, with I + S G as written: not symmetric, not factorised by Cholesky. */
static double dense_evidence(const fixture *f, const kb_support *s, double *mean)
{
    size_t k = s->n, n = f->columns.n;
    double A[MOST * MOST], B[MOST * MOST], sum = 0;
    for (size_t j = 0; j < k; j++) {
        for (size_t i = 0; i < k; i++) {
            double g = f->message->G[s->column[i] + s->column[j] * n];
            A[i + j * k] = g + (i == j ? 1 / f->slab[s->column[i]] : 0);
            B[i + j * k] = f->slab[s->column[i]] * g + (i == j ? 1 : 0);
        }
        mean[j] = f->message->b[s->column[j]];
        sum += f->log_odds[s->column[j]];
    }
    dense_solve(k, A, 1, mean);
    for (size_t j = 0; j < k; j++) sum += 0.5 * mean[j] * f->message->b[s->column[j]];
    return sum - 0.5 * dense_logdet(k, B);
}

static void test_evidence_dense(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        fixture f;
        size_t columns[MOST];
        double mean[MOST], expected_mean[MOST];
        kb_support support = {0, columns};
        begin(&f, 8, seed);
        for (unsigned bits = 0; bits < 256; bits++) {
            set_support(bits, 8, &support);
            double expected = dense_evidence(&f, &support, expected_mean);
            double found = kb_message_evidence(f.message, &f.columns, &support, mean, f.work);
            CHECK_CLOSE(found, expected, 1e-9 * (1 + fabs(expected))); /* 1e-12 of the diagonal, condition 100 */
            for (size_t j = 0; j < support.n; j++) CHECK_CLOSE(mean[j], expected_mean[j], 1e-9); /* likewise */
        }
        end(&f);
    }
}

/* exp(-w'Gw/2 + b'w) against the slab, by a plain sum over a grid. */
static void test_evidence_integral(void **state)
{
    fixture f;
    const double h = 0.01;
    double one = 0, two = 0;
    (void)state;
    begin(&f, 2, 4);
    double *G = f.message->G, *b = f.message->b;
    for (size_t i = 0; i < 4; i++) G[i] /= ROWS;
    for (size_t i = 0; i < 2; i++) b[i] /= ROWS;
    for (double x = -9; x <= 9; x += h) {
        double prior = exp(-0.5 * x * x / f.slab[0]) / sqrt(2 * M_PI * f.slab[0]);
        one += h * prior * exp(-0.5 * G[0] * x * x + b[0] * x);
        for (double y = -9; y <= 9; y += h) {
            double second = exp(-0.5 * y * y / f.slab[1]) / sqrt(2 * M_PI * f.slab[1]);
            two += h * h * prior * second *
                   exp(-0.5 * (G[0] * x * x + 2 * G[1] * x * y + G[3] * y * y) + b[0] * x + b[1] * y);
        }
    }
    CHECK_CLOSE(evidence_of(&f, 1), log(one) + f.log_odds[0], 1e-9); /* a smooth sum is exact; tails 1e-15 */
    CHECK_CLOSE(evidence_of(&f, 3), log(two) + f.log_odds[0] + f.log_odds[1], 1e-9); /* likewise */
    CHECK_CLOSE(evidence_of(&f, 0), 0, 1e-15);                                       /* nothing in, nothing gained */
    end(&f);
}

static void test_not_a_number(void **state)
{
    fixture f;
    kb_move moves[MOST];
    size_t columns[MOST];
    kb_support support = {0, columns};
    (void)state;
    begin(&f, 4, 1);
    set_support(3, 4, &support);
    f.message->G[0] = NAN;
    CHECK(evidence(&f, &support) == -INFINITY);
    CHECK(kb_message_moves(f.message, &f.columns, &support, KB_SWAPS, MOST, moves, f.work) == 0);
    CHECK(!kb_message_climb(f.message, &f.columns, &support, 10, f.work));
    end(&f);
    kb_message_destroy(NULL);
}

/* ---------------------------------------------------------------- moves */

static bool is_add(const kb_move *m) { return m->add != KB_NO_COLUMN && m->drop == KB_NO_COLUMN; }
static bool is_drop(const kb_move *m) { return m->add == KB_NO_COLUMN && m->drop != KB_NO_COLUMN; }

/* The weight an added column would have: mean and variance of the whole posterior, by elimination. */
static void check_weight(const fixture *f, const kb_move *move, const kb_support *after)
{
    size_t k = after->n, n = f->message->n, q = 0;
    double A[MOST * MOST], inverse[MOST * MOST], mean = 0;
    for (size_t j = 0; j < k; j++) {
        for (size_t i = 0; i < k; i++) A[i + j * k] = f->message->G[after->column[i] + after->column[j] * n];
        A[j + j * k] += 1 / f->slab[after->column[j]];
        if (after->column[j] == move->add) q = j;
    }
    dense_inverse(k, A, inverse);
    for (size_t j = 0; j < k; j++) mean += inverse[q + j * k] * f->message->b[after->column[j]];
    CHECK_CLOSE(move->mean, mean, 1e-9); /* rounding, and the factorisation's jitter of 1e-12 */
    CHECK_CLOSE(move->variance, inverse[q + q * k], 1e-9);
}

/* The gain of a move is the difference of the evidences, whichever formula found it. */
static void test_gains(void **state)
{
    enum { ALL = 200 };
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        fixture f;
        kb_move moves[ALL];
        size_t columns[MOST], after_columns[MOST], n_adds = 0, n_drops = 0, n_swaps = 0;
        kb_support support = {0, columns}, after = {0, after_columns};
        begin(&f, 8, seed);
        set_support(0x35, 8, &support); /* 0, 2 and 4, 5: two of each equation */
        double before = evidence(&f, &support);
        size_t n = kb_message_moves(f.message, &f.columns, &support, KB_SWAPS, ALL, moves, f.work);
        for (size_t i = 0; i < n; i++) {
            kb_support_copy(&support, &after);
            kb_move_apply(&moves[i], &f.columns, &after);
            CHECK_CLOSE(moves[i].gain, evidence(&f, &after) - before,
                        1e-8 * (1 + fabs(moves[i].gain))); /* rounding of rank-one updates */
            CHECK(i == 0 || moves[i].gain <= moves[i - 1].gain);
            if (moves[i].add != KB_NO_COLUMN) check_weight(&f, &moves[i], &after);
            n_adds += is_add(&moves[i]);
            n_drops += is_drop(&moves[i]);
            n_swaps += !is_add(&moves[i]) && !is_drop(&moves[i]);
        }
        CHECK(n_adds == 4 && n_drops == 4 && n_swaps == 4 * 2); /* swaps stay within an equation */
        end(&f);
    }
}

/* Fewer moves asked for: the best of all. Without swaps: adds and drops. */
static void test_best_few(void **state)
{
    fixture f;
    kb_move all[MOST * MOST], few[3];
    size_t columns[MOST];
    kb_support support = {0, columns};
    (void)state;
    begin(&f, 10, 2);
    set_support(0x63, 10, &support);
    CHECK(kb_message_moves(f.message, &f.columns, &support, KB_SWAPS, MOST * MOST, all, f.work) > 3);
    CHECK(kb_message_moves(f.message, &f.columns, &support, KB_SWAPS, 3, few, f.work) == 3);
    for (int i = 0; i < 3; i++)
        CHECK(few[i].gain == all[i].gain && few[i].add == all[i].add && few[i].drop == all[i].drop);
    size_t n = kb_message_moves(f.message, &f.columns, &support, KB_SINGLE_MOVES, MOST * MOST, all, f.work);
    CHECK(n == 10); /* 6 adds, 4 drops */
    for (size_t i = 0; i < n; i++) CHECK(is_add(&all[i]) || is_drop(&all[i]));
    end(&f);
}

static void test_required_and_last(void **state)
{
    fixture f;
    kb_move moves[MOST * MOST];
    size_t columns[MOST], other_columns[MOST];
    kb_support support = {0, columns}, without = {0, other_columns};
    double gain = NAN;
    (void)state;
    begin(&f, 8, 3);
    f.required[1] = true;
    f.log_odds[1] = 0;
    set_support(0x12 | 1, 8, &support); /* 0 and 1 of the first equation, 4 alone in the second */
    size_t n = kb_message_moves(f.message, &f.columns, &support, KB_SWAPS, MOST * MOST, moves, f.work);
    for (size_t i = 0; i < n; i++) {
        CHECK(moves[i].drop != 1);                          /* required */
        CHECK(!(is_drop(&moves[i]) && moves[i].drop == 4)); /* the only one of its equation */
    }
    double before = evidence(&f, &support);
    set_support(3, 8, &without);
    n = kb_message_moves(f.message, &f.columns, &support, KB_SWAPS | KB_TO_NOTHING, MOST * MOST, moves, f.work);
    for (size_t i = 0; i < n; i++)
        if (is_drop(&moves[i]) && moves[i].drop == 4) gain = moves[i].gain;
    CHECK_CLOSE(gain, evidence(&f, &without) - before, 1e-9); /* rounding: nothing is left of its equation */
    f.message->b[1] = 0;                                      /* the data see no use for it */
    CHECK(kb_message_climb(f.message, &f.columns, &support, 50, f.work) || true);
    CHECK(kb_support_has(&support, 1));
    size_t of_second = 0;
    for (size_t i = 0; i < support.n; i++) of_second += f.equation[support.column[i]] == 1;
    CHECK(of_second >= 1);
    end(&f);
}

/* ---------------------------------------------------------------- climbing */

static unsigned bits_of(const kb_support *support)
{
    unsigned bits = 0;
    for (size_t i = 0; i < support->n; i++) bits |= 1u << support->column[i];
    return bits;
}

static bool allowed(unsigned bits) { return (bits & 0xf) && (bits & 0xf0); } /* a term for each equation of four */

/* No add, drop or swap within an equation leads to a better support. */
static bool is_local_best(const double *table, unsigned bits)
{
    for (unsigned i = 0; i < 8; i++) {
        unsigned single = bits ^ 1u << i;
        if (allowed(single) && table[single] > table[bits] + 1e-6) return false; /* beyond rounding */
        for (unsigned j = i / 4 * 4; j < i / 4 * 4 + 4; j++)
            if ((bits >> i & 1) && !(bits >> j & 1) && table[single ^ 1u << j] > table[bits] + 1e-6) return false;
    }
    return true;
}

static void test_climb(void **state)
{
    size_t n_global = 0, n_climbs = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        fixture f;
        size_t columns[MOST];
        kb_support support = {0, columns};
        double table[256], best = -INFINITY;
        begin(&f, 8, seed);
        for (unsigned bits = 0; bits < 256; bits++) {
            table[bits] = evidence_of(&f, bits);
            if (allowed(bits)) best = fmax(best, table[bits]);
        }
        for (unsigned start = 0x11; start < 256; start += 0x22) {
            set_support(start, 8, &support);
            bool changed = kb_message_climb(f.message, &f.columns, &support, 100, f.work);
            unsigned reached = bits_of(&support);
            CHECK(allowed(reached) && is_local_best(table, reached));
            CHECK(changed == (reached != start));
            CHECK(table[reached] >= table[start] - 1e-9); /* rounding */
            n_global += table[reached] > best - 1e-6;     /* rounding */
            n_climbs++;
        }
        end(&f);
    }
    CHECK(10 * n_global >= 9 * n_climbs); /* local search mostly ends at the best of all */
}

/* ---------------------------------------------------------------- screening */

static int size_of(unsigned bits) { return __builtin_popcount(bits); }

/* Of the supports of 1 to `largest` columns (or exactly `size`) that hold `required`, how many are better? */
static size_t rank_of(const double *table, unsigned bits, int largest, int size, unsigned required)
{
    size_t better = 0;
    for (unsigned other = 1; other < 256; other++)
        better += size_of(other) <= largest && (!size || size_of(other) == size) && (other & required) == required &&
                  table[other] > table[bits];
    return better;
}

static void test_screen(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        fixture f;
        size_t columns[9][8];
        kb_support supports[9], none = {0};
        double table[256];
        unsigned required = seed % 2 ? 0 : 1u << seed;
        begin(&f, 8, seed);
        for (size_t i = 0; i < 9; i++) supports[i] = (kb_support){0, columns[i]};
        for (unsigned bits = 0; bits < 256; bits++) table[bits] = evidence_of(&f, bits);
        for (unsigned i = 0; i < 8; i++) f.required[i] = required >> i & 1;
        for (unsigned i = 0; i < 8; i++) f.equation[i] = 0;
        CHECK(kb_message_screen(f.message, &f.columns, &none, 0, 3, 6, supports, f.work) == 9);
        for (size_t i = 0; i < 9; i++) {
            unsigned bits = bits_of(&supports[i]);
            CHECK((bits & required) == required);
            if (i < 6) CHECK(rank_of(table, bits, 3, 0, required) == i);
            else CHECK(rank_of(table, bits, 3, (int)i - 5, required) == 0 && size_of(bits) == (int)i - 5);
        }
        end(&f);
    }
}

/* Among the supports whose columns of the first equation are the given ones. */
static void test_screen_one_equation(void **state)
{
    (void)state;
    for (unsigned held = 1; held < 16; held += 3) {
        fixture f;
        size_t columns[7][8], list[8];
        kb_support supports[7], parent = {0, list};
        double table[256];
        begin(&f, 8, held);
        set_support(held | 0x50, 8, &parent);
        for (size_t i = 0; i < 7; i++) supports[i] = (kb_support){0, columns[i]};
        for (unsigned bits = 0; bits < 256; bits++)
            table[bits] = (bits & 15) == held && bits >> 4 ? evidence_of(&f, bits) : -INFINITY;
        CHECK(kb_message_screen(f.message, &f.columns, &parent, 1, 4, 3, supports, f.work) == 7);
        for (size_t i = 0; i < 3; i++) CHECK(rank_of(table, bits_of(&supports[i]), 8, 0, held) == i);
        for (size_t i = 3; i < 7; i++)
            CHECK((bits_of(&supports[i]) & 15) == held && size_of(bits_of(&supports[i]) >> 4) == (int)i - 2);
        end(&f);
    }
}

/* ---------------------------------------------------------------- supports */

static void test_support(void **state)
{
    kb_support a = {0}, b = {0};
    double odds[] = {1, 2, 4, 8, 16};
    kb_columns columns = {.n = 5, .log_odds = odds};
    (void)state;
    CHECK_OK(kb_support_create(5, &a, &error));
    CHECK_OK(kb_support_create(5, &b, &error));
    kb_support_add(&a, 3);
    kb_support_add(&a, 0);
    kb_support_add(&a, 4);
    kb_support_add(&a, 3);
    CHECK(a.n == 3 && a.column[0] == 0 && a.column[1] == 3 && a.column[2] == 4);
    CHECK(kb_support_log_prior(&a, &columns) == 25);
    kb_support_copy(&a, &b);
    CHECK(kb_support_equal(&a, &b));
    kb_support_remove(&b, 1); /* not there */
    CHECK(kb_support_equal(&a, &b));
    kb_support_remove(&b, 3);
    CHECK(!kb_support_equal(&a, &b) && !kb_support_has(&b, 3) && kb_support_has(&b, 4) && b.n == 2);
    kb_support_clear(&a);
    kb_support_clear(&b);
    CHECK(a.column == NULL && a.n == 0);
    kb_memory_fail_after(0);
    CHECK(kb_support_create(5, &a, &error) == KBASS_ERROR_MEMORY);
    kb_memory_fail_after(-1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_evidence_dense),
        cmocka_unit_test(test_evidence_integral),
        cmocka_unit_test(test_not_a_number),
        cmocka_unit_test(test_gains),
        cmocka_unit_test(test_best_few),
        cmocka_unit_test(test_required_and_last),
        cmocka_unit_test(test_climb),
        cmocka_unit_test(test_screen),
        cmocka_unit_test(test_screen_one_equation),
        cmocka_unit_test(test_support),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
