#include "base/random.h"
#include "check.h"
#include "dense.h"
#include "ep/ep.h"

enum { MOST = 10, ROWS = 40 };
static kbass_error error;

typedef struct {
    size_t n;
    double G[MOST * MOST], b[MOST], slab[MOST], prior[MOST];
} problem;

typedef struct {
    double probability[MOST], mean[MOST], variance[MOST];
} answer;

/* y = X w + noise with a few weights in; correlation mixes each column with its neighbour. */
static void random_problem(problem *p, size_t n, uint64_t seed, double correlation, double noise)
{
    kb_random random;
    double X[ROWS * MOST], w;
    kb_random_seed(&random, seed);
    *p = (problem){.n = n};
    for (size_t i = 0; i < ROWS * n; i++) X[i] = kb_random_normal(&random);
    for (size_t i = ROWS; i < ROWS * n; i++)
        X[i] = sqrt(1 - correlation * correlation) * X[i] + correlation * X[i - ROWS];
    double y[ROWS];
    for (size_t row = 0; row < ROWS; row++) y[row] = noise * kb_random_normal(&random);
    for (size_t j = 0; j < n; j++) {
        w = kb_random_uniform(&random) < 0.4 ? kb_random_normal(&random) : 0;
        for (size_t row = 0; row < ROWS; row++) y[row] += w * X[row + j * ROWS];
        p->slab[j] = 0.5 + kb_random_uniform(&random);
        p->prior[j] = log(0.2 / 0.8);
    }
    for (size_t j = 0; j < n; j++)
        for (size_t row = 0; row < ROWS; row++) {
            for (size_t i = 0; i < n; i++) p->G[i + j * n] += X[row + i * ROWS] * X[row + j * ROWS] / (noise * noise);
            p->b[j] += X[row + j * ROWS] * y[row] / (noise * noise);
        }
}

/* log of the model's weight; its mean and second moments in m (k) and A^{-1} (k x k) */
static double weigh(const problem *p, size_t k, const size_t *in, double *m, double *inverse)
{
    double A[MOST * MOST], log_weight = 0;
    for (size_t j = 0; j < k; j++) {
        for (size_t i = 0; i < k; i++) A[i + j * k] = p->G[in[i] + in[j] * p->n] + (i == j ? 1 / p->slab[in[i]] : 0);
        m[j] = p->b[in[j]];
        log_weight += p->prior[in[j]] - 0.5 * log(p->slab[in[j]]);
    }
    log_weight -= 0.5 * dense_inverse(k, A, inverse);
    dense_solve(k, A, 1, m);
    for (size_t j = 0; j < k; j++) log_weight += 0.5 * m[j] * p->b[in[j]];
    return log_weight;
}

/* Sums over all 2^n models, twice: first for the largest weight. */
static void enumerate(const problem *p, answer *out)
{
    double total = 0, largest = -INFINITY, m[MOST], inverse[MOST * MOST];
    *out = (answer){0};
    for (int pass = 0; pass < 2; pass++)
        for (unsigned model = 0; model < 1u << p->n; model++) {
            size_t in[MOST], k = 0;
            for (size_t j = 0; j < p->n; j++)
                if (model >> j & 1) in[k++] = j;
            double log_weight = weigh(p, k, in, m, inverse);
            if (pass == 0) largest = fmax(largest, log_weight);
            if (pass == 0) continue;
            double weight = exp(log_weight - largest);
            total += weight;
            for (size_t j = 0; j < k; j++) {
                out->probability[in[j]] += weight;
                out->mean[in[j]] += weight * m[j];
                out->variance[in[j]] += weight * (m[j] * m[j] + inverse[j + j * k]);
            }
        }
    for (size_t j = 0; j < p->n; j++) {
        out->probability[j] /= total;
        out->mean[j] /= total;
        out->variance[j] = out->variance[j] / total - out->mean[j] * out->mean[j];
    }
}

static kb_ep *run(const problem *p, int calls)
{
    kb_ep *ep = NULL;
    CHECK_OK(kb_ep_create(p->n, &ep, &error));
    kb_ep_reset(ep, p->slab);
    for (int i = 0; i < calls; i++) CHECK(kb_ep_run(ep, p->G, p->b, p->slab, p->prior, 200));
    CHECK(ep->converged);
    return ep;
}

enum { TO_THE_FIXED_POINT = 60 }; /* calls: each halves what is left at least */

/* Where spike and slab spread wider than the cavity the matching site would be negative; it is floored, and the mean
   then lies between 0 and the exact one. */
static bool is_floored(const kb_ep *ep, size_t j, const double *slab) { return ep->precision[j] < 1e-5 / slab[j]; }

static void compare_mean(const kb_ep *ep, const problem *p, size_t j, const answer *exact, double tolerance)
{
    double expected = exact->mean[j];
    if (is_floored(ep, j, p->slab))
        CHECK(ep->mean[j] * expected >= -tolerance && fabs(ep->mean[j]) <= fabs(expected) + tolerance);
    else CHECK_CLOSE(ep->mean[j], expected, tolerance);
}

/* Without coupling each site's cavity is exact, and so is EP. */
static void test_diagonal(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        problem p;
        answer exact;
        random_problem(&p, 8, seed, 0, 0.5);
        for (size_t i = 0; i < 64; i++)
            if (i % 9) p.G[i] = 0;
        enumerate(&p, &exact);
        kb_ep *ep = run(&p, TO_THE_FIXED_POINT);
        for (size_t j = 0; j < p.n; j++) {
            CHECK_CLOSE(ep->probability[j], exact.probability[j], 1e-7); /* the 1e-9 of G's diagonal, times b^2/G */
            compare_mean(ep, &p, j, &exact, 1e-7);                       /* likewise */
            if (!is_floored(ep, j, p.slab)) CHECK_CLOSE(ep->variance[j], exact.variance[j], 1e-7); /* likewise */
        }
        kb_ep_destroy(ep);
    }
}

typedef struct {
    double worst, mean;
} gap;

/* How far EP's probabilities are from the exact ones over many random problems. */
static gap measure(size_t n, uint64_t seeds, double correlation, double noise)
{
    gap found = {0, 0};
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        problem p;
        answer exact;
        random_problem(&p, n, seed, correlation, noise);
        enumerate(&p, &exact);
        kb_ep *ep = run(&p, 1);
        for (size_t j = 0; j < n; j++) {
            double off = fabs(ep->probability[j] - exact.probability[j]);
            CHECK(off <= 1);
            found.worst = fmax(found.worst, off);
            found.mean += off / (double)(n * seeds);
            compare_mean(ep, &p, j, &exact,
                         0.5 * sqrt(exact.variance[j]) + 0.02); /* half of what is not known anyway */
        }
        kb_ep_destroy(ep);
    }
    return found;
}

/* Coupled, EP is approximate: it replaces the other terms' spikes and slabs by Gaussians. Random, so nearly orthogonal
   columns: 0.003 on average, 0.12 where two models share the probability. */
static void test_enumeration(void **state)
{
    gap found = measure(8, 30, 0, 0.5);
    (void)state;
    CHECK_CLOSE(found.mean, 0, 0.006); /* twice what EP reaches on these 240 terms */
    CHECK_CLOSE(found.worst, 0, 0.2);  /* likewise */
}

/* Neighbours that share one effect under much noise: the hard case. */
static void test_correlated(void **state)
{
    gap found = measure(10, 10, 0.7, 2);
    (void)state;
    CHECK_CLOSE(found.mean, 0, 0.03); /* 0.015 reached, 0.2 at worst; doubled */
    CHECK_CLOSE(found.worst, 0, 0.4); /* likewise */
}

static void test_warm_start(void **state)
{
    problem p, nearby;
    (void)state;
    random_problem(&p, 10, 5, 0.5, 0.5);
    nearby = p;
    for (size_t j = 0; j < p.n; j++) nearby.b[j] *= 1.01;
    kb_ep *cold = run(&nearby, TO_THE_FIXED_POINT), *warm = run(&p, 1);
    CHECK(kb_ep_run(warm, nearby.G, nearby.b, nearby.slab, nearby.prior, 200));
    int sweeps = warm->sweeps;
    for (int i = 0; i < TO_THE_FIXED_POINT; i++)
        CHECK(kb_ep_run(warm, nearby.G, nearby.b, nearby.slab, nearby.prior, 200));
    for (size_t j = 0; j < p.n; j++) {
        CHECK_CLOSE(warm->probability[j], cold->probability[j], 1e-8); /* one fixed point, reached to 2^-60 */
        CHECK_CLOSE(warm->mean[j], cold->mean[j], 1e-8);               /* likewise */
    }
    kb_ep *again = NULL;
    CHECK_OK(kb_ep_create(p.n, &again, &error));
    kb_ep_reset(again, nearby.slab);
    CHECK(kb_ep_run(again, nearby.G, nearby.b, nearby.slab, nearby.prior, 200));
    CHECK(sweeps <= again->sweeps); /* a warm start costs no more */
    kb_ep_destroy(again);
    kb_ep_destroy(warm);
    kb_ep_destroy(cold);
}

/* Pruning columns that are out hardly changes the others, and the kept sites are those of the kept columns. */
static void test_keep(void **state)
{
    problem p, small = {0};
    bool keep[MOST];
    double probability[MOST], site[MOST];
    size_t kept[MOST];
    (void)state;
    random_problem(&p, 10, 7, 0.3, 0.3);
    kb_ep *ep = run(&p, TO_THE_FIXED_POINT);
    for (size_t j = 0; j < p.n; j++) {
        keep[j] = ep->probability[j] > 0.03;
        if (!keep[j]) continue;
        probability[small.n] = ep->probability[j];
        site[small.n] = ep->precision[j];
        kept[small.n++] = j;
    }
    CHECK(small.n > 0 && small.n < p.n);
    for (size_t j = 0; j < small.n; j++) {
        for (size_t i = 0; i < small.n; i++) small.G[i + j * small.n] = p.G[kept[i] + kept[j] * p.n];
        small.b[j] = p.b[kept[j]];
        small.slab[j] = p.slab[kept[j]];
        small.prior[j] = p.prior[kept[j]];
    }
    kb_ep_keep(ep, keep);
    CHECK(ep->n == small.n);
    for (size_t j = 0; j < small.n; j++) CHECK(ep->precision[j] == site[j] && ep->probability[j] == probability[j]);
    CHECK(kb_ep_run(ep, small.G, small.b, small.slab, small.prior, 200));
    for (size_t j = 0; j < small.n; j++)
        CHECK_CLOSE(ep->probability[j], probability[j], 0.05); /* what was pruned had at most 0.03 each */
    kb_ep_destroy(ep);
}

/* A certain term is in whatever the data say, an impossible one out; the others know it. */
static void test_certain_prior(void **state)
{
    problem p;
    answer exact;
    (void)state;
    random_problem(&p, 6, 3, 0, 0.5);
    p.b[0] = 0; /* the data speak against it */
    p.prior[0] = 600;
    p.prior[1] = -600;
    kb_ep *ep = run(&p, TO_THE_FIXED_POINT);
    enumerate(&p, &exact);
    CHECK_CLOSE(ep->probability[0], 1, 1e-15); /* certain */
    CHECK_CLOSE(ep->probability[1], 0, 1e-15); /* impossible */
    CHECK_CLOSE(ep->mean[1], 0, 1e-6);         /* the strongest site: precision 1e10 / slab */
    for (size_t j = 2; j < p.n; j++)
        CHECK_CLOSE(ep->probability[j], exact.probability[j], 0.05); /* as test_enumeration, without a close call */
    kb_ep_destroy(ep);
}

/* Two copies of one column: G is singular; the answer is finite and both are treated alike. */
static void test_singular(void **state)
{
    problem p = {.n = 2, .G = {100, 100, 100, 100}, .b = {100, 100}, .slab = {1, 1}, .prior = {-1.4, -1.4}};
    (void)state;
    kb_ep *ep = run(&p, 1);
    CHECK_CLOSE(ep->probability[0], ep->probability[1], 1e-12); /* nothing tells them apart: rounding */
    CHECK_CLOSE(ep->mean[0] + ep->mean[1], 1, 0.05);            /* together they are the effect of size 1 */
    memset(p.G, 0, sizeof p.G);
    memset(p.b, 0, sizeof p.b);
    kb_ep *prior = run(&p, TO_THE_FIXED_POINT);
    CHECK_CLOSE(prior->probability[0], 1 / (1 + exp(1.4)), 1e-6); /* no data: the prior; 1e-10 floors the cavity */
    kb_ep_destroy(prior);
    kb_ep_destroy(ep);
}

static void refuse(const problem *p)
{
    kb_ep *ep = NULL;
    CHECK_OK(kb_ep_create(p->n, &ep, &error));
    kb_ep_reset(ep, p->slab);
    CHECK(!kb_ep_run(ep, p->G, p->b, p->slab, p->prior, 50));
    kb_ep_destroy(ep);
}

static void test_not_a_number(void **state)
{
    problem p, broken;
    (void)state;
    random_problem(&p, 4, 1, 0, 0.5);
    broken = p, broken.G[0] = NAN, refuse(&broken);
    broken = p, broken.G[1] = broken.G[4] = NAN, refuse(&broken);
    broken = p, broken.b[2] = NAN, refuse(&broken);
    broken = p, broken.b[2] = INFINITY, refuse(&broken);
    broken = p, broken.slab[1] = NAN, refuse(&broken);
    broken = p, broken.prior[3] = NAN, refuse(&broken);
    broken = p, broken.G[5] = -1e9, refuse(&broken); /* not positive */
}

static void test_empty(void **state)
{
    problem p = {0};
    (void)state;
    kb_ep *ep = run(&p, 1);
    kb_ep_destroy(ep);
    kb_ep_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_diagonal),   cmocka_unit_test(test_enumeration),  cmocka_unit_test(test_correlated),
        cmocka_unit_test(test_warm_start), cmocka_unit_test(test_keep),         cmocka_unit_test(test_certain_prior),
        cmocka_unit_test(test_singular),   cmocka_unit_test(test_not_a_number), cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
