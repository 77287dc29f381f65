// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs kernels of a PTX program: a grid of blocks, one after another, of warps of 32 lanes.
//
// Lanes of a warp go together as far as their program counters agree; of those that differ the lowest goes first, so
// that they meet again behind a branch. Warps run from barrier to barrier, in an order that changes from one to the
// next. An instruction that is not known, an access outside of the memory that was allowed, a shared access that races
// with another thread's since the last barrier, and a warp-wide instruction that some lanes never reach are errors that
// name the instruction.
//
// Not modelled: time, caches, bank conflicts, and the rounding inside of a matrix instruction (sums are in f64).
#pragma once

#include "tests/ptx/Program.h"

#include <array>
#include <memory>
#include <optional>

namespace tilewright::ptx {

inline constexpr int kLanes = 32;

class Machine {
public:
  /// Reads a program; null with what is wrong with it, if anything is.
  static std::pair<std::unique_ptr<Machine>, std::string> create(const std::string &text);

  /// Kernels may read and write these bytes. Addresses of global memory are those of this process.
  void allow(const void *data, size_t bytes);
  /// Nothing that was allowed is so any longer.
  void forbidAll();

  struct Launch {
    std::string kernel;
    std::vector<uint64_t> arguments; ///< bits of each parameter
    int64_t blocks = 1;
    int threads = kLanes;
    uint64_t sharedBytes = 0; ///< of extern shared variables
  };
  /// Runs a launch; returns what went wrong, if anything did.
  std::optional<std::string> run(const Launch &launch);

  /// Instructions that warps have executed.
  uint64_t executed() const { return count; }

private:
  explicit Machine(const std::string &text);
  friend class Warp;
  Program program;
  std::map<uint64_t, uint64_t> ranges; ///< allowed bytes, start to end
  uint64_t count = 0;
};

/// One block's memory, and who touched it since the last barrier.
struct Block {
  std::vector<uint8_t> shared;
  struct Touch {
    uint32_t epoch = 0;
    int32_t writer = -1, reader = -1; ///< threads; -2 for more than one reader
  };
  std::vector<Touch> touches; ///< one per byte
  uint32_t epoch = 1;
  int64_t number = 0, blocks = 1;
  int threads = kLanes;
  std::vector<uint8_t> parameters;
};

class Warp {
public:
  Warp(Machine &machine, const Kernel &kernel, Block &block, int number);

  /// Runs until every lane has returned or waits at a barrier; returns whether any waits.
  bool run();

  // For the instructions.
  uint64_t get(const Operand &operand, int lane) const;
  void put(const Operand &operand, int lane, uint64_t bits) { registers[operand.index][lane] = bits; }
  template <typename Body> void each(Body body) {
    for (int lane = 0; lane < kLanes; ++lane)
      if (mask >> lane & 1)
        body(lane);
  }
  uint64_t addressOf(const Operand &operand, int lane) const;
  /// The bytes at an address of a state space ("global", "shared", "param" or "" for generic), checked.
  uint8_t *access(const std::string &space, uint64_t address, int bytes, bool writes, int lane);
  Machine &machine;
  const Kernel &kernel;
  Block &block;
  const int number;
  uint32_t mask = 0; ///< lanes that execute the instruction at hand

private:
  void touch(uint64_t address, int bytes, bool writes, int lane);
  void branch(const Instruction &instruction, int at);

  std::vector<std::array<uint64_t, kLanes>> registers;
  std::array<int, kLanes> counters{};
  uint32_t alive = 0;
  uint64_t lastStart = 1, lastEnd = 0; ///< the allowed range of the last access
};

/// What an instruction other than a jump, a return or a barrier does.
using Handler = void (*)(Warp &, const Instruction &);
/// The handlers by the first part of the name. Each family's file adds its own.
std::map<std::string, Handler> arithmeticHandlers();
std::map<std::string, Handler> conversionHandlers();
std::map<std::string, Handler> memoryHandlers();
std::map<std::string, Handler> warpHandlers();

[[noreturn]] void unsupported(const Instruction &instruction);

} // namespace tilewright::ptx
