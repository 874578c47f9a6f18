#pragma once

#include "pjrt/border.h"

namespace alula::pjrt {

/// An option of the client's: a name with a text or a number.
struct NamedValue {
  std::string_view name, text;
  int64_t number = 0;
};

/// A list of PJRT_NamedValue.
class NamedValues {
public:
  NamedValues(void *first, size_t count)
      : first(static_cast<const char *>(first)), count(first ? count : 0) {}
  size_t size() const { return count; }

  NamedValue get(size_t index) const {
    using Given = PJRT_NamedValue;
    // The client's structs may be larger than ours.
    size_t stride = reinterpret_cast<const Given *>(first)->struct_size;
    stride = stride > sizeof(Given) ? stride : sizeof(Given);
    auto *given = reinterpret_cast<const Given *>(first + index * stride);
    NamedValue value;
    if (given->name)
      value.name = {static_cast<const char *>(given->name), given->name_size};
    switch (given->type) {
    case 0: // A text.
      if (given->_anon5.string_value)
        value.text = {static_cast<const char *>(given->_anon5.string_value),
                      given->value_size};
      break;
    case 3:
      value.number = static_cast<int64_t>(given->_anon5.float_value);
      break;
    case 4:
      value.number = given->_anon5.bool_value;
      break;
    default:
      value.number = given->_anon5.int64_value;
    }
    return value;
  }

private:
  const char *first;
  size_t count;
};

} // namespace alula::pjrt
