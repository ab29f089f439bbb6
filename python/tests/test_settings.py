"""Every option and every output of the command is reachable: the settings table and the JSON schema are walked."""

import re
from pathlib import Path

import pytest

import kbass
from kbass import _settings

ROOT = Path(__file__).resolve().parents[2]


def accepted(name, values):
    """The first that the library takes: texts have rules of their own."""
    for value in values:
        try:
            _settings.make({name: value})
            return value
        except kbass.ArgumentError:
            continue
    raise AssertionError("%s takes none of %s" % (name, values))


def a_value(setting):
    if setting.kind == "flag":
        return True
    if setting.kind == "choice":
        return setting.choices[-1]
    if setting.kind == "text":
        return accepted(setting.name, ["x", "40", "0.1", "2GB", "yes"])
    return setting.default if setting.default is not None else {"degree": 3, "time_limit": 5.0, "cross_validate": 2}.get(setting.name, 1)


@pytest.mark.parametrize("name", kbass.settings())
def test_every_setting_is_a_keyword(name):
    setting = kbass.settings()[name]
    value = a_value(setting)
    handle = _settings.make({name: value})
    room = _settings._library.ctypes.create_string_buffer(200)
    _settings.lib.kbass_settings_get(handle, name.encode(), room, len(room))
    given = room.value.decode()
    assert given in (str(value), {True: "yes", False: "no"}.get(value), "%g" % value if setting.kind == "real" else None, "1")
    assert getattr(kbass.KBASS(**{name: value}), name) == value
    assert setting.help


def test_options_of_discover_are_keywords(command):
    """--json, --solution ... are methods of the result; all else are keywords."""
    methods = {"json": "to_json", "solution": "solution", "residuals": "residuals", "law-residuals": "law_residuals",
               "report": "report", "all-terms": "text", "details": "text", "quiet": "text", "help": "text", "help-all": "text"}
    words = set(re.findall(r"^  (?:-\w, )?--([a-z-]+)", command("discover", "--help-all"), re.M))
    known = set(kbass.settings()) | set(_settings.READING)
    assert len(words) > 40
    for word in words:
        assert word.replace("-", "_") in known or hasattr(kbass.Result, methods[word]), word


def schema():
    text = (ROOT / "docs" / "schema.md").read_text().split("# The findings")[0]
    return [key for key in re.findall(r"^\| `([^`]+)` \|", text, re.M)]


def follow(found, path):
    """All values at a path of the schema; [] are items, NAME any key."""
    for step in path.split("."):
        name, lists = re.match(r"([^\[]+)((?:\[\])*)", step).groups()
        found = [v for f in found if isinstance(f, dict) for v in (f.values() if name == "NAME" else [f[name]] if name in f else [])]
        for _ in range(lists.count("[]")):
            found = [item for f in found if f is not None for item in f]
    return found


def test_every_key_of_the_schema_is_in_a_result(vdp, burgers, vdp_data):
    runs = kbass.discover([kbass.simulate("lotka-volterra", until=8, samples=9, x0=[10 * i, 10], noise=5, seed=i) for i in (1, 2)],
                          degree=2, vary="x_t: x", explain="x_t: x", threads=1)  # fmt: skip
    bars = kbass.discover({**vdp_data.to_dict(), "s": [0.02] * 25}, sigma="s", terms="x, y, x^2*y", threads=1)
    documents = [vdp.document, burgers.document, runs.document, bars.document]
    sometimes = {"groups", "missing", "misfits", "validation", "constants", "alike"}  # only where there is something to say
    for key in schema():
        top = key.split(".")[0].split("[")[0]
        if top not in sometimes or key == top:
            assert follow(documents, key), key
    assert vdp["log_evidence"] == vdp.log_evidence


def test_did_you_mean():
    with pytest.raises(kbass.ArgumentError, match='unknown setting "degre" .did you mean "degree"') as found:
        kbass.discover({"t": [0, 1], "x": [0, 1]}, degre=3)
    assert found.value.field == "degre"
    with pytest.raises(kbass.ArgumentError, match='did you mean "sigma"'):
        kbass.discover({"t": [0, 1], "x": [0, 1]}, sigmas="s")
    with pytest.raises(kbass.ArgumentError, match='did you mean "noise_model"'):
        kbass.KBASS(noise_modle="log")


@pytest.mark.parametrize("keywords, words", [
    ({"degree": 13}, "degree: \"13\" is not a whole number from 1 to 12"),
    ({"degree": 2.5}, "degree"), ({"kernel": "sinc"}, "none of se"), ({"noise": object()}, "noise: found a object"),
    ({"seed": -1}, "seed"), ({"time_limit": "soon"}, "time-limit"), ({"constant": "maybe"}, "neither yes nor no"),
    ({"terms": "x*"}, "x"), ({"fix": "x_t = "}, "x"), ({"units": "t:@"}, "unit"), ({"degree": "3\0"}, "NUL"),
])  # fmt: skip
def test_the_librarys_words(keywords, words):
    with pytest.raises(kbass.Error, match=re.escape(words)):
        kbass.discover({"t": range(12), "x": [i % 5 for i in range(12)]}, **keywords)


def test_expressions_point_to_the_place():
    with pytest.raises(kbass.ExpressionError) as found:
        kbass.discover({"t": range(12), "x": [i % 5 for i in range(12)]}, terms="x, sin(")
    assert found.value.column > 0 and found.value.source and "^" in str(found.value)


def test_pysindys_keywords_in_both_ways():
    for use in (lambda: kbass.discover({"t": [0, 1, 2], "x": [1, 2, 4]}, poly_order=2), lambda: kbass.KBASS(poly_order=2)):
        with pytest.raises(kbass.ArgumentError, match="degree="):
            use()


def test_doubts_are_warnings():
    t = [0.1 * i for i in range(20)]
    data = kbass.read({"t": t, "x": [(s - 1) ** 2 for s in t]})
    assert len(data.doubts) == 1 and "lhs=" in data.doubts[0] and "--" not in data.doubts[0]
    with pytest.warns(kbass.DataWarning, match="second state"):
        kbass.discover(data, degree=1, threads=1, time_limit=5)
