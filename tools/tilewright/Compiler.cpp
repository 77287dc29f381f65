// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The boundary to tilewright-compiler: forwarded commands, and models compiled into the cache on first use.
#include "tools/CacheFolder.h"
#include "tools/files/InputFiles.h"
#include "tools/tilewright/Commands.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace tilewright::cli {

const char *const compilerCommands[][2] = {{"import", "Turn a model file into a graph (.twg)"},
                                           {"compile", "Compile a graph ahead of time"},
                                           {"export", "Write a graph's weights as a safetensors file"},
                                           {"verify", "Compare a compiled model with the reference"},
                                           {"reference", "Write text with the reference interpreter"},
                                           {"plugins", "List, check and begin plugins"},
                                           {"cache", "List and remove models compiled by the way"},
                                           {nullptr, nullptr}};

bool isCompilerCommand(const std::string &name) {
  for (const auto *command = compilerCommands; (*command)[0]; ++command)
    if (name == (*command)[0])
      return true;
  return false;
}

static std::string compilerPath() {
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error)
    throw Failure(WorkFailed, "cannot find this program's own folder: " + error.message());
  fs::path compiler = self.parent_path() / "tilewright-compiler";
  if (!fs::exists(compiler, error))
    throw Failure(Unsupported,
                  "this command needs the compiler, which is not installed (looked for " + compiler.string() + ")");
  return compiler.string();
}

static std::vector<char *> argumentVector(std::vector<std::string> &words) {
  std::vector<char *> argv;
  for (std::string &word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  return argv;
}

void execCompiler(const std::vector<std::string> &arguments) {
  std::vector<std::string> words = {compilerPath()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char *> argv = argumentVector(words);
  execv(argv[0], argv.data());
  throw Failure(WorkFailed, "cannot start " + words[0] + ": " + std::strerror(errno));
}

namespace {

std::atomic<pid_t> receiver{0};
std::atomic<bool> wasPassedOn{false};

void passOn(int signal) {
  wasPassedOn = true;
  kill(receiver, signal);
}

/// While it lives, what would end this process goes to a child, which cleans up. One object at a time.
class PassedOn {
public:
  /// Holds the signals back until there is a child.
  PassedOn() {
    sigset_t held;
    sigemptyset(&held);
    for (int signal : signals)
      sigaddset(&held, signal);
    sigprocmask(SIG_BLOCK, &held, &maskBefore);
    wasPassedOn = false;
  }
  ~PassedOn() {
    for (size_t i = 0; isPassing && i < std::size(signals); ++i)
      sigaction(signals[i], &before[i], nullptr);
    leave();
  }
  PassedOn(const PassedOn &) = delete;

  void passTo(pid_t child) {
    receiver = child;
    isPassing = true;
    struct sigaction action{};
    action.sa_handler = passOn;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < std::size(signals); ++i) {
      sigaction(signals[i], &action, &before[i]);
      if (before[i].sa_handler == SIG_IGN) // as under nohup; the child ignores it too
        sigaction(signals[i], &before[i], nullptr);
    }
    leave();
  }
  /// Lets the signals come as before: in the child.
  void leave() { sigprocmask(SIG_SETMASK, &maskBefore, nullptr); }
  bool any() const { return wasPassedOn; }

private:
  static constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};
  sigset_t maskBefore;
  struct sigaction before[std::size(signals)];
  bool isPassing = false;
};

/// A folder of this process alone, which vanishes.
class TemporaryFolder {
public:
  TemporaryFolder() {
    if (!mkdtemp(path.data()))
      throw Failure(WorkFailed, path + ": cannot be made: " + std::strerror(errno));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;

  std::string file(const char *name) const { return path + "/" + name; }

private:
  std::string path = (fs::temp_directory_path() / "tilewright-XXXXXX").string();
};

} // namespace

void runCompiler(const std::vector<std::string> &arguments) {
  std::vector<std::string> words = {compilerPath()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char *> argv = argumentVector(words);
  PassedOn signals;
  pid_t child = fork();
  if (child < 0)
    throw Failure(WorkFailed, std::string("cannot start the compiler: ") + std::strerror(errno));
  if (child == 0) {
    signals.leave();
    // What the compiler prints is not this command's result.
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  signals.passTo(child);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      throw Failure(WorkFailed, std::string("lost the compiler process: ") + std::strerror(errno));
  if (signals.any())
    throw Failure(Interrupted, "interrupted while the model was compiled");
  if (WIFSIGNALED(status))
    throw Failure(WorkFailed, "the compiler was ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
                                  strsignal(WTERMSIG(status)) + ")");
  if (WEXITSTATUS(status) != 0)
    throw Failure(static_cast<ExitCode>(WEXITSTATUS(status)), "the model could not be compiled (see above)");
}

bool isModelFile(const std::string &path) {
  if (notRegular(path))
    return false;
  std::ifstream file(path, std::ios::binary);
  char head[8] = {};
  file.read(head, sizeof head);
  return std::memcmp(head, "GGUF", 4) == 0 || std::memcmp(head + 4, "TWG1", 4) == 0;
}

bool isModelFolder(const std::string &path) {
  std::error_code missing;
  return fs::exists(fs::path(path) / "config.json", missing) && !fs::exists(fs::path(path) / "model.so", missing);
}

std::string artifactFor(const std::string &path, const std::string &numerics, const std::vector<std::string> &plugins,
                        bool quiet) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0)
    throw Failure(BadInput, path + ": " + std::strerror(errno));
  const bool isFolder = S_ISDIR(info.st_mode);
  if (isFolder && !isModelFolder(path)) {
    if (!numerics.empty() || !plugins.empty())
      throw Failure(Usage, path + ": is no model file, and " + (numerics.empty() ? "--plugin" : "--numerics") +
                               " is for one that is compiled first; give it to 'tilewright compile'");
    return path;
  }
  if (const std::optional<std::string> problem = notRegular(path); problem && !isFolder)
    throw Failure(BadInput, *problem);
  if (!isFolder && !isModelFile(path))
    throw Failure(BadInput, path + ": neither a compiled model (a folder) nor a .gguf or .twg file");

  std::vector<std::string> words = {"compile", path, "--cache", cacheFolder()};
  if (!numerics.empty())
    words.insert(words.end(), {"--numerics", numerics});
  for (const std::string &plugin : plugins)
    words.insert(words.end(), {"--plugin", plugin});
  if (quiet)
    words.push_back("--quiet");

  // The compiler prints the folder it compiled to, or found, into a file that only this process reads.
  const TemporaryFolder temporary;
  const std::string answer = temporary.file("path");
  words.insert(words.end(), {"--print-folder", answer});
  runCompiler(words);
  std::ifstream file(answer);
  std::string folder;
  std::getline(file, folder);
  if (folder.empty())
    throw Failure(WorkFailed, "the compiler did not say where it put the model");
  return folder;
}

} // namespace tilewright::cli
