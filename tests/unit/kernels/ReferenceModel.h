// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The model of tests/e2e/Inputs/layer.mlir in plain double arithmetic, sequence by sequence.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace tilewright::test {

struct ModelShape {
  int64_t embedding, heads, headsKv, dim, hidden, vocabulary;
};

using Row = std::vector<double>;

/// One sequence's keys and values, and what its rows become.
class ReferenceModel {
public:
  ReferenceModel(ModelShape shape, const std::map<std::string, std::vector<double>> &weights)
      : s(shape), weights(weights) {}

  /// The logits behind the next token of the sequence.
  Row next(int32_t token) {
    Row x(s.embedding);
    for (int64_t i = 0; i < s.embedding; ++i)
      x[i] = weights.at("emb")[token * s.embedding + i];
    Row n = norm(x, "g1");
    Row q = linear(n, "wq", s.heads * s.dim), k = linear(n, "wk", s.headsKv * s.dim);
    rotate(q, s.heads);
    rotate(k, s.headsKv);
    keys.push_back(k);
    values.push_back(linear(n, "wv", s.headsKv * s.dim));
    Row h = linear(attend(q), "wo", s.embedding);
    for (int64_t i = 0; i < s.embedding; ++i)
      h[i] += x[i];
    Row m = norm(h, "g2");
    Row gate = linear(m, "wg", s.hidden), up = linear(m, "wu", s.hidden);
    for (int64_t i = 0; i < s.hidden; ++i)
      gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
    Row y = linear(gate, "wd", s.embedding);
    for (int64_t i = 0; i < s.embedding; ++i)
      y[i] += h[i];
    return linear(norm(y, "gf"), "emb", s.vocabulary);
  }
  int64_t length() const { return keys.size(); }

private:
  Row norm(const Row &x, const char *weight) {
    double sum = 0;
    for (double v : x)
      sum += v * v;
    double factor = 1 / std::sqrt(sum / x.size() + 1e-5);
    Row y(x.size());
    for (size_t i = 0; i < x.size(); ++i)
      y[i] = x[i] * factor * weights.at(weight)[i];
    return y;
  }
  Row linear(const Row &x, const char *weight, int64_t columns) {
    const std::vector<double> &w = weights.at(weight);
    Row y(columns);
    for (int64_t o = 0; o < columns; ++o)
      for (size_t i = 0; i < x.size(); ++i)
        y[o] += x[i] * w[o * x.size() + i];
    return y;
  }
  void rotate(Row &x, int64_t count) {
    int64_t half = s.dim / 2;
    for (int64_t h = 0; h < count; ++h)
      for (int64_t i = 0; i < half; ++i) {
        double angle = length() * std::pow(10000.0, -2.0 * i / s.dim);
        double a = x[h * s.dim + i], b = x[h * s.dim + half + i];
        x[h * s.dim + i] = a * std::cos(angle) - b * std::sin(angle);
        x[h * s.dim + half + i] = b * std::cos(angle) + a * std::sin(angle);
      }
  }
  Row attend(const Row &q) {
    Row out(s.heads * s.dim);
    for (int64_t h = 0; h < s.heads; ++h) {
      int64_t kv = h / (s.heads / s.headsKv);
      Row weight(keys.size());
      double sum = 0;
      for (size_t j = 0; j < keys.size(); ++j) {
        double score = 0;
        for (int64_t d = 0; d < s.dim; ++d)
          score += q[h * s.dim + d] * keys[j][kv * s.dim + d];
        sum += weight[j] = std::exp(0.11 * score);
      }
      for (size_t j = 0; j < keys.size(); ++j)
        for (int64_t d = 0; d < s.dim; ++d)
          out[h * s.dim + d] += weight[j] / sum * values[j][kv * s.dim + d];
    }
    return out;
  }

  ModelShape s;
  const std::map<std::string, std::vector<double>> &weights;
  std::vector<Row> keys, values;
};

} // namespace tilewright::test
