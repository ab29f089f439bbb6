#include "simulate/sundials.h"

static void be_silent(int code, const char *module, const char *function, char *message, void *user)
{
    (void)code, (void)module, (void)function, (void)message, (void)user;
}

bool kb_sundials_create(int method, SUNContext *context, void **cvodes)
{
    if (SUNContext_Create(NULL, context) != 0) return false;
    *cvodes = CVodeCreate(method, *context);
    return *cvodes && CVodeSetErrHandlerFn(*cvodes, be_silent, NULL) == CV_SUCCESS;
}
