#define _GNU_SOURCE /* memmem */
/* Files of other programs that are not read: what they are, and what to do. */
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/status.h"
#include "data/zip.h"

typedef struct {
    const char *bytes;
    size_t n;
    const char *what;
} signature;

static const char *foreign_by_bytes(const kb_file *file)
{
    static const signature known[] = {
        {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 8,
         "an old Excel workbook (.xls), or one with a password: save it as .xlsx without password, or as CSV"},
        {"PAR1", 4, "a Parquet file: save it as CSV or HDF5, in Python by pandas.read_parquet(FILE).to_csv(...)"},
        {"ARROW1", 6, "an Arrow file: save it as CSV or HDF5, in Python by pandas.read_feather(FILE).to_csv(...)"},
        {"FEA1", 4, "a Feather file: save it as CSV or HDF5, in Python by pandas.read_feather(FILE).to_csv(...)"},
        {"SQLite format 3", 16, "an SQLite database: save a table of it as CSV"},
        {"CDF\1", 4, "a netCDF file of version 3: save it as version 4, by nccopy -k nc4 OLD NEW"},
        {"CDF\2", 4, "a netCDF file of version 3: save it as version 4, by nccopy -k nc4 OLD NEW"},
        {"# Created by Octave", 19,
         "Octave's own text: save the variables by save -v7 FILE.mat, or a table by csvwrite"},
        {"Octave-1-", 9, "Octave's binary format: save the variables by save -v7 FILE.mat"},
        {"ID;P", 4, "a SYLK file of a spreadsheet: save it as CSV or .xlsx"},
        {"%PDF-", 5, "a PDF document, not a table"},
        {"version https://git-lfs", 23, "a pointer of Git LFS, not the data themselves: git lfs pull fetches them"},
        {"RDX", 3, "an R workspace: save the table by write.csv"},
        {"\x80\3", 2, "a Python pickle: save the arrays by numpy.savez"},
        {"\x80\4", 2, "a Python pickle: save the arrays by numpy.savez"},
        {"\x80\5", 2, "a Python pickle: save the arrays by numpy.savez"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (file->size >= known[i].n && memcmp(file->bytes, known[i].bytes, known[i].n) == 0) return known[i].what;
    return NULL;
}

static const char *foreign_archive(const kb_file *file)
{
    kb_zip_entry e;
    if (!kb_is_zip(file)) return NULL;
    if (kb_zip_find(file, "xl/workbook.bin", &e)) return "a binary Excel workbook (.xlsb): save it as .xlsx or CSV";
    if (kb_zip_find(file, "word/document.xml", &e)) return "a Word document, not a table";
    if (kb_zip_find(file, "ppt/presentation.xml", &e)) return "a presentation, not a table";
    if (kb_zip_find(file, "content.xml", &e) && kb_zip_find(file, "mimetype", &e))
        return "an OpenDocument file (.ods): save it as .xlsx or CSV";
    if (kb_zip_find(file, "Index/Document.iwa", &e)) return "a Numbers document: export it as .xlsx or CSV";
    return NULL;
}

/* Text that is no table: pages of the web, JSON. */
static const char *foreign_text(const kb_file *file)
{
    const char *c = (const char *)file->bytes, *end = c + file->size, *next;
    while (c < end && strchr(" \t\r\n", *c)) c++;
    size_t left = (size_t)(end - c), head = left < 400 ? left : 400;
    if (left > 5 && (!strncasecmp(c, "<html", 5) || (left > 14 && !strncasecmp(c, "<!doctype html", 14))))
        return "a web page: the download has gone wrong, or the table has to be saved from the page as CSV";
    if (left > 6 && !strncasecmp(c, "<table", 6))
        return "a table of a web page: save it as CSV, in Python by pandas.read_html(FILE)[0].to_csv(...)";
    if (left > 5 && !strncmp(c, "<?xml", 5)) return "an XML document, not a table";
    if (left > 10 && (!strncmp(c, "structure(", 10) || !strncmp(c, "list(", 5)))
        return "R's own text: save the table by write.csv";
    if (memmem(c, head, "\nZONE ", 6) || memmem(c, head, "\nzone ", 6))
        return "Tecplot's text: keep its lines of numbers below one line of names, such as t,x,y";
    if (left < 2 || (*c != '{' && *c != '[')) return NULL;
    for (next = c + 1; next < end && strchr(" \t\r\n", *next);) next++;
    if (next == end || !strchr("\"{[", *next)) return NULL;
    return memmem(c, head, "kbass-result", 12)
               ? "a result of kbass discover, not data: see kbass report, forecast, plot"
               : "JSON: save it as CSV, in Python by pandas.read_json(FILE).to_csv(...)";
}

/* MATLAB's files of version 4 begin with kind, rows, columns, whether complex, the length of a name; and the name. */
static bool is_mat4(const kb_file *file)
{
    uint32_t head[5];
    if (file->size < sizeof head + 2) return false;
    memcpy(head, file->bytes, sizeof head);
    bool is_sane =
        head[0] <= 52 && head[0] % 10 <= 2 && head[1] && head[2] && head[3] <= 1 && head[4] > 1 && head[4] < 64;
    if (!is_sane || head[1] > file->size || head[2] > file->size || file->size < sizeof head + head[4]) return false;
    const char *name = (const char *)file->bytes + sizeof head;
    return strnlen(name, head[4]) == head[4] - 1;
}

const char *kb_file_foreign(const kb_file *file)
{
    const char *what = foreign_by_bytes(file);
    if (!what && is_mat4(file)) what = "a MATLAB file of version 4: save it by save -v7";
    if (!what) what = foreign_text(file);
    return what ? what : foreign_archive(file);
}
