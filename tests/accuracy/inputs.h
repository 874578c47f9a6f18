// Inputs at which functions are judged: random ones, and those at which they
// tend to be wrong.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace alula::accuracy {

inline uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

inline const double specials[] = {0.0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, 1e-310,
                           -1e-310, 5e-324, 1e300, -1e300, 1e40, -1e40, 1e-40,
                           1e-45, 88.7228394, 709.78, -745.1, -708.4, -103.9,
                           0x1.fffffep127, INFINITY, -INFINITY, NAN, 1.5, -2.5,
                           // Next to multiples of pi / 2.
                           6381956970095103.0 * 0x1p797, 0x1.6ac5b262ca1ffp849,
                           1.5707963267948966, 3.141592653589793, 16367173.0,
                           0x1.921fb6p0, 0x1p20, 0x1.ffffffffffp19, 1e22};
inline constexpr size_t specialCount = std::size(specials);

} // namespace alula::accuracy
