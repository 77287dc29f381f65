// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/ptx/Machine.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tilewright::ptx {

namespace {

/// Generic addresses of shared memory begin here; no allowed range does.
constexpr uint64_t kSharedWindow = uint64_t(1) << 62;

/// All handlers, in a fixed order, and their numbers by name.
struct Handlers {
  std::map<std::string, int> numbers;
  std::vector<Handler> functions;

  Handlers() {
    for (const auto &family : {arithmeticHandlers(), conversionHandlers(), memoryHandlers(), warpHandlers()})
      for (const auto &[name, handler] : family) {
        numbers[name] = static_cast<int>(functions.size());
        functions.push_back(handler);
      }
  }
};

const Handlers &handlers() {
  static const Handlers all;
  return all;
}

enum Control { Branch = -2, Return = -3, Barrier = -4 };

int handlerOf(const Instruction &instruction) {
  const std::string &name = instruction.name();
  if (name == "bra")
    return Branch;
  if (name == "ret" || name == "exit")
    return Return;
  if (name == "bar" || name == "barrier")
    return Barrier;
  auto found = handlers().numbers.find(name);
  if (found == handlers().numbers.end())
    unsupported(instruction);
  return found->second;
}

} // namespace

void unsupported(const Instruction &instruction) {
  throw Error("instruction '" + instruction.text + "' is not known to the emulator");
}

std::pair<std::unique_ptr<Machine>, std::string> Machine::create(const std::string &text) {
  try {
    return {std::unique_ptr<Machine>(new Machine(text)), ""};
  } catch (const std::exception &error) { // also of numbers that are none
    return {nullptr, error.what()};
  }
}

Machine::Machine(const std::string &text) : program(parse(text)) {
  for (auto &[name, data] : program.globals)
    allow(data.data(), data.size());
}

void Machine::allow(const void *data, size_t bytes) {
  uint64_t start = reinterpret_cast<uint64_t>(data);
  ranges[start] = std::max(ranges[start], start + bytes);
}

void Machine::forbidAll() {
  ranges.clear();
  for (auto &[name, data] : program.globals)
    allow(data.data(), data.size());
}

std::optional<std::string> Machine::run(const Launch &launch) {
  auto kernel = std::find_if(program.kernels.begin(), program.kernels.end(),
                             [&](const Kernel &kernel) { return kernel.name == launch.kernel; });
  if (kernel == program.kernels.end())
    return "the program has no kernel '" + launch.kernel + "'";
  if (launch.arguments.size() != kernel->parameters.size())
    return "kernel '" + launch.kernel + "' takes " + std::to_string(kernel->parameters.size()) + " parameters, " +
           std::to_string(launch.arguments.size()) + " given";
  if (launch.threads % kLanes != 0 || (kernel->threads && kernel->threads != launch.threads))
    return "kernel '" + launch.kernel + "' wants blocks of " + std::to_string(kernel->threads) + " threads, " +
           std::to_string(launch.threads) + " given";
  try {
    for (Instruction &instruction : kernel->instructions) {
      instruction.handler = handlerOf(instruction);
      instruction.wide = instruction.handler == Barrier || warpHandlers().count(instruction.name());
    }
    for (int64_t number = 0; number < launch.blocks; ++number) {
      Block block;
      block.number = number;
      block.blocks = launch.blocks;
      block.threads = launch.threads;
      // What nothing wrote is NaN, whatever type reads it.
      block.shared.assign(program.sharedBytes + launch.sharedBytes, 0xff);
      block.touches.resize(block.shared.size());
      block.parameters.resize(kernel->parameterBytes);
      for (size_t i = 0; i < launch.arguments.size(); ++i)
        std::memcpy(&block.parameters[kernel->parameters[i].offset], &launch.arguments[i], kernel->parameters[i].size);
      std::vector<Warp> warps;
      for (int warp = 0; warp < launch.threads / kLanes; ++warp)
        warps.emplace_back(*this, *kernel, block, warp);
      for (bool waiting = true; waiting; ++block.epoch) {
        size_t waits = 0;
        for (size_t i = 0; i < warps.size(); ++i)
          waits += warps[block.epoch % 2 ? i : warps.size() - 1 - i].run();
        waiting = waits > 0;
        if (waits != 0 && waits != warps.size())
          throw Error("some warps wait at a barrier that others never reach");
      }
    }
  } catch (const Error &error) {
    return "kernel '" + launch.kernel + "': " + error.what();
  }
  return std::nullopt;
}

Warp::Warp(Machine &machine, const Kernel &kernel, Block &block, int number)
    : machine(machine), kernel(kernel), block(block), number(number), registers(kernel.registers), alive(~0u) {
  // A register that nothing wrote holds no number either.
  for (auto &lanes : registers)
    lanes.fill(0xffffffffffffffff);
}

bool Warp::run() {
  const int end = static_cast<int>(kernel.instructions.size());
  uint32_t blocked = 0; // lanes that wait for the others of the warp
  while (alive) {
    if (!(alive & ~blocked)) {
      // All wait: for each other, unless they stand at different places.
      mask = alive;
      const int first = counters[std::countr_zero(alive)];
      each([&](int lane) {
        if (counters[lane] != first)
          throw Error("'" + kernel.instructions[counters[lane]].text + "' is executed by some lanes of a warp only");
      });
      blocked = 0;
    }
    const uint32_t ready = alive & ~blocked;
    int at = end;
    for (int lane = 0; lane < kLanes; ++lane)
      if (ready >> lane & 1)
        at = std::min(at, counters[lane]);
    if (at == end)
      throw Error("a lane runs past the end");
    uint32_t together = 0;
    int limit = end; // where the next of the others stands
    for (int lane = 0; lane < kLanes; ++lane)
      if (ready >> lane & 1) {
        if (counters[lane] == at)
          together |= 1u << lane;
        else
          limit = std::min(limit, counters[lane]);
      }
    // These go on together until a jump parts them or they reach one of the others.
    while (true) {
      const Instruction &instruction = kernel.instructions[at];
      mask = together;
      if (instruction.wide && mask != alive) {
        blocked |= mask;
        each([&](int lane) { counters[lane] = at; });
        break;
      }
      ++machine.count;
      if (instruction.handler == Branch) {
        branch(instruction, at);
        break;
      }
      ++at;
      if (instruction.handler == Barrier) {
        each([&](int lane) { counters[lane] = at; });
        return true;
      }
      if (instruction.predicate >= 0) {
        uint32_t holds = 0;
        each([&](int lane) {
          if ((registers[instruction.predicate][lane] & 1) != instruction.predicateNegated)
            holds |= 1u << lane;
        });
        mask = holds;
      }
      if (instruction.handler == Return)
        alive &= ~mask;
      else if (mask)
        handlers().functions[instruction.handler](*this, instruction);
      if (instruction.handler == Return || at >= limit) {
        mask = together & alive;
        each([&](int lane) { counters[lane] = at; });
        break;
      }
    }
  }
  return false;
}

void Warp::branch(const Instruction &instruction, int at) {
  each([&](int lane) {
    bool taken =
        instruction.predicate < 0 || (registers[instruction.predicate][lane] & 1) != instruction.predicateNegated;
    counters[lane] = taken ? instruction.operands[0].index : at + 1;
  });
}

uint64_t Warp::get(const Operand &operand, int lane) const {
  switch (operand.kind) {
  case Operand::Kind::Register: {
    uint64_t bits = registers[operand.index][lane];
    return operand.negated ? !(bits & 1) : bits;
  }
  case Operand::Kind::Immediate:
    return operand.value;
  case Operand::Kind::Special:
    if (operand.name == "%tid.x")
      return number * kLanes + lane;
    if (operand.name == "%ntid.x")
      return block.threads;
    if (operand.name == "%ctaid.x")
      return block.number;
    if (operand.name == "%nctaid.x")
      return block.blocks;
    if (operand.name == "%laneid")
      return lane;
    throw Error("special register '" + operand.name + "' is not known to the emulator");
  case Operand::Kind::Symbol: {
    if (auto shared = machine.program.shared.find(operand.name); shared != machine.program.shared.end())
      return shared->second;
    auto global = machine.program.globals.find(operand.name);
    if (global == machine.program.globals.end())
      throw Error("symbol '" + operand.name + "' is not declared");
    return reinterpret_cast<uint64_t>(global->second.data());
  }
  default:
    throw Error("operand has no value");
  }
}

uint64_t Warp::addressOf(const Operand &operand, int lane) const {
  if (operand.index >= 0)
    return registers[operand.index][lane] + operand.value;
  if (operand.name.empty())
    return operand.value;
  for (const Parameter &parameter : kernel.parameters)
    if (parameter.name == operand.name)
      return parameter.offset + operand.value;
  return get({Operand::Kind::Symbol, -1, 0, operand.name, false, {}}, lane) + operand.value;
}

uint8_t *Warp::access(const std::string &space, uint64_t address, int bytes, bool writes, int lane) {
  if (address % bytes != 0)
    throw Error("thread " + std::to_string(number * kLanes + lane) + " accesses " + std::to_string(bytes) +
                " bytes that do not lie on their size");
  if (space == "param") {
    if (address + bytes > block.parameters.size())
      throw Error("a parameter is read past its end");
    return &block.parameters[address];
  }
  if (space == "shared" || (space.empty() && address >= kSharedWindow)) {
    uint64_t offset = space.empty() ? address - kSharedWindow : address;
    if (offset > block.shared.size() || offset + bytes > block.shared.size())
      throw Error("thread " + std::to_string(number * kLanes + lane) + " accesses shared memory at " +
                  std::to_string(offset) + ", a block has " + std::to_string(block.shared.size()) + " bytes");
    touch(offset, bytes, writes, lane);
    return &block.shared[offset];
  }
  if (address < lastStart || address + bytes > lastEnd) {
    auto range = machine.ranges.upper_bound(address);
    if (range == machine.ranges.begin() || (--range)->second < address + bytes)
      throw Error("thread " + std::to_string(number * kLanes + lane) + (writes ? " writes" : " reads") +
                  " global memory that it was not given");
    lastStart = range->first;
    lastEnd = range->second;
  }
  return reinterpret_cast<uint8_t *>(address);
}

void Warp::touch(uint64_t offset, int bytes, bool writes, int lane) {
  int thread = number * kLanes + lane;
  for (int i = 0; i < bytes; ++i) {
    Block::Touch &touch = block.touches[offset + i];
    if (touch.epoch != block.epoch)
      touch = {block.epoch, -1, -1};
    bool races =
        (touch.writer >= 0 && touch.writer != thread) || (writes && touch.reader != -1 && touch.reader != thread);
    if (races)
      throw Error("threads " + std::to_string(thread) + " and " +
                  std::to_string(touch.writer >= 0 ? touch.writer : touch.reader) + " access shared memory at " +
                  std::to_string(offset + i) + " with no barrier between them");
    if (writes)
      touch.writer = thread;
    else
      touch.reader = touch.reader == -1 || touch.reader == thread ? thread : -2;
  }
}

} // namespace tilewright::ptx
