"""Functions of users that programs call: handlers of XLA's FFI.

The plugin exports the functions of XLA's C API (`XLA_FFI_GetApi`); by them what
`jax.ffi.register_ffi_target` and `jax.ffi.register_ffi_type` are given becomes
known to it: for the platform `alula`, and for `cpu`, whose handlers read the
same memory. Whatever was registered before the plugin was there comes too."""

import ctypes
import functools

STAGES = ("instantiate", "prepare", "initialize", "execute")
# JAX's name of the CPU and XLA's.
CPU, HOST = "cpu", "Host"


class _Text(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]

    def __init__(self, text):
        encoded = text.encode()
        super().__init__(encoded, len(encoded))


class _HandlerArgs(ctypes.Structure):
    """XLA_FFI_Handler_Register_Args."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("name", _Text),
        ("platform", _Text),
        ("bundle", ctypes.c_void_p * len(STAGES)),
        ("traits", ctypes.c_uint32),
    ]


class _TypeArgs(ctypes.Structure):
    """XLA_FFI_Type_Register_Args."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("name", _Text),
        ("type_id", ctypes.c_void_p),
        ("type_info", ctypes.c_void_p),
    ]


class _ErrorArgs(ctypes.Structure):
    """XLA_FFI_Error_Create_Args."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("message", ctypes.c_char_p),
        ("code", ctypes.c_int32),
    ]


class _Message(ctypes.Structure):
    """XLA_FFI_Error_GetMessage_Args, and XLA_FFI_Error_Destroy_Args."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("error", ctypes.c_void_p),
        ("message", ctypes.c_char_p),
    ]


def _address(capsule) -> int:
    get_name, get = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, get_name(capsule))


class _Api:
    """The functions of XLA_FFI_Api that register."""

    # Sizes, extensions, versions and a pointer come before them.
    FIRST = 48

    def __init__(self, path):
        library = ctypes.CDLL(str(path))
        library.XLA_FFI_GetApi.restype = ctypes.c_void_p
        table = library.XLA_FFI_GetApi()

        def function(index, result=ctypes.c_void_p):
            place = table + self.FIRST + index * ctypes.sizeof(ctypes.c_void_p)
            return ctypes.CFUNCTYPE(result, ctypes.c_void_p)(
                ctypes.c_void_p.from_address(place).value
            )

        self._create_error = function(0)
        self._get_message, self._destroy_error = function(1, None), function(2, None)
        self._register_handler, self._register_type = function(3), function(5)

    def _call(self, function, args):
        args.struct_size = ctypes.sizeof(args)
        error = function(ctypes.addressof(args))
        if error:
            message = _Message(ctypes.sizeof(_Message), None, error)
            self._get_message(ctypes.addressof(message))
            text = message.message.decode(errors="replace")
            self._destroy_error(ctypes.addressof(message))
            raise ValueError(text)

    def create_error(self, message):
        internal = 13
        args = _ErrorArgs(ctypes.sizeof(_ErrorArgs), None, message.encode(), internal)
        return self._create_error(ctypes.addressof(args))

    def register_handler(self, name, function, platform):
        by_stage = function if isinstance(function, dict) else {"execute": function}
        unknown = set(by_stage) - set(STAGES)
        if unknown:
            raise ValueError(f"handlers are for the stages {STAGES}, not {sorted(unknown)}")
        args = _HandlerArgs(name=_Text(name), platform=_Text(platform))
        for i, stage in enumerate(STAGES):
            if by_stage.get(stage) is not None:
                handler = by_stage[stage]
                args.bundle[i] = handler if isinstance(handler, int) else _address(handler)
        self._call(self._register_handler, args)

    def register_type(self, name, registration):
        # Before there were deleters, the id alone.
        if not isinstance(registration, dict):
            registration = {"type_id": registration}
        args = _TypeArgs(name=_Text(name), type_id=_address(registration["type_id"]))
        if registration.get("type_info") is not None:
            args.type_info = _address(registration["type_info"])
        self._call(self._register_type, args)


def register(path, platform: str = "alula") -> None:
    """Makes what users register known to the plugin at `path`."""
    from jaxlib import xla_client

    if getattr(xla_client.register_custom_call_target, "alula", False):
        return
    api = _Api(path)

    def add_type(name, registration, *_):
        api.register_type(name, registration)

    def add_handler(name, function, _, api_version=0, *traits):
        if api_version != 1:
            raise NotImplementedError(
                f"custom call '{name}': only handlers of XLA's FFI (api_version=1) "
                f"run on {platform}, api_version={api_version} is asked for"
            )
        api.register_handler(name, function, platform)

    # Handlers need their types.
    xla_client.register_custom_type_handler(platform, add_type)
    xla_client.register_custom_call_handler(platform, add_handler)
    _share_types(api, xla_client)
    _share_handlers(api, xla_client)


class _Frame(ctypes.Structure):
    """The beginning of XLA_FFI_CallFrame."""

    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.c_void_p)]


class _Metadata(ctypes.Structure):
    """XLA_FFI_Metadata, up to the version that a handler says it is made for."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("version_size", ctypes.c_size_t),
        ("version_extension", ctypes.c_void_p),
        ("major", ctypes.c_int32),
        ("minor", ctypes.c_int32),
    ]


class _Question(ctypes.Structure):
    """XLA_FFI_Metadata_Extension."""

    _fields_ = [("base", ctypes.c_void_p * 3), ("metadata", ctypes.POINTER(_Metadata))]


@functools.cache
def _prepare_lapack(api):
    """A handler that finds SciPy's functions, which those of jaxlib call, when a
    program is loaded: who loads one has not lowered it in this process."""

    @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_Frame))
    def instantiate(frame):
        extension = frame.contents.extension_start
        if extension:
            metadata = _Question.from_address(extension).metadata.contents
            metadata.major, metadata.minor = 0, 3
            return None
        try:
            from jaxlib import lapack

            lapack._lapack.initialize()
            return None
        except Exception as error:
            return api.create_error(f"SciPy's LAPACK can't be called: {error!r}")

    return instantiate


def _add_of_host(api, name, function, api_version):
    if api_version != 1:
        return
    if name.startswith("lapack_"):
        by_stage = function if isinstance(function, dict) else {"execute": function}
        handler = ctypes.cast(_prepare_lapack(api), ctypes.c_void_p).value
        function = {"instantiate": handler, **by_stage}
    try:
        api.register_handler(name, function, HOST)
    except ValueError:
        # It is XLA:CPU's all the same; a program of ours that calls it is told
        # what is wrong.
        pass


def _share_types(api, xla_client):
    """Types of `cpu`. Who comes first, XLA or the plugin, gives them their ids."""
    for name, registration in getattr(xla_client, "_custom_type_id", {}).get(HOST, ()):
        api.register_type(name, registration)
    before = xla_client.register_custom_type

    @functools.wraps(before)
    def register_custom_type(type_name, type_id, platform=CPU):
        before(type_name, type_id, platform)
        if platform in (CPU, HOST):
            api.register_type(type_name, type_id)

    xla_client.register_custom_type = register_custom_type


def _share_handlers(api, xla_client):
    for name, function in xla_client.custom_call_targets(HOST).items():
        # Untyped ones are capsules.
        if isinstance(function, dict):
            _add_of_host(api, name, function, 1)
    for name, function, api_version, *_ in getattr(xla_client, "_custom_callback", {}).get(
        HOST, ()
    ):
        _add_of_host(api, name, function, api_version)
    before = xla_client.register_custom_call_target

    @functools.wraps(before)
    def register_custom_call_target(name, fn, platform=CPU, api_version=0, *rest, **options):
        before(name, fn, platform, api_version, *rest, **options)
        if platform in (CPU, HOST):
            _add_of_host(api, name, fn, api_version)

    register_custom_call_target.alula = True
    xla_client.register_custom_call_target = register_custom_call_target
