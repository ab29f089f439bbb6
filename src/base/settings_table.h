/* The settings: one table makes the struct, its defaults, its validation, the command line's flags, their help and
 * their documentation. Columns: kind, field (the flag is --field with '-' for '_'), default, lowest, highest, what the
 * help calls the value, choices, group, help. A default of 0 below the lowest, or NULL, means "chosen from the data".
 */
#ifndef KB_SETTINGS_TABLE_H
#define KB_SETTINGS_TABLE_H

#define KB_SETTINGS_TABLE(X)                                                                                           \
    X(INTEGER, degree, 0, 1, 12, "P", NULL, "dictionary",                                                              \
      "all monomials of total degree 1 to P (default: 3 with the constant for up to 6 states, 2 above); for fields "   \
      "over space they, and 1, also times every derivative of --derivatives (default: 3)")                             \
    X(INTEGER, box_degree, 0, 1, 12, "P", NULL, "dictionary", "all monomials with powers up to P in each state")       \
    X(INTEGER, derivatives, 0, 1, 6, "K", NULL, "dictionary",                                                          \
      "every space derivative of fields up to order K (default: 4 along one axis, 2 along more)")                      \
    X(FLAG, products, 0, 0, 1, NULL, NULL, "dictionary",                                                               \
      "for fields over space: also the products of two different derivatives, such as u_x*u_xx")                       \
    X(FLAG, constant, 0, 0, 1, NULL, NULL, "dictionary", "add the constant term 1 to --degree or --box-degree")        \
    X(TEXT, terms, NULL, 0, 0, "LIST", NULL, "dictionary",                                                             \
      "candidate terms, separated by commas: \"x*y, sin(x), x/(1+y)\"; alone they are the dictionary, with --degree, " \
      "--box-degree, --derivatives or --products they are added to it; in fields u over space also u_x, u_xxy, x; "    \
      "functions: sin cos tan asin acos atan sinh cosh tanh exp log sqrt abs sign step floor erf min(x,y) max(x,y), "  \
      "monod(x,K) for x/(K+x), hill(x,K,n) for x^n/(K^n+x^n)")                                                         \
    X(TEXT, unknown, NULL, 0, 0, "LIST", NULL, "dictionary",                                                           \
      "unknown constants inside terms and their ranges, \"K=0.1:20, n=1:8\": --terms \"x/(K+x), x^n, sin(w*t)\"; "     \
      "terms "                                                                                                         \
      "that name the same share it, K[*] gives each term its own")                                                     \
    X(TEXT, family, NULL, 0, 0, "LIST", NULL, "dictionary",                                                            \
      "terms with unknown constants, added to the dictionary: saturating for x/(K+x) and x^2/(K^2+x^2), alone and "    \
      "times each other state; periodic for sin(w*t) and cos(w*t); ranges are taken from the data")                    \
    X(TEXT, terms_file, NULL, 0, 0, "FILE", NULL, "dictionary", "the same, one term a line, # for comments")           \
    X(TEXT, forbid, NULL, 0, 0, "LIST", NULL, "dictionary",                                                            \
      "terms left out: \"x^3\" everywhere, \"x_t: x^3, y\" in one equation; separate equations by ;")                  \
    X(TEXT, require, NULL, 0, 0, "LIST", NULL, "dictionary", "terms known to be in; written as for --forbid")          \
    X(TEXT, constraint, NULL, 0, 0, "LIST", NULL, "dictionary",                                                        \
      "what is known of weights: \"x_t: x*y + y_t: x*y = 0; y_t: y < 0; x_t: x < 2\", sums that are equal, signs and " \
      "bounds, kept in every fit; \"x_t + y_t = 0\" for every term: what leaves x comes into y")                       \
    X(TEXT, fix, NULL, 0, 0, "EQUATION", NULL, "dictionary",                                                           \
      "an equation known entirely: \"x_t = y\"; separate several by ;")                                                \
    X(TEXT, equation_for, NULL, 0, 0, "STATES", NULL, "dictionary",                                                    \
      "find equations for these states only; the others are followed as measured")                                     \
    X(TEXT, input, NULL, 0, 0, "COLUMNS", NULL, "dictionary",                                                          \
      "known functions of time, such as controls or forcing: columns that enter the dictionary and have no equation; " \
      "a "                                                                                                             \
      "curve through their values, which are taken as exact; for ODE systems")                                         \
    X(FLAG, input_hold, 0, 0, 1, NULL, NULL, "dictionary",                                                             \
      "inputs jump: each value holds until the next (default: a smooth curve through them)")                           \
    X(TEXT, input_delay, NULL, 0, 0, "LIST", NULL, "dictionary",                                                       \
      "inputs that act late: \"f=0.5\" for f(t - 0.5); \"f=0:2\" finds a delay within this range, and so does "        \
      "\"f=tau\" "                                                                                                     \
      "with --unknown \"tau=0:2\"")                                                                                    \
    X(TEXT, lhs, NULL, 0, 0, "NAME", NULL, "dictionary",                                                               \
      "the left-hand side, u_t or u_tt (default: u_t); of states \"x_tt, y_tt\" names those of second order: the "     \
      "velocity x_t need not be measured, and stands in terms as x_t")                                                 \
    X(TEXT, units, NULL, 0, 0, "LIST", NULL, "dictionary",                                                             \
      "units of axes and states, \"t:s, x:m, v:m/s\": weights are shown with theirs; SI units with prefixes, and any " \
      "other "                                                                                                         \
      "word as a unit of its own")                                                                                     \
    X(FLAG, dimensional, 0, 0, 1, NULL, NULL, "dictionary",                                                            \
      "with --units: only terms whose weight is made of the --constants' units, or of the axes' where none are given") \
    X(TEXT, constants, NULL, 0, 0, "LIST", NULL, "dictionary",                                                         \
      "with --dimensional: the constants that weights may be made of, by products of powers: \"g:m/s^2, L:m\"; none: " \
      "weights are numbers")                                                                                           \
    X(TEXT, noise, NULL, 0, 0, "SD", NULL, "inference",                                                                \
      "known noise, a standard deviation: 0.1, a share of each state's (5%), or by state (x=0.1, y=2%)")               \
    X(CHOICE, noise_model, 0, 0, 2, "NAME", "additive|multiplicative|log", "inference",                                \
      "how the noise depends on the value: not at all, in proportion, or normal in the logarithm (positive data); "    \
      "of the latter two --noise is a share of the value: 0.1 or 10%")                                                 \
    X(TEXT, explain, NULL, 0, 0, "LIST", NULL, "inference",                                                            \
      "what dropping or adding these terms would do: to evidence, misfit and the other weights; written as for "       \
      "--forbid")                                                                                                      \
    X(TEXT, vary, NULL, 0, 0, "LIST", NULL, "inference",                                                               \
      "of several runs: terms whose weights may differ between them, written as for --forbid; of the models found "    \
      "with common "                                                                                                   \
      "weights, the best with those weights fitted in each run is reported too")                                       \
    X(TEXT, holdout, NULL, 0, 0, "PART", NULL, "inference",                                                            \
      "find the law once more without a part of the data, and score it there: 0.25 for the last quarter of the time, " \
      "or the names of runs")                                                                                          \
    X(INTEGER, cross_validate, 0, 2, 1000, "K", NULL, "inference",                                                     \
      "the same K times, each without another part: runs, or blocks of the time where there is one run")               \
    X(TEXT, mesh, NULL, 0, 0, "N", NULL, "inference",                                                                  \
      "mesh points on the time axis, or on each axis: 160,160; 20 to 4000; auto, for fields over space: as many as "   \
      "the "                                                                                                           \
      "paper's, denser where the data's field bends (default: even, as many as the data need)")                        \
    X(TEXT, mesh_file, NULL, 0, 0, "FILE", NULL, "inference",                                                          \
      "for fields over space: mesh points of any spacing, a line for each axis: its name and its coordinates, "        \
      "t 0 0.1 0.2 ...; axes not in it are as --mesh says")                                                            \
    X(TEXT, periodic, NULL, 0, 0, "AXES", NULL, "inference",                                                           \
      "space axes along which the fields repeat, or none (default: along one space axis found from the data)")         \
    X(CHOICE, kernel, 0, 0, 4, "NAME", "se|matern52|matern72|rq|periodic", "inference", "kernel of the field")         \
    X(INTEGER, seed, 1, 0, 2147483647, "N", NULL, "inference", "seed of everything random; recorded in the result")    \
    X(INTEGER, threads, 0, 1, 1024, "N", NULL, "inference", "threads (default: all cores)")                            \
    X(REAL, time_limit, 0, 0, 1e9, "SECONDS", NULL, "inference",                                                       \
      "stop after this time with the best answer so far (default: none)")                                              \
    X(TEXT, checkpoint, NULL, 0, 0, "FILE", NULL, "inference",                                                         \
      "keep the work that is done in this file; the same call goes on from it, on any number of threads, to the same " \
      "answer")                                                                                                        \
    X(REAL, checkpoint_every, 60, 0.1, 1e6, "SECONDS", NULL, "inference", "how often that file is written")            \
    X(TEXT, memory, NULL, 0, 0, "SIZE", NULL, "inference", "memory it may take: 500MB, 2GB (default: what is free)")   \
    X(CHOICE, method, 0, 0, 2, "NAME", "kbass|paper|em", "inference",                                                  \
      "our method, the algorithm as published, or EP-EM alone, which integrates nothing in time: quick, and a second " \
      "opinion")                                                                                                       \
    X(CHOICE, paper_preset, 0, 0, 4, "CASE", "none|vdp|lorenz96|burgers|ks", "paper",                                  \
      "settings read off the authors' scripts for a case of theirs, each exception told; settings given beside it go " \
      "before")                                                                                                        \
    X(CHOICE, paper_units, 0, 0, 1, "NAME", "scaled|data", "paper",                                                    \
      "what variances and length scales are shares of: the record and the states' own spread, or nothing (presets: "   \
      "data)")                                                                                                         \
    X(REAL, paper_length_scale, 0, 0, 1e6, "L", NULL, "paper",                                                         \
      "length scale of the kernel along each axis at the start, as a share of the record (default: one sample "        \
      "spacing)")                                                                                                      \
    X(TEXT, paper_noise_variance, NULL, 0, 0, "LIST", NULL, "paper",                                                   \
      "variance of the measurements, as a share of each state's variance: a number, or 1e-3,6000:1e-4 for 1e-4 from "  \
      "step 6000 "                                                                                                     \
      "on; --noise goes before it (default: by cross-validation of the first kernel regression)")                      \
    X(TEXT, paper_m_variance, NULL, 0, 0, "LIST", NULL, "paper",                                                       \
      "variance of the equation's residual at a mesh point in the M step, as a share of the mean squared slope: a "    \
      "number, or "                                                                                                    \
      "0.1,6000:0.01 for 0.01 from step 6000 on (default: that of the measurements times mesh points per "             \
      "measurement)")                                                                                                  \
    X(TEXT, paper_e_variance, NULL, 0, 0, "LIST", NULL, "paper",                                                       \
      "the same in the E step (default: mesh points / 500, / 5000 and / 50000 in turn)")                               \
    X(TEXT, paper_alpha, NULL, 0, 0, "LIST", NULL, "paper",                                                            \
      "terms of a lower probability are pruned; a list as above (default: 0.1, then 0.5)")                             \
    X(CHOICE, paper_prune, 0, 0, 1, "NAME", "all|least", "paper",                                                      \
      "all of them at an E step, or the least likely one of each equation")                                            \
    X(TEXT, paper_bound, NULL, 0, 0, "LIST", NULL, "paper",                                                            \
      "terms of a smaller weight, in the data's units, are pruned too; a list as above (default: none)")               \
    X(CHOICE, paper_likelihood, 0, 0, 1, "NAME", "expected|plugin", "paper",                                           \
      "the M step's: with the covariance of the weights, as in the paper's text, or with their mean alone (presets)")  \
    X(REAL, paper_slab_variance, 100, 1e-6, 1e6, "V", NULL, "paper",                                                   \
      "variance of the slab for terms scaled to unit rms, as a multiple of the mean squared slope")                    \
    X(REAL, paper_inclusion, 0.5, 1e-6, 0.999999, "RHO", NULL, "paper", "prior probability of a term")                 \
    X(REAL, paper_jitter, 1e-6, 1e-12, 0.1, "V", NULL, "paper", "added to the kernel matrices' diagonals")             \
    X(TEXT, paper_rate, NULL, 0, 0, "LIST", NULL, "paper", "step of Adam on the field; a list as above")               \
    X(TEXT, paper_length_rate, NULL, 0, 0, "LIST", NULL, "paper",                                                      \
      "step of Adam on the logarithm of the length scales; 0 keeps them; a list as above")                             \
    X(INTEGER, paper_first, 400, 0, 1000000, "N", NULL, "paper", "Adam steps before the first E step")                 \
    X(INTEGER, paper_steps, 100, 1, 100000, "N", NULL, "paper", "Adam steps per M step")                               \
    X(INTEGER, paper_limit, 30000, 1, 100000000, "N", NULL, "paper", "Adam steps in all at most")                      \
    X(REAL, paper_tolerance, 1e-3, 1e-12, 1, "TOL", NULL, "paper",                                                     \
      "the loop ends when field, weights and length scales change by less over 1000 steps, relatively, the last "      \
      "change of a "                                                                                                   \
      "list being past")                                                                                               \
    X(FLAG, paper_finish, 0, 0, 1, NULL, NULL, "paper",                                                                \
      "afterwards solve field, weights and length scales jointly from the terms that are left: ours, not the paper's") \
    X(TEXT, paper_trace, NULL, 0, 0, "FILE", NULL, "paper",                                                            \
      "a CSV file with every E step: terms, weights, probabilities, variances, length scales")

#endif
