// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/conformance/Isolated.h"

#include "tools/functions/GuardedMemory.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

namespace json = llvm::json;

namespace tilewright::conformance {

namespace {

constexpr int kFaultExit = 99;
/// Seconds on the clock without any processor time after which a check sleeps or waits for what does not come: as long
/// as the budget, and at least so many, for a machine that is busy with others.
constexpr double kLeastIdle = 10;
/// Seconds on the clock per second of budget, and at least: a check that wakes up now and then ends too.
constexpr double kWallFactor = 15, kLeastWall = 300;
[[maybe_unused]] constexpr uint64_t kMemoryLimit = uint64_t(16) << 30;

/// Whether the check that one of `subject` needs is not one to build upon.
bool isUnmet(llvm::ArrayRef<Finding> findings, llvm::StringRef subject, llvm::StringRef needed) {
  return llvm::any_of(findings, [&](const Finding &finding) {
    return finding.subject == subject && finding.check == needed &&
           (finding.outcome == Outcome::Failed || finding.outcome == Outcome::Untried);
  });
}

/// Where the child of this process writes what it found; -1 in the parent.
int reportPipe = -1;

void sendLine(json::Value value) {
  std::string line;
  llvm::raw_string_ostream(line) << value << "\n";
  for (size_t at = 0; at < line.size();) {
    ssize_t written = write(reportPipe, line.data() + at, line.size() - at);
    if (written <= 0)
      _exit(kFaultExit); // nobody listens any more
    at += written;
  }
}

bool isWrite(void *context) {
#if defined(__x86_64__)
  constexpr long kWriteBit = 2; // of the page fault's error code
  return static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_ERR] & kWriteBit;
#else
  (void)context;
  return false;
#endif
}

void put(char *&at, const char *end, const char *text) {
  while (*text && at < end)
    *at++ = *text++;
}

/// Tells the parent which guarded memory was left, then ends the child. Other faults take their usual way.
void onFault(int signal, siginfo_t *info, void *context) {
  if (GuardedPlace place = GuardedPlace::of(info->si_addr); place.name) {
    char line[256], *at = line, *end = line + sizeof(line);
    put(at, end, "{\"fault\":\"a kernel ");
    put(at, end, isWrite(context) ? "writes " : "reads ");
    put(at, end, place.isBefore ? "before the start of " : "past the end of ");
    put(at, end, place.name);
    put(at, end, "\"}\n");
    if (write(reportPipe, line, at - line) > 0)
      _exit(kFaultExit);
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void installFaultHandler() {
  constexpr size_t kStackBytes = 1 << 16;
  static char stackBytes[kStackBytes];
  stack_t stack = {};
  stack.ss_sp = stackBytes;
  stack.ss_size = kStackBytes;
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
}

/// `findings`: of the jobs before those of this child.
[[noreturn]] void childMain(const Prepare &prepare, std::vector<Finding> findings, int pipeEnd, int errors) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  reportPipe = pipeEnd;
  // A plugin's own output belongs to no table.
  dup2(errors, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  rlimit core = {0, 0};
  setrlimit(RLIMIT_CORE, &core);
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) // which map far more than they use
  rlimit memory = {kMemoryLimit, kMemoryLimit};
  setrlimit(RLIMIT_AS, &memory);
#endif
  installFaultHandler();

  std::vector<Job> jobs = prepare();
  json::Array list;
  for (const Job &job : jobs)
    list.push_back(json::Array{job.subject, job.check});
  sendLine(json::Object{{"jobs", std::move(list)}});
  for (size_t i = findings.size(); i < jobs.size(); ++i) {
    const Job &job = jobs[i];
    sendLine(json::Object{{"begin", static_cast<int64_t>(i)}});
    Finding finding = isUnmet(findings, job.subject, job.needs) ? untried(job.needs) : job.run();
    finding.subject = job.subject;
    finding.check = job.check;
    findings.push_back(finding);
    sendLine(
        json::Object{{"outcome", static_cast<int64_t>(finding.outcome)}, {"detail", json::fixUTF8(finding.detail)}});
  }
  _exit(0); // no destructors: the plugin's last word has been heard
}

/// A job as the parent knows it.
struct JobName {
  std::string subject, check;
};

double processorSeconds(pid_t child) {
  clockid_t clock;
  timespec time;
  if (clock_getcpuclockid(child, &clock) != 0 || clock_gettime(clock, &time) != 0)
    return 0;
  return time.tv_sec + time.tv_nsec * 1e-9;
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// The last lines that the child printed, for the reason of a death.
std::string lastWords(int errors) {
  constexpr off_t kBytes = 400;
  char buffer[kBytes];
  off_t size = lseek(errors, 0, SEEK_END);
  off_t from = std::max<off_t>(0, size - kBytes);
  ssize_t got = pread(errors, buffer, kBytes, from);
  if (got <= 0)
    return "";
  llvm::StringRef text(buffer, got);
  if (from > 0)
    text = text.split('\n').second;
  llvm::SmallVector<llvm::StringRef> lines, kept;
  text.split(lines, '\n', -1, false);
  for (llvm::StringRef line : lines)
    if (!line.starts_with(" #") && !line.starts_with("PLEASE submit") && !line.starts_with("Stack dump"))
      kept.push_back(line);
  constexpr size_t kLines = 2;
  if (kept.size() > kLines)
    kept.erase(kept.begin(), kept.end() - kLines);
  return llvm::join(kept, "; ");
}

/// One child and what the parent has read from it.
class Child {
public:
  Child(const Prepare &prepare, const std::vector<Finding> &findings, double budget) : budget(budget) {
    int ends[2];
    errors = memfd_create("plugin-output", MFD_CLOEXEC);
    if (errors < 0 || pipe2(ends, O_CLOEXEC) != 0) {
      fault = std::string("the check could not start: ") + std::strerror(errno);
      return;
    }
    pid = fork();
    if (pid == 0) {
      close(ends[0]);
      childMain(prepare, findings, ends[1], errors);
    }
    close(ends[1]);
    input = ends[0];
    if (pid < 0)
      fault = std::string("the check could not start: ") + std::strerror(errno);
  }
  ~Child() {
    if (input >= 0)
      close(input);
    if (errors >= 0)
      close(errors);
  }
  Child(const Child &) = delete;
  Child &operator=(const Child &) = delete;

  /// The next line of the child, or none when it has ended; `death()` then says why, unless it was done.
  std::optional<json::Value> next() {
    if (pid <= 0)
      return std::nullopt;
    double cpuStart = processorSeconds(pid), wallStart = now();
    double cpu = cpuStart, lastWork = wallStart;
    while (true) {
      if (size_t end = pending.find('\n'); end != std::string::npos) {
        std::string line = pending.substr(0, end);
        pending.erase(0, end + 1);
        llvm::Expected<json::Value> value = json::parse(line);
        if (value)
          return std::move(*value);
        llvm::consumeError(value.takeError());
        continue;
      }
      pollfd wait = {input, POLLIN, 0};
      constexpr int kPollMs = 100;
      if (poll(&wait, 1, kPollMs) > 0) {
        char buffer[4096];
        ssize_t got = read(input, buffer, sizeof(buffer));
        if (got > 0) {
          pending.append(buffer, got);
          continue;
        }
        reap();
        return std::nullopt;
      }
      const double wall = now();
      if (double used = processorSeconds(pid); used > cpu) {
        cpu = used;
        lastWork = wall;
      }
      std::string limit;
      if (cpu - cpuStart > budget)
        limit = llvm::formatv("{0:f0} s of processor time", budget);
      else if (double idle = std::max(budget, kLeastIdle); wall - lastWork > idle)
        limit = llvm::formatv("{0:f0} s in which it did nothing", idle);
      else if (double most = std::max(budget * kWallFactor, kLeastWall); wall - wallStart > most)
        limit = llvm::formatv("{0:f0} s", most);
      if (limit.empty())
        continue;
      overtime = limit;
      kill(pid, SIGKILL);
      reap();
      return std::nullopt;
    }
  }

  std::string death() {
    if (!fault.empty())
      return fault + (doing.empty() ? "" : ", " + doing);
    std::string words = lastWords(errors);
    std::string tail = words.empty() ? "" : " (" + words + ")";
    if (!doing.empty())
      tail = ", " + doing + tail;
    if (!overtime.empty())
      return "does not end: stopped after " + overtime + tail;
    if (WIFSIGNALED(status))
      return std::string("crashes: ") + strsignal(WTERMSIG(status)) + tail;
    return "ends the process with exit code " + std::to_string(WEXITSTATUS(status)) + tail;
  }

  std::string fault; ///< what the fault handler told
  std::string doing; ///< what was announced last

private:
  void reap() {
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    pid = 0;
  }

  double budget;
  pid_t pid = 0;
  int input = -1, errors = -1, status = 0;
  std::string overtime; ///< the limit that it was stopped at
  std::string pending;
};

} // namespace

void announce(const std::string &what) { sendLine(json::Object{{"doing", json::fixUTF8(what)}}); }

std::vector<Finding> runIsolated(const Prepare &prepare, double budget) {
  std::vector<Finding> findings;
  std::vector<JobName> jobs;
  bool listed = false;
  auto found = [&](Outcome outcome, std::string detail) {
    const JobName &job = jobs[findings.size()];
    findings.push_back({job.subject, job.check, outcome, std::move(detail)});
  };
  // One finding for each job, in order.
  while (!listed || findings.size() < jobs.size()) {
    Child child(prepare, findings, budget);
    bool running = false;
    while (std::optional<json::Value> line = child.next()) {
      const json::Object &object = *line->getAsObject();
      if (const json::Array *list = object.getArray("jobs")) {
        child.doing.clear();
        if (!listed)
          for (const json::Value &job : *list) {
            const json::Array &words = *job.getAsArray();
            jobs.push_back({words[0].getAsString()->str(), words[1].getAsString()->str()});
          }
        listed = true;
      } else if (object.getInteger("begin")) {
        child.doing.clear();
        running = true;
      } else if (auto doing = object.getString("doing")) {
        child.doing = doing->str();
      } else if (auto fault = object.getString("fault")) {
        child.fault = fault->str();
      } else if (auto outcome = object.getInteger("outcome")) {
        found(static_cast<Outcome>(*outcome), object.getString("detail")->str());
        running = false;
      }
    }
    if (listed && findings.size() == jobs.size())
      break;
    if (!running) {
      findings.push_back({"plugin", "load", Outcome::Failed, child.death()});
      break;
    }
    found(Outcome::Failed, child.death());
  }
  return findings;
}

} // namespace tilewright::conformance
