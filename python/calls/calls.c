/* Calls of loaded functions, for Python: arrays in, arrays out, in one step.
 * Everything else that Python does with the runtime goes by ctypes
 * (alula/bindings/runtime.py), which also says where the library is. CPython's
 * stable ABI: one file for every Python from 3.11 on; no NumPy headers, memory
 * is had by the buffer protocol and given by it. */
#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "alula/runtime.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* Calls with more arguments and results take their room from the heap. */
enum { SMALL = 16, MAX_RANK = 64 };

/* A call of the main thread that Ctrl-C may end. */
typedef struct Watched {
  int cancel;
  int wakeup_before;
  unsigned long long serial;
  struct Watched *outer;
} Watched;

/* The runtime's functions, and what is known once for the process. */
typedef struct {
  PyObject_HEAD __typeof__(&alula_buffer_wrap) wrap;
  __typeof__(&alula_buffer_release) release;
  __typeof__(&alula_buffer_get_data) get_data;
  __typeof__(&alula_buffer_get_bytes) get_bytes;
  __typeof__(&alula_buffer_get_rank) get_rank;
  __typeof__(&alula_buffer_get_dims) get_dims;
  __typeof__(&alula_call) call;
  PyObject *set_wakeup, *silently; /* signal.set_wakeup_fd, without a warning */
  PyObject *memory_type, *array_type, *plain_type;
  PyObject *check; /* raises an alula_error, given as a number */
  /* While nobody listens to signals, makes who does, which calls set_watch;
   * then waits until all signals are heard. */
  PyObject *watch;
  PyObject *foreign; /* JAX's type of arrays, or NULL */
  PyObject *put; /* makes one: put(aval, sharding, arrays, devices, False) */
  PyObject *dtype_name;
  unsigned long main_thread;
  int wakeup; /* what the listener hears; -1: there is none */
  unsigned long long serial;
  Watched *watched;
} Library;

/* Memory of a result; lives as long as an array shows it. */
typedef struct {
  PyObject_HEAD Library *library;
  alula_buffer *buffer;
} Memory;

typedef struct {
  alula_dtype dtype;
  PyObject *type; /* NumPy's; NULL: no array of Python is just this */
  size_t alignment;
  int rank;
  int64_t dims[MAX_RANK];
  bool is_dynamic;
  PyObject *shape; /* of a static result */
} Value;

typedef struct {
  PyObject_HEAD Library *library;
  alula_executable *executable;
  alula_instance *instance;
  uint32_t number;
  uint32_t argument_count, result_count;
  Value *arguments, *results;
} Function;

/* ---- Memory ---- */

static void memory_dealloc(PyObject *self) {
  Memory *memory = (Memory *)self;
  PyTypeObject *type = Py_TYPE(self);
  if (memory->buffer)
    memory->library->release(memory->buffer);
  Py_XDECREF((PyObject *)memory->library);
  PyObject_Free(self);
  Py_DECREF(type);
}

static int memory_get(PyObject *self, Py_buffer *view, int flags) {
  static char nothing[1];
  Memory *memory = (Memory *)self;
  size_t bytes = memory->library->get_bytes(memory->buffer);
  void *data = bytes ? memory->library->get_data(memory->buffer) : nothing;
  return PyBuffer_FillInfo(view, self, data, (Py_ssize_t)bytes, 0, flags);
}

static PyType_Slot memory_slots[] = {
    {Py_tp_dealloc, memory_dealloc},
    {Py_bf_getbuffer, memory_get},
    {0, NULL},
};
static PyType_Spec memory_spec = {
    "alula_calls.Memory", sizeof(Memory), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, memory_slots};

/* Takes `buffer` over, whatever happens. */
static PyObject *make_memory(Library *library, alula_buffer *buffer) {
  Memory *memory = PyObject_New(Memory, (PyTypeObject *)library->memory_type);
  if (!memory) {
    library->release(buffer);
    return NULL;
  }
  Py_INCREF((PyObject *)library);
  memory->library = library;
  memory->buffer = buffer;
  return (PyObject *)memory;
}

/* ---- The library ---- */

static void library_dealloc(PyObject *self) {
  Library *library = (Library *)self;
  PyTypeObject *type = Py_TYPE(self);
  Py_XDECREF(library->memory_type);
  Py_XDECREF(library->array_type);
  Py_XDECREF(library->plain_type);
  Py_XDECREF(library->check);
  Py_XDECREF(library->watch);
  Py_XDECREF(library->foreign);
  Py_XDECREF(library->put);
  Py_XDECREF(library->dtype_name);
  Py_XDECREF(library->set_wakeup);
  Py_XDECREF(library->silently);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static bool resolve(void *handle, const char *name, void *slot) {
  void *found = dlsym(handle, name);
  if (!found) {
    PyErr_Format(PyExc_ImportError,
                 "%s is missing: the runtime is older than alula_calls", name);
    return false;
  }
  memcpy(slot, &found, sizeof found);
  return true;
}

/* Library(handle, array type, plain array type, check) */
static int library_init(PyObject *self, PyObject *args, PyObject *kwargs) {
  Library *library = (Library *)self;
  PyObject *address, *array, *plain, *check;
  if (!PyArg_ParseTuple(args, "OOOO", &address, &array, &plain, &check))
    return -1;
  if (library->memory_type || kwargs) {
    PyErr_SetString(PyExc_TypeError, "a library is made once, by position");
    return -1;
  }
  void *handle = PyLong_AsVoidPtr(address);
  if (!handle && PyErr_Occurred())
    return -1;
  if (!resolve(handle, "alula_buffer_wrap", &library->wrap) ||
      !resolve(handle, "alula_buffer_release", &library->release) ||
      !resolve(handle, "alula_buffer_get_data", &library->get_data) ||
      !resolve(handle, "alula_buffer_get_bytes", &library->get_bytes) ||
      !resolve(handle, "alula_buffer_get_rank", &library->get_rank) ||
      !resolve(handle, "alula_buffer_get_dims", &library->get_dims) ||
      !resolve(handle, "alula_call", &library->call))
    return -1;
  PyObject *signal = PyImport_ImportModule("signal");
  library->set_wakeup =
      signal ? PyObject_GetAttrString(signal, "set_wakeup_fd") : NULL;
  library->silently = Py_BuildValue("{sO}", "warn_on_full_buffer", Py_False);
  Py_XDECREF(signal);
  if (!library->set_wakeup || !library->silently)
    return -1;
  library->memory_type = PyType_FromSpec(&memory_spec);
  library->dtype_name = PyUnicode_InternFromString("dtype");
  if (!library->memory_type || !library->dtype_name)
    return -1;
  library->array_type = Py_NewRef(array);
  library->plain_type = Py_NewRef(plain);
  library->check = Py_NewRef(check);
  library->wakeup = -1;
  return 0;
}

static void replace(PyObject **slot, PyObject *value) {
  PyObject *before = *slot;
  *slot = Py_NewRef(value);
  Py_XDECREF(before);
}

/* set_watch(fd, watch, main thread): the main thread's calls are watched; -1:
 * from now on, by whom `watch` makes. */
static PyObject *library_set_watch(PyObject *self, PyObject *args) {
  Library *library = (Library *)self;
  int wakeup;
  PyObject *watch;
  unsigned long main_thread;
  if (!PyArg_ParseTuple(args, "iOk", &wakeup, &watch, &main_thread))
    return NULL;
  replace(&library->watch, watch);
  library->wakeup = wakeup;
  library->main_thread = main_thread;
  /* A child may be made in a call, but does not come back from it. */
  if (wakeup < 0)
    library->watched = NULL;
  Py_RETURN_NONE;
}

/* set_foreign(type, put): JAX's arrays, which are taken as they are, and made.
 */
static PyObject *library_set_foreign(PyObject *self, PyObject *args) {
  PyObject *type, *put;
  if (!PyArg_ParseTuple(args, "OO", &type, &put))
    return NULL;
  replace(&((Library *)self)->foreign, type);
  replace(&((Library *)self)->put, put);
  Py_RETURN_NONE;
}

/* get_watched(): (serial, who was told of signals before) of each call that the
 * main thread is in, the outermost first. */
static PyObject *library_get_watched(PyObject *self, PyObject *none) {
  (void)none;
  PyObject *list = PyList_New(0);
  for (Watched *call = ((Library *)self)->watched; list && call;
       call = call->outer) {
    PyObject *pair = Py_BuildValue("(Ki)", call->serial, call->wakeup_before);
    if (!pair || PyList_Append(list, pair) < 0)
      Py_CLEAR(list);
    Py_XDECREF(pair);
  }
  if (list && PyList_Reverse(list) < 0)
    Py_CLEAR(list);
  return list;
}

/* cancel(serial): whether that call still ran. */
static PyObject *library_cancel(PyObject *self, PyObject *number) {
  unsigned long long serial = PyLong_AsUnsignedLongLong(number);
  if (PyErr_Occurred())
    return NULL;
  for (Watched *call = ((Library *)self)->watched; call; call = call->outer)
    if (call->serial == serial) {
      __atomic_store_n(&call->cancel, 1, __ATOMIC_RELAXED);
      Py_RETURN_TRUE;
    }
  Py_RETURN_FALSE;
}

static PyMethodDef library_methods[] = {
    {"set_watch", library_set_watch, METH_VARARGS, NULL},
    {"set_foreign", library_set_foreign, METH_VARARGS, NULL},
    {"get_watched", library_get_watched, METH_NOARGS, NULL},
    {"cancel", library_cancel, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot library_slots[] = {
    {Py_tp_init, library_init},
    {Py_tp_dealloc, library_dealloc},
    {Py_tp_methods, library_methods},
    {0, NULL},
};
static PyType_Spec library_spec = {"alula_calls.Library", sizeof(Library), 0,
                                   Py_TPFLAGS_DEFAULT, library_slots};

/* ---- Functions ---- */

static void free_values(Value *values, uint32_t count) {
  for (uint32_t i = 0; values && i < count; ++i) {
    Py_XDECREF(values[i].type);
    Py_XDECREF(values[i].shape);
  }
  PyMem_Free(values);
}

static void function_dealloc(PyObject *self) {
  Function *function = (Function *)self;
  PyTypeObject *type = Py_TYPE(self);
  free_values(function->arguments, function->argument_count);
  free_values(function->results, function->result_count);
  Py_XDECREF((PyObject *)function->library);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

/* Of (code, NumPy's type or None, alignment, sizes; -1 is any). */
static bool read_value(PyObject *described, Value *value) {
  PyObject *type, *shape;
  unsigned int code;
  Py_ssize_t alignment;
  if (!PyArg_ParseTuple(described, "IOnO!", &code, &type, &alignment,
                        &PyTuple_Type, &shape))
    return false;
  Py_ssize_t rank = PyTuple_Size(shape);
  if (rank > MAX_RANK) {
    PyErr_Format(PyExc_ValueError, "rank %zd, at most %d", rank, MAX_RANK);
    return false;
  }
  value->dtype = (alula_dtype)code;
  value->alignment = (size_t)alignment;
  value->rank = (int)rank;
  for (Py_ssize_t i = 0; i < rank; ++i) {
    value->dims[i] = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
    if (PyErr_Occurred())
      return false;
    value->is_dynamic |= value->dims[i] < 0;
  }
  value->type = type == Py_None ? NULL : Py_NewRef(type);
  value->shape = Py_NewRef(shape);
  return true;
}

static Value *read_values(PyObject *list, uint32_t *count) {
  Py_ssize_t size = PyTuple_Size(list);
  if (size < 0)
    return NULL;
  Value *values = PyMem_Calloc((size_t)size + 1, sizeof *values);
  if (!values) {
    PyErr_NoMemory();
    return NULL;
  }
  *count = (uint32_t)size;
  for (Py_ssize_t i = 0; i < size; ++i)
    if (!read_value(PyTuple_GetItem(list, i), &values[i])) {
      free_values(values, *count);
      return NULL;
    }
  return values;
}

/* Function(library, executable, instance, number, arguments, results) */
static int function_init(PyObject *self, PyObject *args, PyObject *kwargs) {
  Function *function = (Function *)self;
  PyObject *library, *executable, *instance, *arguments, *results;
  unsigned int number;
  if (!PyArg_ParseTuple(args, "OOOIOO", &library, &executable, &instance,
                        &number, &arguments, &results))
    return -1;
  if (function->library || kwargs ||
      PyType_GetSlot(Py_TYPE(library), Py_tp_init) != (void *)library_init) {
    PyErr_SetString(PyExc_TypeError,
                    "a function is made once, of a library, by position");
    return -1;
  }
  function->library = (Library *)Py_NewRef(library);
  function->executable = PyLong_AsVoidPtr(executable);
  function->instance = PyLong_AsVoidPtr(instance);
  function->number = number;
  if (PyErr_Occurred())
    return -1;
  function->arguments = read_values(arguments, &function->argument_count);
  if (!function->arguments)
    return -1;
  function->results = read_values(results, &function->result_count);
  return function->results ? 0 : -1;
}

/* A call's arguments and results while it runs. */
typedef struct {
  Py_buffer *views;
  alula_buffer **arguments, **results;
  uint32_t taken; /* views that are to be given back */
  Py_buffer small_views[SMALL];
  alula_buffer *small_buffers[2 * SMALL];
  void *large;
} Room;

static bool make_room(Room *room, const Function *function) {
  size_t arguments = function->argument_count, results = function->result_count;
  room->taken = 0;
  room->large = NULL;
  if (arguments <= SMALL && results <= SMALL) {
    room->views = room->small_views;
    room->arguments = room->small_buffers;
  } else {
    size_t bytes = arguments * sizeof *room->views +
                   (arguments + results) * sizeof(void *);
    room->large = PyMem_Calloc(1, bytes);
    if (!room->large) {
      PyErr_NoMemory();
      return false;
    }
    room->views = room->large;
    room->arguments = (alula_buffer **)(room->views + arguments);
  }
  room->results = room->arguments + arguments;
  memset(room->results, 0, results * sizeof *room->results);
  return true;
}

static void give_back(Room *room, const Library *library) {
  for (uint32_t i = 0; i < room->taken; ++i) {
    if (room->arguments[i])
      library->release(room->arguments[i]);
    PyBuffer_Release(&room->views[i]);
  }
  PyMem_Free(room->large);
}

static void drop_results(Room *room, const Function *function) {
  for (uint32_t i = 0; i < function->result_count; ++i)
    if (room->results[i])
      function->library->release(room->results[i]);
}

static bool check(const Library *library, alula_error *error) {
  if (!error)
    return true;
  PyObject *address = PyLong_FromVoidPtr(error);
  PyObject *none =
      address ? PyObject_CallFunctionObjArgs(library->check, address, NULL)
              : NULL;
  Py_XDECREF(address);
  if (none) {
    Py_DECREF(none);
    PyErr_SetString(PyExc_SystemError,
                    "an error of the runtime was not raised");
  }
  return false;
}

/* Who is told of signals from now on; who was before, or -2 and an exception.
 */
static int tell(const Library *library, int wakeup) {
  PyObject *number = Py_BuildValue("(i)", wakeup);
  PyObject *before =
      number ? PyObject_Call(library->set_wakeup, number, library->silently)
             : NULL;
  Py_XDECREF(number);
  if (!before)
    return -2;
  int result = (int)PyLong_AsLong(before);
  Py_DECREF(before);
  return result;
}

enum Taken { TAKEN, REFUSED, FAILED };

/* Whether an argument is an array of just the type, shape and layout that is
 * wanted; its memory is then an argument of the call. `dims`: what is in the
 * memory is as the runtime wants it, and has these sizes. */
static enum Taken take(const Function *function, Room *room, uint32_t i,
                       PyObject *given, PyObject *dims) {
  const Library *library = function->library;
  const Value *value = &function->arguments[i];
  Py_buffer *view = &room->views[i];
  int64_t sizes[MAX_RANK];
  int rank = value->rank;
  if (!dims) {
    PyObject *type = (PyObject *)Py_TYPE(given);
    if (!value->type ||
        (type != library->plain_type && type != library->array_type &&
         type != library->foreign))
      return REFUSED;
    PyObject *dtype = PyObject_GetAttr(given, library->dtype_name);
    Py_XDECREF(dtype); /* the array has it */
    if (dtype != value->type) {
      PyErr_Clear();
      return REFUSED;
    }
  }
  if (PyObject_GetBuffer(given, view, PyBUF_ND) < 0) {
    if (dims)
      return FAILED;
    /* A KeyboardInterrupt while one waits for the array is one. */
    if (!PyErr_ExceptionMatches(PyExc_Exception))
      return FAILED;
    PyErr_Clear();
    return REFUSED;
  }
  room->arguments[i] = NULL;
  room->taken = i + 1;
  if (dims) {
    Py_ssize_t count = PyTuple_Size(dims);
    if (count < 0 || count > MAX_RANK)
      return FAILED;
    rank = (int)count;
    for (Py_ssize_t d = 0; d < count; ++d)
      sizes[d] = PyLong_AsLongLong(PyTuple_GetItem(dims, d));
  } else {
    if (view->ndim != rank || (uintptr_t)view->buf % value->alignment)
      return REFUSED;
    for (int d = 0; d < rank; ++d) {
      sizes[d] = view->shape[d];
      if (value->dims[d] >= 0 && sizes[d] != value->dims[d])
        return REFUSED;
    }
  }
  alula_error *error = library->wrap(
      function->instance, value->dtype, (uint32_t)rank, sizes, view->buf,
      (size_t)view->len, NULL, NULL, &room->arguments[i]);
  return check(library, error) ? TAKEN : FAILED;
}

/* The call, without the interpreter's lock. Ctrl-C ends one of the main thread.
 * False: an exception is set. */
static bool run(const Function *function, alula_state *state, Room *room) {
  Library *library = function->library;
  alula_call_options options;
  memset(&options, 0, sizeof options);
  options.struct_bytes = sizeof options;
  options.state = state;
  bool is_watched =
      library->watch && PyThread_get_thread_ident() == library->main_thread;
  Watched call;
  if (is_watched) {
    if (library->wakeup < 0) {
      PyObject *none = PyObject_CallFunctionObjArgs(library->watch, NULL);
      if (!none)
        return false;
      Py_DECREF(none);
    }
    call.cancel = 0;
    call.serial = ++library->serial;
    call.outer = library->watched;
    call.wakeup_before = tell(library, library->wakeup);
    if (call.wakeup_before == -2)
      return false;
    library->watched = &call;
    options.cancel = &call.cancel;
  }
  PyThreadState *thread = PyEval_SaveThread();
  alula_error *error = library->call(
      function->executable, function->number, &options, room->arguments,
      function->argument_count, room->results, function->result_count);
  PyEval_RestoreThread(thread);
  if (!is_watched)
    return check(library, error);
  /* Handlers of signals that came meanwhile, while the listener hears them. */
  bool is_interrupted = PyErr_CheckSignals() < 0;
  PyObject *kind = NULL, *raised = NULL, *trace = NULL;
  if (is_interrupted)
    PyErr_Fetch(&kind, &raised, &trace);
  /* A file that is closed by now is told no more. */
  if (tell(library, call.wakeup_before) == -2) {
    PyErr_Clear();
    tell(library, -1);
  }
  library->watched = call.outer;
  if (!is_interrupted)
    return check(library, error);
  /* Its error is not the reason. */
  if (error && !check(library, error))
    PyErr_Clear();
  /* The signal is not to be taken for one of a later call. */
  PyObject *none = PyObject_CallFunctionObjArgs(library->watch, NULL);
  Py_XDECREF(none);
  PyErr_Clear();
  PyErr_Restore(kind, raised, trace);
  return false;
}

/* An array of a result; `room` has it no more. */
static PyObject *make_array(const Function *function, Room *room, uint32_t i,
                            bool is_plain) {
  Library *library = function->library;
  const Value *value = &function->results[i];
  alula_buffer *buffer = room->results[i];
  room->results[i] = NULL;
  PyObject *shape = NULL;
  if (!value->is_dynamic)
    shape = Py_NewRef(value->shape);
  else {
    uint32_t rank = library->get_rank(buffer);
    const int64_t *dims = library->get_dims(buffer);
    shape = PyTuple_New(rank);
    for (uint32_t d = 0; shape && d < rank; ++d) {
      PyObject *size = PyLong_FromLongLong(dims[d]);
      if (!size || PyTuple_SetItem(shape, d, size) < 0)
        Py_CLEAR(shape);
    }
  }
  PyObject *memory = make_memory(library, buffer);
  PyObject *made = NULL;
  if (shape && memory) {
    /* What no array can show: sizes and bytes, for who knows. */
    if (!value->type)
      made = PyTuple_Pack(2, shape, memory);
    else
      made = PyObject_CallFunctionObjArgs(is_plain ? library->plain_type
                                                   : library->array_type,
                                          shape, value->type, memory, NULL);
  }
  Py_XDECREF(shape);
  Py_XDECREF(memory);
  return made;
}

/* What JAX is told of results: their types, and where it has them. */
typedef struct {
  PyObject *avals, *sharding, *device;
} Foreign;

/* Takes `array` over. */
static PyObject *make_foreign(const Library *library, const Foreign *foreign,
                              uint32_t i, PyObject *array) {
  PyObject *aval = PyTuple_GetItem(foreign->avals, i);
  PyObject *args = aval ? Py_BuildValue("(OO[N][O]O)", aval, foreign->sharding,
                                        array, foreign->device, Py_False)
                        : NULL;
  PyObject *made = args ? PyObject_Call(library->put, args, NULL) : NULL;
  Py_XDECREF(args);
  return made;
}

static PyObject *make_arrays(const Function *function, Room *room,
                             const Foreign *foreign) {
  PyObject *made = PyTuple_New(function->result_count);
  for (uint32_t i = 0; made && i < function->result_count; ++i) {
    PyObject *array = make_array(function, room, i, foreign != NULL);
    if (array && foreign)
      array = make_foreign(function->library, foreign, i, array);
    if (!array || PyTuple_SetItem(made, i, array) < 0)
      Py_CLEAR(made);
  }
  if (!made)
    drop_results(room, function);
  return made;
}

/* call(state, arrays, shapes=None, avals=None, sharding=None, device=None): a
 * tuple of arrays; None if `arrays` are not just what the function wants. With
 * shapes they are memory in the runtime's form. With the rest the results are
 * JAX's; none may be dynamic or in parts. */
static PyObject *function_call(PyObject *self, PyObject *args) {
  const Function *function = (Function *)self;
  PyObject *address, *given, *shapes = Py_None;
  Foreign results = {Py_None, NULL, NULL};
  if (!PyArg_ParseTuple(args, "OO!|OOOO", &address, &PyTuple_Type, &given,
                        &shapes, &results.avals, &results.sharding,
                        &results.device))
    return NULL;
  if (shapes == Py_None)
    shapes = NULL;
  const Foreign *foreign = results.avals == Py_None ? NULL : &results;
  if (foreign && (!results.device || !function->library->put)) {
    PyErr_SetString(PyExc_TypeError,
                    "arrays of JAX need a device and set_foreign");
    return NULL;
  }
  uint32_t count = function->argument_count;
  if (PyTuple_Size(given) != count ||
      (shapes && PyTuple_Size(shapes) != count)) {
    if (!shapes)
      Py_RETURN_NONE;
    PyErr_Format(PyExc_TypeError, "%u arrays and shapes are wanted", count);
    return NULL;
  }
  alula_state *state = PyLong_AsVoidPtr(address);
  if (!state && PyErr_Occurred())
    return NULL;
  Room room;
  if (!make_room(&room, function))
    return NULL;
  enum Taken taken = TAKEN;
  for (uint32_t i = 0; taken == TAKEN && i < count; ++i)
    taken = take(function, &room, i, PyTuple_GetItem(given, i),
                 shapes ? PyTuple_GetItem(shapes, i) : NULL);
  bool is_done = taken == TAKEN && run(function, state, &room);
  if (taken == TAKEN && !is_done)
    drop_results(&room, function);
  PyObject *made = is_done            ? make_arrays(function, &room, foreign)
                   : taken == REFUSED ? Py_NewRef(Py_None)
                                      : NULL;
  /* Whatever a buffer's end raises is not the call's. */
  give_back(&room, function->library);
  return made;
}

static PyMethodDef function_methods[] = {
    {"call", function_call, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot function_slots[] = {
    {Py_tp_init, function_init},
    {Py_tp_dealloc, function_dealloc},
    {Py_tp_methods, function_methods},
    {0, NULL},
};
static PyType_Spec function_spec = {"alula_calls.Function", sizeof(Function), 0,
                                    Py_TPFLAGS_DEFAULT, function_slots};

/* ---- The module ---- */

static int fill(PyObject *module) {
  PyObject *library = PyType_FromSpec(&library_spec);
  PyObject *function = PyType_FromSpec(&function_spec);
  int failed = !library || !function ||
               PyModule_AddObjectRef(module, "Library", library) < 0 ||
               PyModule_AddObjectRef(module, "Function", function) < 0;
  Py_XDECREF(library);
  Py_XDECREF(function);
  return failed ? -1 : 0;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, fill}, {0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT,
                                    "alula_calls",
                                    "Calls of loaded functions.",
                                    0,
                                    NULL,
                                    module_slots,
                                    NULL,
                                    NULL,
                                    NULL};

PyMODINIT_FUNC PyInit_alula_calls(void) { return PyModuleDef_Init(&module); }
