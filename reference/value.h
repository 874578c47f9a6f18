// What an SSA value holds while a program runs.
#pragma once

#include "reference/tensor.h"

namespace alula::reference {

/// A tensor, a token (which carries nothing), or a tuple of values; the
/// results that an async_start promises are a tuple too.
class Value {
public:
  Value() = default;
  Value(Tensor tensor) : form(Form::Tensor), tensor(std::move(tensor)) {}
  static Value token() {
    Value value;
    value.form = Form::Token;
    return value;
  }
  static Value tuple(std::vector<Value> elements) {
    Value value;
    value.form = Form::Tuple;
    value.elements =
        std::make_shared<const std::vector<Value>>(std::move(elements));
    return value;
  }

  bool isTensor() const { return form == Form::Tensor; }
  bool isToken() const { return form == Form::Token; }
  bool isTuple() const { return form == Form::Tuple; }
  const Tensor &getTensor() const { return tensor; }
  const std::vector<Value> &getElements() const { return *elements; }

private:
  enum class Form : uint8_t { None, Tensor, Token, Tuple };
  Form form = Form::None;
  Tensor tensor;
  std::shared_ptr<const std::vector<Value>> elements;
};

} // namespace alula::reference
