/* The algorithm as published: Long, Xing, Krishnapriyan, Kirby, Zhe, Mahoney, "Equation Discovery with Bayesian
 * Spike-and-Slab Priors and Efficient Kernels", AISTATS 2024.
 *
 *     regress the field on the measurements
 *     repeat
 *         E step   G = Phi'Phi/tau, b = Phi'u_t/tau with the field as it stands; EP; prune probabilities below 1/2
 *         M step   Adam on the field, the weights at their posterior mean
 *     until neither the probabilities nor the objective move
 *
 * All hyperparameters are settings (paper_*), in the scaled variables of docs/math.md. The baseline, not our method:
 * the field is taken as known in the E step, and what is pruned stays out.
 */
#ifndef KB_PAPER_H
#define KB_PAPER_H

#include "answer/answer.h"

/* What the loop knows of a field: states over time (paper_states.h) or fields over a mesh of time and space
   (paper_mesh.h). */
typedef struct kb_canvas kb_canvas;

struct kb_canvas {
    const kbass_settings *settings;
    kb_frame frame;
    const kb_support *all;       /* every column */
    const double *slope_squares; /* n_states: mean squares of the left-hand sides on the bare field */
    size_t n;                    /* unknowns of the field */
    double *z, *w;               /* they, and the weights by column */
    double *gradient;            /* n: dJ/dz of the last `descend` */
    double *G, *gradient_w;      /* of the last `listen`: k x k, k */

    /* The field by regression on the measurements; false in numerical trouble. */
    bool (*regress)(kb_canvas *canvas);
    /* G = Phi'Phi/tau and dJ/dw of the support's columns, the field taken as known. */
    void (*listen)(kb_canvas *canvas, const kb_support *support);
    /* J, and dJ/dz into `gradient`. Allocates nothing. */
    double (*descend)(kb_canvas *canvas, const kb_support *support);
    /* After the last iteration: whatever `evaluate` needs; false in numerical trouble. */
    bool (*finish)(kb_canvas *canvas, const kb_support *support);
    /* rms residual where measured, and the value at the first time or NaN; the data's units. */
    double (*residual_rms)(const kb_canvas *canvas, size_t state);
    double (*initial)(const kb_canvas *canvas, size_t state);
    /* Solution and its band at n points with ascending times; positions NULL without space; n x n_states, row-major. */
    kbass_status (*evaluate)(kb_canvas *canvas, size_t n, const double *times, const double *positions, double *mean,
                             double *sd, kbass_error *error);
    void (*destroy)(kb_canvas *canvas);
};

/* `answer` is complete but for the times of other stages. Noise is the rms of the field's residuals; a term that was
   pruned keeps the weight and probability it had then. */
kbass_status kb_paper_run(kb_canvas *canvas, kb_run *run, kb_answer **answer, kbass_error *error);
void kb_canvas_destroy(kb_canvas *canvas);

/* Length scale as the settings have it, or this one if it is not too short; scaled. */
double kb_paper_length(const kbass_settings *settings, double otherwise);
/* Noise variance and equation variance of a state as the settings have them, scaled. */
double kb_paper_noise(const kbass_settings *settings, double known_variance);
double kb_paper_tau(const kb_canvas *canvas, size_t state);

#endif
