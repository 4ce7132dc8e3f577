// See Linker.h. lld runs in this process. The files that it reads lie in memory and what it writes goes through a pipe, so that no
// file can be left behind and no disk be full.
#include "compiler/Target/Linker.h"

#include "lld/Common/Driver.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using llvm::StringRef;

namespace llmc::cpu {
namespace {

using Elf = llvm::object::ELF64LEFile;

constexpr uint64_t kPageSize = 65536; // the largest of any machine that maps the image

/// A file in memory that lld can open by name.
class MemoryFile {
public:
  MemoryFile() : descriptor(memfd_create("llmc-link", MFD_CLOEXEC)) {}
  MemoryFile(const MemoryFile &) = delete;
  ~MemoryFile() { close(descriptor); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor); }

  llvm::Error write(llvm::ArrayRef<char> bytes) {
    if (descriptor < 0)
      return llvm::errorCodeToError(std::error_code(errno, std::generic_category()));
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/false);
    stream.write(bytes.data(), bytes.size());
    stream.flush();
    std::error_code code = stream.error();
    stream.clear_error();
    return llvm::errorCodeToError(code);
  }

private:
  int descriptor;
};

/// What is written to path(), which lld takes for a device: it opens such a file once and writes it from the start to the end.
class PipeReader {
public:
  PipeReader() {
    if (pipe2(ends, O_CLOEXEC) == 0)
      reader = std::thread([this] { readAll(); });
  }
  PipeReader(const PipeReader &) = delete;
  ~PipeReader() { (void)finish(); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(ends[1]); }

  /// To be called when all is written.
  std::vector<char> finish() {
    if (reader.joinable()) {
      close(ends[1]); // now the reader sees the end
      reader.join();
      close(ends[0]);
    }
    return std::move(bytes);
  }

private:
  void readAll() {
    char piece[65536];
    ssize_t count;
    while ((count = read(ends[0], piece, sizeof(piece))) > 0 || (count < 0 && errno == EINTR))
      bytes.insert(bytes.end(), piece, piece + std::max<ssize_t>(count, 0));
  }

  int ends[2] = {-1, -1};
  std::thread reader;
  std::vector<char> bytes;
};

llvm::Error runLld(llvm::ArrayRef<std::string> objects, StringRef image) {
  std::vector<std::string> arguments = {"ld.lld", "-shared", "-Bsymbolic", "--no-undefined", "--gc-sections", "-zseparate-code",
                                        "-znorelro", "-zrodynamic", "-zmax-page-size=" + std::to_string(kPageSize), "-znoexecstack", "--build-id=none",
                                        "--hash-style=gnu", "--threads=1", "-o", image.str()};
  arguments.insert(arguments.end(), objects.begin(), objects.end());
  std::vector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  static std::mutex mutex; // lld keeps its state in globals
  std::lock_guard lock(mutex);
  lld::Result result = lld::lldMain(pointers, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return llvm::createStringError("the code image does not link: " + StringRef(messages).trim().str());
  return llvm::Error::success();
}

llvm::Expected<bool> hasUndefinedSymbols(llvm::ArrayRef<char> object) {
  auto file = llvm::object::ObjectFile::createELFObjectFile({StringRef(object.data(), object.size()), "kernels"});
  if (!file)
    return file.takeError();
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) && !(*flags & llvm::object::SymbolRef::SF_FormatSpecific))
      return true;
  }
  return false;
}

llvm::Error checkSegments(const Elf &elf) {
  auto headers = elf.program_headers();
  if (!headers)
    return headers.takeError();
  for (const auto &header : *headers)
    if (header.p_type == llvm::ELF::PT_LOAD && (header.p_flags & llvm::ELF::PF_W) && (header.p_flags & llvm::ELF::PF_X))
      return llvm::createStringError("the code image has a segment that is writable and executable");
  auto entries = elf.dynamicEntries();
  if (!entries)
    return entries.takeError();
  for (const auto &entry : *entries)
    if (entry.getTag() == llvm::ELF::DT_RELA || entry.getTag() == llvm::ELF::DT_JMPREL || entry.getTag() == llvm::ELF::DT_RELR ||
        entry.getTag() == llvm::ELF::DT_NEEDED || entry.getTag() == llvm::ELF::DT_INIT_ARRAY)
      return llvm::createStringError("the code image needs a dynamic loader (entry " + elf.getDynamicTagAsString(entry.getTag()) +
                                     ")");
  return llvm::Error::success();
}

llvm::Error readSymbols(const Elf &elf, llvm::StringMap<uint64_t> &addresses) {
  auto sections = elf.sections();
  if (!sections)
    return sections.takeError();
  for (const auto &section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_DYNSYM)
      continue;
    auto symbols = elf.symbols(&section);
    auto names = elf.getStringTableForSymtab(section);
    if (!symbols || !names)
      return llvm::joinErrors(symbols.takeError(), names.takeError());
    for (const auto &symbol : *symbols)
      if (symbol.getType() == llvm::ELF::STT_FUNC && symbol.isDefined()) {
        auto name = symbol.getName(*names);
        if (!name)
          return name.takeError();
        addresses[*name] = symbol.st_value;
      }
  }
  return llvm::Error::success();
}

} // namespace

llvm::Expected<LinkedImage> linkImage(llvm::ArrayRef<char> object, llvm::ArrayRef<char> library) {
  auto needsLibrary = hasUndefinedSymbols(object);
  if (!needsLibrary)
    return needsLibrary.takeError();
  MemoryFile kernelsFile, libraryFile;
  std::vector<std::string> objects = {kernelsFile.path()};
  if (llvm::Error error = kernelsFile.write(object))
    return error;
  if (*needsLibrary) {
    objects.push_back(libraryFile.path());
    if (llvm::Error error = libraryFile.write(library))
      return error;
  }
  PipeReader output;
  if (llvm::Error error = runLld(objects, output.path()))
    return error;
  LinkedImage image;
  image.bytes = output.finish();
  auto elf = Elf::create({image.bytes.data(), image.bytes.size()});
  if (!elf)
    return elf.takeError();
  if (llvm::Error error = checkSegments(*elf))
    return error;
  if (llvm::Error error = readSymbols(*elf, image.symbols))
    return error;
  return image;
}

} // namespace llmc::cpu
