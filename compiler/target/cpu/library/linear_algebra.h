/* Factorizations, eigenvalues, FFT, random bits. */
#pragma once

#include <stdint.h>
