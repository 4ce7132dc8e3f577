// Plans given as text, written as artifacts and run: each structure that the compiler's own plans may have.
#include "llmc/llmc.hpp"
#include "llvm/Support/FormatVariadic.h"
#include "mlir/IR/MLIRContext.h"
#include "test/compiler/Emit/PlanText.h"
#include <gtest/gtest.h>
#include <unistd.h>

using namespace mlir;

namespace llmc::test {
namespace {

using Floats = std::vector<float>;

/// z[i] = x[i] + y[i], which may lie on x, and flag = x[0] < 10.
constexpr char kKernels[] = R"(
#id = affine_map<(d0) -> (d0)>
func.func private @add(%a: tensor<?xf32> {graph.sizes = array<i64: -1>}, %b: tensor<?xf32> {graph.sizes = array<i64: -1>},
                       %n: index) -> (tensor<?xf32> {graph.sizes = array<i64: -1>, graph.replaces = 0 : i64}) attributes {graph.dispatch} {
  %init = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%init : tensor<?xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func private @below_ten(%a: tensor<1xf32> {graph.sizes = array<i64: 1>}) -> (tensor<1xi1> {graph.sizes = array<i64: 1>})
    attributes {graph.dispatch} {
  %ten = arith.constant 10.0 : f32
  %init = tensor.empty() : tensor<1xi1>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<1xf32>) outs(%init : tensor<1xi1>) {
    ^bb0(%x: f32, %o: i1):
      %s = arith.cmpf olt, %x, %ten : f32
      linalg.yield %s : i1
  } -> tensor<1xi1>
  return %r : tensor<1xi1>
}
)";

class PlanWriterTest : public ::testing::Test {
protected:
  PlanWriterTest() { loadPlanTextDialects(context); }
  ~PlanWriterTest() override { unlink(path.c_str()); }

  /// Writes `text`, with the kernels above if it launches any.
  bool write(const std::string &text) {
    bool launches = text.find("plan.dispatch") != std::string::npos;
    return succeeded(writePlanText(launches ? kKernels + text : text, "native", path, context));
  }

  void load(const std::string &text) {
    ASSERT_TRUE(write(text));
    session.reset();
    plan.emplace(path);
    session.emplace(*plan);
  }
  /// Runs with the given inputs set before, and gives output 0.
  Floats run() {
    session->run();
    auto values = session->output(0).as<float>();
    return {values.begin(), values.end()};
  }

  MLIRContext context;
  std::string path = ::testing::TempDir() + "plan-writer-" + std::to_string(getpid()) + ".llmc";
  std::optional<Plan> plan;
  std::optional<Session> session;
};

TEST_F(PlanWriterTest, IfTakesOneOfTwoBlocksWhichSeeOuterBuffers) {
  load(R"(plan.entry @main symbols {N = array<i64: 0, 64>} {
    plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
      %flag = plan.input 0 "flag" : i1 []
      %x = plan.input 1 "x" : f32 [#graph.expr<"N">]
      %y = plan.output 0 "y" : f32 [#graph.expr<"N">]
      plan.if %flag frame {rows = #graph.expr<"N">} {
        plan.if %flag frame {k = #graph.expr<"rows">} {
          plan.dispatch @add(%x, %x, %y) writes 1 scalars [#graph.expr<"k">]
        } else {
          plan.fill %y with 0 of 4
        }
      } else {
        plan.fill %y with 1065353216 of 4
      }
    }
  })");
  Floats x = {1, 2, 3, 4, 5};
  session->setInput<float>("x", {5}, x);
  bool flags[] = {true, false};
  session->setInput(0, LLMC_TYPE_BOOL, {}, std::as_bytes(std::span(&flags[0], 1)));
  EXPECT_EQ(run(), (Floats{2, 4, 6, 8, 10}));
  session->setInput(0, LLMC_TYPE_BOOL, {}, std::as_bytes(std::span(&flags[1], 1)));
  EXPECT_EQ(run(), Floats(5, 1.0f));
}

// A scan: each trip reads a row of x, adds it to what is carried, and writes the sum as a row of y.
TEST_F(PlanWriterTest, LoopCarriesAValueAndWritesRows) {
  load(R"(plan.entry @main symbols {T = array<i64: 0, 8>, W = array<i64: 1, 64>} {
    plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
      %x = plan.input 0 "x" : f32 [#graph.expr<"T">, #graph.expr<"W">]
      %y = plan.output 0 "y" : f32 [#graph.expr<"T">, #graph.expr<"W">]
      %start = plan.arena f32 [#graph.expr<"W">]
      %sum = plan.arena f32 [#graph.expr<"W">]
      plan.fill %y with 0 of 4
      plan.fill %start with 0 of 4
      plan.loop <"T"> limit 8 carries (%sum) from (%start) iteration "t" frame {w = #graph.expr<"W">} {
        %row = plan.view %x from <"t * w * 4"> : f32 [#graph.expr<"w">]
        %out = plan.view %y from <"t * w * 4"> : f32 [#graph.expr<"w">]
        plan.dispatch @add(%sum, %row, %out) writes 1 scalars [#graph.expr<"w">]
        plan.yield %out
      }
    }
  })");
  for (int64_t trips : {0, 1, 8}) {
    Floats x(trips * 3), expected(trips * 3);
    for (int64_t i = 0; i < trips * 3; ++i) {
      x[i] = static_cast<float>(i);
      expected[i] = x[i] + (i >= 3 ? expected[i - 3] : 0.0f);
    }
    session->setInput<float>("x", {trips, 3}, x);
    EXPECT_EQ(run(), expected) << trips;
  }
}

TEST_F(PlanWriterTest, LoopEndsWithItsCondition) {
  load(R"(plan.entry @main symbols {} {
    plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
      %step = plan.input 0 "step" : f32 [#graph.expr<"1">]
      %y = plan.output 0 "y" : f32 [#graph.expr<"1">]
      %more = plan.arena i1 [#graph.expr<"1">]
      %begin = plan.arena f32 [#graph.expr<"1">]
      plan.fill %begin with 0 of 4
      plan.dispatch @below_ten(%begin, %more) writes 1 scalars []
      plan.loop <"1000"> limit 1000 while %more carries (%y) from (%begin) {
        %next = plan.arena f32 [#graph.expr<"1">]
        plan.dispatch @add(%y, %step, %next) writes 1 scalars [#graph.expr<"1">]
        plan.dispatch @below_ten(%next, %more) writes 1 scalars []
        plan.yield %next
      }
    }
  })");
  Floats step = {3};
  session->setInput<float>("step", {1}, step);
  EXPECT_EQ(run(), Floats{12});
  step = {0.5f};
  EXPECT_EQ(run(), Floats{10});
}

TEST_F(PlanWriterTest, ReadScalarGivesASize) {
  load(R"(plan.entry @main symbols {N = array<i64: 0, 64>} {
    plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
      %x = plan.input 0 "x" : f32 [#graph.expr<"N">]
      %range = plan.input 1 "range" : i64 [#graph.expr<"2">]
      plan.read_scalar %range as "first" range [0, 64]
      plan.read_scalar %range at <"8"> as "count" range [0, 64]
      plan.check <<"N - first - count"> ge 0> "the range lies in x"
      %y = plan.output 0 "y" : f32 [#graph.expr<"count">]
      %kept = plan.arena f32 [#graph.expr<"count">]
      plan.copy %x from <"first * 4"> to %kept length <"count * 4">
      plan.dispatch @add(%kept, %kept, %y) writes 1 scalars [#graph.expr<"count">]
    }
  })");
  Floats x = {1, 2, 3, 4, 5};
  session->setInput<float>("x", {5}, x);
  std::vector<int64_t> range = {1, 3};
  session->setInput<int64_t>("range", {2}, range);
  EXPECT_EQ(run(), (Floats{4, 6, 8}));
  range = {5, 0};
  EXPECT_EQ(run(), Floats());
  range = {3, 3};
  EXPECT_THROW(run(), Error);
}

TEST_F(PlanWriterTest, TheFirstBodyWhoseGuardsHoldRuns) {
  std::string body = R"(
    plan.body "{0}" devices [#plan.device<"cpu", cpu>{1}] guards [#plan.guard<<"N"> {2}>] priority {3} {{
      %x = plan.input 0 "x" : f32 [#graph.expr<"N">]
      %y = plan.output 0 "y" : f32 [#graph.expr<"N">]
      %c = plan.constant "dense" dense<{4}> : tensor<1xf32>
      %first = plan.view %y from <"0"> : f32 [#graph.expr<"1">]
      plan.copy %x to %y
      plan.copy %c to %first
    })";
  auto text = [&](auto... values) { return llvm::formatv(body.c_str(), values...).str(); };
  load("plan.entry @main symbols {N = array<i64: 1, 64>} {" + text("other machine", ", #plan.device<\"gpu\", cuda>", "ge 0", 9, "0.5") +
       text("rest", "", "ge 1", 0, "1.5") + text("few", "", "le 4", 2, "2.5") +
       text("pairs", "", "divisible_by 2", 1, "3.5") + "}");
  for (auto [size, mark] : {std::pair(3, 2.5f), {4, 2.5f}, {5, 1.5f}, {6, 3.5f}}) {
    Floats x(size, 7.0f), expected = x;
    expected[0] = mark;
    session->setInput<float>("x", {size}, x);
    EXPECT_EQ(run(), expected) << size;
  }
}

// Runs on queue 0 alone; the other body is for devices that this runtime does not have, and passes its checks all the same.
TEST_F(PlanWriterTest, BodiesMayNameQueuesArenasAndSemaphores) {
  load(R"(plan.entry @main symbols {} {
    plan.body "two" devices [#plan.device<"cpu", cpu>, #plan.device<"gpu", cuda, memory 4096>] priority 1 queues [0, 1] semaphores 2
              arenas [#plan.arena<0, host_pinned, align 64>, #plan.arena<1, device, align 256>] {
      %x = plan.input 0 "x" : f32 [#graph.expr<"4">]
      %y = plan.output 0 "y" : f32 [#graph.expr<"4">]
      %g = plan.arena f32 [#graph.expr<"4">] in 1 at 256
      plan.copy %x to %g on <queue = 1>
      plan.copy %g to %y on <queue = 1, signal = [#plan.point<0, 1>]>
      plan.barrier on <wait = [#plan.point<0, 1>]>
    }
    plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
      %x = plan.input 0 "x" : f32 [#graph.expr<"4">]
      %y = plan.output 0 "y" : f32 [#graph.expr<"4">]
      plan.copy %x to %y
      plan.barrier
    }
  })");
  Floats x = {1, 2, 3, 4};
  session->setInput<float>("x", {4}, x);
  EXPECT_EQ(run(), x);
}

TEST_F(PlanWriterTest, AnArtifactMayHaveSeveralEntries) {
  std::string entry = R"(plan.entry @{0} symbols {{} {{
    plan.body "cpu" devices [#plan.device<"cpu", cpu>] {{
      %y = plan.output 0 "y" : f32 [#graph.expr<"2">]
      plan.fill %y with {1} of 4
    }
  })";
  load(llvm::formatv(entry.c_str(), "ones", 0x3f800000).str() + llvm::formatv(entry.c_str(), "twos", 0x40000000).str());
  ASSERT_EQ(plan->numEntries(), 2);
  session.emplace(*plan, 1);
  EXPECT_EQ(run(), Floats(2, 2.0f));
}

TEST_F(PlanWriterTest, StatesAreWrittenAndThisRuntimeSaysThatItHasNone) {
  ASSERT_TRUE(write(R"(plan.entry @main symbols {} {
    plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
      %y = plan.output 0 "y" : f32 [#graph.expr<"2">]
      %cache = plan.state 0 "cache" : f32 [#graph.expr<"2">]
      plan.copy %cache to %y
    }
  })"));
  try {
    Plan refused(path);
    FAIL() << "loaded";
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), LLMC_INCOMPATIBLE);
    EXPECT_NE(std::string(error.what()).find("keeps no state"), std::string::npos) << error.what();
  }
}

TEST_F(PlanWriterTest, AResultLiesOnTheInputThatItsKernelNames) {
  std::string body = R"(plan.entry @main symbols {{N = array<i64: 0, 100000>} {{
    plan.body "cpu" devices [#plan.device<"cpu", cpu>] {{
      %x = plan.input 0 "x" : f32 [#graph.expr<"N">]
      %y = plan.output 0 "y" : f32 [#graph.expr<"N">]
      %a = plan.arena f32 [#graph.expr<"N">]
      %b = plan.view %a from <"0"> : f32 [#graph.expr<"N">]
      plan.copy %x to %a
      plan.dispatch @add({0}) writes 1 scalars [#graph.expr<"N">]
      plan.copy %b to %y
    }
  })";
  Floats x(100000), expected(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    expected[i] = 2 * (x[i] = static_cast<float>(i));
  load(llvm::formatv(body.c_str(), "%a, %x, %b"));
  session->setInput<float>("x", {100000}, x);
  EXPECT_EQ(run(), expected);
  load(llvm::formatv(body.c_str(), "%x, %a, %b"));
  session->setInput<float>("x", {100000}, x);
  EXPECT_THROW(run(), Error) << "the kernel may replace its first input only";
}

TEST_F(PlanWriterTest, AKernelWithoutCodeIsAnError) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  EXPECT_FALSE(write(R"(plan.entry @main symbols {} {
    plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
      %y = plan.output 0 "y" : f32 [#graph.expr<"2">]
      plan.dispatch @missing(%y) writes 1 scalars []
    }
  })"));
  EXPECT_NE(message.find("launches @missing, for which there is no code"), std::string::npos) << message;
  EXPECT_NE(access(path.c_str(), F_OK), 0) << "a file is left";
}

} // namespace
} // namespace llmc::test
