#define _GNU_SOURCE /* memmem */
/* Files of other programs that are not read: what they are, and what to do. */
#include <string.h>
#include <strings.h>

#include "base/status.h"
#include "data/xlsx.h"
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
        {"Octave-1-", 9, "Octave's binary format: save the variables by save -v7 FILE.mat"},
        {"ID;P", 4, "a SYLK file of a spreadsheet: save it as CSV or .xlsx"},
        {"%PDF-", 5, "a PDF document, not a table"},
        {"version https://git-lfs", 23, "a pointer of Git LFS, not the data themselves: git lfs pull fetches them"},
        {"RDX", 3, "an R workspace: save the table by write.csv"},
        {"RDA", 3, "an R workspace: save the table by write.csv"},
        {"X\n\0\0", 4, "an R object (.rds): save the table by write.csv(readRDS(FILE), ...)"},
        {"A\n2\n", 4, "an R object (.rds): save the table by write.csv(readRDS(FILE), ...)"},
        {"A\n3\n", 4, "an R object (.rds): save the table by write.csv(readRDS(FILE), ...)"},
        {"BZh", 3, "packed by bzip2: unpack it by bunzip2, or pack it by gzip, which is read"},
        {"\xfd"
         "7zXZ",
         5, "packed by xz: unpack it by unxz, or pack it by gzip, which is read"},
        {"\x28\xb5\x2f\xfd", 4, "packed by zstd: unpack it by unzstd, or pack it by gzip, which is read"},
        {"7z\xbc\xaf", 4, "packed by 7-Zip: unpack it, or pack it as .zip, which is read"},
        {"Rar!", 4, "packed by RAR: unpack it, or pack it as .zip, which is read"},
        {"<stata_dta>", 11, "a Stata file: save it as CSV, by export delimited"},
        {"$FL2", 4, "an SPSS file: save it as CSV"},
        {"TDSm", 4, "LabVIEW's TDMS: save it as text (.lvm) or CSV, in Python by nptdms"},
        {"# vtk DataFile", 14, "VTK's legacy text: save the points and values as CSV (in ParaView: Save Data)"},
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
        return kb_is_ods(file) ? NULL : "an OpenDocument file that is no spreadsheet";
    if (kb_zip_find(file, "Index/Document.iwa", &e)) return "a Numbers document: export it as .xlsx or CSV";
    return NULL;
}

/* Text that is no table: pages of the web, results. */
static const char *foreign_text(const kb_file *file)
{
    const char *c = (const char *)file->bytes, *end = c + file->size;
    while (c < end && strchr(" \t\r\n", *c)) c++;
    size_t left = (size_t)(end - c), head = left < 400 ? left : 400;
    if (left > 5 && (!strncasecmp(c, "<html", 5) || (left > 14 && !strncasecmp(c, "<!doctype html", 14))))
        return "a web page: the download has gone wrong, or the table has to be saved from the page as CSV";
    if (left > 6 && !strncasecmp(c, "<table", 6))
        return "a table of a web page: save it as CSV, in Python by pandas.read_html(FILE)[0].to_csv(...)";
    if (left > 5 && !strncmp(c, "<?xml", 5))
        return memmem(c, head, "Excel.Sheet", 11) || memmem(c, head, ":Workbook", 9) || memmem(c, head, "<Workbook", 9)
                   ? "a spreadsheet as XML: save it as .xlsx, .ods or CSV"
                   : "an XML document, not a table";
    if (left > 10 && (!strncmp(c, "structure(", 10) || !strncmp(c, "list(", 5)))
        return "R's own text: save the table by write.csv";
    if (left > 30 && memmem(c, head, "<-\nstructure(", 13)) return "R's own text: save the table by write.csv";
    if (memmem(c, head, "\nZONE ", 6) || memmem(c, head, "\nzone ", 6))
        return "Tecplot's text: keep its lines of numbers below one line of names, such as t,x,y";
    if (left && *c == '{' && memmem(c, head, "kbass-result", 12))
        return "a result of kbass discover, not data: see kbass report, forecast, plot";
    return NULL;
}

const char *kb_file_foreign(const kb_file *file)
{
    const char *what = foreign_by_bytes(file);
    if (!what) what = foreign_text(file);
    return what ? what : foreign_archive(file);
}
