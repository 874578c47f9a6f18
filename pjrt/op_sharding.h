#pragma once

#include <string>
#include <string_view>

namespace alula::pjrt {

/// XLA's message OpSharding for XLA's text of a sharding: "{replicated}",
/// "{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}", "{manual}". Empty for
/// what the compiler never writes.
std::string writeOpSharding(std::string_view text);

} // namespace alula::pjrt
