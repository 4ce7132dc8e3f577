//===- ToolsTest.cpp - llmc-run, llmc-bench and llmc-plan from the outside ----------------------------------------===//

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Outcome {
  int code;
  std::string out, err;
};

struct Tools : testing::Test {
  fs::path dir = fs::path(testing::TempDir()) / ("llmc-tools-" + std::to_string(::getpid()));

  void SetUp() override { fs::create_directories(dir); }
  void TearDown() override { fs::remove_all(dir); }

  std::string read(const fs::path &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string &name, const std::string &text) { std::ofstream(dir / name, std::ios::binary) << text; }
  /// Runs a tool in `dir`.
  Outcome run(const std::string &command) {
    std::string line = "cd '" + dir.string() + "' && " LLMC_BIN "/" + command + " >out.txt 2>err.txt";
    int status = std::system(line.c_str());
    return {WEXITSTATUS(status), read(dir / "out.txt"), read(dir / "err.txt")};
  }
  void makePlan(const std::string &kind, const std::string &name) {
    std::string line = LLMC_TEST_BIN "/write-test-plan " + kind + " '" + (dir / name).string() + "'";
    ASSERT_EQ(std::system(line.c_str()), 0);
  }
  void expectError(const std::string &command, int code, const std::string &message) {
    Outcome outcome = run(command);
    EXPECT_EQ(outcome.code, code) << command << '\n' << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(message)) << command;
    EXPECT_EQ(outcome.out, "") << command;
  }
};

TEST_F(Tools, run_prints_outputs) {
  makePlan("everything", "e.llmc");
  Outcome outcome = run("llmc-run e.llmc --input steps=3 --input flag=1 --threads 2");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "y: f32[4] = 24 30 36 42\n");
  EXPECT_THAT(outcome.err, HasSubstr("cpu level x86-64-v2, 2 threads"));
}

TEST_F(Tools, run_reads_and_writes_npy_and_pb) {
  makePlan("compress", "c.llmc");
  // x = [1, -1, 2] as a TensorProto with packed float_data, name "x".
  write("x.pb", std::string("\x08\x03\x10\x01\x22\x0c\x00\x00\x80\x3f\x00\x00\x80\xbf\x00\x00\x00\x40\x42\x01x", 21));
  Outcome outcome = run("llmc-run c.llmc --input x=x.pb --output-dir o");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "y: f32[2] = 1 2\n");
  std::string npy = read(dir / "o/y.npy");
  EXPECT_THAT(npy, HasSubstr("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"));
  EXPECT_EQ(npy.size() % 64, 8u) << "elements start at a multiple of 64";
  outcome = run("llmc-run c.llmc --input x=o/y.npy");
  EXPECT_EQ(outcome.out, "y: f32[2] = 1 2\n") << outcome.err;
}

TEST_F(Tools, run_reads_npz) {
  if (std::system("python3 -c 'import zipfile'") != 0)
    GTEST_SKIP() << "no Python to make an .npz with";
  makePlan("compress", "c.llmc");
  write("make.py",
        "import zipfile,struct\n"
        "head=\"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\".ljust(117)+chr(10)\n"
        "npy=b'\\x93NUMPY\\x01\\x00'+struct.pack('<H',118)+head.encode()+struct.pack('<3f',5,-5,6)\n"
        "for name, method in (('s', zipfile.ZIP_STORED), ('d', zipfile.ZIP_DEFLATED)):\n"
        "  z=zipfile.ZipFile(name+'.npz','w',method); z.writestr('x.npy',npy); z.writestr('w.npy',npy); z.close()\n");
  ASSERT_EQ(std::system(("cd '" + dir.string() + "' && python3 make.py").c_str()), 0);
  for (const char *file : {"s.npz", "d.npz"}) {
    Outcome outcome = run(std::string("llmc-run c.llmc --input x=") + file);
    EXPECT_EQ(outcome.out, "y: f32[2] = 5 6\n") << outcome.err;
  }
}

TEST_F(Tools, run_draws_the_same_for_a_seed) {
  makePlan("add-relu", "a.llmc");
  Outcome one = run("llmc-run a.llmc --random 5 --dim batch=2"), two = run("llmc-run a.llmc --random 5 --dim batch=2");
  Outcome other = run("llmc-run a.llmc --random 6 --dim batch=2");
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("y: f32[2,4] ="));
  EXPECT_EQ(one.out, two.out);
  EXPECT_NE(one.out, other.out);
}

TEST_F(Tools, run_checks_a_test_folder) {
  makePlan("compress", "c.llmc");
  fs::create_directories(dir / "t/test_data_set_0");
  write("t/test_data_set_0/input_0.pb",
        std::string("\x08\x03\x10\x01\x22\x0c\x00\x00\x80\x3f\x00\x00\x80\xbf\x00\x00\x00\x40", 18));
  write("t/test_data_set_0/output_0.pb", std::string("\x08\x02\x10\x01\x4a\x08\x00\x00\x80\x3f\x00\x00\x00\x40", 14));
  Outcome outcome = run("llmc-run c.llmc --check t");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "test_data_set_0/y: agrees, f32[2], max error 0, mean error 0\n");
  write("t/test_data_set_0/output_0.pb", std::string("\x08\x02\x10\x01\x4a\x08\x00\x00\x80\x3f\x00\x00\x40\x40", 14));
  outcome = run("llmc-run c.llmc --check t");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "test_data_set_0/y: DIFFERS, f32[2], max error 1, mean error 0.5, 1 of 2 elements, first [1]: "
                         "found 2, expected 3\n");
}

TEST_F(Tools, run_writes_a_trace) {
  makePlan("add-relu", "a.llmc");
  Outcome outcome = run("llmc-run a.llmc --random 1 --repeat 2 --profile t.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  auto events = nlohmann::json::parse(read(dir / "t.json"))["traceEvents"];
  ASSERT_EQ(events.size(), 6u);
  for (size_t i : {0, 3}) {
    EXPECT_EQ(events[i]["cat"], "Run");
    double end = events[i]["ts"], sum = 0;
    for (size_t step : {i + 1, i + 2}) {
      EXPECT_EQ(events[step]["ph"], "X");
      EXPECT_GE(events[step]["ts"], end) << "steps do not overlap";
      end = double(events[step]["ts"]) + double(events[step]["dur"]);
      sum += double(events[step]["dur"]);
    }
    EXPECT_LE(sum, events[i]["dur"]);
    EXPECT_EQ(events[i + 1]["name"], "Add_0");
    EXPECT_EQ(events[i + 2]["name"], "Relu_1");
    EXPECT_EQ(events[i + 2]["args"]["nodes"][0], "Relu_1");
  }
}

TEST_F(Tools, run_writes_a_table_of_step_times) {
  makePlan("everything", "e.llmc");
  Outcome outcome = run("llmc-run e.llmc --input steps=3 --input flag=1 --repeat 3 --profile t.txt");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::string table = read(dir / "t.txt");
  double whole = 0, inSteps = 0, sum = 0, row = 0, share = 0, runs = 0;
  ASSERT_EQ(std::sscanf(table.c_str(), "run %lf ms, %lf ms of it in steps", &whole, &inSteps), 2) << table;
  EXPECT_LE(inSteps, whole);
  EXPECT_THAT(table, HasSubstr("; means of 2 runs after the first\n"));
  // Kinds, then steps; a Loop or If counts without what is inside, so both add up to the time in steps.
  std::istringstream lines(table.substr(table.find("runs  kind\n")));
  std::string line;
  int kinds = 0;
  for (std::getline(lines, line); std::getline(lines, line) && std::sscanf(line.c_str(), "%lf %lf%% %lf", &row, &share, &runs) == 3; ++kinds)
    sum += row;
  EXPECT_EQ(kinds, 8) << table;
  EXPECT_NEAR(sum, inSteps, 0.001 * kinds);
  sum = 0;
  int steps = 0;
  for (std::getline(lines, line); std::getline(lines, line) && std::sscanf(line.c_str(), "%lf", &row) == 1; ++steps)
    sum += row;
  EXPECT_EQ(steps, 8) << table;
  EXPECT_NEAR(sum, inSteps, 0.001 * steps);
  EXPECT_THAT(table, testing::ContainsRegex(" 3 +1 +4  body/Add_op: body/Add\n"));
}

TEST_F(Tools, bad_command_lines_exit_with_2) {
  makePlan("add-relu", "a.llmc");
  expectError("llmc-run", 2, "ARTIFACT is required");
  expectError("llmc-run a.llmc --bogus", 2, "--bogus");
  expectError("llmc-run a.llmc", 2, "input 'a', f32[batch 1..64,4], is missing");
  expectError("llmc-run a.llmc --input q=1", 2, "the artifact has no input 'q'; it has 'a', 'b'");
  expectError("llmc-run a.llmc --random 1 --dim rows=3", 2, "no input has a dim 'rows'");
  expectError("llmc-run a.llmc --random 1 --dim batch=x", 2, "--dim 'batch=x' does not give a size");
  expectError("llmc-run a.llmc --random 1 --input a=1,2", 2, "2 numbers for f32[1,4]");
  expectError("llmc-run a.llmc --random 1 --input a=1,x,3,4", 2, "'x' is no f32");
  expectError("llmc-run a.llmc --random 1 --input a=1,2,3,", 2, "'' is no f32");
  makePlan("everything", "e.llmc");
  expectError("llmc-run e.llmc --input flag=1 --input steps=1.5", 2, "'1.5' is no i64");
  expectError("llmc-run e.llmc --input flag=1 --input steps=9223372036854775808", 2, "'9223372036854775808' is no i64");
  expectError("llmc-run a.llmc --random 1 --entry other", 2, "no entry 'other'");
  expectError("llmc-bench a.llmc --min-time -1 --random 1", 2, "--min-time");
  expectError("llmc-plan", 2, "ARTIFACT is required");
}

TEST_F(Tools, bad_artifacts_and_data_exit_with_1) {
  makePlan("add-relu", "a.llmc");
  expectError("llmc-run nowhere.llmc", 1, "can not open 'nowhere.llmc': No such file or directory");
  expectError("llmc-run .", 1, "'.' is not a regular file");
  expectError("llmc-run a.llmc --random 1 --dim batch=65", 1, "input 'a' has 65 in dim 0, but 'batch' is in 1..64");
  expectError("llmc-run a.llmc --random 1 --input a=no.npy", 1, "can not open 'no.npy'");
  expectError("llmc-run a.llmc --random 1 --cpu x86-64-v9", 1, "is not the level asked for, 'x86-64-v9'");
  write("text.llmc", "this is not a plan, but it is long enough to have a header, had it been one of those");
  expectError("llmc-run text.llmc", 1, "text.llmc: [magic] not a plan");
  expectError("llmc-plan text.llmc", 1, "[magic] not a plan");
  write("short.llmc", read(dir / "a.llmc").substr(0, 1000));
  expectError("llmc-run short.llmc --random 1", 1, "[file-size] the file has 1000 bytes");
  std::string changed = read(dir / "a.llmc");
  changed[65536 + 50] ^= 1;
  write("changed.llmc", changed);
  expectError("llmc-run changed.llmc --random 1", 1, "changed after it was written");
  expectError("llmc-plan changed.llmc --check", 1, "changed after it was written");
}

TEST_F(Tools, full_disk_leaves_no_half_file) {
  if (!fs::exists("/dev/full"))
    GTEST_SKIP() << "no /dev/full";
  makePlan("add-relu", "a.llmc");
  Outcome outcome = run("llmc-run a.llmc --random 1 --profile /dev/full/x");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("can not write '/dev/full/x'"));
}

TEST_F(Tools, bench_prints_json) {
  makePlan("add-relu", "a.llmc");
  Outcome outcome = run("llmc-bench a.llmc --random 1 --threads 1 --min-time 0.01 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  auto result = nlohmann::json::parse(outcome.out);
  for (const char *key : {"median_ms", "p95_ms", "min_ms", "runs", "load_ms", "rss_mb"})
    EXPECT_TRUE(result[key].is_number()) << key;
  EXPECT_LE(result["min_ms"], result["median_ms"]);
  EXPECT_LE(result["median_ms"], result["p95_ms"]);
  EXPECT_GE(result["runs"], 5);
}

TEST_F(Tools, plan_shows_and_checks) {
  makePlan("everything", "e.llmc");
  Outcome text = run("llmc-plan e.llmc");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("input 'steps': I64[]"));
  EXPECT_THAT(text.out,
              HasSubstr("0: Dispatch kernel add buffers (%6, %7, %8 next) scalars (4)  // body/Add_op <- body/Add"));
  EXPECT_EQ(run("llmc-plan e.llmc --check").out, "e.llmc: good\n");
  auto json = nlohmann::json::parse(run("llmc-plan e.llmc --json").out);
  EXPECT_EQ(json["entries"][0]["bodies"][0]["blocks"].size(), 4u);
  EXPECT_EQ(json["executables"][0]["variants"][0]["level"], "x86-64-v2");
}

TEST_F(Tools, help_has_examples_and_version_a_number) {
  for (const char *tool : {"llmc-run", "llmc-bench", "llmc-plan"}) {
    Outcome help = run(std::string(tool) + " --help");
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, HasSubstr("Examples:"));
    Outcome version = run(std::string(tool) + " --version");
    EXPECT_EQ(version.code, 0);
    EXPECT_THAT(version.out, testing::ContainsRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  }
}

} // namespace
