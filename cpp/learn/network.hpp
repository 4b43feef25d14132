// The network of lib/rungs/train/network.py: how wide it is, and where its weights are.
//
//   72 numbers of a board -> squares -> stream -> 2 x (stream += second(relu(first(norm(stream)))))
//                                              -> norm -> query of 64, and value
//   score of a legal action = query * (key of the action + key of who moves and what is taken)
//
// All weights are one row of numbers, a tensor after the other as PyTorch lists them. Each is as
// PyTorch has it, but for that of `squares`: of its (128, 840) the transpose is here, as a piece on
// a square adds a column of it to the stream, and that is a row of 128 neighbours here.
#pragma once
#include <cstdint>

#include "../chess/action.hpp"

namespace rungs::learn {

constexpr int kWidth = 128, kBlocks = 2, kKeys = 64;
constexpr int kPieces = 13;  // -6..6
constexpr int kEmpty = 6;    // where no piece is among them
constexpr int kOthers = 8;   // what follows the squares in an observation
constexpr int kObservation = 64 + kOthers;
constexpr int kInputs = 64 * kPieces + kOthers;
constexpr int kActions = 4672, kCaptures = kPieces * kPieces;
using chess::kMaxLegal;  // of a list of legal actions

// What the others are multiplied by, so that each is at most about 1: numbers of float32, as
// PyTorch's are, also where all others are of float64.
constexpr float kScales[kOthers] = {1, 1, 1, 1, 1.0F / 8, 1.0F / 100, 1.0F / 2, 1};

// A layer y = W x + b, behind a LayerNorm or a ReLU; the query and the value are one.
struct Layer {
  std::int64_t weights;  // where they begin, (outputs, 128)
  std::int64_t bias;
  std::int64_t norm;  // where gamma and beta of the LayerNorm before it are, 2 * 128; -1 for none
  int outputs;
};

// Where everything is.
constexpr std::int64_t kSquares = 0;
constexpr std::int64_t kSquaresBias = kSquares + kInputs * kWidth;
constexpr std::int64_t kFirstBlock = kSquaresBias + kWidth;
constexpr std::int64_t kBlockSize = 2 * kWidth + 2 * (kWidth * kWidth + kWidth);
constexpr std::int64_t kNorm = kFirstBlock + kBlocks * kBlockSize;
constexpr std::int64_t kQuery = kNorm + 2 * kWidth;
constexpr std::int64_t kActionKeys = kQuery + kKeys * kWidth + kKeys;
constexpr std::int64_t kCaptureKeys = kActionKeys + kActions * kKeys;
constexpr std::int64_t kValue = kCaptureKeys + kCaptures * kKeys;
constexpr std::int64_t kWeights = kValue + kWidth + 1;

// Layers by number: a block's first and second, and the head's two.
constexpr int kQueryLayer = 2 * kBlocks, kValueLayer = kQueryLayer + 1, kLayers = kValueLayer + 1;

constexpr Layer layer(int number) {
  if (number == kQueryLayer) return {kQuery, kQuery + kKeys * kWidth, kNorm, kKeys};
  if (number == kValueLayer) return {kValue, kValue + kWidth, kNorm, 1};
  const std::int64_t block = kFirstBlock + number / 2 * kBlockSize, first = block + 2 * kWidth;
  if (number % 2 == 0) return {first, first + kWidth * kWidth, block, kWidth};
  const std::int64_t second = first + kWidth * kWidth + kWidth;
  return {second, second + kWidth * kWidth, -1, kWidth};
}

}  // namespace rungs::learn
