#!/usr/bin/python3
"""Makes the tables of this folder, one oddity each, with what must be read from them in read/, and cases.txt, the list
that tests/test_wild.sh and docs/data.md follow: file, options that reading needs, oddity, between tabs.

    tests/data/wild/make.py           writes everything anew, always the same
    tests/data/wild/make.py --table   the table of docs/data.md
"""
import gzip
import io
import json
import os
import sys
import zipfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
T = [0, 1, 2, 3, 4, 5]
X = ["1.5", "2.25", "3.5", "5.25", "7.5", "10.25"]
Y = ["1000.5", "1100.25", "1250.5", "1450.75", "1700.5", "2000.25"]
HOURS = ["0"] + [repr(h / 24) for h in range(1, 6)]
cases = []


def case(name, oddity, text, header="t,x,y", rows=None, options="", encoding="utf-8"):
    """`rows`: what is read, as CSV lines; None: the six rows of t, x and y."""
    rows = rows or [f"{t},{x},{y}" for t, x, y in zip(T, X, Y)]
    bytes_ = text if isinstance(text, bytes) else text.encode(encoding)
    cases.append((name, options, oddity, bytes_, header + "\n" + "\n".join(rows) + "\n"))


def table(header, row=lambda t, x, y: f"{t},{x},{y}", end="\n"):
    lines = ([header] if header is not None else []) + [row(t, x, y) for t, x, y in zip(T, X, Y)]
    return end.join(lines) + end


def at(times):
    return [f"{t},{x},{y}" for t, x, y in zip(times, X, Y)]


def archive(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, bytes_ in files.items():
            z.writestr(zipfile.ZipInfo(name, (2021, 3, 24, 12, 0, 0)), bytes_, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def dated(times, header="Timestamp,x,y", separator=","):
    return header + "\n" + "".join(f"{t}{separator}{x}{separator}{y}\n" for t, x, y in zip(times, X, Y))


# ---------------------------------------------------------------- names and units
case("brackets.csv", "units in brackets and parentheses", table("Time (h),Biomass [g/L],Glucose (g/L)"), "Time,Biomass,Glucose")
case("slash_units.csv", "units behind a slash, as norms have it", table("t / s;x / m;p / bar", lambda t, x, y: f"{t};{x};{y}"), "t,x,p")
case("units_row.csv", "a row of units below the names", table("t,x,y\ns,m,-"))
case("units_row_brackets.csv", "the same in brackets", table("t,x,y\n[s],[m],[kg/m^3]"))
case("blanks.csv", "names with blanks", table("t,Dry weight,Cell count"), "t,Dry_weight,Cell_count")
case("hyphens.csv", "names with -, + and dots", table("t,x-in,y.out"), "t,x_in,y_out")
case("inlet_outlet.csv", "words in parentheses that are no units", table("t,Temp (inlet),Temp (outlet)"), "t,Temp_inlet,Temp_outlet")
case("same_but_unit.csv", "names that differ by their units only", table("t,Flow [L/min],Flow [mol/s]"), "t,Flow_L_min,Flow_mol_s")
case("umlauts.csv", "umlauts and accents", table("t,Größe,Débit"), "t,Groesse,Debit")
case("greek.csv", "Greek letters and subscripts", table("t,α,CO₂"), "t,alpha,CO2")
case("chinese.csv", "names without Latin letters, time among them", table("时间,温度,压力"), "column1,column2,column3")
case("latin1.csv", "Latin-1 instead of UTF-8", table("t,Größe,Temp [°C]"), "t,Groesse,Temp", encoding="latin-1")
case("twins.csv", "two columns of one name", table("t,x,x"), "t,x,x_2")
case("reserved.csv", "names that equations understand otherwise", table("t,nan,sin"), "t,nan_,sin_")
case("derivative.csv", "x_t beside x", table("t,x,x_t"), "t,x,xt")
case("digit_first.csv", "a name that begins with a digit", table("t,2-butanol,y"), "t,_2_butanol,y")
case("escapes.csv", "terminal escapes in a name", table("t,\x1b[31mx\x1b[0m,y"), "t,_31mx_0m,y")

# ---------------------------------------------------------------- time
case("time_unit.csv", "Time (s)", table("Time (s),x,y"), "Time,x,y")
case("elapsed.csv", "Elapsed time [min]", table("x,Elapsed time [min],y", lambda t, x, y: f"{x},{t},{y}"), "Elapsed_time,x,y")
case("year.csv", "years", table("year,x,y", lambda t, x, y: f"{1900 + t},{x},{y}"), "year,x,y", at(range(1900, 1906)))
case("zeit.csv", "Zeit", table("Zeit,x,y"), "Zeit,x,y")
iso = [f"2021-03-04T05:06:{7 + t:02d}" for t in T]
case("iso.csv", "dates and times with T", dated(iso), "Timestamp,x,y")
case("iso_zone.csv", "with zones, summer time between", dated([f"2021-03-28T{h}:59:57{z}" for h, z in [("01", "+01:00"), ("03", "+02:00"), ("04", "+02:00"), ("05", "+02:00"), ("06", "+02:00"), ("07", "+02:00")]]),
     "Timestamp,x,y", at(HOURS))
case("iso_utc.csv", "with fractions of seconds and Z", dated([f"2021-03-04T05:06:07.{5 * t % 10}Z".replace("07", f"{7 + 5 * t // 10:02d}") for t in T]),
     "Timestamp,x,y", at(["0", "0.5", "1", "1.5", "2", "2.5"]))
case("iso_blank.csv", "with a blank, days apart", dated([f"2021-02-{26 + t:02d} 12:00:00" if t < 3 else f"2021-03-{t - 2:02d} 12:00:00" for t in T]), "Timestamp,x,y")
case("iso_dates.csv", "dates alone", dated([f"2024-02-{27 + t:02d}" if t < 3 else f"2024-03-{t - 2:02d}" for t in T], "date,x,y"), "date,x,y")
case("german.csv", "German Excel: dates with points, decimal commas, semicolons",
     "Datum;x;y\n" + "".join(f"{27 + t if t < 2 else t - 1:02d}.{2 if t < 2 else 3:02d}.2021;{x};{y}\n".replace(x, x.replace(".", ",")).replace(y, y.replace(".", ",")) for t, x, y in zip(T, X, Y)), "Datum,x,y")
case("month_first.csv", "3/14/2021: only the month can be first", dated([f"03/{10 + t}/2021" for t in T], "date,x,y"), "date,x,y")
case("day_first.csv", "14/3/21: only the day can be first", dated([f"{10 + t}/3/21 8:00" for t in T], "date,x,y"), "date,x,y")
case("either_first.csv", "3/4/2021, which may be either", dated([f"{3 + t}/4/2021" for t in T], "date,x,y"), "date,x,y", options="--dates dmy")
case("month_names.csv", "4-Mar-2021", dated([f"{4 + t}-Mar-2021" for t in T], "date,x,y"), "date,x,y")
case("am_pm.csv", "hours up to 12 with AM and PM", dated([f"3/14/2021 {(10 + t) % 12 or 12}:00 {'AM' if t < 2 else 'PM'}" for t in T], "date,x,y"), "date,x,y",
     at(HOURS))
case("compact_dates.csv", "20210304", dated([f"2021030{4 + t}" for t in T], "date,x,y"), "date,x,y")
case("compact_days.csv", "20210304 in a column called day", dated(["20210226", "20210227", "20210228", "20210301", "20210302", "20210303"], "Day,x,y"), "Day,x,y")
case("six_digits.csv", "210304, the year first", dated(["210226", "210227", "210228", "210301", "210302", "210303"], "date,x,y"), "date,x,y")
case("six_digits_day.csv", "040321, the day first", dated(["270221", "280221", "010321", "020321", "030321", "040321"], "Datum,x,y"), "Datum,x,y")
case("clock.csv", "hh:mm:ss", dated([f"10:00:0{t}" for t in T], "time,x,y"), "time,x,y")
case("midnight.csv", "hh:mm:ss that pass midnight", dated([f"23:59:5{7 + t}" if t < 3 else f"00:00:0{t - 3}" for t in T], "time,x,y"), "time,x,y")
case("date_and_clock.csv", "date and time of day in two columns",
     "Date,Time,x,y\n" + "".join(f"2021-03-0{4 + t // 2},{'06:00' if t % 2 == 0 else '18:00'},{x},{y}\n" for t, x, y in zip(T, X, Y)), "Date,x,y", at(["0", "0.5", "1", "1.5", "2", "2.5"]))
case("epoch.csv", "seconds since 1970", table("t,x,y", lambda t, x, y: f"{1700000000 + t},{x},{y}"), "t,x,y", at(range(1700000000, 1700000006)))

# ---------------------------------------------------------------- time, further
months = ["2020-01-01", "2020-02-01", "2020-03-01", "2020-04-01", "2020-05-01", "2020-06-01"]
MONTHS = ["0", "31", "60", "91", "121", "152"]
case("year_month.csv", "2020-01: months", dated([m[:7] for m in months], "month,x,y"), "month,x,y", at(MONTHS))
case("month_year.csv", "Jan 2020", dated([f"{n} 2020" for n in "Jan Feb Mar Apr May Jun".split()], "Month,x,y"), "Month,x,y", at(MONTHS))
case("excel_months.csv", "Jan-20, as Excel writes months", dated([f"{n}-20" for n in "Jan Feb Mar Apr May Jun".split()], "Month,x,y"), "Month,x,y", at(MONTHS))
case("german_months.csv", "4. März 2021", "Datum;x;y\n" + "".join(f"{4 + t}. März 2021;{x};{y}\n".replace(".2", ",2").replace(".5", ",5").replace(".7", ",7") for t, x, y in zip(T, X, Y)), "Datum,x,y")
case("french.csv", "4 févr. 2021 08:00, decimal commas", "Date;x;y\n" + "".join(f"{4 + t} févr. 2021 08:00;{x.replace('.', ',')};{y.replace('.', ',')}\n" for t, x, y in zip(T, X, Y)), "Date,x,y")
case("weeks.csv", "2021-W10: weeks", dated([f"2021-W{10 + t}" for t in T], "week,x,y"), "week,x,y", at(range(0, 42, 7)))
case("quarters.csv", "2020Q1: quarters", dated([f"{2020 + t // 4}Q{t % 4 + 1}" for t in T], "quarter,x,y"), "quarter,x,y", at([0, 91, 182, 274, 366, 456]))
case("day_of_year.csv", "2021-063: the day of the year", dated([f"2021-{63 + t:03d}" for t in T], "date,x,y"), "date,x,y")
case("decimal_year.csv", "fractions of years", table("year,x,y", lambda t, x, y: f"{1958 + t / 8},{x},{y}"), "year,x,y", at([1958 + t / 8 if t else 1958 for t in T]))
case("zone_names.csv", "CET and CEST, summer time between", dated([f"2021-03-28 {h}:59:57 {z}" for h, z in [("01", "CET"), ("03", "CEST"), ("04", "CEST"), ("05", "CEST"), ("06", "CEST"), ("07", "CEST")]]),
     "Timestamp,x,y", at(HOURS))
case("zone_place.csv", "zones by their place", dated([f"2021-03-04T05:06:{7 + t:02d}+01:00[Europe/Berlin]" for t in T]), "Timestamp,x,y")
case("am_pm_alone.csv", "times of day with a.m. and p.m.", dated([f"{(10 + t) % 12 or 12}:30 {'a.m.' if t < 2 else 'p.m.'}" for t in T], "Time,x,y"), "Time,x,y", at(HOURS))
case("milliseconds.csv", "hh:mm:ss:mmm", dated([f"08:00:{t:02d}:250" for t in T], "Time,x,y"), "Time,x,y")
case("durations.csv", "0 days 00:00:01, as pandas writes spans", dated([f"0 days 00:00:{t:02d}" for t in T], "elapsed,x,y"), "elapsed,x,y")
case("hours_minutes.csv", "1h30", dated([f"{t}h30" for t in T], "Time,x,y"), "Time,x,y", at(HOURS))
case("date_columns.csv", "year, month and day in columns", table("year,month,day,x,y", lambda t, x, y: f"2021,3,{4 + t},{x},{y}"), "year,x,y")
case("year_day.csv", "year and day of the year in columns", table("year,doy,x,y", lambda t, x, y: f"2021,{63 + t},{x},{y}"), "year,x,y")
case("buoy.txt", "NDBC's buoys: parts of dates, names as a comment, MM for missing", "#YY MM DD hh mm WSPD PRES\n" + "".join(f"2021 03 04 {8 + t:02d} 00 {x if t != 2 else 'MM'} {y}\n" for t, x, y in zip(T, X, Y)),
     "YY,WSPD,PRES", [r.replace(",3.5,", ",,") for r in at(HOURS)])

# ---------------------------------------------------------------- cells
gaps = ["NA", "N/A", "#N/A", "null", "-", "nan"]
case("missing.csv", "NA, N/A, #N/A, null, -, nan", "t,x,y\n" + "".join(f"{t},{x},{g}\n" for t, x, g in zip(T, X, gaps)) + "6,1,2\n", rows=[f"{t},{x}," for t, x in zip(T, X)] + ["6,1,2"])
case("missing_number.csv", "-999 for missing", "t,x,y\n" + "".join(f"{t},{x},{y if t != 2 else -999}\n" for t, x, y in zip(T, X, Y)),
     rows=[f"{t},{x},{y if t != 2 else ''}" for t, x, y in zip(T, X, Y)], options="--missing -999")
case("thousands_comma.csv", "commas between thousands, quoted", table("t,x,y", lambda t, x, y: f'{t},{x},"{float(y):,}"'))
case("thousands_point.csv", "points between thousands, decimal commas", table("t;x;y", lambda t, x, y: f"{t};{x.replace('.', ',')};" + f"{float(y):,}".replace(",", "_").replace(".", ",").replace("_", ".")))
case("thousands_blank.csv", "blanks between thousands, decimal commas", table("t;x;y", lambda t, x, y: f"{t};{x.replace('.', ',')};" + f"{float(y):,}".replace(",", "\u00a0").replace(".", ",")))
case("quoted_commas.csv", "decimal commas in quotes between commas", table("t,x,y", lambda t, x, y: f'{t},"{x.replace(".", ",")}","{y.replace(".", ",")}"'))
case("minus.csv", "the minus of word processors", table("t,x,y", lambda t, x, y: f"{t},\u2212{x},{y}"), rows=[f"{t},-{x},{y}" for t, x, y in zip(T, X, Y)])
case("fortran.txt", "Fortran's exponents, D+03", table("t x y", lambda t, x, y: f"  {t}.0D+00   {x}D+00  {float(y) / 1000:.8f}D+03"))

# ---------------------------------------------------------------- cells, further
case("percent.csv", "percent signs", table("t,x,y", lambda t, x, y: f"{t},{x}%,{y}"))
case("currency.csv", "signs of currencies, commas between thousands", table("t,x,y", lambda t, x, y: f'{t},{x},"${float(y):,.2f}"'))
case("currency_behind.csv", "the same in German", "t;x;y\n" + "".join(f"{t};{x.replace('.', ',')} €;{y.replace('.', ',')}\n" for t, x, y in zip(T, X, Y)))
case("cell_units.csv", "units in the cells", table("t,x,y", lambda t, x, y: f"{t} s,{x} mg/L,{y}"))
case("excel_text.csv", 'Excel\'s ="1.5"', table("t,x,y", lambda t, x, y: f'{t},="{x}",{y}'))
case("hard_blanks.csv", "blanks that do not break", table("t,x,y", lambda t, x, y: f"{t},\u00a0{x},{y}\u00a0"))
case("bounds.csv", "<0.01 below the limit of detection", table("t,x,y", lambda t, x, y: f"{t},{'<0.01' if t == 2 else x},{y}"), rows=[r.replace("2,3.5,", "2,,") for r in at(T)], options="--missing <*")
case("flags.csv", "columns of flags", table("t,x,x_flag,y,QC", lambda t, x, y: f"{t},{x},{'E' if t == 2 else ''},{y},{int(t == 3)}"))
case("line_remarks.csv", "remarks behind rows", table("t,x,y", lambda t, x, y: f"{t},{x},{y} # {'ok' if t else 'cold, then ok'}"))

# ---------------------------------------------------------------- the file
case("utf16le.csv", "UTF-16, little end first", b"\xff\xfe" + table("t,x,Größe").encode("utf-16-le"), "t,x,Groesse")
case("utf16be.csv", "UTF-16, big end first", b"\xfe\xff" + table("t,x,Größe").encode("utf-16-be"), "t,x,Groesse")
case("utf16_no_mark.csv", "UTF-16 without its mark", table("t;x;y", lambda t, x, y: f"{t};{x};{y}").encode("utf-16-le"))
case("utf8_mark.csv", "UTF-8 with a mark", b"\xef\xbb\xbf" + table("t,x,y").encode())
case("sep.csv", "Excel's sep=;", "sep=;\n" + table("t;x;y", lambda t, x, y: f"{t};{x};{y}"))
case("title.csv", "lines before the header", "Growth experiment 12, second try\nOperator: N. N.\n\n" + table("t,x,y"))
case("logger.csv", "a logger's lines before the header, with a row of units", "Device;Logger 3000\nSerial;12345\nChannels;2\n\n" + table("t;x;y\ns;V;mbar", lambda t, x, y: f"{t};{x};{y}"))
case("ends_open.csv", "a separator at the end of every row", table("t,x,y", lambda t, x, y: f"{t},{x},{y},"))
case("header_open.csv", "a separator at the end of every line", table("t,x,y,", lambda t, x, y: f"{t},{x},{y},"))
case("pandas.csv", "pandas' unnamed index", table(",t,x,y", lambda t, x, y: f"{t},{t},{x},{y}"))
case("index.csv", "a named index beside time", table("No.,t,x,y", lambda t, x, y: f"{t + 1},{t},{x},{y}"))
case("row_names.txt", "R's names of rows, which the header does not have", table('"t" "x" "y"', lambda t, x, y: f'"{t + 1}" {t} {x} {y}'))
case("remarks.csv", "a column of remarks", table("t,x,y,remark", lambda t, x, y: f'{t},{x},{y},"{"ok" if t else "cold, then ok"}"'))
case("runs.csv", "text that names runs", "strain,t,x\n" + "".join(f"{s},{t},{x}\n" for s in "BA" for t, x in zip(T[:3], X)), "run,t,x",
     [f"{r},{t},{x}" for r in (1, 2) for t, x in zip(T[:3], X)], "--run strain")
case("mac.csv", "line ends of old Macs", table("t,x,y", end="\r"))
case("gzip.csv", "gzip, by content and not by name", gzip.compress(table("t,x,y").encode(), mtime=0))
case("grid.csv", "a field on a grid, place by place", "t,x,u\n" + "".join(f"{t},{x},{t + x / 2:g}\n" for t in range(3) for x in range(4)), "t,x,u",
     [f"{t},{x},{t + x / 2:g}" for t in range(3) for x in range(4)], "--axes t,x")
case("headers.csv", "the header repeated between rows", "".join(("t,x,y\n" if t % 3 == 0 else "") + f"{t},{x},{y}\n" for t, x, y in zip(T, X, Y)))
case("totals.csv", "a row of totals at the end", table("t,x,y") + "Total,30.25,8502.75\n")
case("source.csv", "lines behind the table", table("t,x,y") + "\nSource: station 3\nEND\n")
case("empty_rows.csv", "rows of nothing but separators", table("t,x,y") + ",,\n,,\n")
case("pipes.csv", "| between the cells", table("t|x|y", lambda t, x, y: f"{t}|{x}|{y}"))
case("campbell.csv", "Campbell's loggers (TOA5)", '"TOA5","CR1000","CR1000","1234","CR1000.Std.32","CPU:a.CR1","555","Table1"\n"TIMESTAMP","RECORD","AirTC","RH"\n"TS","RN","Deg C","%"\n"","","Avg","Smp"\n' + "".join(f'"2021-03-04 08:00:0{t}",{100 + t},{x},{y}\n' for t, x, y in zip(T, X, Y)), "TIMESTAMP,AirTC,RH")
case("labview.txt", "LabVIEW's .lvm", "LabVIEW Measurement\t\nWriter_Version\t2\nSeparator\tTab\n***End_of_Header***\t\n\nX_Value\tVoltage\tComment\n" + "".join(f"{t}\t{x}\n" for t, x in zip(T, X)), "X_Value,Voltage",
     [f"{t},{x}" for t, x in zip(T, X)], "--time X_Value")
case("long.csv", "a row for each value, as pandas.melt writes", "t,variable,value\n" + "".join(f"{t},x,{x}\n" for t, x in zip(T, X)) + "".join(f"{t},y,{y}\n" for t, y in zip(T, Y)))
case("long_named.csv", "the same under other names", "t,species,conc\n" + "".join(f"{t},x,{x}\n{t},y,{y}\n" for t, x, y in zip(T, X, Y)), options="--rename species=variable")
case("title_row.csv", "a title over merged cells, as spreadsheets export it", "Experiment 12,,\n,,\n" + table("t,x,y"))
case("padded_title.csv", "a title with empty cells above names as short as units", "My data;;\n" + table("t;s;m", lambda t, x, y: f"{t};{x};{y}"), "t,s,m")
case("sensors.csv", "three lines of header: sensors, names, units", "Sensor A,,Sensor B\n" + table("t,x,y\ns,m,bar"))
case("backwards.csv", "the last row first", "t,x,y\n" + "".join(reversed([f"{t},{x},{y}\n" for t, x, y in zip(T, X, Y)])))
case("twice.csv", "times that come twice", "t,x,y\n" + "".join(f"{t},{x},{y}\n" * 2 for t, x, y in zip(T, X, Y)), rows=[r for r in at(T) for _ in range(2)])

# ---------------------------------------------------------------- what programs and instruments write
case("quoted_lines.csv", "line ends within quoted names", '"t\n(s)","x\n(m)","y"\n' + table(None))
case("quoted_remarks.csv", "and within quoted remarks", "t,x,y,remark\n" + "".join(f'{t},{x},{y},"taken\nlate, ""{t}"""\n' for t, x, y in zip(T, X, Y)))
case("empty_column.csv", "a column that is empty", table("t,x,detached,y", lambda t, x, y: f"{t},{x},,{y}"))
case("plus_minus.csv", "errors behind the numbers", table("t,x,y", lambda t, x, y: f"{t},{x}±0.1,{y} +/- 5"))
case("pandas_levels.csv", "pandas' columns of two levels, and its index' name in a line of its own", table(",run,run\n,x,y\nt,,"))
case("no_header.txt", "no names at all", table(None, lambda t, x, y: f"{t} {x} {y} "), options="--rename column1=t,column2=x,column3=y")
case("r_write2.csv", "R's write.csv2: quoted names of rows, decimal commas", table('"";"t";"x";"y"', lambda t, x, y: f'"{t + 1}";{t};{x};{y}'.replace(".", ",")))
case("copasi.txt", "Copasi's names behind #", table("# Time\t[x]\t[y]", lambda t, x, y: f"{t}\t{x}\t{y}"), "Time,x,y")
case("hobo.csv", "Onset's loggers", '"Plot Title: pond"\n"#","Date Time, GMT+02:00","Temp, °C (LGR S/N: 1)","Light, Lux","End Of File (LGR S/N: 1)"\n' + "".join(f'{t + 1},06/14/23 08:00:0{t} AM,{x},{y},{"Logged" if t == 5 else ""}\n' for t, x, y in zip(T, X, Y)), "Date_Time_GMT_02_00,Temp_C,Light_Lux")
case("vernier.txt", "Vernier's Logger Pro: names, symbols, units", "Vernier Format 2\nuntitled.cmbl 3/4/2022 10:22:11 .\nRun 1\nTime\tPosition\tVelocity\nt\tx\ty\ns\tm\tm/s\n\n" + table(None, lambda t, x, y: f"{t}\t{x}\t{y}"))
case("oscilloscope.csv", "lines of an oscilloscope before the names", "Model,MSO24\nSample Interval,1\nRecord Length,6\n,\nTIME,CH1,CH2\n" + table(None), "TIME,CH1,CH2")
case("plate_reader.txt", "a plate reader's lines before and behind", "Software Version\t3.08\n\nPlate Number\tPlate 1\n\nRead 1:600\n\nTime\tA1\tA2\n" + table(None, lambda t, x, y: f"0:00:0{t}\t{x}\t{y}") + "\nResults\n", "Time,A1,A2")
case("timetable.csv", "units behind times, as MATLAB's timetables have them", table("Time,x,y", lambda t, x, y: f"{t} sec,{x},{y}"), "Time,x,y")
case("java_fractions.csv", "a comma before the parts of a second", table("timestamp;x;y", lambda t, x, y: f"2024-05-01 10:00:0{t},000;{x};{y}"), "timestamp,x,y")
case("influx.csv", "InfluxDB: annotations, and columns that are empty or dates", "#group,false,false,true,false,false\n#datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,double\n#default,mean,,,,\n,result,_start,_time,x\n" + "".join(f",,2024-01-01T00:00:00Z,2024-01-01T00:00:0{t}Z,{x}\n" for t, x in zip(T, X)), "_time,x", [f"{t},{x}" for t, x in zip(T, X)])
GROUPED = [f"{t},{x},{y},{y},{x}" for t, x, y in zip(T, X, Y)]
PAIRS = "Tank_1_x,Tank_1_y,Tank_2_x,Tank_2_y"
case("groups_above.csv", "groups over several columns above the names", "\n".join([",Tank 1,,Tank 2,", "Time,x,y,x,y"] + GROUPED) + "\n", "Time," + PAIRS, GROUPED)
case("groups_below.csv", "the same with time beside the groups", "\n".join(["Time,Tank 1,,Tank 2,", ",x,y,x,y"] + GROUPED) + "\n", "Time," + PAIRS, GROUPED)
case("groups_units.csv", "a title, groups, names and units", "\n".join(["Plant A,,,,", ",Tank 1,,Tank 2,", "Time,x,y,x,y", "s,m,m/s,m,m/s"] + GROUPED) + "\n", "Time," + PAIRS, GROUPED)
case("pandas_names.csv", "pandas' columns of two levels that have names", "\n".join(["tank,Tank 1,Tank 1,Tank 2,Tank 2", "what,x,y,x,y", "t,,,,"] + GROUPED) + "\n", "t," + PAIRS, GROUPED)
case("well_log.las", "a well log (LAS) over time", "~Version\nVERS. 2.0 : CWLS LOG ASCII STANDARD\nWRAP. NO : ONE LINE PER STEP\n~Well\nNULL. -999.25 : MISSING\n~Curve\nTIME.S : 1 time\nx.M : 2 block position\nHKLD.KN : 3 hook load\n~ASCII\n" + "".join(f" {t}  {x}  {-999.25 if t == 2 else y}\n" for t, x, y in zip(T, X, Y)), "TIME,x,HKLD", [f"{t},{x},{'' if t == 2 else y}" for t, x, y in zip(T, X, Y)])
case("influx_lines.txt", "InfluxDB: its line protocol", "".join(f"tank,site=A\\ 1 x={x},y={y},note=\"fine\" {1672531200 + t}000000000\n" for t, x, y in zip(T, X, Y)), "time,x,y")

# ---------------------------------------------------------------- dates and tables of more programs
WEEKDAYS = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue"]
case("java_dates.csv", "Thu Feb 01 12:00:00 CET 2024, as Java and Unix print dates", dated([f"{w} Feb 0{t + 1} 12:00:00 CET 2024" for t, w in zip(T, WEEKDAYS)], "date,x,y"), "date,x,y")
case("c_dates.csv", "Thu Feb  1 12:00:00 2024, as C prints dates", dated([f"Thu Feb  1 12:00:0{t} 2024" for t in T], "time,x,y"), "time,x,y")
case("long_dates.csv", "Thursday, February 01, 2024", dated([f'"{w}day, February 0{t + 1}, 2024"' for t, w in zip(T, ["Thurs", "Fri", "Satur", "Sun", "Mon", "Tues"])], "Date,x,y"), "Date,x,y")
case("french_weekdays.csv", "mar. 6 févr. 2024: a weekday that sounds like a month", dated([f"{w}. {t + 6} févr. 2024" for t, w in zip(T, ["mar", "mer", "jeu", "ven", "sam", "dim"])], "date,x,y"), "date,x,y")
case("sas_dates.csv", "01FEB2024:12:00:00, as SAS writes dates", dated([f"01FEB2024:12:00:0{t}" for t in T], "dt,x,y"), "dt,x,y")
case("web_log.csv", "[01/Feb/2024:12:00:00 +0100], as web servers write dates", dated([f"[01/Feb/2024:12:00:0{t} +0100]" for t in T], "when,x,y"), "when,x,y")
case("mail_dates.csv", "Thu, 01 Feb 2024 12:00:00 +0100, as mail has dates", dated([f'"Thu, 01 Feb 2024 12:00:0{t} +0100"' for t in T], "Date,x,y"), "Date,x,y")
case("japanese.csv", "dates in Japanese", dated([f"2024年2月{t + 1}日" for t in T], "日付,気温,湿度"), "column1,column2,column3")
case("korean.csv", "dates in Korean", dated([f"2024년 2월 {t + 1}일" for t in T], "날짜,x,y"), "column1,x,y")
case("julian.csv", "modified Julian days of astronomers", table("MJD,x,y", lambda t, x, y: f"{60341 + t},{x},{y}"), "MJD,x,y", at([60341 + t for t in T]))
case("india.csv", "12,34,567.5: groups of two, as in India", table("Year,Population", lambda t, x, y: f'{2000 + t},"1{t},34,567.5"'), "Year,Population",
     [f"{2000 + t},1{t}34567.5" for t in T])
case("swiss.csv", "apostrophes between thousands", table("Zeit;x;y", lambda t, x, y: f"{t};{x};{y[0]}'{y[1:]}"), "Zeit,x,y")
case("stars.txt", "stars where Fortran had no room", table("t x y", lambda t, x, y: f"{t} {x} {y if t != 3 else '********'}"), rows=[r if t != 3 else "3,5.25," for t, r in zip(T, at(T))])
case("grace.txt", "Grace and GROMACS (.xvg): names in lines with @", '# gmx energy\n@    title "Energies"\n@    xaxis  label "Time (ps)"\n@    yaxis  label "(kJ/mol), (K)"\n@TYPE xy\n@ view 0.15, 0.15, 0.75, 0.85\n@ s0 legend "Potential"\n@ s1 legend "Temperature"\n' + table(None, lambda t, x, y: f"{t} {x} {y}") + "&\n", "Time,Potential,Temperature")
case("weka.txt", "Weka (.arff)", "@RELATION pond\n\n@ATTRIBUTE t NUMERIC\n@ATTRIBUTE x NUMERIC\n@ATTRIBUTE 'dry weight' NUMERIC\n\n@DATA\n" + table(None), "t,x,dry_weight")
case("plumed.txt", "PLUMED: names behind #! FIELDS", "#! FIELDS time d1 s.bias\n#! SET min_d1 -pi\n" + table(None, lambda t, x, y: f" {t} {x} {y}"), "time,d1,s_bias")
case("kibana.csv", "a name that begins with @", table('"@timestamp",x,y', lambda t, x, y: f"2024-02-01T12:00:0{t}.000Z,{x},{y}"), "timestamp,x,y")
case("markdown.txt", "a table in Markdown", table("| t | x | y |\n|---|--:|:-:|", lambda t, x, y: f"| {t} | {x} | {y} |"))
case("psql.txt", "a table as psql prints it", table(" t |   x   |    y    \n---+-------+---------", lambda t, x, y: f" {t} | {x:>5} | {y}") + "(6 rows)\n")
case("matlab_table.txt", "a table as MATLAB shows it", table("    t      x        y   \n    _    _____    ______\n", lambda t, x, y: f"    {t}    {x}    {y}"))
case("modelica.csv", "indices in brackets, which are no units", table('"time","body.r[1]","body.r[2]"'), "time,body_r_1,body_r_2")
case("subjects.csv", "numbers that name runs", "ID,TIME,DV\n" + "".join(f"{i},{t},{x}\n" for i in (7, 9) for t, x in zip(T[:3], X)), "run,TIME,DV",
     [f"{r},{t},{x}" for r in (7, 9) for t, x in zip(T[:3], X)], "--run ID")
case("chromatogram.txt", "lines of a chromatograph before the names", "[Header]\nApplication Name\tLabSolutions\n\n[LC Chromatogram(Detector A-Ch1)]\nInterval(msec)\t500\nR.Time (min)\tIntensity\tBaseline\n" + table(None, lambda t, x, y: f"{t}\t{x}\t{y}"), "R_Time,Intensity,Baseline")
case("double_returns.csv", "two returns at the end of every line", table("t,x,y", end="\r\r\n"))
case("end_of_file.csv", "the mark that DOS ends files with", table("t,x,y") + "\x1a")


# ---------------------------------------------------------------- times and numbers that other readings would take for something else
case("minutes_seconds.csv", "0:30.0: minutes and seconds, as Excel shows mm:ss.0", dated([f"0:0{t}.0" for t in T], "time (min:s),x,y"), "time,x,y")
case("half_years.csv", "2018 H1: half years", dated([f"{2018 + t // 2} H{t % 2 + 1}" for t in T], "Period,x,y"), "Period,x,y", at([0, 181, 365, 546, 730, 912]))
case("compact_moments.csv", "20230501080000", dated([f"2023050108000{t}" for t in T], "time,x,y"), "time,x,y")
case("iso_spans.csv", "PT1M30S: spans by ISO 8601", dated([f"PT{t * 30 // 60}M{t * 30 % 60}S" for t in T], "time,x,y"), "time,x,y", at([30 * t for t in T]))
case("italian.csv", "08.00.05: points in times of day behind a date", dated([f"15/05/2023 08.00.0{t}" for t in T], "Data e ora,x,y"), "Data_e_ora,x,y")
case("polish.csv", "Czas; three digits behind every comma, between semicolons", table("Czas;x", lambda t, x, y: f"{t};{float(x):.3f}".replace(".", ",")), "Czas,x", [f"{t},{x}" for t, x in zip(T, X)])
case("over_range.csv", "9.9E37 where an instrument was out of range", table("t,x,y", lambda t, x, y: f"{t},{x if t != 3 else '9.9E37'},{y}"), rows=[r if t != 3 else f"3,,{Y[3]}" for t, r in zip(T, at(T))], options="--missing 9.9E37")

case("spice.txt", "LTspice: voltages and currents of parts, which are no units", table("time\tV(out)\tI(R1)", lambda t, x, y: f"{t}.0e-6\t{x}\t{y}"), "time,V_out,I_R1", at([repr(float(f"{t}e-6")) if t else "0" for t in T]))
case("potentiostat.txt", "BioLogic: time/s, units glued to names by a slash", "EC-Lab ASCII FILE\nNb header lines : 5\n\nTechnique : Chronoamperometry\ntime/s\tEwe/V\tI/mA\n" + table(None, lambda t, x, y: f"{t},0E+00\t{x}\t{y}".replace(".", ",")), "time_s,Ewe_V,I_mA")
case("arduino.txt", "a microcontroller's words before the names, t_ms for time", "Sensor ready\n" + table("t_ms,x,y"), "t_ms,x,y")

# ---------------------------------------------------------------- JSON and archives
RECORDS = [{"t": t, "x": float(x), "y": float(y)} for t, x, y in zip(T, X, Y)]
case("records.json", "JSON: a record for each row", json.dumps(RECORDS, indent=1))
case("lines.json", "JSON: a record on each line", "".join(json.dumps(r) + "\n" for r in RECORDS))
case("columns.json", "JSON: a list for each column, NaN as Python writes it, single values beside them", json.dumps({"site": "A", "n": 6, "t": T, "x": [float(x) if t != 2 else float("nan") for t, x in zip(T, X)], "y": [float(y) for y in Y]}), rows=[r if t != 2 else f"2,,{Y[2]}" for t, r in zip(T, at(T))])
case("nested.json", "JSON: dates and objects within records, the table within an object", json.dumps({"meta": {"by": "us", "tags": ["a", "b"]}, "samples": [{"time": f"2021-03-04T00:00:0{r['t']}Z", "tank": {"x": r["x"], "y": r["y"]}, "note": "ok"} for r in RECORDS]}), "time,tank_x,tank_y")
case("pandas_columns.json", "JSON: pandas' to_json", json.dumps({k: {str(i): r[k] for i, r in enumerate(RECORDS)} for k in ("t", "x", "y")}))
case("pandas_split.json", "JSON: pandas' to_json(orient='split'), dates as index", json.dumps({"columns": ["x", "y"], "index": [f"2021-03-0{t + 1}" for t in T], "data": [[r["x"], r["y"]] for r in RECORDS]}), "index,x,y")
case("rows.json", "JSON: lists of rows, the names first", json.dumps([["t", "x", "y"]] + [[r["t"], r["x"], r["y"]] for r in RECORDS]))
case("archive.zip", "a zip archive of one table, packed on a Macintosh", archive({"data/": b"", "data/pond.csv": table("t,x,y").encode(), "__MACOSX/data/._pond.csv": b"\0\5"}))
case("archives.zip", "a zip archive of several tables", archive({"a.csv": table("t,x,y").encode(), "b.csv": b"t,z\n0,1\n1,2\n"}), options=":a.csv")


def main():
    if "--table" in sys.argv:
        print("| file | oddity | option |\n|---|---|---|")
        for name, options, oddity, _, _ in cases:
            print(f"| `{name}` | {oddity} | {f'`{options}`' if options else ''} |")
        return
    os.makedirs(os.path.join(FOLDER, "read"), exist_ok=True)
    with open(os.path.join(FOLDER, "cases.txt"), "w") as list_:
        for name, options, oddity, bytes_, read in cases:
            list_.write(f"{name}\t{options}\t{oddity}\n")
            open(os.path.join(FOLDER, name), "wb").write(bytes_)
            open(os.path.join(FOLDER, "read", name + ".csv"), "w").write(read)


main()
