/* An expression at work: its name and facts, and a program for a stack machine; monomials also as a list of powers. */
#ifndef KB_PROGRAM_H
#define KB_PROGRAM_H

#include "dictionary/algebra.h"

typedef enum {
    KB_PUSH_NUMBER,
    KB_PUSH_VARIABLE,
    KB_ADD, /* from here: two operands */
    KB_MULTIPLY,
    KB_DIVIDE,
    KB_RAISE_BY,  /* to the power on top of the stack */
    KB_CALL_PAIR, /* a function of two arguments */
    KB_SCALE,     /* from here: one operand; by a number */
    KB_RAISE,     /* to a number */
    KB_CALL       /* a function */
} kb_operation;

static inline bool kb_is_push(kb_operation operation) { return operation < KB_ADD; }
static inline bool kb_is_binary(kb_operation operation) { return operation >= KB_ADD && operation < KB_SCALE; }

typedef struct {
    kb_operation operation;
    unsigned index; /* of the variable, function or pair */
    double number;
} kb_instruction;

struct kb_expression {
    char *name;
    int degree;
    size_t n_variables;
    bool *depends; /* n_variables */
    bool is_monomial;
    size_t n_powers; /* of a monomial; the constant has none */
    kb_power *powers;
    size_t n_instructions;
    kb_instruction *instructions;
    size_t stack_size;
};

#endif
