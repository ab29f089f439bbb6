/* Grids that stay in their file: boxes against the table, passes over tiles against the pass over all, ranks and
   threads against one, and a law found from a part. */
#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/settings.h"
#include "data/tiles.h"
#include "found.h"
#include "propose/weak/grid_run.h"

#define FOLDER KBASS_ROOT "/tests/data/"

static kbass_error error;

/* ---------------------------------------------------------------- boxes of files */

static void check_box(const char *name, kb_tiled *t, const kbass_data *plain, const size_t *first, const size_t *n)
{
    double value[40];
    CHECK_OK(t->read(t, first, n, value, &error));
    for (size_t f = 0; f < 2; f++)
        for (size_t i = 0; i < n[0] * n[1]; i++) {
            size_t row = (first[0] + i / n[1]) * t->n[1] + first[1] + i % n[1];
            double found = value[f * n[0] * n[1] + i], expected = plain->values[row * 2 + f];
            if (!(found == expected || (isnan(found) && isnan(expected))))
                fail_msg("%s: field %zu, row %zu: %g instead of %g", name, f, row, found, expected);
        }
}

static void check_file(const char *name, const kbass_data *plain)
{
    char path[400];
    kbass_data *data = NULL;
    kbass_read_options options = {.size = sizeof options, .most_values = 1, .few_values = 40};
    snprintf(path, sizeof path, FOLDER "%s", name);
    if (kbass_data_read(path, &options, &data, &error) != KBASS_OK) fail_msg("%s", error.message);
    if (!data->tiles) fail_msg("%s: was read whole", name);
    CHECK(data->tiles->n[0] == 5 && data->tiles->n[1] == 4 && data->n_rows == 20);
    check_box(name, data->tiles, plain, (size_t[]){0, 0}, (size_t[]){5, 4});
    check_box(name, data->tiles, plain, (size_t[]){1, 2}, (size_t[]){3, 2});
    check_box(name, data->tiles, plain, (size_t[]){4, 1}, (size_t[]){1, 1});
    double thin[12];
    CHECK_OK(kb_tiles_thin(data->tiles, (size_t[]){0, 1}, (size_t[]){3, 2}, (size_t[]){2, 2}, thin, &error));
    for (size_t i = 0; i < 6; i++) {
        double expected = plain->values[((i / 2 * 2) * 4 + 1 + i % 2 * 2) * 2];
        CHECK(thin[i] == expected || (isnan(thin[i]) && isnan(expected)));
    }
    kbass_data_destroy(data);
}

static void boxes_are_those_of_the_table(void **state)
{
    static const char *const names[] = {"grid_tx.npz",    "grid_xt.npz",    "grid_components.npz", "grid_v6.mat",
                                        "grid_v7.mat",    "grid_v73.mat",   "grid_chunks.h5",      "grid_latest.h5",
                                        "grid_packed.nc", "grid_steps.npz", "grid_nested.h5:/run3"};
    kbass_data *plain = NULL;
    (void)state;
    CHECK_OK(kbass_data_read(FOLDER "grid.csv", &(kbass_read_options){.axes = "t,x"}, &plain, &error));
    CHECK(plain->n_rows == 20);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) check_file(names[i], plain);
    kbass_data_destroy(plain);
}

/* An NPY has no names and no axes; their steps are told. */
static void steps_make_axes_of_an_unnamed_field(void **state)
{
    kbass_data *data = NULL;
    kbass_read_options options = {.axes = "t=0.5,x=2"};
    (void)state;
    CHECK_OK(kbass_data_read(FOLDER "count.npy", &options, &data, &error));
    CHECK(data->n_axes == 2 && data->n_states == 1 && data->n_rows > 4);
    CHECK_TEXT(data->axis_names[1], "x");
    CHECK(data->times[data->n_rows - 1] > 0 && data->positions[1] == 2);
    kbass_data_destroy(data);
    options.axes = "t=0.5,x=none";
    CHECK_FAILS(kbass_data_read(FOLDER "count.npy", &options, &data, &error), KBASS_ERROR_ARGUMENT, "x=none");
    options.axes = "t=1,x=1,y=1";
    CHECK_FAILS(kbass_data_read(FOLDER "count.npy", &options, &data, &error), KBASS_ERROR_ARGUMENT, "t=1,x=1,y=1");
}

/* ---------------------------------------------------------------- passes */

static kbass_data *sample(size_t n_times, size_t n_places)
{
    const char *equation = "u_t = -u*u_x + 0.1*u_xx";
    const size_t counts[] = {n_times, n_places};
    kbass_model *pde = NULL;
    kbass_data *data = NULL;
    CHECK_OK(kbass_model_parse(
        1, &equation, &(kbass_model_options){.domain = "x=-8:8, t=0:8", .initial = "exp(-(x-1)^2/3)"}, &pde, &error));
    CHECK_OK(kbass_model_grid(pde, counts, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 10, 1, &error));
    kbass_model_destroy(pde);
    return data;
}

typedef struct {
    kb_dictionary *dictionary;
    kb_weak_form *form;
    kb_weak_grid_run *whole, *left; /* in memory, and where it is */
} passes;

static passes prepare(kbass_data *data)
{
    static const char *const fields[] = {"u"}, *const axes[] = {"t", "x"};
    passes p = {0};
    kbass_settings *settings = NULL;
    kb_field_samples *samples = NULL;
    CHECK_OK(kbass_settings_create(&settings, &error));
    CHECK_OK(kb_dictionary_create_fields(settings, 1, fields, 2, axes, &p.dictionary, &error));
    CHECK_OK(kb_weak_form_create(p.dictionary, &p.form, &error));
    CHECK_OK(kb_field_samples_create(data, NULL, &samples, &error));
    CHECK_OK(kb_weak_grid_run_create(samples, &p.whole, &error));
    CHECK_OK(kb_tiles_of_table(data, 1, &error));
    CHECK(data->tiles && !data->values);
    CHECK_OK(kb_weak_grid_run_of_tiles(data->tiles, p.whole->noise, &p.left, &error));
    kb_field_samples_destroy(samples);
    kbass_settings_destroy(settings);
    return p;
}

static void finish(passes *p)
{
    kb_weak_grid_run_destroy(p->whole);
    kb_weak_grid_run_destroy(p->left);
    kb_weak_form_destroy(p->form);
    kb_dictionary_destroy(p->dictionary);
}

static const double half[] = {0.4, 0.6};

static kb_weak_message *pass_over(const passes *p, const kbass_reduce *reduce, int threads)
{
    kb_run run;
    kb_weak_message *message = NULL;
    kb_run_begin(&run, NULL, NULL, 0);
    run.reduce = reduce;
    CHECK_OK(kb_weak_message_create(p->form, &message, &error));
    CHECK_OK(kb_weak_grid_run_stream(p->form, p->left, half, &run, threads, message, &error));
    return message;
}

static void tiles_add_up_to_the_whole(void **state)
{
    kbass_data *data = sample(200, 240);
    passes p = prepare(data);
    kb_weak_message *all = NULL, *one = pass_over(&p, NULL, 1), *three = pass_over(&p, NULL, 3);
    (void)state;
    CHECK_OK(kb_weak_message_create(p.form, &all, &error));
    kb_weak_tile tile = {.n_axes = 2, .n_fields = 1, .value = p.whole->value, .noise = p.whole->noise};
    double centres[2][200];
    for (size_t a = 0; a < 2; a++) {
        tile.n[a] = p.whole->n[a];
        tile.at[a] = p.whole->at[a];
        tile.n_centres[a] = kb_weak_place_centres(p.whole, a, half[a], centres[a]);
        tile.centre[a] = centres[a];
        tile.half[a] = half[a];
    }
    CHECK_OK(kb_weak_tile_integrate(p.form, &tile, all, &error)); /* the grid as one tile */
    CHECK(one->count == all->count && all->count > 1000);
    for (size_t i = 0; i < all->n * all->n; i++) {
        double size = sqrt(all->gram[i / all->n * (all->n + 1)] * all->gram[i % all->n * (all->n + 1)]);
        CHECK_CLOSE(one->gram[i], all->gram[i], 1e-10 * size); /* the same numbers in another order */
        CHECK(one->gram[i] == three->gram[i]);                 /* in the same order */
    }
    kb_weak_message_destroy(all);
    kb_weak_message_destroy(one);
    kb_weak_message_destroy(three);
    finish(&p);
    kbass_data_destroy(data);
}

/* ---------------------------------------------------------------- ranks, each a thread */

enum { MOST_RANKS = 4 };
static pthread_barrier_t barrier;
static unsigned char *gathered;

static void gather(void *user, size_t n, const void *own, void *all)
{
    const kbass_reduce *r = user;
    if (!r->rank) gathered = malloc(n * (size_t)r->n_ranks);
    pthread_barrier_wait(&barrier);
    memcpy(gathered + n * (size_t)r->rank, own, n);
    pthread_barrier_wait(&barrier);
    memcpy(all, gathered, n * (size_t)r->n_ranks);
    pthread_barrier_wait(&barrier);
    if (!r->rank) free(gathered);
}

static int agree(void *user, int wish)
{
    (void)user;
    return wish;
}

typedef struct {
    const passes *passes;
    kbass_reduce reduce;
    kb_weak_message *message;
} rank_of;

static void *run_rank(void *context)
{
    rank_of *r = context;
    r->reduce.user = &r->reduce;
    r->message = pass_over(r->passes, &r->reduce, 1);
    return NULL;
}

static void sums_are_equal_for_any_number_of_ranks(void **state)
{
    kbass_data *data = sample(120, 160);
    passes p = prepare(data);
    kb_weak_message *alone = pass_over(&p, NULL, 1);
    (void)state;
    for (int n = 2; n <= MOST_RANKS; n++) {
        rank_of ranks[MOST_RANKS];
        pthread_t threads[MOST_RANKS];
        pthread_barrier_init(&barrier, NULL, (unsigned)n);
        for (int i = 0; i < n; i++) {
            ranks[i] = (rank_of){&p, {.rank = i, .n_ranks = n, .gather = gather, .agree = agree}, NULL};
            pthread_create(&threads[i], NULL, run_rank, &ranks[i]);
        }
        for (int i = 0; i < n; i++) pthread_join(threads[i], NULL);
        for (int i = 0; i < n; i++) {
            CHECK(ranks[i].message->count == alone->count);
            CHECK(!memcmp(ranks[i].message->gram, alone->gram, alone->n * alone->n * sizeof(double)));
            kb_weak_message_destroy(ranks[i].message);
        }
        pthread_barrier_destroy(&barrier);
    }
    kb_weak_message_destroy(alone);
    finish(&p);
    kbass_data_destroy(data);
}

/* ---------------------------------------------------------------- a law */

static void a_part_decides_what_all_propose(void **state)
{
    kbass_data *data = sample(400, 256);
    static const char *const law[] = {"u_t: u*u_x", "u_t: u_xx"};
    (void)state;
    CHECK_OK(kb_tiles_of_table(data, 50000, &error));
    CHECK_OK(kb_tiles_take_part(data, 6000, &error));
    CHECK(data->n_rows >= 3000 && data->n_rows <= 6000 && data->part && strstr(data->note, "400 x 256"));
    kbass_discovery *discovery = discover(data, NULL);
    CHECK(has_support(kbass_discovery_result(discovery), 2, law));
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_are_those_of_the_table), cmocka_unit_test(steps_make_axes_of_an_unnamed_field),
        cmocka_unit_test(tiles_add_up_to_the_whole), cmocka_unit_test(sums_are_equal_for_any_number_of_ranks),
        cmocka_unit_test(a_part_decides_what_all_propose)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
