/* Files of other programs that are not read: what they are, and what to do. */
#include <string.h>

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
        {"%PDF-", 5, "a PDF document, not a table"},
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

const char *kb_file_foreign(const kb_file *file)
{
    const char *what = foreign_by_bytes(file);
    return what ? what : foreign_archive(file);
}
