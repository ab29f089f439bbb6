/* What is known of weights: --constraint read and refused, evidences against sums and enumeration, fits against the
 * same fits by other means. */
#include "base/memory.h"
#include "base/random.h"
#include "check.h"
#include "dictionary/constraints.h"
#include "found.h"
#include "weights/constraints.h"
#include "ep/ep.h"
#include "weights/message.h"
#include "weights/ties.h"
#include "weights/truncation.h"

static const char *const names[] = {"x", "y"};
static kbass_error error;

static kbass_status make(const char *constraint, kb_dictionary **out)
{
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.degree = 1;
    settings.constraint = constraint;
    return kb_dictionary_create(&settings, 2, names, "t", out, &error);
}

static void bad_constraints_are_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"x_t: x", "found none of = < >"},
        {"x_t: x = y_t: x = 0", "two relations"},
        {"x_t: x^4 < 0", "\"x^4\" is not in the dictionary, so there is nothing to constrain"},
        {"x_t: x = 0", "--forbid does that"},
        {"x_t: x < ", "needed a number or a weight"},
        {"x_t: x + y_t: x < 0", "bounds are for single weights"},
        {"x_t: x - x_t: x = 0", "cancels"},
        {"x_t: x y_t: x = 0", "needed + or - before \"y_t\""},
        {"x_t: x + y_t: x = 0; 2*x_t: x + 2*y_t: x = 0", "says what those before it say"},
        {"x_t: x + y_t: x = 0; x_t: x + y_t: x = 1", "contradicts the equalities"},
        {"x_t: x + y_t: x = 0; x_t: x - y_t: x = 0", "leaves only 0 for"},
        {"x_t: x < 0; x_t: x < 1", "follows from those before it"},
        {"x_t: x < 0; x_t: x > 1", "contradicts those before it: the weight is at most 0"},
        {"x_t: x + y_t: x = 0; x_t: x < 0; y_t: x < 0", "contradicts those before it: the weight is at least 0"},
        {"x_t: x + y_t: x = 0; x_t: x < 0; y_t: x > 0", "follows from those before it"},
        {"x_t: x = 2; x_t: x < 1", "contradicts those before it: the weight is at least 2"},
        {"x_t = 3", "sums over every term are equal to 0"},
        {"x_t = 0", "needed two equations"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kb_dictionary *d = NULL;
        CHECK_FAILS(make(cases[i][0], &d), KBASS_ERROR_ARGUMENT, cases[i][1]);
    }
    kb_dictionary *d = NULL;
    CHECK_FAILS(make("z_t: x < 0", &d), KBASS_ERROR_SYNTAX, "--constraint: unknown state \"z\"");
}

static void constraints_are_read(void **state)
{
    (void)state;
    kb_dictionary *d = NULL;
    CHECK_OK(make(" 2*x_t: x - y_t: y = 1e-1*y_t: x ; -3*x_t: y < 6; y_t: x >= 1", &d));
    CHECK(d->n_constraints == 3 && d->constraints[0].n == 3 && d->constraints[0].relation == '=');
    for (size_t i = 0; i < 3; i++) {
        const kb_constraint_part *p = &d->constraints[0].parts[i];
        double factor = p->state == 0 ? 2 : p->term == 1 ? -1 : -0.1;
        CHECK_CLOSE(p->factor, factor, 1e-15); /* as written */
    }
    CHECK(d->constraints[1].relation == '>' && d->constraints[1].right == -2);           /* -3 w < 6 */
    CHECK(d->constraints[2].relation == '>' && d->roles[0 + d->n_terms] == KB_REQUIRED); /* it cannot be 0 */
    CHECK(d->roles[1] == KB_CANDIDATE);
    kb_dictionary_destroy(d);
    CHECK_OK(make("x_t + y_t = 0", &d)); /* for every term */
    CHECK(d->n_constraints == d->n_terms && d->constraints[1].n == 2);
    kb_dictionary_destroy(d);
}

/* ---------------------------------------------------------------- evidences */

enum { N = 4, POINTS = 12 };

typedef struct {
    kb_dictionary *dictionary;
    kb_columns *columns;
    kb_message *message;
    double work[400];
} fixture;

/* Columns x_t: x, x_t: y, y_t: x, y_t: y of a real dictionary, and a random message about them. */
static void begin(fixture *f, const char *constraint, uint64_t seed)
{
    const double sd[] = {1, 2}, slopes[] = {0.4, 0.2};
    double reference[3 * POINTS], X[30 * N], y[30];
    kb_random random;
    kb_random_seed(&random, seed);
    for (size_t i = 0; i < 3 * POINTS; i++) reference[i] = kb_random_normal(&random);
    CHECK_OK(make(constraint, &f->dictionary));
    CHECK_OK(kb_columns_create(f->dictionary, sd, 3, POINTS, reference, slopes, &f->columns, &error));
    CHECK_OK(kb_message_create(N, &f->message, &error));
    for (size_t i = 0; i < 30 * N; i++) X[i] = 0.2 * kb_random_normal(&random);
    for (size_t i = 0; i < 30; i++) y[i] = kb_random_normal(&random) + X[i] - 2 * X[i + 60];
    for (size_t i = 0; i < N; i++)
        for (size_t row = 0; row < 30; row++) {
            for (size_t j = 0; j < N; j++) f->message->G[i + j * N] += X[row + i * 30] * X[row + j * 30];
            f->message->b[i] += X[row + i * 30] * y[row];
        }
}

static void end(fixture *f)
{
    kb_message_destroy(f->message);
    kb_columns_destroy(f->columns);
    kb_dictionary_destroy(f->dictionary);
}

/* Columns 0 and 2 tied are one column of a message without constraints: w = (v0, v1, r v0, v2). */
static double merged_evidence(const fixture *f, unsigned bits)
{
    const kb_columns *c = f->columns;
    double r = -c->unit[0] / c->unit[2], M[N * 3] = {1, 0, r, 0, 0, 1, 0, 0, 0, 0, 0, 1}, G[9] = {0}, b[3] = {0};
    double slab[3] = {2 / (1 / c->slab[0] + r * r / c->slab[2]), c->slab[1], c->slab[3]}, work[60]; /* said once */
    double odds[3] = {0.5 * (c->log_odds[0] + c->log_odds[2]), c->log_odds[1], c->log_odds[3]};
    size_t equation[3] = {0, 0, 1}, in[3];
    for (size_t q = 0; q < 3; q++)
        for (size_t i = 0; i < N; i++) {
            b[q] += M[i + q * N] * f->message->b[i];
            for (size_t p = 0; p < 3; p++)
                for (size_t j = 0; j < N; j++) G[p + q * 3] += M[j + p * N] * f->message->G[j + i * N] * M[i + q * N];
        }
    kb_columns merged = {.n = 3, .equation = equation, .log_odds = odds, .slab = slab};
    kb_message message = {3, G, b};
    kb_support support = {0, in};
    for (size_t q = 0; q < 3; q++)
        if (bits >> q & 1) in[support.n++] = q;
    return kb_message_evidence(&message, &merged, &support, NULL, work);
}

static void tied_terms_are_one(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        fixture f;
        begin(&f, "x_t: x + y_t: x = 0", seed);
        for (unsigned bits = 0; bits < 8; bits++) {
            size_t columns[N];
            double mean[N];
            kb_support s = {0, columns}, closed;
            const bool in[N] = {bits & 1, bits >> 1 & 1, bits & 1, bits >> 2 & 1};
            for (size_t j = 0; j < N; j++)
                if (in[j]) columns[s.n++] = j;
            CHECK_OK(kb_support_create(N, &closed, &error));
            kb_support_copy(&s, &closed);
            kb_constraints_complete(f.columns, &closed);
            kb_constraints_prune(f.columns, &closed);
            CHECK(kb_support_equal(&s, &closed)); /* it obeys */
            kb_support_remove(&closed, 2);
            kb_constraints_prune(f.columns, &closed);
            CHECK(!kb_support_has(&closed, 0)); /* out together, */
            kb_support_add(&closed, 2);
            kb_constraints_complete(f.columns, &closed);
            CHECK(kb_support_has(&closed, 0)); /* in together */
            kb_support_clear(&closed);
            double found = kb_message_evidence(f.message, f.columns, &s, mean, f.work);
            CHECK_CLOSE(found, merged_evidence(&f, bits), 1e-9); /* 1e-12 of the diagonal, condition 100 */
            if (in[0])
                CHECK_CLOSE(mean[0] * f.columns->unit[0] + mean[s.n == 2 ? 1
                                                                : in[1]  ? 2
                                                                         : 1] *
                                                               f.columns->unit[2],
                            0, 1e-12); /* rounding */
        }
        end(&f);
    }
}

/* EP on the merged message against all structures that obey, by their constrained evidences. Groups tell nothing of
   each other here: there EP is exact. */
static void ep_knows_of_ties(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        fixture f;
        begin(&f, "x_t: x + y_t: x = 0", seed);
        const kb_columns *c = f.columns;
        size_t all[N] = {0, 1, 2, 3}, group[N];
        const kb_support support = {N, all};
        double in[N] = {0}, total = 0, G[N * N], b[N], slab[N], odds[N], work[N * N];
        for (size_t i = 0; i < N * N; i++)
            if (i % N != i / N && (i % N + i / N != 2 || i % N == 1)) f.message->G[i] = 0;
        for (unsigned bits = 0; bits < 1u << N; bits++) {
            size_t columns[N];
            kb_support s = {0, columns};
            if ((bits & 1) != (bits >> 2 & 1)) continue;
            for (size_t j = 0; j < N; j++)
                if (bits >> j & 1) columns[s.n++] = j;
            double share = exp(kb_message_evidence(f.message, c, &s, NULL, f.work));
            total += share;
            for (size_t j = 0; j < s.n; j++) in[columns[j]] += share;
        }
        memcpy(G, f.message->G, sizeof G);
        memcpy(b, f.message->b, sizeof b);
        memcpy(slab, c->slab, sizeof slab);
        memcpy(odds, c->log_odds, sizeof odds);
        CHECK(kb_ties_merge(c, &support, NULL, G, b, slab, odds, group, work) == 3);
        CHECK(group[0] == 0 && group[1] == 1 && group[2] == 0 && group[3] == 2);
        CHECK_CLOSE(kb_ties_factor(c, &support, NULL, 2), -c->unit[0] / c->unit[2], 1e-14); /* rounding */
        kb_ep *ep = NULL;
        CHECK_OK(kb_ep_create(3, &ep, &error));
        kb_ep_reset(ep, slab);
        CHECK(kb_ep_run(ep, G, b, slab, odds, 200));
        for (size_t j = 0; j < N; j++)
            CHECK_CLOSE(ep->probability[group[j]], in[j] / total, 2e-4); /* EP stops at steps of 1e-4 */
        kb_ep_destroy(ep);
        end(&f);
    }
}

/* A sum of three has two free numbers, and no single indicator; what is not homogeneous has none either. */
static void sums_are_not_tied(void **state)
{
    (void)state;
    static const char *const free[] = {"x_t: x + y_t: x - y_t: y = 0", "x_t: x + y_t: x = 1", "x_t: x < 1"};
    for (size_t i = 0; i < 3; i++) {
        fixture f;
        begin(&f, free[i], 1);
        CHECK(!f.columns->constraints->ties);
        end(&f);
    }
}

/* Every move's gain is the difference of evidences of the structures before and after. */
static void moves_obey(void **state)
{
    (void)state;
    fixture f;
    kb_move moves[40];
    size_t in[N] = {1, 3}, after[N];
    kb_support s = {2, in}, trial = {0, after};
    begin(&f, "x_t: x + y_t: x = 0; y_t: y < 0", 4);
    size_t n = kb_message_moves(f.message, f.columns, &s, KB_SWAPS, 40, moves, f.work);
    CHECK(n > 0);
    double before = kb_message_evidence(f.message, f.columns, &s, NULL, f.work);
    for (size_t i = 0; i < n; i++) {
        kb_support_copy(&s, &trial);
        kb_move_apply(&moves[i], f.columns, &trial);
        CHECK(kb_support_has(&trial, 0) == kb_support_has(&trial, 2));
        CHECK_CLOSE(moves[i].gain, kb_message_evidence(f.message, f.columns, &trial, NULL, f.work) - before, 1e-9);
    }
    end(&f);
}

/* Sums over a grid within the bounds, over the slab's own. */
static void signs_are_integrated(void **state)
{
    (void)state;
    fixture f;
    size_t in[] = {0, 1};
    double mean[2], sum = 0, prior_sum = 0;
    const kb_support s = {2, in};
    begin(&f, "x_t: x < 0; x_t: y > -0.3", 2);
    const kb_columns *c = f.columns;
    const double *G = f.message->G, *b = f.message->b, low = -0.3 / c->unit[1];
    enum { STEPS = 1500 };
    double range = 7 * sqrt(c->slab[0]), h = range / STEPS, high = 7 * sqrt(c->slab[1]), k = (high - low) / STEPS;
    for (size_t i = 0; i < STEPS; i++)
        for (size_t j = 0; j < STEPS; j++) { /* midpoints: the error is of second order */
            double x = -range + ((double)i + 0.5) * h, y = low + ((double)j + 0.5) * k;
            double prior = exp(-0.5 * (x * x / c->slab[0] + y * y / c->slab[1]));
            prior_sum += prior;
            sum += prior * exp(-0.5 * (G[0] * x * x + 2 * G[1] * x * y + G[1 + N] * y * y) + b[0] * x + b[1] * y);
        }
    double expected = log(sum / prior_sum) + c->log_odds[0] + c->log_odds[1];
    CHECK_CLOSE(kb_message_evidence(f.message, c, &s, mean, f.work), expected, 0.003); /* the lattice's 1 in 1000 */
    CHECK(mean[0] <= 0 && mean[1] >= low);
    end(&f);
}

static void masses_of_boxes(void **state)
{
    (void)state;
    const double mean[] = {0.3, -0.5}, V[] = {1, 0.8, 0.8, 2}, low[] = {0, -INFINITY}, high[] = {INFINITY, 0.4};
    double sum = 0;
    const double h = 0.005;
    for (double x = 0.5 * h; x < 7; x += h) /* P(y < 0.4 | x) exact, over x by midpoints */
        sum += h * exp(-0.5 * (x - 0.3) * (x - 0.3)) / sqrt(2 * M_PI) * 0.5 *
               erfc(-(0.4 + 0.5 - 0.8 * (x - 0.3)) / sqrt(2 * (2 - 0.64)));
    CHECK_CLOSE(kb_log_mass_in_box(2, mean, V, 2, low, high), log(sum), 0.002); /* the lattice's error */
    CHECK_CLOSE(kb_log_mass_in_box(1, mean, V, 2, low, high), log(0.5 * erfc(-0.3 / sqrt(2))), 1e-12); /* exact */
    CHECK_CLOSE(kb_log_normal_between(-INFINITY, -40), -804.608442, 1e-5); /* log Phi(-40), from tables */
    CHECK_CLOSE(kb_log_normal_between(3, 4), log(0.5 * (erfc(3 / sqrt(2)) - erfc(4 / sqrt(2)))), 1e-12);
    const double tied[] = {1, -1, -1, 1}, zero[] = {0, 0}, below[] = {-INFINITY, 0}, above[] = {0, INFINITY};
    CHECK_CLOSE(kb_log_mass_in_box(2, zero, tied, 2, below, above), log(0.5), 1e-3); /* y = -x: one sign */
}

/* ---------------------------------------------------------------- laws */

static kbass_discovery *run(const kbass_data *data, const char *constraint, const char *terms, const char *forbid)
{
    kbass_settings settings;
    kbass_discovery *discovery = NULL;
    kb_settings_default(&settings);
    settings.threads = 2;
    if (!terms) settings.degree = 2;
    settings.terms = terms;
    settings.constraint = constraint;
    settings.forbid = forbid;
    settings.noise = forbid ? "0.02" : NULL;
    CHECK_OK(kbass_discovery_create(data, &settings, &discovery, &error));
    CHECK_OK(kbass_discovery_run(discovery, NULL, NULL, &error));
    return discovery;
}

static const kbass_term *term_of(const kbass_discovery *d, size_t equation, const char *name)
{
    const kbass_equation *e = &kbass_discovery_result(d)->equations[equation];
    for (size_t i = 0; i < e->n_terms; i++)
        if (!strcmp(e->terms[i].term, name)) return &e->terms[i];
    fail_msg("no term %s", name);
    return NULL;
}

/* a + b -> c from unequal starts: solution in closed form. */
static kbass_data *reaction(void)
{
    enum { ROWS = 22 };
    static const char *const states[] = {"a", "b", "c"};
    double times[ROWS], values[3 * ROWS];
    kb_random random;
    kbass_data *data = NULL;
    kb_random_seed(&random, 7);
    for (size_t i = 0; i < ROWS; i++) {
        double t = 0.25 * (double)i, e = exp(-0.6 * 0.6 * t), a = 0.6 * e / (1.6 - e); /* a0 1, b0 1.6, k 0.6 */
        times[i] = t;
        values[3 * i] = a, values[3 * i + 1] = a + 0.6, values[3 * i + 2] = 1 - a;
        for (size_t j = 0; j < 3; j++) values[3 * i + j] += 0.006 * kb_random_normal(&random);
    }
    CHECK_OK(kbass_data_create(ROWS, 3, times, values, NULL, states, &data, &error));
    return data;
}

static void mass_is_conserved(void **state)
{
    (void)state;
    static const char *const law[] = {"a_t: a*b", "b_t: a*b", "c_t: a*b"};
    kbass_data *data = reaction();
    kbass_discovery *free_one = run(data, NULL, NULL, NULL),
                    *told = run(data, "a_t + c_t = 0; b_t: a*b = a_t: a*b", NULL, NULL);
    CHECK(has_support(kbass_discovery_result(free_one), 3, law) && has_support(kbass_discovery_result(told), 3, law));
    double a = term_of(told, 0, "a*b")->weight, b = term_of(told, 1, "a*b")->weight,
           c = term_of(told, 2, "a*b")->weight;
    CHECK_CLOSE(a + c, 0, 1e-12); /* kept exactly, but for rounding */
    CHECK_CLOSE(a - b, 0, 1e-12); /* likewise */
    CHECK_CLOSE(a, -0.6, 4 * term_of(told, 0, "a*b")->own_sd);
    for (size_t i = 0; i < 3; i++) CHECK(term_of(told, i, "a*b")->own_sd < term_of(free_one, i, "a*b")->own_sd);
    kbass_discovery_destroy(free_one);
    kbass_discovery_destroy(told);
    told = run(data, "a_t: a*b > -0.5; c_t: a*b > 0", "a*b", NULL);
    CHECK(term_of(told, 0, "a*b")->at_bound && !term_of(told, 2, "a*b")->at_bound);
    CHECK_CLOSE(term_of(told, 0, "a*b")->weight, -0.5, 1e-15); /* at its bound */
    CHECK(term_of(told, 0, "a*b")->low >= -0.5 - 1e-9);
    kbass_discovery_destroy(told);
    kbass_data_destroy(data);
}

enum { DECAYS = 20 };

/* x = exp(-0.7 t) twice, with noise: columns x and y of one run, or one column of two runs. */
static void decays(kbass_data **columns, kbass_data **runs)
{
    double t[DECAYS], both[2 * DECAYS], one[2][DECAYS];
    kbass_data *parts[2] = {NULL, NULL};
    kb_random random;
    kb_random_seed(&random, 3);
    for (size_t i = 0; i < DECAYS; i++) {
        t[i] = 0.2 * (double)i;
        for (size_t k = 0; k < 2; k++)
            both[2 * i + k] = one[k][i] = (1 + (double)k) * exp(-0.7 * t[i]) + 0.02 * kb_random_normal(&random);
    }
    CHECK_OK(kbass_data_create(DECAYS, 2, t, both, NULL, names, columns, &error));
    for (size_t k = 0; k < 2; k++) CHECK_OK(kbass_data_create(DECAYS, 1, t, one[k], NULL, names, &parts[k], &error));
    CHECK_OK(kbass_data_join(2, (const kbass_data *const *)parts, names, runs, &error));
    for (size_t k = 0; k < 2; k++) kbass_data_destroy(parts[k]);
}

/* One rate for two states is the rate of two runs of one state: the noise is known, and the slab is wide. */
static void tied_states_are_runs(void **state)
{
    (void)state;
    kbass_data *columns = NULL, *runs = NULL;
    decays(&columns, &runs);
    kbass_discovery *tied = run(columns, "x_t: x - y_t: y = 0", "x, y", "x_t: y; y_t: x"),
                    *common = run(runs, NULL, "x, 1", "1");
    const kbass_term *x = term_of(tied, 0, "x"), *y = term_of(tied, 1, "y"), *both = term_of(common, 0, "x");
    CHECK_CLOSE(x->weight, y->weight, 1e-14);
    CHECK_CLOSE(x->weight, both->weight, 0.02 * both->own_sd); /* slabs differ */
    CHECK_CLOSE(x->own_sd, both->own_sd, 0.02 * both->own_sd); /* likewise */
    kbass_discovery_destroy(tied);
    kbass_discovery_destroy(common);
    kbass_data_destroy(columns);
    kbass_data_destroy(runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bad_constraints_are_refused),
                                       cmocka_unit_test(constraints_are_read),
                                       cmocka_unit_test(tied_terms_are_one),
                                       cmocka_unit_test(moves_obey),
                                       cmocka_unit_test(ep_knows_of_ties),
                                       cmocka_unit_test(sums_are_not_tied),
                                       cmocka_unit_test(signs_are_integrated),
                                       cmocka_unit_test(masses_of_boxes),
                                       cmocka_unit_test(mass_is_conserved),
                                       cmocka_unit_test(tied_states_are_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
