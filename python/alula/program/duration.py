"""Whether a call ends before anybody could want to interrupt it: then nothing has to be told of
Ctrl-C, which costs a tenth of a short call."""

import math

# Steps, each some nanoseconds at the most: less time than Ctrl-C is given anyway.
MOST_STEPS = 10_000_000

# Few steps for each element of what is read and written.
ELEMENTWISE = frozenset(
    """
    abs acos acosh add and argmax argmin asin asinh atan atan2 atanh bitcast_convert_type
    broadcast_in_dim cbrt ceil clamp complex concatenate conj convert_element_type copy copy_p cos
    cosh cummax cummin cumprod cumsum digamma dim_as_value div dynamic_slice dynamic_update_slice
    eq erf erf_inv erfc exp exp2 expand_dims expm1 floor gather ge gt imag integer_pow iota
    is_finite le lgamma log log1p logistic lt max min mul ne neg nextafter not or pad pow real
    reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum rem reshape rev round rsqrt
    select_n shift_left shift_right_arithmetic shift_right_logical sign sin sinh slice sqrt square
    squeeze stop_gradient sub tan tanh transpose xor
    """.split()
)
STEPS_OF_AN_ELEMENT = 100
# What is in them is done once.
CALLS = frozenset(
    """
    checkpoint closed_call cond core_call custom_jvp_call custom_vjp_call custom_vjp_call_jaxpr jit
    pjit remat
    """.split()
)


class Steps:
    """Of a function: a sum of products of sizes, some of which perhaps only calls know."""

    def __init__(self, jaxpr):
        try:
            self._products = list(_list_products(jaxpr))
        except _Unknown:
            self._products = None
        # Sizes of arguments that are just a name: (argument, dimension) -> name.
        self._names = {
            (i, j): str(size)
            for i, variable in enumerate(jaxpr.invars)
            for j, size in enumerate(getattr(variable.aval, "shape", ()))
            if not isinstance(size, int) and str(size).isidentifier()
        }

    def count(self, sizes):
        """In a call with arguments of such sizes."""
        if self._products is None:
            return math.inf
        if sizes is None:
            known = {}
        else:
            known = {name: sizes[i][j] for (i, j), name in self._names.items()}
        return sum(
            math.prod(_evaluate(size, known) for size in product) for product in self._products
        )


class _Unknown(Exception):
    pass


def is_brief(steps, sizes=None):
    """False for what is not known: loops that end by a condition, calls of others, sizes if there
    are none. `sizes` of all arguments, where only calls know them."""
    return steps is not None and steps.count(sizes) <= MOST_STEPS


def _evaluate(size, known):
    if isinstance(size, int):
        return size
    try:
        return int(size._evaluate(known))
    except Exception:  # noqa: BLE001
        # It has a name that no argument has alone; JAX's own exceptions for that have no public name.
        return math.inf


def _list_products(jaxpr, *outer):
    if jaxpr.effects:
        raise _Unknown
    for equation in jaxpr.eqns:
        yield from _list_of_equation(equation, outer)


def _list_of_equation(equation, outer):
    name = equation.primitive.name
    if name in ELEMENTWISE:
        for variable in (*equation.invars, *equation.outvars):
            yield (*outer, STEPS_OF_AN_ELEMENT, *variable.aval.shape)
    elif name == "dot_general":
        (contracted, _), _ = equation.params["dimension_numbers"]
        shape = equation.invars[0].aval.shape
        for variable in equation.outvars:
            yield (*outer, *variable.aval.shape, *(shape[i] for i in contracted))
    elif name == "conv_general_dilated":
        numbers = equation.params["dimension_numbers"]
        shape = list(equation.invars[1].aval.shape)
        shape.pop(numbers.rhs_spec[0])
        for variable in equation.outvars:
            yield (*outer, *variable.aval.shape, *shape)
    elif name in CALLS or name == "scan":
        length = [equation.params["length"]] if name == "scan" else []
        for body in _bodies(equation):
            yield from _list_products(body, *outer, *length)
    else:
        raise _Unknown


def _bodies(equation):
    for value in equation.params.values():
        for part in value if isinstance(value, (tuple, list)) else (value,):
            body = getattr(part, "jaxpr", part)
            if hasattr(body, "eqns"):
                yield body


__all__ = ["Steps", "is_brief"]
