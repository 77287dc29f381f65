// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/exec/Trace.h"

#include "runtime/api/Error.h"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewright {
namespace {

/// Events that are kept until they are written: some megabytes.
constexpr size_t kMostKept = size_t{1} << 16;

double microseconds(TraceEvent::Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

std::string quoted(const std::string &text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace

void ThreadTrace::add(const TraceEvent &event) noexcept {
  try {
    events.push_back(event);
  } catch (const std::bad_alloc &) {
  }
}

Trace::Trace(const std::string &path, const std::string &title, const Log &log)
    : path(path), log(log), file(std::fopen(path.c_str(), "wb")) {
  if (!file)
    throw Error(TW_IO, path + ": the trace cannot be written: " + std::strerror(errno));
  std::fprintf(file, "[\n{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": %d, \"args\": {\"name\": %s}}",
               ::getpid(), quoted(title).c_str());
}

Trace::~Trace() {
  writeAll();
  std::fputs("\n]\n", file);
  flush();
  struct stat status;
  const bool isRegular = ::fstat(::fileno(file), &status) == 0 && S_ISREG(status.st_mode);
  std::fclose(file);
  if (failure == 0)
    return;
  if (isRegular) // a part would be taken for the whole
    ::unlink(path.c_str());
  log.write(TW_LOG_ERROR, path + ": the trace cannot be written: " + std::strerror(failure));
}

void Trace::flush() {
  if (std::fflush(file) != 0 && failure == 0)
    failure = errno;
}

void Trace::take(ThreadTrace &done) noexcept {
  const int thread = ::gettid();
  std::lock_guard lock(mutex);
  try {
    for (const TraceEvent &event : done.events)
      entries.push_back({event, thread});
    if (entries.size() > kMostKept)
      writeAll();
  } catch (const std::bad_alloc &) {
  }
  done.events.clear();
}

const std::string &Trace::nameOf(tw_abi_kernel kernel) {
  auto [place, isNew] = names.try_emplace(kernel);
  if (isNew) {
    Dl_info found;
    const auto *address = reinterpret_cast<const void *>(kernel);
    const bool known = ::dladdr(address, &found) != 0 && found.dli_sname && found.dli_saddr == address;
    place->second = quoted(known ? found.dli_sname : "kernel");
  }
  return place->second;
}

void Trace::write(const Entry &entry) {
  const TraceEvent &event = entry.event;
  const std::string &name = event.name ? quoted(event.name) : nameOf(event.kernel);
  const int written = std::fprintf(
      file, ",\n{\"name\": %s, \"ph\": \"X\", \"pid\": %d, \"tid\": %d, \"ts\": %.3f, \"dur\": %.3f", name.c_str(),
      ::getpid(), entry.thread, microseconds(event.begin - start), microseconds(event.end - event.begin));
  if (written < 0 && failure == 0)
    failure = errno;
  if (event.unit)
    std::fprintf(file, ", \"args\": {\"%s\": %lld}", event.unit, static_cast<long long>(event.count));
  std::fputc('}', file);
}

void Trace::writeAll() {
  for (const Entry &entry : entries)
    write(entry);
  flush();
  entries.clear();
}

TraceSpan::TraceSpan(Trace *trace, const char *name, const char *unit, int64_t count) : trace(trace) {
  if (!trace)
    return;
  event = {.name = name, .unit = unit, .count = count, .begin = TraceEvent::Clock::now()};
}

TraceSpan::~TraceSpan() {
  if (!trace)
    return;
  event.end = TraceEvent::Clock::now();
  ThreadTrace own;
  own.add(event);
  trace->take(own);
}

} // namespace tilewright
