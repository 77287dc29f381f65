// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The statements of the template language.
#include "runtime/tokenize/JinjaParser.h"

#include "runtime/api/Error.h"
#include "runtime/tokenize/JinjaExpressionParser.h"

#include <algorithm>

namespace tilewright::jinja {

namespace {

using Kind = Statement::Kind;

class StatementParser : public ExpressionParser {
public:
  using ExpressionParser::ExpressionParser;

  Body run() {
    Body body = statements({});
    if (current().kind != Token::Kind::End)
      failUnexpected("the end of the template");
    return body;
  }

private:
  /// Statements up to a block whose word is one of `ends`, of which "{%" and the word have then been read.
  Body statements(std::initializer_list<std::string_view> ends) {
    const Level level(*this);
    const uint32_t beginLine = current().line;
    Body body;
    for (;;) {
      const Token &token = current();
      switch (token.kind) {
      case Token::Kind::End:
        if (ends.size() > 0)
          fail(TW_CORRUPT, "the template ends inside a block begun at line " + std::to_string(beginLine) +
                               ", wanted '" + std::string(*(ends.end() - 1)) + "'");
        return body;
      case Token::Kind::Data:
        body.push_back(make(Kind::Data));
        body.back().data = next().text;
        break;
      case Token::Kind::PrintBegin:
        next();
        body.push_back(make(Kind::Print));
        body.back().expression = tuple();
        if (current().kind != Token::Kind::PrintEnd)
          failUnexpected("'}}'");
        next();
        break;
      default:
        next();
        if (current().kind != Token::Kind::Name)
          failUnexpected("a statement's name");
        if (std::find(ends.begin(), ends.end(), current().text) != ends.end())
          return body;
        body.push_back(statement());
      }
    }
  }

  Statement make(Kind kind) const {
    Statement made;
    made.kind = kind;
    made.line = current().line;
    return made;
  }

  void endBlock() {
    if (current().kind != Token::Kind::BlockEnd)
      failUnexpected("'%}'");
    next();
  }
  void endBlock(std::string_view word) {
    if (!accept(Token::Kind::Name, word))
      failUnexpected("'" + std::string(word) + "'");
    endBlock();
  }

  Statement statement() {
    const std::string &word = current().text;
    if (word == "if")
      return ifStatement();
    if (word == "for")
      return forStatement();
    if (word == "set")
      return setStatement();
    if (word == "macro")
      return macroStatement();
    if (word == "generation") // marks the model's own words for training; prints its body
      return groupStatement();
    if (word == "break" || word == "continue") {
      Statement made = make(word == "break" ? Kind::Break : Kind::Continue);
      if (loops == 0)
        fail(TW_CORRUPT, "'" + word + "' outside of a loop");
      next();
      endBlock();
      return made;
    }
    static constexpr std::string_view known[] = {"block",   "call", "extends",    "filter", "from",  "import",
                                                 "include", "with", "autoescape", "do",     "trans", "debug"};
    if (std::find(std::begin(known), std::end(known), word) != std::end(known))
      fail(TW_UNSUPPORTED, "the statement '" + word + "' is not supported");
    fail(TW_CORRUPT, "unknown statement '" + word + "'");
  }

  Statement ifStatement() {
    Statement made = make(Kind::If);
    for (bool more = true; more;) {
      Statement::Branch branch;
      const std::string word = next().text;
      if (word == "else")
        more = false;
      else
        branch.condition = tuple(false);
      endBlock();
      branch.body = more ? statements({"elif", "else", "endif"}) : statements({"endif"});
      made.branches.push_back(std::move(branch));
      more = more && !seesName("endif");
    }
    endBlock("endif");
    return made;
  }

  Statement forStatement() {
    Statement made = make(Kind::For);
    next();
    made.target = target(false);
    if (!accept(Token::Kind::Name, "in"))
      failUnexpected("'in'");
    made.expression = tuple(false);
    if (accept(Token::Kind::Name, "if"))
      made.condition = expression();
    if (seesName("recursive"))
      fail(TW_UNSUPPORTED, "a recursive loop is not supported");
    endBlock();
    ++loops;
    made.body = statements({"else", "endfor"});
    --loops;
    if (accept(Token::Kind::Name, "else")) {
      endBlock();
      made.otherwise = statements({"endfor"});
    }
    endBlock("endfor");
    return made;
  }

  Target target(bool withAttribute) {
    Target made;
    const bool parenthesis = acceptOperator("(");
    made.names.push_back(expectName("a variable's name"));
    if (withAttribute && acceptOperator(".")) {
      made.attribute = expectName("an attribute's name");
      return made;
    }
    while (acceptOperator(",")) {
      made.unpack = true;
      if (current().kind != Token::Kind::Name || seesName("in"))
        break;
      made.names.push_back(expectName("a variable's name"));
    }
    if (parenthesis)
      expectOperator(")");
    return made;
  }

  Statement setStatement() {
    Statement made = make(Kind::Set);
    next();
    made.target = target(true);
    if (acceptOperator("=")) {
      made.expression = tuple();
      endBlock();
      return made;
    }
    if (seesOperator("|"))
      fail(TW_UNSUPPORTED, "a filter on a set block is not supported");
    if (made.target.unpack)
      failUnexpected("'='");
    endBlock();
    made.kind = Kind::SetBlock;
    made.body = statements({"endset"});
    endBlock("endset");
    return made;
  }

  Statement groupStatement() {
    Statement made = make(Kind::Group);
    next();
    endBlock();
    made.body = statements({"endgeneration"});
    endBlock("endgeneration");
    return made;
  }

  Statement macroStatement() {
    Statement made = make(Kind::Macro);
    if (loops > 0 || inMacro)
      fail(TW_UNSUPPORTED, "a macro inside a loop or a macro is not supported");
    next();
    made.macro = std::make_unique<MacroNode>();
    made.macro->line = made.line;
    made.macro->name = expectName("a macro's name");
    expectOperator("(");
    while (!seesOperator(")")) {
      made.macro->parameters.push_back(expectName("a parameter's name"));
      if (acceptOperator("="))
        made.macro->defaults.push_back(expression());
      else if (!made.macro->defaults.empty())
        fail(TW_CORRUPT, "parameter '" + made.macro->parameters.back() + "' without a default follows one with");
      if (!acceptOperator(","))
        break;
    }
    expectOperator(")");
    endBlock();
    inMacro = true;
    made.macro->body = statements({"endmacro"});
    inMacro = false;
    endBlock("endmacro");
    return made;
  }

  uint32_t loops = 0;
  bool inMacro = false;
};

} // namespace

Body parse(std::string_view source, uint32_t maxDepth) { return StatementParser(lex(source), maxDepth).run(); }

} // namespace tilewright::jinja
