// See Linker.h. lld runs in this process; it reads and writes files, which lie in a private folder for the time of the link.
#include "compiler/Target/Linker.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using llvm::StringRef;

namespace llmc::cpu {
namespace {

using Elf = llvm::object::ELF64LEFile;

constexpr uint64_t kPageSize = 65536; // the largest of any machine that maps the image

llvm::Error writeFile(StringRef path, llvm::ArrayRef<char> bytes) {
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (!code) {
    stream.write(bytes.data(), bytes.size());
    stream.close();
    code = stream.error();
    stream.clear_error();
  }
  return code ? llvm::createStringError(code, "can not write " + path.str()) : llvm::Error::success();
}

/// lld writes through a mapping of its output, where a full disk is a bus error: finds out before.
llvm::Error checkDiskHolds(const std::string &path, uint64_t size) {
  int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  int code = descriptor < 0 ? errno : posix_fallocate(descriptor, 0, size);
  if (descriptor >= 0)
    close(descriptor);
  unlink(path.c_str());
  return code ? llvm::createStringError("can not write " + path + ": " + std::strerror(code)) : llvm::Error::success();
}

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
  llvm::SmallString<128> folder;
  if (std::error_code code = llvm::sys::fs::createUniqueDirectory("llmc-link", folder))
    return llvm::createStringError(code, "can not create a folder for the linker");
  auto remove = llvm::scope_exit([&] { llvm::sys::fs::remove_directories(folder); });
  std::vector<std::string> objects = {(folder + "/kernels.o").str()};
  std::string imagePath = (folder + "/kernels.so").str();
  if (llvm::Error error = writeFile(objects[0], object))
    return error;
  auto needsLibrary = hasUndefinedSymbols(object);
  if (!needsLibrary)
    return needsLibrary.takeError();
  if (*needsLibrary) {
    objects.push_back((folder + "/library.o").str());
    if (llvm::Error error = writeFile(objects[1], library))
      return error;
  }
  // Each of the few segments may be padded to a page.
  uint64_t mostBytes = object.size() + (*needsLibrary ? library.size() : 0) + 8 * kPageSize;
  if (llvm::Error error = checkDiskHolds(imagePath, mostBytes))
    return error;
  if (llvm::Error error = runLld(objects, imagePath))
    return error;
  auto buffer = llvm::MemoryBuffer::getFile(imagePath, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return llvm::createStringError(buffer.getError(), "can not read the linked image");
  auto elf = Elf::create((*buffer)->getBuffer());
  if (!elf)
    return elf.takeError();
  LinkedImage image;
  image.bytes.assign((*buffer)->getBufferStart(), (*buffer)->getBufferEnd());
  if (llvm::Error error = checkSegments(*elf))
    return error;
  if (llvm::Error error = readSymbols(*elf, image.symbols))
    return error;
  return image;
}

} // namespace llmc::cpu
