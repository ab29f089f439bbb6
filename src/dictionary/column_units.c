#include "dictionary/column_units.h"

#include <string.h>

#include "base/buffer.h"
#include "dictionary/text.h"
#include "dictionary/units.h"

static void put_unit(kb_buffer *list, kb_symbols *symbols, const char *name, const char *unit)
{
    kb_symbols before = *symbols;
    kb_unit parsed;
    if (!unit || strpbrk(unit, ",;:")) return;
    if (kb_unit_parse(symbols, unit, &parsed, NULL) == KBASS_OK)
        kb_buffer_print(list, "%s%s:%s", list->length ? ", " : "", name, unit);
    else *symbols = before;
}

kbass_status kb_column_units(const kbass_data *data, kbass_settings *settings, kbass_error *error)
{
    kb_buffer list = {0};
    kb_symbols symbols = {0};
    kbass_status status = KBASS_OK;
    if (kb_is_given(settings->units)) return KBASS_OK;
    for (size_t i = 0; i < data->n_axes; i++)
        put_unit(&list, &symbols, data->axis_names[i], kb_data_unit(data, data->axis_names[i]));
    for (size_t i = 0; i < data->n_states; i++)
        put_unit(&list, &symbols, data->state_names[i], kb_data_unit(data, data->state_names[i]));
    if (list.length && !list.is_lost) status = kbass_settings_set(settings, "units", list.text, error);
    kb_buffer_clear(&list);
    return status;
}
