/* Text that is no table as it stands: well logs (LAS), InfluxDB's lines, JSON. Each becomes a sheet (data/read.h). */
#ifndef KB_LOGS_H
#define KB_LOGS_H

#include "data/read.h"

/* A part of the file's text. */
typedef struct {
    const char *begin, *end;
} kb_text_span;

bool kb_is_las(const kb_file *file);
kbass_status kb_read_las(kb_reading *reading, kbass_data *data);

/* measurement,tag=a field=1.5,other=2i 1672531200000000000 */
bool kb_is_influx(const kb_file *file);
kbass_status kb_read_influx(kb_reading *reading, kbass_data *data);

bool kb_is_json(const kb_file *file);
kbass_status kb_read_json(kb_reading *reading, kbass_data *data);

#endif
