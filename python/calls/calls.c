/* Calls of loaded functions, for Python: arrays in, arrays out, in one step.
 * Everything else that Python does with the runtime goes by ctypes
 * (alula/bindings/runtime.py), which also says where the library is. CPython's
 * stable ABI: one file for every Python from 3.11 on; no NumPy headers. Memory
 * is had by the buffer protocol, arrays are made by two functions of NumPy's C
 * API, whose table's order is its ABI. */
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

/* Of NumPy's C API: places in its table, flags. */
enum {
  NEW_FROM_DESCR = 94,
  SET_BASE_OBJECT = 282,
  C_CONTIGUOUS = 0x1,
  ALIGNED = 0x100,
  WRITEABLE = 0x400,
};
typedef PyObject *(*NewFromDescr)(PyTypeObject *, PyObject *descr, int rank,
                                  const intptr_t *dims, const intptr_t *strides,
                                  void *data, int flags, PyObject *like);
typedef int (*SetBaseObject)(PyObject *array, PyObject *base);

/* The runtime's functions, and what is known once for the process. */
typedef struct {
  PyObject_HEAD __typeof__(&alula_buffer_wrap) wrap;
  __typeof__(&alula_buffer_release) release;
  __typeof__(&alula_buffer_get_data) get_data;
  __typeof__(&alula_buffer_get_bytes) get_bytes;
  __typeof__(&alula_buffer_get_rank) get_rank;
  __typeof__(&alula_buffer_get_dims) get_dims;
  __typeof__(&alula_call) call;
  __typeof__(&alula_call_async) call_async;
  __typeof__(&alula_event_wait) event_wait;
  __typeof__(&alula_event_on_done) event_on_done;
  __typeof__(&alula_event_destroy) event_destroy;
  NewFromDescr new_from_descr;
  SetBaseObject set_base_object;
  PyObject *set_wakeup, *silently; /* signal.set_wakeup_fd, without a warning */
  PyObject *memory_type, *pending_type, *array_type, *plain_type;
  PyObject *check; /* raises an alula_error, given as a number */
  /* While nobody listens to signals, makes who does, which calls set_watch;
   * then waits until all signals are heard. */
  PyObject *watch;
  PyObject *foreign; /* JAX's type of arrays, or NULL */
  PyObject *put; /* makes one: put(aval, sharding, arrays, devices, False) */
  PyObject *collect; /* lets go of what JAX's arrays that are gone had */
  PyObject *dtype_name, *shape_name, *shown_name;
  unsigned long main_thread;
  unsigned long long clock; /* of calls that went to who is for their sizes */
  int wakeup;               /* what the listener hears; -1: there is none */
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
} Value;

typedef struct {
  PyObject_HEAD Library *library;
  alula_executable *executable;
  alula_instance *instance;
  uint32_t number;
  bool is_brief; /* ends before Ctrl-C could end it */
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

static PyType_Spec pending_spec;

static void library_dealloc(PyObject *self) {
  Library *library = (Library *)self;
  PyTypeObject *type = Py_TYPE(self);
  Py_XDECREF(library->memory_type);
  Py_XDECREF(library->pending_type);
  Py_XDECREF(library->array_type);
  Py_XDECREF(library->plain_type);
  Py_XDECREF(library->check);
  Py_XDECREF(library->watch);
  Py_XDECREF(library->foreign);
  Py_XDECREF(library->put);
  Py_XDECREF(library->collect);
  Py_XDECREF(library->dtype_name);
  Py_XDECREF(library->shape_name);
  Py_XDECREF(library->shown_name);
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

/* NumPy's C API, a table of functions. */
static bool resolve_numpy(Library *library, PyObject *capsule) {
  void **table = PyCapsule_GetPointer(capsule, NULL);
  if (!table)
    return false;
  memcpy(&library->new_from_descr, &table[NEW_FROM_DESCR],
         sizeof library->new_from_descr);
  memcpy(&library->set_base_object, &table[SET_BASE_OBJECT],
         sizeof library->set_base_object);
  return true;
}

/* Library(handle, array type, plain array type, check, NumPy's C API) */
static int library_init(PyObject *self, PyObject *args, PyObject *kwargs) {
  Library *library = (Library *)self;
  PyObject *address, *array, *plain, *check, *numpy;
  if (!PyArg_ParseTuple(args, "OOOOO", &address, &array, &plain, &check,
                        &numpy))
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
      !resolve(handle, "alula_call", &library->call) ||
      !resolve(handle, "alula_call_async", &library->call_async) ||
      !resolve(handle, "alula_event_wait", &library->event_wait) ||
      !resolve(handle, "alula_event_on_done", &library->event_on_done) ||
      !resolve(handle, "alula_event_destroy", &library->event_destroy) ||
      !resolve_numpy(library, numpy))
    return -1;
  PyObject *signal = PyImport_ImportModule("signal");
  library->set_wakeup =
      signal ? PyObject_GetAttrString(signal, "set_wakeup_fd") : NULL;
  library->silently = Py_BuildValue("{sO}", "warn_on_full_buffer", Py_False);
  Py_XDECREF(signal);
  if (!library->set_wakeup || !library->silently)
    return -1;
  library->memory_type = PyType_FromSpec(&memory_spec);
  library->pending_type = PyType_FromSpec(&pending_spec);
  library->dtype_name = PyUnicode_InternFromString("dtype");
  library->shape_name = PyUnicode_InternFromString("shape");
  /* What JAX has for NumPy's arrays of its own. */
  library->shown_name =
      PyUnicode_InternFromString("_single_device_array_to_np_array_did_copy");
  if (!library->memory_type || !library->pending_type || !library->dtype_name ||
      !library->shape_name || !library->shown_name)
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

/* set_foreign(type, put, collect): JAX's arrays, which are taken as they are,
 * and made. */
static PyObject *library_set_foreign(PyObject *self, PyObject *args) {
  PyObject *type, *put, *collect;
  if (!PyArg_ParseTuple(args, "OOO", &type, &put, &collect))
    return NULL;
  replace(&((Library *)self)->foreign, type);
  replace(&((Library *)self)->put, put);
  replace(&((Library *)self)->collect, collect);
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

/* ---- Trees ---- */

/* What a tree of arguments or results is made of. SEQUENCE: a list or a tuple
 * of any class. */
enum Kind { LEAF, NOTHING, LIST, TUPLE, SEQUENCE, DICT };
typedef struct Node {
  enum Kind kind;
  uint32_t leaf;
  Py_ssize_t count;
  struct Node *parts;
  PyObject *keys; /* DICT: a tuple */
} Node;

typedef struct {
  PyObject_HEAD Node *arguments, *result; /* NULL: each is a leaf, in order */
  uint32_t argument_count, result_count;
} Trees;

static void free_node(Node *node) {
  for (Py_ssize_t i = 0; node->parts && i < node->count; ++i)
    free_node(&node->parts[i]);
  PyMem_Free(node->parts);
  Py_XDECREF(node->keys);
}

/* Of a leaf's number, None, or (kind, parts) and, of a dictionary, (…, keys).
 * Leaves are numbered from `*leaves` on, in order. */
static bool read_node(PyObject *described, Node *node, uint32_t *leaves) {
  if (described == Py_None) {
    node->kind = NOTHING;
    return true;
  }
  if (!PyTuple_Check(described)) {
    node->kind = LEAF;
    node->leaf = *leaves;
    if (PyLong_AsUnsignedLong(described) == (*leaves)++)
      return true;
    if (!PyErr_Occurred())
      PyErr_SetString(PyExc_ValueError, "leaves are numbered in order");
    return false;
  }
  int kind;
  PyObject *parts, *keys = NULL;
  if (!PyArg_ParseTuple(described, "iO!|O!", &kind, &PyTuple_Type, &parts,
                        &PyTuple_Type, &keys))
    return false;
  Py_ssize_t count = PyTuple_Size(parts);
  if (kind < LIST || kind > DICT || (kind == DICT) != (keys != NULL) ||
      (keys && PyTuple_Size(keys) != count)) {
    PyErr_SetString(PyExc_ValueError, "a tree of an unknown kind");
    return false;
  }
  node->parts = PyMem_Calloc((size_t)count + 1, sizeof *node->parts);
  if (!node->parts) {
    PyErr_NoMemory();
    return false;
  }
  node->kind = (enum Kind)kind;
  node->count = count;
  node->keys = keys ? Py_NewRef(keys) : NULL;
  for (Py_ssize_t i = 0; i < count; ++i)
    if (!read_node(PyTuple_GetItem(parts, i), &node->parts[i], leaves))
      return false;
  return true;
}

static Node *read_tree(PyObject *described, uint32_t count) {
  Node *node = PyMem_Calloc(1, sizeof *node);
  if (!node) {
    PyErr_NoMemory();
    return NULL;
  }
  uint32_t leaves = 0;
  bool is_read = read_node(described, node, &leaves);
  if (is_read && leaves == count)
    return node;
  if (is_read)
    PyErr_Format(PyExc_ValueError, "%u leaves, not %u", count, leaves);
  free_node(node);
  PyMem_Free(node);
  return NULL;
}

static void trees_dealloc(PyObject *self) {
  Trees *trees = (Trees *)self;
  PyTypeObject *type = Py_TYPE(self);
  Node *roots[] = {trees->arguments, trees->result};
  for (int i = 0; i < 2; ++i)
    if (roots[i]) {
      free_node(roots[i]);
      PyMem_Free(roots[i]);
    }
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

/* Trees(number of leaves of arguments, their tree, of results, their tree):
 * None is a tree of leaves, and of results a tuple of them. */
static int trees_init(PyObject *self, PyObject *args, PyObject *kwargs) {
  Trees *trees = (Trees *)self;
  PyObject *arguments, *result;
  if (!PyArg_ParseTuple(args, "IOIO", &trees->argument_count, &arguments,
                        &trees->result_count, &result))
    return -1;
  if (trees->arguments || trees->result || kwargs) {
    PyErr_SetString(PyExc_TypeError, "trees are made once, by position");
    return -1;
  }
  if (arguments != Py_None &&
      !(trees->arguments = read_tree(arguments, trees->argument_count)))
    return -1;
  if (result != Py_None &&
      !(trees->result = read_tree(result, trees->result_count)))
    return -1;
  return 0;
}

static PyObject *trees_builds_results(PyObject *self, void *nothing) {
  (void)nothing;
  return PyBool_FromLong(((Trees *)self)->result != NULL);
}

static PyGetSetDef trees_getters[] = {
    {"builds_results", trees_builds_results, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot trees_slots[] = {
    {Py_tp_getset, trees_getters},
    {Py_tp_init, trees_init},
    {Py_tp_dealloc, trees_dealloc},
    {0, NULL},
};
static PyType_Spec trees_spec = {"alula_calls.Trees", sizeof(Trees), 0,
                                 Py_TPFLAGS_DEFAULT, trees_slots};

static bool is_exactly(PyObject *value, PyTypeObject *type) {
  return Py_TYPE(value) == type;
}

/* The leaves of a value that is made as `node` says. Who collects has them. */
static bool collect(const Node *node, PyObject *value, PyObject **leaves) {
  bool is_list = PyList_Check(value), is_tuple = PyTuple_Check(value);
  switch (node->kind) {
  case LEAF:
    leaves[node->leaf] = Py_NewRef(value);
    return true;
  case NOTHING:
    return value == Py_None;
  case DICT:
    if (!is_exactly(value, &PyDict_Type) || PyDict_Size(value) != node->count)
      return false;
    for (Py_ssize_t i = 0; i < node->count; ++i) {
      PyObject *key = PyTuple_GetItem(node->keys, i);
      PyObject *part = PyDict_GetItemWithError(value, key);
      if (!part || !collect(&node->parts[i], part, leaves))
        return false;
    }
    return true;
  case LIST:
    if (!is_exactly(value, &PyList_Type))
      return false;
    break;
  case TUPLE:
    if (!is_exactly(value, &PyTuple_Type))
      return false;
    break;
  case SEQUENCE:
    if (!is_list && !is_tuple)
      return false;
    break;
  }
  if ((is_list ? PyList_Size(value) : PyTuple_Size(value)) != node->count)
    return false;
  for (Py_ssize_t i = 0; i < node->count; ++i)
    if (!collect(&node->parts[i],
                 is_list ? PyList_GetItem(value, i) : PyTuple_GetItem(value, i),
                 leaves))
      return false;
  return true;
}

/* A tree over a tuple of leaves. */
static PyObject *build(const Node *node, PyObject *leaves) {
  PyObject *made = NULL;
  switch (node->kind) {
  case LEAF:
    return Py_XNewRef(PyTuple_GetItem(leaves, node->leaf));
  case NOTHING:
    return Py_NewRef(Py_None);
  case LIST:
    made = PyList_New(node->count);
    break;
  case TUPLE:
  case SEQUENCE:
    made = PyTuple_New(node->count);
    break;
  case DICT:
    made = PyDict_New();
    break;
  }
  for (Py_ssize_t i = 0; made && i < node->count; ++i) {
    PyObject *part = build(&node->parts[i], leaves);
    int failed = -1;
    if (part && node->kind == DICT) {
      failed = PyDict_SetItem(made, PyTuple_GetItem(node->keys, i), part);
      Py_DECREF(part);
    } else if (part) {
      failed = node->kind == LIST ? PyList_SetItem(made, i, part)
                                  : PyTuple_SetItem(made, i, part);
    }
    if (failed)
      Py_CLEAR(made);
  }
  return made;
}

/* ---- Functions ---- */

static void free_values(Value *values, uint32_t count) {
  for (uint32_t i = 0; values && i < count; ++i)
    Py_XDECREF(values[i].type);
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
  }
  value->type = type == Py_None ? NULL : Py_NewRef(type);
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

/* Function(library, executable, instance, number, arguments, results,
 * is_brief) */
static int function_init(PyObject *self, PyObject *args, PyObject *kwargs) {
  Function *function = (Function *)self;
  PyObject *library, *executable, *instance, *arguments, *results;
  unsigned int number;
  int is_brief;
  if (!PyArg_ParseTuple(args, "OOOIOOp", &library, &executable, &instance,
                        &number, &arguments, &results, &is_brief))
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
  function->is_brief = is_brief;
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
  PyObject **leaves; /* NULL: not collected, or not any more */
  uint32_t taken;    /* views that are to be given back */
  Py_buffer small_views[SMALL];
  alula_buffer *small_buffers[2 * SMALL];
  PyObject *small_leaves[SMALL];
  void *large;
} Room;

static bool make_room(Room *room, const Function *function) {
  size_t arguments = function->argument_count, results = function->result_count;
  room->taken = 0;
  room->large = NULL;
  if (arguments <= SMALL && results <= SMALL) {
    room->views = room->small_views;
    room->arguments = room->small_buffers;
    room->leaves = room->small_leaves;
  } else {
    size_t bytes = arguments * sizeof *room->views +
                   (2 * arguments + results) * sizeof(void *);
    room->large = PyMem_Calloc(1, bytes);
    if (!room->large) {
      PyErr_NoMemory();
      return false;
    }
    room->views = room->large;
    room->arguments = (alula_buffer **)(room->views + arguments);
    room->leaves = (PyObject **)(room->arguments + arguments + results);
  }
  room->results = room->arguments + arguments;
  memset(room->leaves, 0, arguments * sizeof *room->leaves);
  memset(room->results, 0, results * sizeof *room->results);
  return true;
}

static void give_back(Room *room, const Function *function) {
  for (uint32_t i = 0; i < room->taken; ++i) {
    if (room->arguments[i])
      function->library->release(room->arguments[i]);
    PyBuffer_Release(&room->views[i]);
  }
  for (uint32_t i = 0; i < function->argument_count; ++i)
    Py_XDECREF(room->leaves[i]);
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

/* JAX shows memory of types that Python doesn't know, such as bf16, to NumPy
 * alone, whose arrays show it to all who don't ask for the type. */
static bool show_foreign(const Library *library, PyObject *given,
                         Py_buffer *view) {
  PyObject *pair = PyObject_CallMethodObjArgs(given, library->shown_name, NULL);
  PyObject *array =
      pair && PyTuple_Check(pair) ? PyTuple_GetItem(pair, 0) : NULL;
  bool is_shown = array && PyObject_GetBuffer(array, view, PyBUF_ND) == 0;
  Py_XDECREF(pair);
  return is_shown;
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
    if ((PyObject *)Py_TYPE(given) != library->foreign)
      return REFUSED;
    if (!show_foreign(library, given, view)) {
      if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception))
        return FAILED;
      PyErr_Clear();
      return REFUSED;
    }
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

/* The call, without the interpreter's lock. Ctrl-C ends one of the main thread
 * that isn't brief. False: an exception is set. */
static bool run(const Function *function, alula_state *state, Room *room,
                bool is_brief) {
  Library *library = function->library;
  alula_call_options options;
  memset(&options, 0, sizeof options);
  options.struct_bytes = sizeof options;
  options.state = state;
  bool is_watched = !is_brief && library->watch &&
                    PyThread_get_thread_ident() == library->main_thread;
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

/* (sizes, bytes): what no array can show, for who knows. */
static PyObject *make_parts(uint32_t rank, const int64_t *dims,
                            PyObject *memory) {
  PyObject *shape = PyTuple_New(rank);
  for (uint32_t d = 0; shape && d < rank; ++d) {
    PyObject *size = PyLong_FromLongLong(dims[d]);
    if (!size || PyTuple_SetItem(shape, d, size) < 0)
      Py_CLEAR(shape);
  }
  PyObject *made = shape ? PyTuple_Pack(2, shape, memory) : NULL;
  Py_XDECREF(shape);
  return made;
}

/* An array of a result; `room` has it no more. */
static PyObject *make_array(const Function *function, Room *room, uint32_t i,
                            bool is_plain) {
  Library *library = function->library;
  const Value *value = &function->results[i];
  alula_buffer *buffer = room->results[i];
  room->results[i] = NULL;
  uint32_t rank = library->get_rank(buffer);
  const int64_t *dims = library->get_dims(buffer);
  static char nothing[64];
  void *data = library->get_bytes(buffer) ? library->get_data(buffer) : nothing;
  PyObject *memory = make_memory(library, buffer);
  if (!memory)
    return NULL;
  if (!value->type) {
    PyObject *made = make_parts(rank, dims, memory);
    Py_DECREF(memory);
    return made;
  }
  intptr_t sizes[MAX_RANK];
  for (uint32_t d = 0; d < rank; ++d)
    sizes[d] = (intptr_t)dims[d];
  PyObject *made = library->new_from_descr(
      (PyTypeObject *)(is_plain ? library->plain_type : library->array_type),
      Py_NewRef(value->type), (int)rank, sizes, NULL, data,
      C_CONTIGUOUS | ALIGNED | WRITEABLE, NULL);
  /* The array takes `memory` over. */
  if (!made)
    Py_DECREF(memory);
  else if (library->set_base_object(made, memory) < 0)
    Py_CLEAR(made);
  return made;
}

/* What JAX is told of results: their types, and where it has them. */
typedef struct {
  PyObject *avals, *sharding, *device;
  PyObject *make_aval; /* of those whose type is None: (sizes, dtype) */
} Foreign;

/* The type of an array that has its sizes from a call. */
static PyObject *make_aval(const Library *library, const Foreign *foreign,
                           PyObject *array) {
  PyObject *shape = PyObject_GetAttr(array, library->shape_name);
  PyObject *dtype = PyObject_GetAttr(array, library->dtype_name);
  PyObject *made =
      shape && dtype
          ? PyObject_CallFunctionObjArgs(foreign->make_aval, shape, dtype, NULL)
          : NULL;
  Py_XDECREF(shape);
  Py_XDECREF(dtype);
  return made;
}

/* Takes `array` over. */
static PyObject *make_foreign(const Library *library, const Foreign *foreign,
                              uint32_t i, PyObject *array) {
  PyObject *aval = Py_XNewRef(PyTuple_GetItem(foreign->avals, i));
  if (aval == Py_None && foreign->make_aval) {
    Py_DECREF(aval);
    aval = make_aval(library, foreign, array);
  }
  if (!aval) {
    Py_DECREF(array);
    return NULL;
  }
  PyObject *args = Py_BuildValue("(NO[N][O]O)", aval, foreign->sharding, array,
                                 foreign->device, Py_False);
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

/* What is given to a call: a tuple of arguments; with `trees` leaves of what
 * they are made of; with `shapes` memory in the runtime's form. */
typedef struct {
  PyObject *arguments, *shapes;
  const Trees *trees;
} Given;

/* Takes all leaves. */
static enum Taken take_all(const Function *function, Room *room,
                           const Given *given) {
  uint32_t count = function->argument_count;
  const Node *tree = given->trees ? given->trees->arguments : NULL;
  bool fits = tree ? collect(tree, given->arguments, room->leaves)
                   : PyTuple_Size(given->arguments) == count;
  if (given->shapes && !(fits && PyTuple_Size(given->shapes) == count)) {
    PyErr_Format(PyExc_TypeError, "%u arrays and shapes are wanted", count);
    return FAILED;
  }
  if (!fits) {
    /* Keys may fail to be compared; Python says what is wrong. */
    PyErr_Clear();
    return REFUSED;
  }
  enum Taken taken = TAKEN;
  for (uint32_t i = 0; taken == TAKEN && i < count; ++i)
    taken = take(function, room, i,
                 tree ? room->leaves[i] : PyTuple_GetItem(given->arguments, i),
                 given->shapes ? PyTuple_GetItem(given->shapes, i) : NULL);
  return taken;
}

/* Calls with what was taken: a tuple of arrays, or the tree that there is for
 * them. */
static PyObject *call_taken(const Function *function, alula_state *state,
                            Room *room, const Trees *trees,
                            const Foreign *foreign, bool is_brief) {
  /* JAX keeps what an array had until the next is made: new results take that
   * memory, which is in the cache. */
  if (foreign) {
    PyObject *none =
        PyObject_CallFunctionObjArgs(function->library->collect, NULL);
    if (!none)
      return NULL;
    Py_DECREF(none);
  }
  if (!run(function, state, room, is_brief)) {
    drop_results(room, function);
    return NULL;
  }
  PyObject *made = make_arrays(function, room, foreign);
  if (made && trees && trees->result) {
    PyObject *tree = build(trees->result, made);
    Py_DECREF(made);
    made = tree;
  }
  return made;
}

/* `refused` if what is given is not just what the function wants. */
static PyObject *call_function(const Function *function, alula_state *state,
                               const Given *given, const Foreign *foreign,
                               PyObject *refused) {
  Room room;
  if (!make_room(&room, function))
    return NULL;
  enum Taken taken = take_all(function, &room, given);
  PyObject *made = taken == TAKEN
                       ? call_taken(function, state, &room, given->trees,
                                    foreign, function->is_brief)
                   : taken == REFUSED ? Py_NewRef(refused)
                                      : NULL;
  /* Whatever a buffer's end raises is not the call's. */
  give_back(&room, function);
  return made;
}

/* The address of a state. */
static bool read_state(PyObject *address, alula_state **state) {
  *state = PyLong_AsVoidPtr(address);
  return *state || !PyErr_Occurred();
}

/* call(state, arrays, shapes=None, avals=None, sharding=None, device=None): see
 * call_function. With the last three the results are JAX's; none may be dynamic
 * or in parts. */
static PyObject *function_call(PyObject *self, PyObject *args) {
  const Function *function = (Function *)self;
  PyObject *address, *given, *shapes = Py_None;
  Foreign results = {Py_None, NULL, NULL, NULL};
  if (!PyArg_ParseTuple(args, "OO!|OOOO", &address, &PyTuple_Type, &given,
                        &shapes, &results.avals, &results.sharding,
                        &results.device))
    return NULL;
  const Given arguments = {given, shapes == Py_None ? NULL : shapes, NULL};
  const Foreign *foreign = results.avals == Py_None ? NULL : &results;
  if (foreign && (!results.device || !function->library->put)) {
    PyErr_SetString(PyExc_TypeError,
                    "arrays of JAX need a device and set_foreign");
    return NULL;
  }
  alula_state *state;
  if (!read_state(address, &state))
    return NULL;
  return call_function(function, state, &arguments, foreign, Py_None);
}

/* Trees of this function's arguments and results. */
static bool fit(const Function *function, PyObject *trees) {
  if (PyType_GetSlot(Py_TYPE(trees), Py_tp_init) == (void *)trees_init &&
      ((Trees *)trees)->argument_count == function->argument_count &&
      ((Trees *)trees)->result_count == function->result_count)
    return true;
  PyErr_SetString(PyExc_TypeError, "trees of this function are wanted");
  return false;
}

/* call_tree(state, arguments, trees): the tree of results, or NotImplemented.
 */
static PyObject *function_call_tree(PyObject *self, PyObject *args) {
  const Function *function = (Function *)self;
  PyObject *address, *given, *trees;
  alula_state *state;
  if (!PyArg_ParseTuple(args, "OO!O", &address, &PyTuple_Type, &given,
                        &trees) ||
      !fit(function, trees) || !read_state(address, &state))
    return NULL;
  const Given arguments = {given, NULL, (Trees *)trees};
  return call_function(function, state, &arguments, NULL, Py_NotImplemented);
}

/* ---- Asynchronous calls ---- */

/* A call on the runtime's queue, with all that it uses. It has itself until its
 * end. */
typedef struct {
  PyObject_HEAD Function *function;
  PyObject *finish, *keep;
  alula_event *event;
  int cancel;
  bool has_room;
  Room room;
} Pending;

/* What it has for its time: `finish` knows who has the call. */
static void release(Pending *pending) {
  if (pending->has_room)
    give_back(&pending->room, pending->function);
  pending->has_room = false;
  Py_CLEAR(pending->keep);
}

static void pending_dealloc(PyObject *self) {
  Pending *pending = (Pending *)self;
  PyTypeObject *type = Py_TYPE(self);
  release(pending);
  Py_XDECREF(pending->finish);
  Py_XDECREF((PyObject *)pending->function);
  PyObject_Free(self);
  Py_DECREF(type);
}

/* cancel(): ends the call soon. */
static PyObject *pending_cancel(PyObject *self, PyObject *none) {
  (void)none;
  __atomic_store_n(&((Pending *)self)->cancel, 1, __ATOMIC_RELAXED);
  Py_RETURN_NONE;
}

static PyMethodDef pending_methods[] = {
    {"cancel", pending_cancel, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot pending_slots[] = {
    {Py_tp_dealloc, pending_dealloc},
    {Py_tp_methods, pending_methods},
    {0, NULL},
};
static PyType_Spec pending_spec = {
    "alula_calls.Pending", sizeof(Pending), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, pending_slots};

/* The exception that is set, which is set no more. */
static PyObject *take_exception(void) {
  PyObject *kind, *raised, *trace;
  PyErr_Fetch(&kind, &raised, &trace);
  PyErr_NormalizeException(&kind, &raised, &trace);
  if (raised && trace)
    PyException_SetTraceback(raised, trace);
  Py_XDECREF(kind);
  Py_XDECREF(trace);
  return raised;
}

/* From the thread that ran the call: finish(results, error), one of them None.
 */
static void end_pending(void *user) {
  Pending *pending = user;
  const Function *function = pending->function;
  PyGILState_STATE lock = PyGILState_Ensure();
  alula_error *error = function->library->event_wait(pending->event);
  function->library->event_destroy(pending->event);
  PyObject *made = NULL;
  if (check(function->library, error))
    made = make_arrays(function, &pending->room, NULL);
  else
    drop_results(&pending->room, function);
  PyObject *raised = made ? NULL : take_exception();
  release(pending);
  PyObject *finish = pending->finish;
  pending->finish = NULL;
  PyObject *none = PyObject_CallFunctionObjArgs(
      finish, made ? made : Py_None, raised ? raised : Py_None, NULL);
  if (!none)
    PyErr_WriteUnraisable(finish);
  Py_DECREF(finish);
  Py_XDECREF(none);
  Py_XDECREF(made);
  Py_XDECREF(raised);
  Py_DECREF((PyObject *)pending);
  PyGILState_Release(lock);
}

/* start(state, arguments, shapes, trees, finish, keep): the call on the
 * runtime's queue, which can be cancelled, or None if the arguments are not
 * just what the function wants. `keep` lives until it has ended. */
static PyObject *function_start(PyObject *self, PyObject *args) {
  Function *function = (Function *)self;
  Library *library = function->library;
  PyObject *address, *given, *shapes, *trees, *finish, *keep;
  alula_state *state;
  if (!PyArg_ParseTuple(args, "OO!OOOO", &address, &PyTuple_Type, &given,
                        &shapes, &trees, &finish, &keep) ||
      (trees != Py_None && !fit(function, trees)) ||
      !read_state(address, &state))
    return NULL;
  Pending *pending =
      PyObject_New(Pending, (PyTypeObject *)library->pending_type);
  if (!pending)
    return NULL;
  pending->function = (Function *)Py_NewRef(self);
  pending->finish = Py_NewRef(finish);
  pending->keep = Py_NewRef(keep);
  pending->cancel = 0;
  pending->has_room = make_room(&pending->room, function);
  const Given arguments = {given, shapes == Py_None ? NULL : shapes,
                           trees == Py_None ? NULL : (Trees *)trees};
  enum Taken taken = pending->has_room
                         ? take_all(function, &pending->room, &arguments)
                         : FAILED;
  if (taken == TAKEN) {
    alula_call_options options;
    memset(&options, 0, sizeof options);
    options.struct_bytes = sizeof options;
    options.state = state;
    options.cancel = &pending->cancel;
    Room *room = &pending->room;
    PyThreadState *thread = PyEval_SaveThread();
    alula_error *error = library->call_async(
        function->executable, function->number, &options, room->arguments,
        function->argument_count, room->results, function->result_count,
        &pending->event);
    PyEval_RestoreThread(thread);
    if (!check(library, error))
      taken = FAILED;
  }
  if (taken != TAKEN) {
    Py_DECREF((PyObject *)pending);
    if (taken == REFUSED)
      Py_RETURN_NONE;
    return NULL;
  }
  /* Two now: the call's, and who started it. */
  Py_INCREF((PyObject *)pending);
  PyThreadState *thread = PyEval_SaveThread();
  library->event_on_done(pending->event, end_pending, pending);
  PyEval_RestoreThread(thread);
  return (PyObject *)pending;
}

static PyMethodDef function_methods[] = {
    {"call", function_call, METH_VARARGS, NULL},
    {"call_tree", function_call_tree, METH_VARARGS, NULL},
    {"start", function_start, METH_VARARGS, NULL},
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

/* ---- Functions for sizes of their own ---- */

/* A function that does for one set of sizes what another does for all. */
typedef struct {
  PyObject_HEAD PyObject *function, *avals, *keep;
  alula_state *state;
  unsigned long long used;
} Special;

static void special_dealloc(PyObject *self) {
  Special *special = (Special *)self;
  PyTypeObject *type = Py_TYPE(self);
  Py_XDECREF(special->function);
  Py_XDECREF(special->avals);
  Py_XDECREF(special->keep);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static bool is_function(PyObject *object) {
  return PyType_GetSlot(Py_TYPE(object), Py_tp_init) == (void *)function_init &&
         ((Function *)object)->library;
}

/* Special(function, state, avals, keep): `avals` as a caller has them; `keep`
 * lives as long. */
static int special_init(PyObject *self, PyObject *args, PyObject *kwargs) {
  Special *special = (Special *)self;
  PyObject *function, *address, *avals, *keep;
  if (!PyArg_ParseTuple(args, "OOO!O", &function, &address, &PyTuple_Type,
                        &avals, &keep) ||
      !read_state(address, &special->state))
    return -1;
  if (special->function || kwargs || !is_function(function) ||
      PyTuple_Size(avals) != ((Function *)function)->result_count) {
    PyErr_SetString(PyExc_TypeError, "a function and a type for each result, "
                                     "once, by position, are wanted");
    return -1;
  }
  special->function = Py_NewRef(function);
  special->avals = Py_NewRef(avals);
  special->keep = Py_NewRef(keep);
  return 0;
}

static void touch(Special *special) {
  special->used = ++((Function *)special->function)->library->clock;
}

/* touch(): it is used now. */
static PyObject *special_touch(PyObject *self, PyObject *none) {
  (void)none;
  touch((Special *)self);
  Py_RETURN_NONE;
}

/* How many uses of all there were when it was used last. */
static PyObject *special_get_used(PyObject *self, void *nothing) {
  (void)nothing;
  return PyLong_FromUnsignedLongLong(((Special *)self)->used);
}

static PyGetSetDef special_getters[] = {
    {"used", special_get_used, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef special_methods[] = {
    {"touch", special_touch, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot special_slots[] = {
    {Py_tp_init, special_init},
    {Py_tp_dealloc, special_dealloc},
    {Py_tp_getset, special_getters},
    {Py_tp_methods, special_methods},
    {0, NULL},
};
static PyType_Spec special_spec = {"alula_calls.Special", sizeof(Special), 0,
                                   Py_TPFLAGS_DEFAULT, special_slots};

/* The sizes of all arguments that were taken: a tuple of tuples. */
static PyObject *make_sizes(const Function *function, const Room *room) {
  PyObject *sizes = PyTuple_New(function->argument_count);
  for (uint32_t i = 0; sizes && i < function->argument_count; ++i) {
    const Py_buffer *view = &room->views[i];
    PyObject *shape = PyTuple_New(view->ndim);
    for (int d = 0; shape && d < view->ndim; ++d) {
      PyObject *size = PyLong_FromSsize_t(view->shape[d]);
      if (!size || PyTuple_SetItem(shape, d, size) < 0)
        Py_CLEAR(shape);
    }
    if (!shape || PyTuple_SetItem(sizes, i, shape) < 0)
      Py_CLEAR(sizes);
  }
  return sizes;
}

/* Whether what `function` took is what the other one wants. */
static bool takes_the_same(const Special *special, const Function *function,
                           const Room *room) {
  const Function *other = (Function *)special->function;
  if (other->argument_count != function->argument_count ||
      other->result_count != function->result_count ||
      other->instance != function->instance)
    return false;
  for (uint32_t i = 0; i < other->argument_count; ++i)
    if ((uintptr_t)room->views[i].buf % other->arguments[i].alignment)
      return false;
  return true;
}

/* ---- What users call ---- */

/* A base of Python's classes, whose calls come here without a step of Python.
 */
typedef struct {
  PyObject_HEAD PyObject *function;
  alula_state *state;
  PyObject *avals, *find_home, *trees, *make_aval;
  /* sizes -> Special; NULL: all calls have the same sizes. */
  PyObject *specials;
  /* Of a call that no Special takes: whether it is brief; count, unless that
   * is None, hears of it. */
  PyObject *is_brief, *count;
} Caller;

static void caller_dealloc(PyObject *self) {
  Caller *caller = (Caller *)self;
  PyTypeObject *type = Py_TYPE(self);
  Py_XDECREF(caller->function);
  Py_XDECREF(caller->avals);
  Py_XDECREF(caller->find_home);
  Py_XDECREF(caller->trees);
  Py_XDECREF(caller->make_aval);
  Py_XDECREF(caller->specials);
  Py_XDECREF(caller->is_brief);
  Py_XDECREF(caller->count);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

/* _prepare(function, state, avals, find_home, trees, make_aval, specials,
 * is_brief, count): from now on arguments that are just what the function wants
 * go to it, or, of their sizes, to one of `specials`, unless that is None;
 * results are arrays of JAX where find_home() -> (device, sharding) says. */
static PyObject *caller_prepare(PyObject *self, PyObject *args) {
  Caller *caller = (Caller *)self;
  PyObject *function, *address, *avals, *find_home, *trees, *make, *specials;
  PyObject *is_brief, *count;
  alula_state *state;
  if (!PyArg_ParseTuple(args, "OOO!OOOOOO", &function, &address, &PyTuple_Type,
                        &avals, &find_home, &trees, &make, &specials, &is_brief,
                        &count) ||
      !read_state(address, &state))
    return NULL;
  if (caller->function || !is_function(function) ||
      !((Function *)function)->library->put ||
      PyTuple_Size(avals) != ((Function *)function)->result_count ||
      (specials != Py_None && !is_exactly(specials, &PyDict_Type))) {
    PyErr_SetString(PyExc_TypeError,
                    "a caller is prepared once, with a function, after "
                    "set_foreign, and a type for each result");
    return NULL;
  }
  if (!fit((Function *)function, trees))
    return NULL;
  caller->state = state;
  caller->avals = Py_NewRef(avals);
  caller->find_home = Py_NewRef(find_home);
  caller->trees = Py_NewRef(trees);
  caller->make_aval = Py_NewRef(make);
  if (specials != Py_None) {
    caller->specials = Py_NewRef(specials);
    caller->is_brief = Py_NewRef(is_brief);
    caller->count = Py_NewRef(count);
  }
  caller->function = Py_NewRef(function);
  Py_RETURN_NONE;
}

/* Calls with what was taken the function that is for its sizes. */
static PyObject *call_special(const Caller *caller, Special *special,
                              Room *room, Foreign *foreign) {
  const Function *function = (Function *)special->function;
  /* It may be forgotten meanwhile. */
  Py_INCREF((PyObject *)special);
  touch(special);
  foreign->avals = special->avals;
  PyObject *made =
      call_taken(function, special->state, room, (Trees *)caller->trees,
                 foreign, function->is_brief);
  Py_DECREF((PyObject *)special);
  return made;
}

/* … the function that is for all sizes. */
static PyObject *call_for_all(const Caller *caller, PyObject *sizes, Room *room,
                              const Foreign *foreign) {
  PyObject *brief = PyObject_CallFunctionObjArgs(caller->is_brief, sizes, NULL);
  int is_brief = brief ? PyObject_IsTrue(brief) : -1;
  Py_XDECREF(brief);
  if (is_brief < 0)
    return NULL;
  PyObject *made = call_taken((Function *)caller->function, caller->state, room,
                              (Trees *)caller->trees, foreign, is_brief);
  if (made && caller->count != Py_None) {
    PyObject *none = PyObject_CallFunctionObjArgs(caller->count, sizes, NULL);
    if (!none)
      Py_CLEAR(made);
    Py_XDECREF(none);
  }
  return made;
}

static PyObject *call_by_sizes(const Caller *caller, Room *room,
                               Foreign *foreign) {
  const Function *function = (Function *)caller->function;
  PyObject *sizes = make_sizes(function, room);
  Special *special =
      sizes ? (Special *)PyDict_GetItemWithError(caller->specials, sizes)
            : NULL;
  PyObject *made = PyErr_Occurred() ? NULL
                   : special && takes_the_same(special, function, room)
                       ? call_special(caller, special, room, foreign)
                       : call_for_all(caller, sizes, room, foreign);
  Py_XDECREF(sizes);
  return made;
}

/* NotImplemented if what is given is not just what the function wants. */
static PyObject *call_prepared(const Caller *caller, PyObject *args) {
  const Function *function = (Function *)caller->function;
  PyObject *home = PyObject_CallObject(caller->find_home, NULL);
  Foreign foreign = {caller->avals, NULL, NULL, caller->make_aval};
  PyObject *made = NULL;
  Room room;
  if (!home ||
      !PyArg_ParseTuple(home, "OO", &foreign.device, &foreign.sharding) ||
      !make_room(&room, function)) {
    Py_XDECREF(home);
    return NULL;
  }
  const Given given = {args, NULL, (Trees *)caller->trees};
  switch (take_all(function, &room, &given)) {
  case TAKEN:
    made = caller->specials
               ? call_by_sizes(caller, &room, &foreign)
               : call_taken(function, caller->state, &room, given.trees,
                            &foreign, function->is_brief);
    break;
  case REFUSED:
    made = Py_NewRef(Py_NotImplemented);
    break;
  case FAILED:
    break;
  }
  give_back(&room, function);
  Py_DECREF(home);
  return made;
}

/* All that is not just what the function wants: _call_slowly(args, kwargs). */
static PyObject *caller_call(PyObject *self, PyObject *args, PyObject *kwargs) {
  Caller *caller = (Caller *)self;
  if (caller->function && (!kwargs || !PyDict_Size(kwargs))) {
    PyObject *made = call_prepared(caller, args);
    if (made != Py_NotImplemented)
      return made;
    Py_DECREF(made);
  }
  PyObject *name = PyUnicode_FromString("_call_slowly");
  PyObject *made = name ? PyObject_CallMethodObjArgs(
                              self, name, args, kwargs ? kwargs : Py_None, NULL)
                        : NULL;
  Py_XDECREF(name);
  return made;
}

static PyMethodDef caller_methods[] = {
    {"_prepare", caller_prepare, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot caller_slots[] = {
    {Py_tp_call, caller_call},
    {Py_tp_dealloc, caller_dealloc},
    {Py_tp_methods, caller_methods},
    {0, NULL},
};
static PyType_Spec caller_spec = {"alula_calls.Caller", sizeof(Caller), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                  caller_slots};

/* ---- The module ---- */

static int fill(PyObject *module) {
  PyObject *library = PyType_FromSpec(&library_spec);
  PyObject *function = PyType_FromSpec(&function_spec);
  PyObject *trees = PyType_FromSpec(&trees_spec);
  PyObject *special = PyType_FromSpec(&special_spec);
  PyObject *caller = PyType_FromSpec(&caller_spec);
  int failed = !library || !function || !trees || !special || !caller ||
               PyModule_AddObjectRef(module, "Library", library) < 0 ||
               PyModule_AddObjectRef(module, "Function", function) < 0 ||
               PyModule_AddObjectRef(module, "Trees", trees) < 0 ||
               PyModule_AddObjectRef(module, "Special", special) < 0 ||
               PyModule_AddObjectRef(module, "Caller", caller) < 0;
  Py_XDECREF(library);
  Py_XDECREF(function);
  Py_XDECREF(trees);
  Py_XDECREF(special);
  Py_XDECREF(caller);
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
