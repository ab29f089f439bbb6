#include "data/xml.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum { PIECE = 1 << 18 };

static const char *local_name(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon ? colon + 1 : name;
}

const char *kb_xml_attribute(const char **attributes, const char *name)
{
    for (; *attributes; attributes += 2)
        if (strcmp(local_name(attributes[0]), name) == 0) return attributes[1];
    return NULL;
}

void kb_xml_stop(kb_xml *xml, kbass_status status)
{
    if (xml->status == KBASS_OK) xml->status = status;
    XML_StopParser(xml->parser, XML_FALSE);
}

static kbass_status fail(const kb_xml *xml, const char *what)
{
    const kb_reading *r = xml->reading;
    return kb_fail(r->error, KBASS_ERROR_DATA, "%s: its part %.100s %s", r->file.path, xml->part, what);
}

/* ---------------------------------------------------------------- expat */

static void *allocate(size_t size) { return kb_allocate(size, 1); }
static void *reallocate(void *memory, size_t size) { return kb_resize(memory, size, 1); }

static void XMLCALL begin(void *user, const XML_Char *name, const XML_Char **attributes)
{
    kb_xml *xml = user;
    if (xml->status == KBASS_OK) xml->begin(xml, local_name(name), attributes);
}

static void XMLCALL end(void *user, const XML_Char *name)
{
    kb_xml *xml = user;
    if (xml->status == KBASS_OK && xml->end) xml->end(xml, local_name(name));
}

static void XMLCALL text(void *user, const XML_Char *bytes, int length)
{
    kb_xml *xml = user;
    if (xml->status == KBASS_OK && xml->text) xml->text(xml, bytes, (size_t)length);
}

static void XMLCALL doctype(void *user, const XML_Char *name, const XML_Char *system, const XML_Char *public, int has)
{
    kb_xml *xml = user;
    (void)name, (void)system, (void)public, (void)has;
    kb_xml_stop(xml, fail(xml, "declares a document type, which sheets do not have"));
}

static bool make_parser(kb_xml *xml)
{
    static const XML_Memory_Handling_Suite memory = {allocate, reallocate, kb_free};
    xml->parser = XML_ParserCreate_MM(NULL, &memory, NULL);
    if (!xml->parser) return false;
    XML_SetUserData(xml->parser, xml);
    XML_SetElementHandler(xml->parser, begin, end);
    XML_SetCharacterDataHandler(xml->parser, text);
    XML_SetStartDoctypeDeclHandler(xml->parser, doctype);
    return true;
}

static kbass_status feed(kb_xml *xml, const unsigned char *bytes, size_t n, bool is_last)
{
    if (XML_Parse(xml->parser, (const char *)bytes, (int)n, is_last) == XML_STATUS_OK || xml->status != KBASS_OK)
        return xml->status;
    if (XML_GetErrorCode(xml->parser) == XML_ERROR_NO_MEMORY) return kb_out_of_memory(xml->reading->error, xml->part);
    return fail(xml, XML_ErrorString(XML_GetErrorCode(xml->parser)));
}

/* ---------------------------------------------------------------- parts */

static kbass_status feed_inflated(kb_xml *xml, const kb_zip_entry *e, const unsigned char *bytes, unsigned char *work)
{
    kb_inflater z;
    uint64_t n = 0;
    uint32_t crc = 0;
    kbass_status status = KBASS_OK;
    bool is_open = kb_zip_is_stored(e) || kb_inflater_open(&z, bytes, e->compressed, KB_RAW);
    if (!is_open) return fail(xml, z.trouble);
    while (status == KBASS_OK && n < e->size) {
        size_t got = e->size - n < PIECE ? e->size - n : PIECE, wanted = got;
        const unsigned char *piece = kb_zip_is_stored(e) ? bytes + n : work;
        if (piece == work && (!kb_inflater_read(&z, work, wanted, &got) || got < wanted))
            status = fail(xml, z.trouble ? z.trouble : "breaks off");
        crc = (uint32_t)crc32_z(crc, piece, got);
        n += got;
        if (status == KBASS_OK) status = feed(xml, piece, got, n == e->size);
        if (status == KBASS_OK) status = kb_reading_tell(xml->reading, 0);
    }
    if (status == KBASS_OK && crc != e->crc) status = fail(xml, "has another checksum: it was damaged");
    if (!kb_zip_is_stored(e)) kb_inflater_close(&z);
    return status;
}

kbass_status kb_xml_read(kb_xml *xml)
{
    const kb_file *file = &xml->reading->file;
    kb_zip_entry e;
    if (!kb_zip_find(file, xml->part, &e)) return fail(xml, "is not there");
    const char *trouble = kb_zip_trouble(file, &e);
    if (trouble || !e.size) return fail(xml, trouble ? trouble : "is empty");
    unsigned char *work = KB_NEW(unsigned char, PIECE);
    kbass_status status = work && make_parser(xml) ? KBASS_OK : kb_out_of_memory(xml->reading->error, xml->part);
    if (status == KBASS_OK) status = feed_inflated(xml, &e, kb_zip_bytes(file, &e), work);
    if (xml->parser) XML_ParserFree(xml->parser);
    xml->parser = NULL;
    kb_free(work);
    return status;
}
