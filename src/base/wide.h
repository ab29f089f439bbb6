/* Loops compiled for several widths of vector registers; the loader takes the widest that the machine has. */
#ifndef KB_WIDE_H
#define KB_WIDE_H

/* The loader resolves the choice before the sanitizers' runtimes are up, and clang 14 loses the symbols of clones that
   were declared before: both get the plain version. */
#if defined(__x86_64__) && defined(__linux__) && !defined(__clang__) && !defined(KBASS_SANITIZED)
#define KB_HAS_WIDE
#define KB_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define KB_WIDE
#endif

#endif
