//===- PrintPlan.cpp - The description of a plan as text ----------------------------------------------------------===//

#include "tools/llmc-plan/PlanTool.h"
#include <ostream>

namespace llmc::tools {
namespace {

/// A string without its quotes, anything else as JSON.
std::string plain(const Json &value) {
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string join(const Json &list, const char *separator = ", ") {
  std::string result;
  for (const Json &item : list)
    result += (result.empty() ? "" : separator) + plain(item);
  return result;
}

std::string tensorType(const Json &tensor) { return plain(tensor["type"]) + "[" + join(tensor["dims"], ",") + "]"; }

class Printer {
public:
  explicit Printer(std::ostream &out) : out(out) {}

  void print(const Json &plan) {
    out << "plan " << plain(plan["plan_version"]) << ", kernel ABI " << plan["kernel_abi"] << ", " << plan["file_bytes"]
        << " bytes (structure " << plan["plan_bytes"] << ")";
    if (!plan["provenance"].empty())
      out << ", by " << join(plan["provenance"], " ");
    out << '\n';
    if (plan["devices"].size() > 1)
      for (const Json &device : plan["devices"])
        out << "device '" << plain(device["name"]) << "': " << plain(device["kind"]) << ' ' << device["number"] << '\n';
    for (const Json &segment : plan["segments"])
      out << "segment " << plain(segment["kind"]) << ": " << segment["bytes"] << " bytes at " << segment["offset"]
          << '\n';
    for (const Json &executable : plan["executables"])
      printExecutable(executable);
    for (const Json &constant : plan["constants"])
      out << "constant '" << plain(constant["name"]) << "': " << tensorType(constant) << ", "
          << plain(constant["encoding"]) << ", " << constant["bytes"] << " bytes\n";
    for (const Json &entry : plan["entries"])
      printEntry(entry);
  }

private:
  void printExecutable(const Json &executable) {
    out << "executable '" << plain(executable["name"]) << "' for " << plain(executable["device"]) << '\n';
    for (const Json &variant : executable["variants"])
      out << "  variant " << plain(variant["level"]) << " (" << join(variant["features"], " ")
          << "): " << plain(variant["format"]) << ", " << variant["bytes"] << " bytes, priority " << variant["priority"]
          << '\n';
    for (const Json &exported : executable["exports"]) {
      out << "  kernel " << plain(exported["name"]) << '(';
      const char *separator = "";
      for (const Json &binding : exported["bindings"]) {
        out << separator << plain(binding["access"]) << " [" << plain(binding["extent"]) << ']';
        if (binding.contains("in_place_with"))
          out << " over " << binding["in_place_with"];
        separator = ", ";
      }
      out << "; " << exported["scalars"] << " scalars)";
      if (exported.contains("rows"))
        out << ", marks rows [" << plain(exported["rows"]) << ']';
      out << '\n';
    }
  }

  void printEntry(const Json &entry) {
    out << "\nentry '" << plain(entry["name"]) << "'\n";
    for (const char *what : {"inputs", "outputs"})
      for (const Json &tensor : entry[what])
        out << "  " << std::string(what, 0, std::string(what).size() - 1) << " '" << plain(tensor["name"])
            << "': " << tensorType(tensor) << '\n';
    if (entry.contains("batching"))
      printBatching(entry["batching"]);
    for (const Json &body : entry["bodies"])
      printBody(body);
  }

  void printBatching(const Json &batching) {
    out << "  batches of " << join(batching["sizes"]) << " rows of " << plain(batching["dim"]) << ": " << plain(batching["proof"]) << '\n';
    for (const auto &[input, kind] : batching["generated"].items())
      out << "    '" << input << "' is generated: " << plain(kind) << '\n';
    for (const Json &bucket : batching["buckets"])
      out << "    buckets of " << plain(bucket["dim"]) << " to " << join(bucket["edges"]) << ": " << plain(bucket["proof"]) << '\n';
    for (const auto &[input, value] : batching["pads"].items())
      out << "    '" << input << "' is padded with 0x" << plain(value) << '\n';
    if (!batching["costs"].empty())
      out << "    costs in ns, measured on " << plain(batching["cost_level"]) << " with " << batching["cost_threads"]
          << " threads: " << join(batching["costs"]) << '\n';
  }

  void printBody(const Json &body) {
    out << "  body '" << plain(body["name"]) << "'" << (body["guards"].empty() ? "" : " if ")
        << join(body["guards"], " and ") << ": ";
    if (body["arena_bound"] != 0)
      out << "arena of " << body["arena_bound"] << " bytes, ";
    out << body["in_place_steps"] << " steps in place\n";
    if (body["queues"].size() > 1)
      out << "    queues of " << join(body["queues"]) << '\n';
    for (const Json &buffer : body["buffers"]) {
      out << "    " << plain(buffer["name"]) << ": " << plain(buffer["kind"]) << ' ' << tensorType(buffer) << ", "
          << plain(buffer["bytes"]) << " bytes";
      if (buffer.contains("offset"))
        out << " at " << plain(buffer["offset"]);
      if (buffer.contains("device"))
        out << " on " << plain(buffer["device"]);
      if (buffer.contains("of"))
        out << " of " << plain(buffer["of"]);
      out << '\n';
    }
    for (size_t b = 0; b < body["blocks"].size(); ++b)
      printBlock(b, body["blocks"][b]);
  }

  void printBlock(size_t index, const Json &block) {
    out << "    block " << index;
    const char *separator = " with ";
    for (const Json &symbol : block["symbols"]) {
      out << separator << plain(symbol["name"]) << " in " << symbol["lo"] << ".." << symbol["hi"];
      separator = ", ";
    }
    out << '\n';
    for (size_t s = 0; s < block["steps"].size(); ++s)
      printStep(s, block["steps"][s]);
  }

  void printStep(size_t index, const Json &step) {
    out << "      " << index << ": " << plain(step["kind"]);
    for (auto &[key, value] : step.items())
      if (key != "kind" && key != "nodes" && key != "op")
        out << ' ' << key << ' ' << (value.is_array() ? "(" + join(value) + ")" : plain(value));
    if (step.contains("op")) {
      out << "  // " << plain(step["op"]);
      if (!step["nodes"].empty())
        out << " <- " << join(step["nodes"]);
    }
    out << '\n';
  }

  std::ostream &out;
};

} // namespace

void printPlan(const Json &description, std::ostream &out) { Printer(out).print(description); }

} // namespace llmc::tools
