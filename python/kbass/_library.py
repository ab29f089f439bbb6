"""libkbass, found and declared. Prototypes stand here as they stand in include/kbass/kbass.h, which a test compares."""

from __future__ import annotations

import ctypes
import os
import re
import threading
from ctypes import POINTER, byref, c_char, c_char_p, c_double, c_int, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Dict, List, Optional

from .errors import BY_STATUS, LibraryError, in_python

PROTOTYPES = """
const char *kbass_version(void);
void kbass_free(void *memory);
const char *kbass_nearest(const char *word, size_t n, const char *const *names);

size_t kbass_settings_count(void);
const kbass_setting_info *kbass_settings_info(size_t index);
kbass_status kbass_settings_create(kbass_settings **settings, kbass_error *error);
kbass_status kbass_settings_set(kbass_settings *settings, const char *name, const char *value, kbass_error *error);
size_t kbass_settings_get(const kbass_settings *settings, const char *name, char *text, size_t size);
int kbass_settings_is_given(const kbass_settings *settings, const char *name);
void kbass_settings_destroy(kbass_settings *settings);

kbass_status kbass_data_read(const char *path, const kbass_read_options *options, kbass_data **data,
                             kbass_error *error);
kbass_status kbass_data_create_axes(size_t n_rows, size_t n_axes, size_t n_fields, const double *times,
                                    const double *positions, const double *values, const char *const *axis_names,
                                    const char *const *field_names, kbass_data **data, kbass_error *error);
const char *kbass_data_example_name(size_t index);
const char *kbass_data_example_summary(size_t index);
kbass_status kbass_data_example(const char *name, kbass_data **data, kbass_error *error);
kbass_status kbass_data_write(const kbass_data *data, const char *path, kbass_error *error);
kbass_status kbass_data_split(kbass_data *data, const char *column, kbass_error *error);
kbass_status kbass_data_join(size_t n_parts, const kbass_data *const *parts, const char *const *names,
                             kbass_data **data, kbass_error *error);
kbass_status kbass_data_pick(const kbass_data *data, size_t run, kbass_data **one, kbass_error *error);
kbass_status kbass_data_error_bars(kbass_data *data, const char *columns, kbass_error *error);
const double *kbass_data_sigma(const kbass_data *data);
size_t kbass_data_runs(const kbass_data *data);
const char *kbass_data_run_name(const kbass_data *data, size_t run);
size_t kbass_data_run_start(const kbass_data *data, size_t run);
size_t kbass_data_rows(const kbass_data *data);
size_t kbass_data_states(const kbass_data *data);
const char *kbass_data_state_name(const kbass_data *data, size_t state);
size_t kbass_data_axes(const kbass_data *data);
const char *kbass_data_axis_name(const kbass_data *data, size_t axis);
const double *kbass_data_positions(const kbass_data *data);
const double *kbass_data_times(const kbass_data *data);
const double *kbass_data_values(const kbass_data *data);
const char *kbass_data_sha256(const kbass_data *data);
const char *kbass_data_time_origin(const kbass_data *data);
size_t kbass_data_doubt(const kbass_data *data, size_t index, char *text, size_t size);
size_t kbass_data_describe(const kbass_data *data, char *text, size_t size);
kbass_status kbass_data_add_noise(kbass_data *data, double percent, uint64_t seed, kbass_error *error);
void kbass_data_destroy(kbass_data *data);

kbass_status kbass_discovery_create(const kbass_data *data, const kbass_settings *settings,
                                    kbass_discovery **discovery, kbass_error *error);
size_t kbass_discovery_candidates(const kbass_discovery *discovery);
const char *kbass_discovery_candidate(const kbass_discovery *discovery, size_t index);
void kbass_discovery_keep(kbass_discovery *discovery, int parts);
kbass_status kbass_discovery_run(kbass_discovery *discovery, kbass_progress_callback progress, void *user,
                                 kbass_error *error);
kbass_status kbass_discovery_solution(const kbass_discovery *discovery, size_t run, size_t n_points,
                                      const double *times, const double *positions, double *mean, double *sd,
                                      kbass_error *error);
kbass_status kbass_discovery_law(const kbass_discovery *discovery, size_t run, size_t n_points, const double *times,
                                 const double *positions, double *lhs, double *rhs, kbass_error *error);
kbass_status kbass_discovery_json(const kbass_discovery *discovery, char **json, kbass_error *error);
kbass_status kbass_discovery_text(const kbass_discovery *discovery, int parts, char **text, kbass_error *error);
void kbass_discovery_destroy(kbass_discovery *discovery);

kbass_status kbass_posterior_read(const char *result, const char *run, kbass_posterior **posterior, kbass_error *error);
size_t kbass_posterior_states(const kbass_posterior *posterior);
const char *kbass_posterior_state_name(const kbass_posterior *posterior, size_t state);
size_t kbass_posterior_axes(const kbass_posterior *posterior);
void kbass_posterior_range(const kbass_posterior *posterior, size_t axis, double *first, double *last);
size_t kbass_posterior_models(const kbass_posterior *posterior);
kbass_status kbass_posterior_set_inputs(kbass_posterior *posterior, const kbass_data *data, size_t run,
                                        kbass_error *error);
kbass_status kbass_posterior_forecast(const kbass_posterior *posterior, const kbass_forecast_options *options,
                                      size_t n_times, const double *times, size_t n_places, const double *places,
                                      kbass_forecast **forecast, kbass_error *error);
kbass_status kbass_posterior_draws(const kbass_posterior *posterior, size_t n_points, const double *times,
                                   const double *positions, int order_t, int order_x, size_t n_draws, uint64_t seed,
                                   double *draws, kbass_error *error);
kbass_status kbass_posterior_gain(const kbass_posterior *posterior, size_t n_points, const double *times,
                                  const double *positions, double *about_models, double *about_weights,
                                  kbass_error *error);
kbass_status kbass_posterior_score(const kbass_posterior *posterior, const kbass_data *data, size_t run,
                                   const kbass_score_options *options, kbass_score **score, kbass_error *error);
kbass_status kbass_score_json(const kbass_score *score, const kbass_posterior *posterior, char **json,
                              kbass_error *error);
void kbass_score_destroy(kbass_score *score);
void kbass_posterior_destroy(kbass_posterior *posterior);
size_t kbass_forecast_draws(const kbass_forecast *forecast);
const double *kbass_forecast_values(const kbass_forecast *forecast, size_t draw);
size_t kbass_forecast_lost(const kbass_forecast *forecast, double *first, size_t *too_far);
kbass_status kbass_forecast_summary(const kbass_forecast *forecast, size_t n_quantiles, const double *probabilities,
                                    double *mean, double *quantiles, size_t *reached, kbass_error *error);
void kbass_forecast_destroy(kbass_forecast *forecast);

kbass_status kbass_doctor_create(const kbass_data *data, const kbass_settings *settings, kbass_doctor **doctor,
                                 kbass_error *error);
kbass_status kbass_doctor_smooth(const kbass_doctor *doctor, size_t n_points, const double *times,
                                 const double *positions, double *mean, double *sd, kbass_error *error);
kbass_status kbass_doctor_json(const kbass_doctor *doctor, char **json, kbass_error *error);
void kbass_doctor_destroy(kbass_doctor *doctor);

const char *kbass_model_name(size_t index);
const char *kbass_model_summary(size_t index);
kbass_status kbass_model_named(const char *name, kbass_model **model, kbass_error *error);
kbass_status kbass_model_parse(size_t n_equations, const char *const *equations, const kbass_model_options *options,
                               kbass_model **model, kbass_error *error);
kbass_status kbass_model_from_result(const char *result, kbass_model **model, kbass_error *error);
kbass_status kbass_model_set_inputs(kbass_model *model, const kbass_data *data, size_t run, kbass_error *error);
size_t kbass_model_states(const kbass_model *model);
const char *kbass_model_state_name(const kbass_model *model, size_t state);
const char *kbass_model_equation(const kbass_model *model, size_t state);
const double *kbass_model_initial(const kbass_model *model);
size_t kbass_model_axes(const kbass_model *model);
const kbass_axis *kbass_model_axis(const kbass_model *model, size_t axis);
kbass_status kbass_model_integrate(const kbass_model *model, double start, const double *initial, size_t n_times,
                                   const double *times, double *states, kbass_error *error);
kbass_status kbass_model_rates(const kbass_model *model, size_t n_points, const double *times, const double *states,
                               double *rates, kbass_error *error);
kbass_status kbass_model_within(kbass_model *model, const char *ranges, kbass_error *error);
kbass_status kbass_model_sample(const kbass_model *model, size_t n_points, const double *points, double *values,
                                kbass_error *error);
kbass_status kbass_model_grid(const kbass_model *model, const size_t *counts, kbass_data **data, kbass_error *error);
kbass_status kbass_model_scattered(const kbass_model *model, size_t n_points, uint64_t seed, kbass_data **data,
                                   kbass_error *error);
void kbass_model_destroy(kbass_model *model);

const char *kbass_export_format(size_t index);
kbass_status kbass_export(const char *result, const char *format, const char *function,
                          const kbass_data *inputs, char **text, kbass_error *error);
"""


class kbass_error(ctypes.Structure):
    _fields_ = [("message", c_char * 512), ("source", c_char * 256), ("column", c_int)]


class kbass_setting_info(ctypes.Structure):
    _fields_ = [
        ("kind", c_int),
        ("name", c_char_p),
        ("standard", c_double),
        ("low", c_double),
        ("high", c_double),
        ("value_name", c_char_p),
        ("choices", c_char_p),
        ("group", c_char_p),
        ("help", c_char_p),
    ]


class kbass_progress(ctypes.Structure):
    _fields_ = [
        ("stage", c_char_p),
        ("fraction", c_double),
        ("seconds", c_double),
        ("n_active", c_size_t),
        ("log_evidence", c_double),
        ("n_iterations", c_size_t),
        ("n_models", c_size_t),
        ("seconds_left", c_double),
        ("is_bound", c_int),
    ]


kbass_progress_callback = ctypes.CFUNCTYPE(c_int, POINTER(kbass_progress), c_void_p)


class kbass_read_options(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("time_column", c_char_p),
        ("axes", c_char_p),
        ("progress", kbass_progress_callback),
        ("user", c_void_p),
        ("within", c_char_p),
        ("every", c_size_t),
        ("run", c_char_p),
        ("use", c_char_p),
        ("ignore", c_char_p),
        ("rename", c_char_p),
        ("dates", c_char_p),
        ("missing", c_char_p),
        ("most_values", c_size_t),
        ("few_values", c_size_t),
    ]


class kbass_forecast_options(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("n_draws", c_size_t),
        ("seed", c_uint64),
        ("threads", c_int),
        ("average", c_int),
        ("state", POINTER(c_double)),
        ("boundary", c_char_p),
        ("time_limit", c_double),
        ("progress", kbass_progress_callback),
        ("user", c_void_p),
        ("reduce", c_void_p),
    ]


class kbass_score_options(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("n_start", c_size_t),
        ("state", POINTER(c_double)),
        ("continues", c_int),
        ("n_draws", c_size_t),
        ("seed", c_uint64),
        ("threads", c_int),
        ("boundary", c_char_p),
        ("time_limit", c_double),
        ("progress", kbass_progress_callback),
        ("user", c_void_p),
        ("inputs", c_void_p),
        ("input_run", c_size_t),
    ]


class kbass_model_options(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("inputs", c_void_p),
        ("hold", c_int),
        ("domain", c_char_p),
        ("initial", c_char_p),
        ("boundary", c_char_p),
    ]


class kbass_axis(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("low", c_double),
        ("high", c_double),
        ("first", c_double),
        ("last", c_double),
        ("n_samples", c_size_t),
    ]


class kbass_predictor(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("r2", POINTER(c_double)),
        ("log_score", POINTER(c_double)),
        ("within_50", POINTER(c_double)),
        ("within_90", POINTER(c_double)),
        ("leaves", c_double),
        ("n_lost", c_size_t),
        ("mean", POINTER(c_double)),
        ("low", POINTER(c_double)),
        ("high", POINTER(c_double)),
    ]


class kbass_score(ctypes.Structure):
    _fields_ = [
        ("n_states", c_size_t),
        ("n_points", c_size_t),
        ("n_used", c_size_t),
        ("n_values", c_size_t),
        ("first", c_double),
        ("last", c_double),
        ("times", POINTER(c_double)),
        ("positions", POINTER(c_double)),
        ("values", POINTER(c_double)),
        ("n_predictors", c_size_t),
        ("predictors", POINTER(kbass_predictor)),
    ]


GIVEN = (kbass_error, kbass_setting_info, kbass_progress, kbass_read_options, kbass_forecast_options,
         kbass_score_options, kbass_model_options, kbass_axis)  # fmt: skip
STRUCTS = GIVEN + (kbass_predictor, kbass_score)  # those that the library makes are reached by their handles

# ---------------------------------------------------------------- prototypes to ctypes

_PLAIN = {"size_t": c_size_t, "int": c_int, "double": c_double, "uint64_t": c_uint64, "kbass_status": c_int,
          "kbass_progress_callback": kbass_progress_callback, "void": None}  # fmt: skip
_TARGETS = {"char": c_char_p, "double": POINTER(c_double), "size_t": POINTER(c_size_t)}
_TARGETS.update({struct.__name__: POINTER(struct) for struct in GIVEN})


def _type_of(text: str, returned: bool = False) -> Any:
    """The ctypes type of "const char *const *": handles are untyped pointers, texts that we must free too."""
    base = re.sub(r"\bconst\b|\*", " ", text).split()[0]
    stars = text.count("*")
    if stars == 0:
        return _PLAIN[base]
    if stars == 1:
        owned = returned and base == "char" and "const" not in text
        return c_void_p if owned else _TARGETS.get(base, c_void_p)
    return POINTER(c_char_p) if base == "char" and "const" in text else POINTER(c_void_p)


def split(prototype: str) -> "tuple[str, str, List[str]]":
    """Returned type, name and argument types of "size_t f(const char *name, int n)"."""
    match = re.fullmatch(r"\s*(.*?)(\w+)\((.*)\)\s*", " ".join(prototype.split()))
    assert match, prototype
    result, name, arguments = match.groups()
    types = [re.sub(r"\w+$", "", a.strip()) if a.strip() != "void" else "" for a in arguments.split(",")]
    return result.strip(), name, [t for t in types if t]


def _declare(library: ctypes.CDLL) -> None:
    for prototype in PROTOTYPES.split(";")[:-1]:
        result, name, arguments = split(prototype)
        try:
            function = getattr(library, name)
        except AttributeError:
            raise LibraryError("%s has no %s: it is of another version than this package" % (library._name, name))
        function.restype = _type_of(result, returned=True)
        function.argtypes = [_type_of(argument) for argument in arguments]


# ---------------------------------------------------------------- finding it

_here = Path(__file__).resolve().parent


def candidates() -> List[str]:
    """Where libkbass is looked for: KBASS_LIBRARY, the wheel's copy, the clone's build, the system's."""
    named = os.environ.get("KBASS_LIBRARY")
    if named:
        return [named]
    places = [_here / "lib" / "libkbass.so", _here.parent.parent / "build" / "libkbass.so"]
    return [str(place) for place in places if place.exists()] + ["libkbass.so.0.2", "libkbass.so"]


def _open() -> ctypes.CDLL:
    reasons = []
    for name in candidates():
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            reasons.append(str(error))
    raise LibraryError("libkbass is not found: run `make python` in the clone, or name it in KBASS_LIBRARY (%s)"
                       % "; ".join(reasons))  # fmt: skip


lib = _open()
_declare(lib)


def command() -> Optional[str]:
    """The kbass executable beside the library, for pages; None when there is none."""
    beside = Path(lib._name).resolve().parent / "kbass"
    if beside.is_file() and os.access(beside, os.X_OK):
        return str(beside)
    import shutil

    return shutil.which("kbass")


# ---------------------------------------------------------------- calling it


def text(raw: Optional[bytes]) -> str:
    return raw.decode("utf-8", "replace") if raw is not None else ""


def encode(value: "str | os.PathLike[str]", what: str = "text") -> bytes:
    from .errors import ArgumentError

    raw = os.fsencode(value)
    if b"\0" in raw:
        raise ArgumentError("%s: found a NUL character in %r" % (what, value), field=what)
    return raw


def texts(values: "List[str]") -> Any:
    return (c_char_p * max(len(values), 1))(*[encode(value, "name") for value in values])


def call(name: str, *arguments: Any, field: Optional[str] = None) -> None:
    """Calls a function that returns a status and takes an error last; raises what it says."""
    error = kbass_error()
    status = getattr(lib, name)(*arguments, byref(error))
    if status:
        kind = BY_STATUS[status] if status < len(BY_STATUS) else BY_STATUS[0]
        raise kind(in_python(text(error.message)), field, text(error.source), error.column)


def take_text(name: str, *arguments: Any) -> str:
    """The text that a function hands over."""
    out = c_void_p()
    call(name, *arguments, byref(out))
    try:
        return text(ctypes.string_at(out.value or 0)) if out.value else ""
    finally:
        lib.kbass_free(out)


class Handle:
    """An owned pointer of the library, destroyed with the last reference to it."""

    __slots__ = ("pointer", "_destroy", "_lock", "__weakref__")

    def __init__(self, kind: str) -> None:
        self.pointer = c_void_p()
        self._destroy = getattr(lib, "kbass_%s_destroy" % kind)
        self._lock = threading.Lock()  # distinct handles may be used at once, one handle may not

    @property
    def _as_parameter_(self) -> c_void_p:
        return self.pointer

    @property
    def out(self) -> Any:
        return byref(self.pointer)

    def __enter__(self) -> "Handle":
        self._lock.acquire()
        return self

    def __exit__(self, *_: Any) -> None:
        self._lock.release()

    def __del__(self) -> None:
        if self.pointer:
            self._destroy(self.pointer)
            self.pointer = c_void_p()


def create(kind: str, function: str, *arguments: Any, field: Optional[str] = None) -> Handle:
    """A handle from a function whose last arguments are the handle's place and the error."""
    handle = Handle(kind)
    call(function, *arguments, handle.out, field=field)
    return handle


def names(function: str) -> "Dict[str, str]":
    """Names and summaries of a list that ends with NULL: kbass_model, kbass_data_example."""
    found: Dict[str, str] = {}
    while True:
        name = getattr(lib, function + "_name")(len(found))
        if name is None:
            return found
        found[text(name)] = text(getattr(lib, function + "_summary")(len(found)))
