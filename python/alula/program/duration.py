"""Whether a call ends before anybody could want to interrupt it: then nothing has to be told of
Ctrl-C, which costs a tenth of a short call."""

import math

# Steps, each some nanoseconds at the most: less time than Ctrl-C is given anyway.
MOST_STEPS = 10_000_000

# Few steps for each element of what is read and written.
ELEMENTWISE = frozenset(
    """
    abs acos acosh add and asin asinh atan atan2 atanh bitcast_convert_type broadcast_in_dim cbrt
    ceil clamp complex concatenate conj convert_element_type copy copy_p cos cosh digamma div
    dynamic_slice dynamic_update_slice eq erf erf_inv erfc exp exp2 expand_dims expm1 floor gather
    ge gt imag integer_pow iota is_finite le lgamma log log1p logistic lt max min mul ne neg
    nextafter not or pad pow real reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum
    rem reshape rev round rsqrt select_n shift_left shift_right_arithmetic shift_right_logical sign
    sin sinh slice sqrt square squeeze stop_gradient sub tan tanh transpose xor
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


def is_brief(jaxpr):
    """False for what is not known: loops that end by a condition, calls of others."""
    return _count_steps(jaxpr) <= MOST_STEPS


def _count_steps(jaxpr):
    if jaxpr.effects:
        return math.inf
    return sum(map(_count_equation, jaxpr.eqns))


def _count_equation(equation):
    name = equation.primitive.name
    if name in ELEMENTWISE:
        return STEPS_OF_AN_ELEMENT * (_elements(equation.invars) + _elements(equation.outvars))
    if name == "dot_general":
        (contracted, _), _ = equation.params["dimension_numbers"]
        shape = equation.invars[0].aval.shape
        return _elements(equation.outvars) * _size(shape[i] for i in contracted)
    if name in CALLS:
        return sum(map(_count_steps, _bodies(equation)))
    if name == "scan":
        return equation.params["length"] * sum(map(_count_steps, _bodies(equation)))
    return math.inf


def _bodies(equation):
    for value in equation.params.values():
        for part in value if isinstance(value, (tuple, list)) else (value,):
            body = getattr(part, "jaxpr", part)
            if hasattr(body, "eqns"):
                yield body


def _size(dims):
    """A symbolic one counts as endless."""
    return math.prod(n if isinstance(n, int) else math.inf for n in dims)


def _elements(variables):
    return sum(_size(variable.aval.shape) for variable in variables)


__all__ = ["is_brief"]
