/* XML parts of a zip archive, element by element, by expat. Document types are refused, and with them all entities but
 * XML's own five: what is read is no larger than the part.
 *
 * Names come without their prefix: "x:row" is "row".
 */
#ifndef KB_XML_H
#define KB_XML_H

#include <expat.h>

#include "data/zip.h"

typedef struct kb_xml kb_xml;
struct kb_xml {
    kb_reading *reading;
    const char *part; /* its name in the archive */
    void (*begin)(kb_xml *xml, const char *name, const char **attributes);
    void (*end)(kb_xml *xml, const char *name);                 /* or NULL */
    void (*text)(kb_xml *xml, const char *text, size_t length); /* or NULL */
    void *user;
    kbass_status status; /* of what the callbacks did; no more of them are called once it is not ok */
    XML_Parser parser;
};

/* Reads the part of this name. */
kbass_status kb_xml_read(kb_xml *xml);
/* NULL where the element does not have it. */
const char *kb_xml_attribute(const char **attributes, const char *name);
/* Keeps the first failure and stops. */
void kb_xml_stop(kb_xml *xml, kbass_status status);

#endif
