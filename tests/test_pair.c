/* Paired features against sums over all points. */
#include "base/memory.h"
#include "base/random.h"
#include "check.h"
#include "tensor/pair.h"

enum { AXES = 3, MOST_ROWS = 6, MOST_RANK = 4, RANKS = 2 * 4 * 3, KEPT = 16, POINTS = 5 * 6 * 4 };
static const size_t rows[AXES] = {5, 6, 4}, rank[AXES] = {2, 4, 3};

typedef struct {
    double A[AXES][MOST_ROWS * MOST_RANK], B[AXES][MOST_ROWS * MOST_RANK], s[POINTS];
    kb_mode a[AXES], b[AXES];
} setup;

static void begin(setup *c)
{
    kb_random random;
    kb_random_seed(&random, 7);
    for (size_t i = 0; i < POINTS; i++) c->s[i] = kb_random_normal(&random);
    for (size_t d = 0; d < AXES; d++) {
        for (size_t i = 0; i < MOST_ROWS * MOST_RANK; i++) {
            c->A[d][i] = kb_random_normal(&random);
            c->B[d][i] = kb_random_normal(&random);
        }
        c->a[d] = (kb_mode){rows[d], rank[d], MOST_ROWS, c->A[d]};
        c->b[d] = (kb_mode){rows[d], rank[d], MOST_ROWS, c->B[d]};
    }
}

/* One feature at one point: the product over axes. */
static double feature(const kb_mode *modes, size_t point, size_t index)
{
    double product = 1;
    for (size_t d = 0; d < AXES; d++) {
        product *= modes[d].entries[point % rows[d] + index % rank[d] * modes[d].ld];
        point /= rows[d];
        index /= rank[d];
    }
    return product;
}

static void gram_is_the_sum_over_points(void **state)
{
    setup c;
    size_t place[KEPT], row[KEPT];
    double paired[RANKS * RANKS], G[KEPT * KEPT], *work = KB_NEW(double, kb_pair_work(AXES, rows, RANKS));
    (void)state;
    begin(&c);
    CHECK(work != NULL);
    kb_pair_product(AXES, c.a, c.b, c.s, paired, work);
    for (size_t i = 0; i < KEPT; i++) place[i] = 3 * i / 2;
    kb_pair_open(AXES, rank, KEPT, place, paired, row, G);
    for (size_t j = 0; j < KEPT; j++)
        for (size_t i = 0; i < KEPT; i++) {
            double sum = 0;
            for (size_t p = 0; p < POINTS; p++) sum += c.s[p] * feature(c.a, p, place[i]) * feature(c.b, p, place[j]);
            CHECK_CLOSE(G[i + j * KEPT], sum, 1e-11); /* 120 products of seven numbers near 1 */
        }
    kb_free(work);
}

/* The workspace for the worst ranks is enough for every choice of them. */
static void workspace_covers_all_ranks(void **state)
{
    (void)state;
    for (size_t most = 1; most <= 120; most += 7)
        for (size_t i = 1; i <= rows[0]; i++)
            for (size_t j = 1; j <= rows[1]; j++)
                for (size_t k = 1; k <= rows[2]; k++) {
                    size_t pairs[AXES] = {i * i, j * j, k * k}, needed = 0;
                    kb_mode modes[AXES];
                    for (size_t d = 0; d < AXES; d++) {
                        modes[d] = (kb_mode){rows[d], pairs[d], 0, NULL};
                        needed += rows[d] * pairs[d];
                    }
                    if (i * j * k <= most) CHECK(needed + kb_modes_work(AXES, modes) <= kb_pair_work(AXES, rows, most));
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gram_is_the_sum_over_points),
        cmocka_unit_test(workspace_covers_all_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
