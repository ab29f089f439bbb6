/* gnuplot's SVG made part of a page: no names shared between figures, ink in the colour of the text, no background. */
#include <stdlib.h>
#include <string.h>

#include "figure.h"
#include "html.h"
#include "message.h"

static const struct {
    const char *from, *to; /* %u: the figure's number */
} changes[] = {
    {"rgb( 34,  34,  34)", "currentColor"},
    {"rgb(34,34,34)", "currentColor"},
    {"\"black\"", "\"currentColor\""},
    {"fill=\"#ffffff\"", "fill=\"none\""},
    {"xmlns=\"http://www.w3.org/2000/svg\"", ""},
    {"xmlns:xlink=\"http://www.w3.org/1999/xlink\"", ""},
    {"<title>Gnuplot</title>", ""},
    {"id='", "id='f%u-"},
    {"id=\"", "id=\"f%u-"},
    {"href='#", "href='#f%u-"},
    {"url(#", "url(#f%u-"},
};

/* gnuplot's <desc> names itself; ours is the label. */
static const char *skip_description(const char *c)
{
    const char *end = strncmp(c, "<desc>", 6) ? NULL : strstr(c, "</desc>");
    return end ? end + 7 : c;
}

static void put_changed(FILE *out, const char *svg, unsigned id)
{
    for (const char *c = skip_description(svg); *c; c = skip_description(c)) {
        size_t k = 0, n = sizeof changes / sizeof *changes;
        while (k < n && strncmp(c, changes[k].from, strlen(changes[k].from))) k++;
        if (k == n) {
            fputc(*c++, out);
            continue;
        }
        const char *number = strstr(changes[k].to, "%u");
        if (number) fprintf(out, "%.*s%u%s", (int)(number - changes[k].to), changes[k].to, id, number + 2);
        else fputs(changes[k].to, out);
        c += strlen(changes[k].from);
    }
}

static char *draw(const view *v, const panel_kind *kind, size_t panel)
{
    FILE *script = NULL;
    char *svg = NULL;
    if (figure_begin_svg(kind->width, kind->height, &script) != EXIT_OK) return NULL;
    kind->draw(script, v, panel);
    figure_end_svg(script, &svg);
    return svg;
}

void html_figure(FILE *out, const view *v, const panel_kind *kind, size_t panel, unsigned id)
{
    char words[PANEL_WORDS] = "";
    char *svg = draw(v, kind, panel);
    const char *start = svg ? strstr(svg, "<svg") : NULL;
    kind->describe(v, panel, words);
    if (start) {
        fprintf(out, "<figure class=\"%s\"><svg role=\"img\" aria-label=\"", kind->name);
        html_text(out, words);
        fputs("\"", out);
        put_changed(out, start + strlen("<svg"), id);
        fputs("<figcaption>", out);
        html_text(out, words);
        fputs("</figcaption></figure>\n", out);
    }
    free(svg);
}
