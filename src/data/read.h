/* One reading of a file: what was asked, the bytes, how far it is.
 *
 * A file is either text with a table, read row by row (csv.c), or named arrays (source.h), from which arrange.c takes
 * axes and fields. What it is is decided by its content. Everything ends in a kbass_data.
 */
#ifndef KB_READ_H
#define KB_READ_H

#include "data/data.h"
#include "data/sha256.h"

typedef struct {
    const char *path;           /* for messages */
    const unsigned char *bytes; /* mapped where possible, else read into memory: all, or the first of a stream */
    size_t size;
    bool is_mapped, is_stream; /* a stream has more to give than the bytes, for kb_file_read */
    int descriptor;            /* the stream's */
} kb_file;

typedef struct {
    kb_file file;
    kb_sha256 sha;
    size_t hashed;                                             /* of the file's bytes */
    size_t block;                                              /* bytes of text at a time; 0: as many as is good */
    const char *inside;                                        /* "/run3/u" of "file.h5:/run3/u", or NULL */
    const char *time, *axes;                                   /* what the caller named, or NULL */
    const char *run, *use, *ignore, *rename, *dates, *missing; /* as in kbass_read_options */
    const char *sheet; /* a table of cells that the file holds, as text (kb_read_sheet); NULL: the file is the text */
    size_t sheet_size;
    void *parsed;       /* JSON with arrays (json_arrays.c), or NULL */
    char packed_as[80]; /* "gzip", or the name of what was read in an archive; "" */
    const char *within; /* ranges of the part to be read, or NULL, */
    size_t every;       /* and of its times every so many; 0 is 1 */
    size_t most_values; /* grids of more stay in the file, and a part of so many, or few where that is more, is read; */
    size_t few_values;  /* 0: all are read */
    kbass_progress_callback progress;
    void *user;
    double start;
    kbass_error *error;
    bool is_plain; /* nothing was said: whoever calls may split runs later (kbass_data_split) */
} kb_reading;

kbass_status kb_file_open(const char *path, kb_file *file, kbass_error *error);
void kb_file_close(kb_file *file);
/* The next n bytes of a stream, fewer only at its end. */
kbass_status kb_file_read(kb_file *file, void *to, size_t n, size_t *got, kbass_error *error);
/* All bytes of a stream, for formats that need them together. */
kbass_status kb_file_complete(kb_file *file, kbass_error *error);
/* What was packed by gzip or zip takes the file's place, unless it is text in gzip, which is inflated as it is read. */
kbass_status kb_file_unpack(kb_reading *reading);
/* What was mapped need not stay in memory; it comes back when it is looked at. */
void kb_file_forget(const kb_file *file);

/* What it is and what to do where it is of a kind that is not read; NULL where it may be one that is. */
const char *kb_file_foreign(const kb_file *file);

/* Hashes the file's bytes up to a place, in any thread, and lets go of them. */
void kb_reading_hash(kb_reading *reading, size_t upto);

/* Tells the caller how far we are, 0 to 1; an error when they want to stop. */
kbass_status kb_reading_tell(const kb_reading *reading, double fraction);

kbass_status kb_read_text(kb_reading *reading, kbass_data *data);
/* The rows of a sheet, for formats that have cells: they are read as any text is, so that names, units, dates, missing
   markers, labels and rows before the header mean the same everywhere. `text` is CSV in UTF-8 with a line for each row
   of the sheet (empty rows too, lines are counted for messages): cells between commas, text cells in double quotes
   (quotes doubled, line ends in them replaced by a blank), numbers with all digits and a decimal point, dates as
   2021-03-04T05:06:07, nothing for an empty cell. It belongs to the caller. */
kbass_status kb_read_sheet(kb_reading *reading, const char *text, size_t size, kbass_data *data);
kbass_status kb_read_arrays(kb_reading *reading, kbass_data *data);
/* The file's first bytes are those of a format with arrays; NULL or its name. */
const char *kb_format_name(const kb_file *file);

#endif
