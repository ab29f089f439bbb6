/* Complex numbers: real ones where the imaginary part is nil, else two fields, u_re and u_im. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "data/arrange.h"

enum { PIECE = 4096 };

/* What transforms and many steps leave of an imaginary part that should be nil, against the largest real part: some
   10^5 roundings in double precision, 10^2 in single, where an honest part may be small too. */
static double rounding_of(const kb_array *array) { return array->element.width < sizeof(double) ? 1e-5 : 1e-10; }

/* The largest size among both parts; infinite where an imaginary part is missing and its real part is not. */
static void measure(const kb_view *real, const kb_view *imaginary, double largest[2])
{
    size_t n = 1;
    largest[0] = largest[1] = 0;
    for (size_t i = 0; i < real->n_dims; i++) n *= real->dims[i];
    for (size_t first = 0; first < n; first += PIECE) {
        double re[PIECE], im[PIECE];
        size_t count = n - first < PIECE ? n - first : PIECE;
        kb_view_read(real, first, count, re);
        kb_view_read(imaginary, first, count, im);
        for (size_t i = 0; i < count; i++) {
            if (isnan(re[i])) continue;
            largest[0] = fmax(largest[0], fabs(re[i]));
            largest[1] = isnan(im[i]) ? (double)INFINITY : fmax(largest[1], fabs(im[i]));
        }
    }
}

bool kb_complex_is_nil(const kb_view *real, const kb_view *imaginary)
{
    double largest[2];
    measure(real, imaginary, largest);
    return largest[1] <= rounding_of(real->array) * largest[0];
}

static bool rename_array(kb_array *array, const char *ending)
{
    size_t length = strlen(array->name), size = length + strlen(ending) + 1;
    char *name = KB_NEW(char, size);
    if (!name) return false;
    snprintf(name, size, "%s%s", array->name, ending);
    kb_free(array->name);
    array->name = name;
    return true;
}

static const char *short_name(const kb_array *array)
{
    const char *slash = strrchr(array->name, '/');
    return slash ? slash + 1 : array->name;
}

static void note_nil(kb_arrangement *a, const kb_array *array, double largest)
{
    char size[KB_NUMBER_SIZE];
    kb_number_round(largest, 2, size);
    kb_arrangement_note(a, "%s%s is complex with ", *a->note ? "; " : "", *array->name ? short_name(array) : "it");
    if (largest > 0) kb_arrangement_note(a, "an imaginary part of at most %s, rounding: taken as real", size);
    else kb_arrangement_note(a, "a nil imaginary part: taken as real");
}

static kbass_status part_fields(kb_arrangement *a, kb_array *real, kb_array *imaginary)
{
    const char *name = short_name(real);
    if (*name) kb_arrangement_note(a, "%s%s is complex: %s_re, %s_im", *a->note ? "; " : "", name, name, name);
    bool all = rename_array(real, "_re") && rename_array(imaginary, "_im");
    return all ? KBASS_OK : kb_out_of_memory(a->reading->error, "the names");
}

kbass_status kb_complex_settle(kb_arrangement *a, size_t index)
{
    kb_array *real = &a->source.arrays[index], *imaginary = real + 1;
    size_t n = 0;
    double largest[2];
    if (real->portion != KB_REAL_PART || real->trouble || !kb_array_count(real, &n) || n < 2) return KBASS_OK;
    bool is_pair = index + 1 < a->source.n_arrays && imaginary->portion == KB_IMAGINARY_PART && !imaginary->trouble &&
                   imaginary->n_dims == real->n_dims &&
                   memcmp(imaginary->dims, real->dims, real->n_dims * sizeof *real->dims) == 0;
    if (!is_pair)
        return kb_fail(a->reading->error, KBASS_ERROR_DATA, "%s: %.200s: complex numbers without their imaginary part",
                       a->reading->file.path, real->name);
    kbass_status status = kb_source_load(&a->source, real);
    if (status == KBASS_OK) status = kb_source_load(&a->source, imaginary);
    if (status != KBASS_OK) return status;
    kb_view views[] = {kb_view_of(real), kb_view_of(imaginary)};
    measure(&views[0], &views[1], largest);
    imaginary->is_dropped = largest[1] <= rounding_of(real) * largest[0];
    if (!imaginary->is_dropped) return part_fields(a, real, imaginary);
    note_nil(a, real, largest[1]);
    return KBASS_OK;
}
