// See MachineLoops.h. Functions are cut into basic blocks at direct branches; cycles of the graph of blocks are loops.
// Where an indirect jump (the table of a switch) leads is not known: a loop through one is not seen, those inside of
// it are.
#include "test/compiler/Codegen/MachineLoops.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/TargetSelect.h"
#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace llvm;

namespace llmc::test {
namespace {

struct Instruction {
  uint64_t address;
  MCInst code;
  std::string text;
};

class Disassembler {
public:
  Disassembler() {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86Disassembler();
    std::string error;
    const Target *target = TargetRegistry::lookupTarget(triple, error);
    registers.reset(target->createMCRegInfo(triple));
    syntax.reset(target->createMCAsmInfo(*registers, triple, MCTargetOptions()));
    subtarget.reset(target->createMCSubtargetInfo(triple, "x86-64-v4", "+avx512vnni,+avx512bf16"));
    opcodes.reset(target->createMCInstrInfo());
    analysis.reset(target->createMCInstrAnalysis(opcodes.get()));
    context = std::make_unique<MCContext>(triple, syntax.get(), registers.get(), subtarget.get());
    decoder.reset(target->createMCDisassembler(*subtarget, *context));
    printer.reset(target->createMCInstPrinter(triple, /*SyntaxVariant=*/0, *syntax, *opcodes, *registers));
  }

  std::vector<Instruction> decode(ArrayRef<uint8_t> bytes, uint64_t address) {
    std::vector<Instruction> result;
    for (uint64_t offset = 0, size = 0; offset < bytes.size(); offset += size) {
      Instruction instruction{address + offset, {}, {}};
      if (decoder->getInstruction(instruction.code, size, bytes.drop_front(offset), instruction.address, nulls()) !=
          MCDisassembler::Success) {
        ADD_FAILURE() << "no instruction at " << instruction.address;
        break;
      }
      raw_string_ostream stream(instruction.text);
      printer->printInst(&instruction.code, instruction.address, "", *subtarget, stream);
      result.push_back(std::move(instruction));
    }
    return result;
  }

  StringRef name(const Instruction &instruction) const { return opcodes->getName(instruction.code.getOpcode()); }
  const MCInstrDesc &describe(const Instruction &instruction) const {
    return opcodes->get(instruction.code.getOpcode());
  }
  /// Where a direct branch leads.
  std::optional<uint64_t> target(const Instruction &instruction, uint64_t next) const {
    uint64_t result;
    bool known = describe(instruction).isBranch() &&
                 analysis->evaluateBranch(instruction.code, instruction.address, next - instruction.address, result);
    return known ? std::optional(result) : std::nullopt;
  }
  bool uses(const Instruction &instruction, function_ref<bool(StringRef)> wanted) const {
    return any_of(instruction.code, [&](const MCOperand &operand) {
      return operand.isReg() && operand.getReg() && wanted(registers->getName(operand.getReg()));
    });
  }

private:
  const Triple triple{"x86_64-unknown-linux-gnu"};
  std::unique_ptr<MCRegisterInfo> registers;
  std::unique_ptr<MCAsmInfo> syntax;
  std::unique_ptr<MCSubtargetInfo> subtarget;
  std::unique_ptr<MCInstrInfo> opcodes;
  std::unique_ptr<MCInstrAnalysis> analysis;
  std::unique_ptr<MCContext> context;
  std::unique_ptr<MCDisassembler> decoder;
  std::unique_ptr<MCInstPrinter> printer;
};

/// The basic blocks of a function, by address.
class BlockGraph {
public:
  BlockGraph(ArrayRef<Instruction> code, const Disassembler &disassembler) : code(code) {
    std::set<uint64_t> starts = {code.front().address};
    for (size_t i = 0; i + 1 < code.size(); ++i)
      if (disassembler.describe(code[i]).isTerminator()) {
        starts.insert(code[i + 1].address);
        if (std::optional<uint64_t> target = disassembler.target(code[i], code[i + 1].address))
          starts.insert(*target);
      }
    std::map<uint64_t, unsigned> numbers;
    for (uint64_t start : starts)
      numbers.try_emplace(start, numbers.size());
    for (size_t i = 0; i < code.size(); ++i)
      if (starts.contains(code[i].address))
        firsts.push_back(i);
    firsts.push_back(code.size());
    successors.assign(size(), BitVector(size()));
    for (unsigned block = 0; block < size(); ++block) {
      const Instruction &last = code[firsts[block + 1] - 1];
      uint64_t next = block + 1 < size() ? code[firsts[block + 1]].address : last.address + 1;
      if (std::optional<uint64_t> target = disassembler.target(last, next); target && numbers.contains(*target))
        successors[block].set(numbers[*target]);
      if (!disassembler.describe(last).isBarrier() && block + 1 < size())
        successors[block].set(block + 1);
    }
  }

  unsigned size() const { return firsts.size() - 1; }
  ArrayRef<Instruction> instructions(unsigned block) const {
    return code.slice(firsts[block], firsts[block + 1] - firsts[block]);
  }

  std::vector<BitVector> innermostLoops() const {
    std::vector<BitVector> loops;
    findLoops(BitVector(size(), true), loops);
    return loops;
  }

private:
  /// The innermost loops within `blocks`: a cycle that is none without its entry holds no other.
  void findLoops(BitVector blocks, std::vector<BitVector> &loops) const {
    while (blocks.any()) {
      unsigned start = blocks.find_first();
      BitVector cycle = reachable(start, blocks);
      for (unsigned block : cycle.set_bits())
        if (!reachable(block, blocks).test(start))
          cycle.reset(block);
      blocks.reset(start);
      blocks.reset(cycle);
      if (cycle.none())
        continue;
      BitVector inner = cycle;
      inner.reset(entryOf(cycle));
      size_t before = loops.size();
      findLoops(inner, loops);
      if (loops.size() == before)
        loops.push_back(cycle);
    }
  }

  /// Blocks that a path from `start` within `blocks` leads to.
  BitVector reachable(unsigned start, const BitVector &blocks) const {
    BitVector seen(size());
    SmallVector<unsigned> pending = {start};
    while (!pending.empty()) {
      BitVector next = successors[pending.pop_back_val()];
      next &= blocks;
      next.reset(seen);
      seen |= next;
      append_range(pending, next.set_bits());
    }
    return seen;
  }

  unsigned entryOf(const BitVector &cycle) const {
    for (unsigned block = 0; block < size(); ++block)
      if (!cycle.test(block) && successors[block].anyCommon(cycle)) {
        BitVector entered = successors[block];
        entered &= cycle;
        return entered.find_first();
      }
    return cycle.find_first();
  }

  ArrayRef<Instruction> code;
  std::vector<size_t> firsts; // number of each block's first instruction; one more at the end
  std::vector<BitVector> successors;
};

MachineLoop describe(const BlockGraph &blocks, const BitVector &loop, bool hasFramePointer, const Disassembler &disassembler) {
  MachineLoop result;
  auto isVector = [](StringRef name) { return name.contains("MM"); }; // XMM, YMM, ZMM
  auto isStack = [&](StringRef name) { return name == "RSP" || (hasFramePointer && name == "RBP"); };
  for (unsigned block : loop.set_bits())
    for (const Instruction &instruction : blocks.instructions(block)) {
      StringRef name = disassembler.name(instruction);
      result.multiplyAdds += (name.starts_with("VFMADD") || name.starts_with("MUL")) && name.contains("PS");
      if (disassembler.uses(instruction, isVector) && disassembler.uses(instruction, isStack))
        result.stackTraffic.push_back(instruction.text);
    }
  return result;
}

void addLoops(StringRef function, ArrayRef<uint8_t> bytes, uint64_t address, Disassembler &disassembler,
              std::vector<MachineLoop> &loops) {
  std::vector<Instruction> code = disassembler.decode(bytes, address);
  if (code.empty())
    return;
  bool hasFramePointer =
      any_of(code, [](const Instruction &instruction) { return StringRef(instruction.text).contains("%rsp, %rbp"); });
  BlockGraph blocks(code, disassembler);
  for (const BitVector &loop : blocks.innermostLoops()) {
    MachineLoop described = describe(blocks, loop, hasFramePointer, disassembler);
    described.function = function.str();
    if (described.multiplyAdds)
      loops.push_back(std::move(described));
  }
}

} // namespace

std::vector<MachineLoop> innermostMultiplyAdds(ArrayRef<char> elf) {
  static Disassembler disassembler;
  std::vector<MachineLoop> loops;
  auto file = object::ObjectFile::createELFObjectFile({StringRef(elf.data(), elf.size()), "code"});
  if (!file) {
    ADD_FAILURE() << toString(file.takeError());
    return loops;
  }
  for (const object::ELFSymbolRef symbol : cast<object::ELFObjectFileBase>(**file).symbols()) {
    if (symbol.getELFType() != ELF::STT_FUNC || symbol.getSize() == 0)
      continue;
    object::section_iterator section = cantFail(symbol.getSection());
    uint64_t address = cantFail(symbol.getAddress());
    StringRef bytes = cantFail(section->getContents()).substr(address - section->getAddress(), symbol.getSize());
    addLoops(cantFail(symbol.getName()), arrayRefFromStringRef(bytes), address, disassembler, loops);
  }
  return loops;
}

} // namespace llmc::test
