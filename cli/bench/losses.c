#include <math.h>

#include "bench.h"
#include "cell.h"
#include "results.h"

/* Calls `visit` for every cell that has rows; returns how many lines it wrote. */
typedef size_t (*loss)(const bench_saved *saved, const bench_cell *cell, FILE *out);

static size_t over_cells(const bench_saved *saved, loss visit, FILE *out)
{
    bench_cell cell;
    size_t n = 0;
    for (const bench_case *c = bench_cases; saved->paper && c->key; c++)
        for (size_t level = 0; level < c->n_levels; level++)
            if (bench_cell_read(saved->paper, c, level, &cell)) n += visit(saved, &cell, out);
    return n;
}

static size_t ours_to_mend(const bench_saved *saved, const bench_cell *cell, FILE *out)
{
    bench_verdict verdict = bench_cell_verdict(cell);
    (void)saved;
    if (cell->failure) {
        fprintf(out, "- %s: %zu of %zu runs failed: %s.\n", cell->name, cell->n_failed, cell->n_seeds, cell->failure);
    } else if (verdict == BENCH_WRONG_TERMS) {
        fprintf(out, "- %s: exactly the true terms in %zu of %zu draws only, though ", cell->name, cell->n_exact,
                cell->n_seeds);
        if (cell->level->noise > 0) fprintf(out, "the weakest term stands at %.0f sigma", cell->sigmas[cell->weakest]);
        else fputs(cell->of->is_measured ? "the reference has them" : "the samples have no noise", out);
        fputs(cell->precision >= 1 ? ""
              : cell->recall >= 1  ? "; no term is missing, but there are others beside"
                                   : "; some stand in for others",
              out);
        fputs(".\n", out);
    } else if (verdict == BENCH_TOO_FAR) {
        fprintf(out, "- %s: an error of %.2g, the oracle's is %.2g.\n", cell->name, cell->rmse, cell->oracle);
    }
    return cell->failure || verdict == BENCH_WRONG_TERMS || verdict == BENCH_TOO_FAR;
}

static size_t nobody_can_decide(const bench_saved *saved, const bench_cell *cell, FILE *out)
{
    bench_law law = bench_law_read(cell->of->law);
    (void)saved;
    if (cell->failure || bench_cell_verdict(cell) != BENCH_TOO_WEAK) return 0;
    fprintf(out,
            "- %s: without %s the samples would move by %.1f standard deviations in all; found exactly in %zu of %zu "
            "draws.\n",
            cell->name, law.terms[cell->weakest].term, cell->sigmas[cell->weakest], cell->n_exact, cell->n_seeds);
    return 1;
}

static size_t paper_is_closer(const bench_saved *saved, const bench_cell *cell, FILE *out)
{
    static const double rounding = 5e-5; /* the paper prints four decimals */
    (void)saved;
    if (!(cell->level->rmse + rounding < cell->rmse)) return 0;
    fprintf(out, "- %s: the paper reports an error of %.3g, ours is %.3g", cell->name, cell->level->rmse, cell->rmse);
    if (cell->level->rmse + rounding < cell->oracle)
        fprintf(out, "; the oracle's is %.3g, so the choice of terms is not what separates them.\n", cell->oracle);
    else fputs(".\n", out);
    return 1;
}

static size_t pysindy_is_better(const bench_saved *saved, const bench_cell *cell, FILE *out)
{
    bench_cell theirs;
    if (!saved->pysindy ||
        !bench_cell_read(saved->pysindy, cell->of, (size_t)(cell->level - cell->of->levels), &theirs))
        return 0;
    double exact = (double)theirs.n_exact / (double)theirs.n_seeds,
           ours = (double)cell->n_exact / (double)cell->n_seeds;
    if (!(exact > ours || (exact == ours && exact > 0 && theirs.rmse < cell->rmse))) return 0;
    fprintf(out, "- %s: PySINDy is exact in %.0f %% of the draws with an error of %.3g, we in %.0f %% with %.3g.\n",
            cell->name, 100 * exact, theirs.rmse, 100 * ours, cell->rmse);
    return 1;
}

static void section(const bench_saved *saved, const char *title, loss visit, FILE *out)
{
    fprintf(out, "\n%s:\n\n", title);
    if (!over_cells(saved, visit, out)) fputs("- none among the cells that were run.\n", out);
}

void bench_losses(const bench_saved *saved, FILE *out)
{
    fputs("\n## Where we lose, and why\n", out);
    if (saved->paper) {
        section(saved, "Cells that the samples decide and we miss", ours_to_mend, out);
        section(saved, "Cells where the weakest true term is below 6 sigma, so that a miss may be the data's",
                nobody_can_decide, out);
        section(saved, "Cells where the paper's error is below ours", paper_is_closer, out);
    }
    if (saved->paper && saved->pysindy) section(saved, "Cells where PySINDy does better", pysindy_is_better, out);
    if (saved->map) {
        fputs("\nRates below those published for ODR-BINDy:\n\n", out);
        if (!bench_map_losses(saved->map, out)) fputs("- none among the cells that were run.\n", out);
    }
    if (saved->calibration) {
        fputs("\nBars of the calibration that are missed (reasons below):\n\n", out);
        if (!bench_calibration_losses(saved->calibration, out)) fputs("- none.\n", out);
    }
}
