#define _GNU_SOURCE

#include "screen.h"

#include <qrencode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The margin of a QR code in modules. The standard wants 4, but then the text
 * of a usual link would not fit into 24 lines, and phones need no more than 2.
 */
enum { MARGIN = 2 };

/* A longer link makes a QR code that is wider than a terminal. */
enum { LONGEST_QR = 200, LONGEST_LINK = 1000 };

/* Whether a module is light, as all are outside of the code. */
static int is_light(const QRcode *code, int x, int y)
{
    if (x < 0 || y < 0 || x >= code->width || y >= code->width)
        return 1;
    return (code->data[y * code->width + x] & 1) == 0;
}

/* Two modules, one above the other, are one character. The light ones are
 * drawn, because most terminals are dark. */
static void draw_blocks(FILE *out, const QRcode *code)
{
    static const char *const blocks[] = {" ", "▄", "▀", "█"};
    for (int y = -MARGIN; y < code->width + MARGIN; y += 2) {
        for (int x = -MARGIN; x < code->width + MARGIN; x++)
            fputs(blocks[2 * is_light(code, x, y) + is_light(code, x, y + 1)],
                  out);
        fputc('\n', out);
    }
}

/* A module is two characters, for terminals without block characters. */
static void draw_ascii(FILE *out, const QRcode *code)
{
    for (int y = -MARGIN; y < code->width + MARGIN; y++) {
        for (int x = -MARGIN; x < code->width + MARGIN; x++)
            fputs(is_light(code, x, y) ? "##" : "  ", out);
        fputc('\n', out);
    }
}

/* Without a QR code the link is still there, so a failure is ignored. */
static void draw(FILE *out, const struct invitation *invitation)
{
    QRcode *code = NULL;
    if (invitation->qr != QR_NONE && strlen(invitation->link) <= LONGEST_QR)
        code = QRcode_encodeString(invitation->link, 0, QR_ECLEVEL_L, QR_MODE_8,
                                   1);
    if (code == NULL)
        return;
    (invitation->qr == QR_BLOCKS ? draw_blocks : draw_ascii)(out, code);
    fputc('\n', out);
    QRcode_free(code);
}

/* Whether a text from the provider has only visible ASCII characters: others
 * could change the terminal. */
static int is_visible(const char *text)
{
    for (; *text; text++)
        if (*text <= ' ' || *text > '~')
            return 0;
    return 1;
}

static int is_link(const char *text)
{
    return (strncmp(text, "https://", 8) == 0 ||
            strncmp(text, "http://", 7) == 0) &&
           strlen(text) <= LONGEST_LINK && is_visible(text);
}

char *invitation_text(const struct invitation *invitation)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out;
    if (!is_link(invitation->link) || !is_visible(invitation->code) ||
        (out = open_memstream(&text, &size)) == NULL)
        return NULL;
    fprintf(out,
            "Log in to %s as %s with your phone: scan, or open the link.\n",
            invitation->host, invitation->user);
    draw(out, invitation);
    fprintf(out,
            "    %s\n"
            "    code: %s, for %ld seconds\n"
            "Allow the login there only if you began it and the codes are the "
            "same.",
            invitation->link, invitation->code, invitation->seconds);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}
