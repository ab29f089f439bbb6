#!/usr/bin/env python3
"""Writes the workbooks of this folder anew, one oddity each, by the standard library alone.

The front of a name says whose numbers they are; tests/test_sheets.c reads all.
"""
import csv
import struct
import zipfile
import zlib
from xml.sax.saxutils import escape, quoteattr

CONTENT = "http://schemas.openxmlformats.org/package/2006/content-types"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def letters(column):
    text = ""
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(65 + rest) + text
    return text


class Number:
    def __init__(self, value, style=0, formula=None):
        self.value, self.style, self.formula = value, style, formula


class Raw(str):
    pass


def cell(value, place, shared):
    if value is None:
        return ""
    if isinstance(value, Raw):
        return value.replace("PLACE", place)
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str) and value.startswith("#"):
        return f'<c r="{place}" t="e"><v>{value}</v></c>'
    if isinstance(value, str) and shared is None:
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
    if isinstance(value, str):
        if value not in shared:
            shared.append(value)
        return f'<c r="{place}" t="s"><v>{shared.index(value)}</v></c>'
    number = value if isinstance(value, Number) else Number(value)
    formula = f"<f>{escape(number.formula)}</f>" if number.formula else ""
    style = f' s="{number.style}"' if number.style else ""
    content = "" if number.value is None else f"<v>{number.value!r}</v>"
    return f'<c r="{place}"{style}>{formula}{content}</c>'


def sheet(rows, shared, first=1, merged=(), left=1):
    text = [f'<worksheet xmlns="{MAIN}"><sheetData>']
    for i, row in enumerate(rows, first):
        cells = "".join(cell(v, f"{letters(k)}{i}", shared) for k, v in enumerate(row, left))
        if cells:
            text.append(f'<row r="{i}">{cells}</row>')
    text.append("</sheetData>")
    if merged:
        text.append(f'<mergeCells count="{len(merged)}">' + "".join(f'<mergeCell ref="{m}"/>' for m in merged) + "</mergeCells>")
    return "".join(text) + "</worksheet>"


def book(name, sheets, formats=(), is_1904=False, shared=True, method=zipfile.ZIP_DEFLATED, hidden=(), change=None,
         **how):
    """sheets: title -> rows; formats: codes of numbers with style 1, 2, ..."""
    texts = [] if shared else None
    parts, titles, relations = {}, [], []
    for i, (title, rows) in enumerate(sheets.items(), 1):
        parts[f"xl/worksheets/sheet{i}.xml"] = sheet(rows, texts, **(how if i == 1 else {}))
        state = ' state="hidden"' if title in hidden else ""
        titles.append(f'<sheet name={quoteattr(title)} sheetId="{i}"{state} r:id="rId{i}"/>')
        relations.append(f'<Relationship Id="rId{i}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{i}.xml"/>')
    codes = "".join(f'<numFmt numFmtId="{164 + i}" formatCode={quoteattr(c)}/>' for i, c in enumerate(formats)
                    if isinstance(c, str))
    styles = '<xf numFmtId="0"/>' + "".join(f'<xf numFmtId="{164 + i if isinstance(c, str) else c}"/>'
                                           for i, c in enumerate(formats))
    parts["xl/styles.xml"] = (f'<styleSheet xmlns="{MAIN}"><numFmts>{codes}</numFmts><cellStyleXfs><xf numFmtId="14"/>'
                              f"</cellStyleXfs><cellXfs>{styles}</cellXfs></styleSheet>")
    relations.append(f'<Relationship Id="rId90" Type="{OFFICE}/styles" Target="styles.xml"/>')
    if shared:
        items = "".join(f'<si><t xml:space="preserve">{escape(t)}</t></si>' for t in texts)
        parts["xl/sharedStrings.xml"] = f'<sst xmlns="{MAIN}">{items}</sst>'
        relations.append(f'<Relationship Id="rId91" Type="{OFFICE}/sharedStrings" Target="/xl/sharedStrings.xml"/>')
    epoch = '<workbookPr date1904="1"/>' if is_1904 else ""
    parts["xl/workbook.xml"] = (f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}">{epoch}<sheets>{"".join(titles)}</sheets>'
                                "</workbook>")
    parts["xl/_rels/workbook.xml.rels"] = f'<Relationships xmlns="{RELATIONS}">{"".join(relations)}</Relationships>'
    parts["_rels/.rels"] = (f'<Relationships xmlns="{RELATIONS}"><Relationship Id="rId1" Type="{OFFICE}/officeDocument" '
                            'Target="xl/workbook.xml"/></Relationships>')
    parts["[Content_Types].xml"] = f'<Types xmlns="{CONTENT}"><Default Extension="xml" ContentType="application/xml"/></Types>'
    if change:
        change(parts)
    with zipfile.ZipFile(name, "w", method) as archive:
        for path, text in parts.items():
            head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
            archive.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), head + text, method)


def number_or_none(text):
    return float(text) if text else None


def prefix(parts):
    part = parts["xl/worksheets/sheet1.xml"].replace(f'xmlns="{MAIN}"', f'xmlns:x="{MAIN}"')
    for tag in ("worksheet", "sheetData", "row", "c", "v"):
        part = part.replace(f"<{tag} ", f"<x:{tag} ").replace(f"<{tag}>", f"<x:{tag}>").replace(f"</{tag}>", f"</x:{tag}>")
    parts["xl/worksheets/sheet1.xml"] = part


def laugh(parts):
    entities = '<!ENTITY a0 "ha">' + "".join(f'<!ENTITY a{i + 1} "{f"&a{i};" * 10}">' for i in range(9))
    parts["xl/sharedStrings.xml"] = f'<!DOCTYPE sst [{entities}]><sst xmlns="{MAIN}"><si><t>&a9;</t></si></sst>'


if __name__ == "__main__":
    with open("ode.csv", encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    rows = [[number_or_none(c) for c in line] for line in lines]
    table = [header] + rows
    book("ode.xlsx", {"Data": table, "Notes": [["nothing"]]})
    book("ode_inline.xlsx", {"Data": table}, shared=False, method=zipfile.ZIP_STORED)
    book("ode_second.xlsx", {"Notes": [["nothing"]], "My data": table})
    book("ode_hidden.xlsx", {"Raw": [["nothing"]], "Data": table}, hidden=["Raw"])
    book("ode_formulas.xlsx", {"Data": [header] + [[r[0], Number(r[1], formula="A2*2") if r[1] is not None else None, r[2]]
                                                   for r in rows]})
    book("ode_errors.xlsx", {"Data": [header] + [["#N/A" if v is None else v for v in r] for r in rows]})
    book("ode_prefix.xlsx", {"Data": table}, change=prefix)
    book("ode_aside.xlsx", {"Data": table}, left=3)
    book("ode_percent.xlsx", {"Data": [header] + [[v if v is None else Number(v, 1 + k) for k, v in enumerate(r)]
                                                  for r in rows]},
         formats=['0.00" days"', "0.0%", '[Red]0.00E+00;[Blue]-0.00" h"'])
    book("formula_without_value.xlsx", {"Data": [["t", "x"], [0.0, Number(None, formula="A2+1")]]})
    book("hostile_entities.xlsx", {"Data": table}, change=laugh)
    book("hostile_far.xlsx", {"Data": [["t", "x"]] + [[None] * i + [1.0] for i in range(1100)]})
    with zipfile.ZipFile("hint.ods", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", "<office/>")
    with open("hint.xls", "wb") as file:
        file.write(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504))
