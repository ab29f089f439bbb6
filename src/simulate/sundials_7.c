#include "simulate/sundials.h"

/* Errors go to the context's handlers, warnings past them to its logger. */
static bool be_silent(SUNContext context)
{
    return SUNContext_ClearErrHandlers(context) == SUN_SUCCESS && SUNContext_SetLogger(context, NULL) == SUN_SUCCESS;
}

bool kb_sundials_create(int method, SUNContext *context, void **cvodes)
{
    if (SUNContext_Create(SUN_COMM_NULL, context) != SUN_SUCCESS || !be_silent(*context)) return false;
    *cvodes = CVodeCreate(method, *context);
    return *cvodes != NULL;
}
