/* How code of kernels gets at the flag that says that nobody wants their
 * results any more: this function, without parameters, returns a pointer to an
 * int32_t, never null, which is not 0 then. Who makes a kernel's entry gives calls
 * of it their value; where nothing tells a kernel, it is never_cancelled.c's. */
#pragma once

#define ALULA_CANCEL_FLAG "alula_cancel_flag"
