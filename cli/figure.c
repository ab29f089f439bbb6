#define _GNU_SOURCE /* memfd_create */
#include "figure.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "message.h"
#include "output.h"

enum { PNG_WIDTH = 1200, PER_INCH = 100 };

static int asked_width, asked_height; /* --size, or 0 */
static double asked_dpi;              /* --dpi, or 0 */

figure_kind figure_format(const char *path)
{
    static const struct {
        const char *ending;
        figure_kind kind;
    } endings[] = {{".svg", FIGURE_SVG}, {".pdf", FIGURE_PDF}, {".png", FIGURE_PNG}};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (!strcasecmp(dot, endings[i].ending)) return endings[i].kind;
    return FIGURE_UNKNOWN;
}

bool figure_is_possible(void) { return system("command -v gnuplot > /dev/null 2>&1") == 0; }

int figure_options(const cli_arguments *arguments, const char *path)
{
    const char *size = cli_value(arguments, "size");
    char rest = '\0';
    if (size && (sscanf(size, "%dx%d%c", &asked_width, &asked_height, &rest) != 2 || asked_width < 100 ||
                 asked_height < 100 || asked_width > 20000 || asked_height > 20000))
        return cli_fail("--size: found \"%s\", needed WIDTHxHEIGHT, each from 100 to 20000: 1200x800", size);
    int code = cli_number(arguments, "dpi", 30, 1200, &asked_dpi);
    if (code == EXIT_OK && asked_dpi > 0 && path && figure_format(path) != FIGURE_PNG)
        code = cli_fail("--dpi is for PNG, %s has no dots", path);
    return code;
}

/* ---------------------------------------------------------------- the commands */

static FILE *open_memory(const char *name)
{
    int descriptor = memfd_create(name, MFD_CLOEXEC);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w+") : NULL;
    if (descriptor >= 0 && !file) close(descriptor);
    return file;
}

static int start(const char *what, FILE **script)
{
    if (!figure_is_possible())
        return cli_fail("%s: figures need gnuplot, which is not installed (Debian: apt-get install gnuplot-nox)", what);
    *script = open_memory("script");
    return *script ? EXIT_OK : cli_fail("%s: out of memory for the figure", what);
}

/* Text and lines grow with the picture: a PNG looks like the SVG. */
static void set_png(FILE *script, int width, int height)
{
    double scale = asked_dpi > 0 ? asked_dpi / PER_INCH : (double)(asked_width ? asked_width : PNG_WIDTH) / width;
    int wide = asked_width ? asked_width : (int)(scale * width + 0.5);
    int high = asked_height ? asked_height : (int)(scale * height + 0.5);
    fprintf(script, "set terminal pngcairo size %d,%d fontscale %.4g linewidth %.4g pointscale %.4g\n", wide, high,
            0.9 * scale, scale, scale);
}

static void set_terminal(FILE *script, figure_kind kind, int width, int height)
{
    int wide = asked_width ? asked_width : width, high = asked_height ? asked_height : height;
    if (kind == FIGURE_PNG) set_png(script, width, height);
    else if (kind == FIGURE_PDF)
        fprintf(script, "set terminal pdfcairo size %.3fin,%.3fin font 'sans,9'\n", (double)wide / PER_INCH,
                (double)high / PER_INCH);
    else fprintf(script, "set terminal svg size %d,%d background '#ffffff'\n", wide, high);
}

int figure_begin(const char *path, int width, int height, FILE **script)
{
    int code = start(path, script);
    if (code == EXIT_OK) set_terminal(*script, figure_format(path), width, height);
    return code;
}

int figure_begin_svg(int width, int height, FILE **script)
{
    int code = start("the page", script);
    if (code == EXIT_OK) fprintf(*script, "set terminal svg size %d,%d background '#ffffff'\n", width, height);
    return code;
}

int figure_begin_terminal(int columns, int lines, FILE **script)
{
    int code = start("--terminal", script);
    if (code == EXIT_OK) fprintf(*script, "set terminal dumb noenhanced size %d,%d\n", columns, lines);
    return code;
}

/* ---------------------------------------------------------------- time axes */

/* 1, 2 or 5 times a power of ten, at least `least`. */
static double round_step(double least)
{
    double power = pow(10, floor(log10(least)));
    for (int i = 0; i < 3; i++)
        if ((double[]){1, 2, 5}[i] * power >= least * (1 - 1e-9)) return (double[]){1, 2, 5}[i] * power;
    return 10 * power;
}

/* Decimals that tell multiples of a step apart. */
static int decimals_of(double step)
{
    int decimals = (int)-floor(log10(step) + 1e-9);
    return decimals > 0 ? decimals : 0;
}

static size_t label_of(double value, double step, char *text, size_t size)
{
    int decimals = decimals_of(step);
    bool is_long = fabs(value) >= 1e7 || decimals > 5;
    double shown = fabs(value) < step / 2 ? 0 : value; /* no -0 */
    return (size_t)(is_long ? snprintf(text, size, "%.6g", shown) : snprintf(text, size, "%.*f", decimals, shown));
}

void figure_put_quoted(FILE *script, const char *text)
{
    fputc('\'', script);
    for (; *text; text++) {
        if (*text == '\'') fputc('\'', script);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, script);
    }
    fputc('\'', script);
}

/* "t", or "t - 1700000000" */
static void put_label(FILE *script, const char *label, double origin)
{
    char text[256];
    if (origin != 0) snprintf(text, sizeof text, "%.200s - %.15g", label, origin);
    else snprintf(text, sizeof text, "%.250s", label);
    fputs("set xlabel ", script);
    figure_put_quoted(script, text);
    fputs(" noenhanced textcolor rgb '#222222'\n", script);
}

void figure_time_axis(FILE *script, const char *label, double low, double high, int width)
{
    enum { LETTER = 8, MOST = 9, LONGEST = 8 };
    char text[64];
    double span = high - low, largest = fmax(fabs(low), fabs(high));
    put_label(script, label, 0);
    if (!(span > 0) || !isfinite(span)) return;
    double step = round_step(span / MOST), origin = 0;
    size_t length = (size_t)snprintf(text, sizeof text, "%.*f", decimals_of(step), largest);
    if (length > LONGEST && span < 1e-3 * largest) {
        origin = floor(low / (10 * step)) * 10 * step;
        put_label(script, label, origin);
    }
    label_of(high - origin, step, text, sizeof text);
    double room = floor(width / (double)(LETTER * (strlen(text) + 2)));
    step = round_step(span / fmin(MOST, fmax(room, 2)));
    fputs("set xtics (", script);
    for (double tick = ceil((low - origin) / step - 1e-9), n = 0; tick * step <= high - origin + 1e-9 * step; tick++) {
        label_of(tick * step, step, text, sizeof text);
        fprintf(script, "%s'%s' %.15g", n++ > 0 ? ", " : "", text, origin + tick * step);
    }
    fputs(")\n", script);
}

void figure_date_axis(FILE *script, const char *origin, double seconds, double first, double last)
{
    enum { MOST_TICS = 5 };
    static const double steps[] = {1,        2,        5,         10,        15,        30,         60,        120,
                                   300,      600,      900,       1800,      3600,      7200,       10800,     21600,
                                   43200,    86400,    172800,    604800,    1209600,   2592000,    7776000,   15552000,
                                   31557600, 63115200, 157788000, 315576000, 631152000, 1577880000, 3155760000};
    int hour = 0, minute = 0, second = 0;
    size_t i = 0, last_step = sizeof steps / sizeof *steps - 1;
    if (!(last > first)) return;
    while (i < last_step && (last - first) * seconds > MOST_TICS * steps[i]) i++;
    const char *format = steps[i] < 60 ? "%H:%M:%S" : steps[i] < 86400 ? "%H:%M\\n%Y-%m-%d" : "%Y-%m-%d";
    if (strlen(origin) > 11) sscanf(origin + 11, "%d:%d:%d", &hour, &minute, &second);
    double day = hour * 3600.0 + minute * 60 + second, at = steps[i] * ceil((first * seconds + day) / steps[i]) - day;
    if (strstr(format, "\\n")) fputs("set bmargin 4\n", script); /* two lines */
    fprintf(script, "set xtics nomirror out scale 0.5 (");
    for (int n = 0; at <= last * seconds && n <= MOST_TICS + 1; n++, at += steps[i])
        fprintf(script, "%sstrftime(\"%s\", strptime('%%Y-%%m-%%d', '%.10s') + %.15g) %.15g", n ? ", " : "", format,
                origin, at + day, at / seconds);
    fputs(")\n", script);
}

/* ---------------------------------------------------------------- drawing */

/* gnuplot reads the script and writes to `out`. */
static bool draw(FILE *script, int out)
{
    int status = 0;
    bool is_ready = fflush(script) == 0 && !ferror(script) && lseek(fileno(script), 0, SEEK_SET) == 0;
    fflush(stdout);
    pid_t process = is_ready ? fork() : -1;
    if (process == 0) {
        signal(SIGPIPE, SIG_DFL);
        dup2(fileno(script), STDIN_FILENO);
        dup2(out, STDOUT_FILENO);
        execlp("gnuplot", "gnuplot", (char *)NULL);
        _exit(127);
    }
    while (process > 0 && waitpid(process, &status, 0) < 0 && errno == EINTR) {}
    return process > 0 && status == 0;
}

/* What gnuplot drew, with a 0 after it; NULL when it could not. */
static char *picture_of(FILE *script, size_t *size)
{
    FILE *out = open_memory("picture");
    char *picture = NULL;
    off_t length = out && draw(script, fileno(out)) ? lseek(fileno(out), 0, SEEK_END) : 0;
    if (length > 0) picture = calloc((size_t)length + 1, 1);
    for (*size = 0; picture && *size < (size_t)length;) {
        ssize_t n = pread(fileno(out), picture + *size, (size_t)length - *size, (off_t)*size);
        if (n <= 0) break;
        *size += (size_t)n;
    }
    if (out) fclose(out);
    fclose(script);
    return picture;
}

static int cannot_draw(const char *path)
{
    cli_fail("%s: gnuplot could not draw it", path);
    return EXIT_NO_RESULT;
}

int figure_end(const char *path, FILE *script)
{
    size_t size = 0;
    char *picture = picture_of(script, &size);
    int code = picture ? cli_output_bytes(path, size, picture) : cannot_draw(path);
    free(picture);
    return code;
}

int figure_end_svg(FILE *script, char **svg)
{
    size_t size = 0;
    *svg = picture_of(script, &size);
    return *svg ? EXIT_OK : cannot_draw("the page");
}

int figure_end_terminal(FILE *script)
{
    bool is_drawn = draw(script, STDOUT_FILENO);
    fclose(script);
    return is_drawn ? EXIT_OK : cannot_draw("--terminal");
}
