// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The syntax tree of a template.
#pragma once

#include "runtime/tokenize/JinjaValue.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

struct Expression {
  enum class Kind {
    Constant,    ///< value
    Name,        ///< name
    List,        ///< [operands...]; tuples too
    Dict,        ///< {operands[0]: operands[1], ...}
    Attribute,   ///< operands[0].name
    Subscript,   ///< operands[0][operands[1]]
    Slice,       ///< operands[0][operands[1]:operands[2]:operands[3]], each of the three may be null
    Call,        ///< operands[0](operands[1...], keywords)
    Filter,      ///< operands[0]|name(operands[1...], keywords)
    Test,        ///< operands[0] is name(operands[1...], keywords)
    Negate,      ///< -operands[0]
    Plus,        ///< +operands[0]
    Not,         ///< not operands[0]
    Arithmetic,  ///< operands[0] name operands[1], name one of + - * / // % ~
    Compare,     ///< operands[0] operators[0] operands[1] operators[1] operands[2] ...
    And,         ///< operands[0] and operands[1]
    Or,          ///< operands[0] or operands[1]
    Conditional, ///< operands[0] if operands[1] else operands[2], which may be null
  };
  Kind kind;
  uint32_t line;
  uint32_t depth = 1; ///< nodes on the longest way down
  std::string name;
  Value value;
  std::vector<ExpressionPtr> operands;
  std::vector<std::pair<std::string, ExpressionPtr>> keywords;
  std::vector<std::string> operators;
};

struct Statement;
using Body = std::vector<Statement>;

/// What `set` and `for` assign to: names, or one attribute of a namespace.
struct Target {
  std::vector<std::string> names;
  std::string attribute; ///< empty, or names has one entry, the namespace
  bool unpack = false;   ///< the value is a list of as many items as there are names
};

struct MacroNode {
  std::string name;
  uint32_t line;
  std::vector<std::string> parameters;
  std::vector<ExpressionPtr> defaults; ///< of the last parameters
  Body body;
};

struct Statement {
  enum class Kind {
    Data,     ///< data
    Print,    ///< {{ expression }}
    If,       ///< branches
    For,      ///< target in expression if condition: body, else otherwise
    Set,      ///< target = expression
    SetBlock, ///< target = what body prints
    Group,    ///< body, in the same scope
    Macro,    ///< macro
    Break,
    Continue,
  };
  struct Branch {
    ExpressionPtr condition; ///< null: else
    Body body;
  };
  Kind kind;
  uint32_t line;
  std::string data;
  ExpressionPtr expression;
  ExpressionPtr condition;
  Target target;
  Body body;
  Body otherwise;
  std::vector<Branch> branches;
  std::unique_ptr<MacroNode> macro;
};

} // namespace tilewright::jinja
