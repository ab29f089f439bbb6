/* Names of columns that other programs write as directives above their numbers: Grace and GROMACS (.xvg: @ s0 legend
 * "Potential"), Weka (.arff: @attribute t numeric), PLUMED (#! FIELDS time d1).
 */
#ifndef KB_DIRECTIVES_H
#define KB_DIRECTIVES_H

#include "base/buffer.h"

typedef struct {
    kb_buffer along, up;   /* quoted labels of Grace's axes */
    kb_buffer names;       /* of the columns, quoted: Grace's but the first, others all */
    bool is_there, is_xvg; /* any was met; it is Grace's */
} kb_directives;

/* False: the line is none. */
bool kb_directive_take(kb_directives *directives, const char *line, const char *end);
/* The line of names that they make, to be freed by kb_free; NULL: they make none, or no memory. */
char *kb_directives_header(const kb_directives *directives);
void kb_directives_clear(kb_directives *directives);

#endif
