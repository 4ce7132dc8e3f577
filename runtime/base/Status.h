//===- Status.h - How the runtime says what went wrong ------------------------------------------------------------===//
//
// Nothing in the runtime throws on purpose. A Status without an error owns no memory, so it costs nothing on the hot
// path. Messages start in lower case, say what was found and what was expected, and end without a period.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BASE_STATUS_H
#define LLMC_RUNTIME_BASE_STATUS_H

#include <cassert>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace llmc::rt {

/// Values equal enum llmc_status of llmc.h.
enum class Code : int {
  Ok = 0,
  InvalidArgument = 1, // the caller broke the contract of a function: null, index, name, missing input
  Shape = 2,           // rank, type or dims of an input do not fit the entry, or each other
  Io = 3,              // a file can not be opened, read or mapped
  InvalidPlan = 4,     // not a plan, damaged, or refused by the verifier
  Incompatible = 5,    // a sound plan that this runtime or this machine can not run
  Data = 6,            // a kernel or check refused the values it was given
  OutOfMemory = 7,
  Cancelled = 8,
  Internal = 9, // a fault of ours
};

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), text(std::move(message)) {
    assert(code != Code::Ok && "an error has a code");
  }
  /// `rule` names the rule of the plan verifier that failed; a string literal.
  Status(Code code, const char *rule, std::string message) : code_(code), rule_(rule), text(std::move(message)) {}

  bool ok() const { return code_ == Code::Ok; }
  Code code() const { return code_; }
  const char *rule() const { return rule_; }
  const std::string &message() const { return text; }
  std::string takeMessage() && { return std::move(text); }
  /// The same error with `context` and ": " before its message.
  Status in(std::string_view context) && {
    text.insert(0, std::string(context) + ": ");
    return std::move(*this);
  }
  /// As in(), unless the message names a step of the plan already: the innermost one is to blame.
  Status inStep(std::string_view step) && {
    return std::exchange(namesStep, true) ? std::move(*this) : std::move(*this).in(step);
  }

private:
  Code code_ = Code::Ok;
  const char *rule_ = "";
  bool namesStep = false;
  std::string text;
};

/// A value or the reason why there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(Status status) : status_(std::move(status)) { assert(!status_.ok() && "a result without error has a value"); }
  Result(T value) : value_(std::move(value)) {}

  bool ok() const { return value_.has_value(); }
  Status status() && { return std::move(status_); }
  const Status &status() const & { return status_; }
  T &operator*() { return *value_; }
  T *operator->() { return &*value_; }

private:
  Status status_;
  std::optional<T> value_;
};

namespace detail {
/// Names come from files and may have any length: in a message the start tells enough.
inline void append(std::string &out, std::string_view piece) {
  constexpr size_t most = 4096; // a path may be that long
  out += piece.substr(0, most);
  if (piece.size() > most)
    out += "...";
}
inline void append(std::string &out, const char *piece) { append(out, std::string_view(piece)); }
inline void append(std::string &out, const std::string &piece) { append(out, std::string_view(piece)); }
template <typename Number>
  requires std::is_arithmetic_v<Number>
void append(std::string &out, Number value) {
  out += std::to_string(value);
}
} // namespace detail

/// The pieces (text and numbers) in a row.
template <typename... Pieces> std::string concat(const Pieces &...pieces) {
  std::string result;
  (detail::append(result, pieces), ...);
  return result;
}

#define LLMC_CONCAT_IMPL(a, b) a##b
#define LLMC_CONCAT(a, b) LLMC_CONCAT_IMPL(a, b)
/// Returns the Status of `expr` from the enclosing function if it is an error.
#define LLMC_TRY(expr)                                                                                                 \
  do {                                                                                                                 \
    if (::llmc::rt::Status llmcStatus = (expr); !llmcStatus.ok())                                                      \
      return llmcStatus;                                                                                               \
  } while (false)
/// `LLMC_TRY_ASSIGN(auto x, f())`: the value of f(), or returns its error.
#define LLMC_TRY_ASSIGN(variable, expr) LLMC_TRY_ASSIGN_IMPL(variable, expr, LLMC_CONCAT(llmcResult, __LINE__))
#define LLMC_TRY_ASSIGN_IMPL(variable, expr, result)                                                                   \
  auto result = (expr);                                                                                                \
  if (!result.ok())                                                                                                    \
    return std::move(result).status();                                                                                 \
  variable = std::move(*result)

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_STATUS_H
