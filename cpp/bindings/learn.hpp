// What Python calls of the learner: see lib/rungs/train/learners/native.py. All that computes is
// given a team and how another library runs it (`rungs_team_runner`).
#pragma once
#include <cstdlib>

#include "../course/gemm_ladder.hpp"
#include "../learn/train_step.hpp"
#include "at.hpp"

namespace rungs::learn {

// Returns `body(model)` of the model at an address, by what its products take.
template <class Body>
auto with_model(std::uintptr_t address, const Body& body) {
  switch (at<const Model<float>>(address).precision) {
    case sizeof(double):
      return body(at<const Model<double>>(address));
    case sizeof(float):
      return body(at<const Model<float>>(address));
    case 2:  // bytes of a bfloat16
      if constexpr (kHasBf16) return body(at<const Model<bf16x2>>(address));
  }
  std::abort();  // there is no code for it: Python refuses it before
}

inline Workers workers(std::uintptr_t runner, std::uintptr_t team, std::int64_t threads) {
  return {reinterpret_cast<Runner>(runner), team, threads};
}

}  // namespace rungs::learn

extern "C" {

// What Python compares with its picture of the structs; at most 4095 characters.
void rungs_learn_layout(std::uintptr_t out) {
  using namespace rungs;
  using namespace rungs::learn;
  std::string text;
  {
    using Batch = Model<float>;
    text += layout(
        "Model", sizeof(Batch),
        {RUNGS_MIRRORED(Batch, precision), RUNGS_MIRRORED(Batch, parameters.weights),
         RUNGS_MIRRORED(Batch, parameters.gradient), RUNGS_MIRRORED(Batch, parameters.first_moment),
         RUNGS_MIRRORED(Batch, parameters.second_moment), RUNGS_MIRRORED(Batch, parameters.touched),
         RUNGS_MIRRORED(Batch, prepared), RUNGS_MIRRORED(Batch, workspace)});
  }
  {
    using Batch = Sampling<float>;
    text += layout("Sampling", sizeof(Batch),
                   {RUNGS_MIRRORED(Batch, observation), RUNGS_MIRRORED(Batch, action),
                    RUNGS_MIRRORED(Batch, count), RUNGS_MIRRORED(Batch, uniform),
                    RUNGS_MIRRORED(Batch, chosen), RUNGS_MIRRORED(Batch, choice),
                    RUNGS_MIRRORED(Batch, log_probability), RUNGS_MIRRORED(Batch, value),
                    RUNGS_MIRRORED(Batch, rows)});
  }
  {
    using Batch = PpoBatch<float>;
    text += layout(
        "PpoBatch", sizeof(Batch),
        {RUNGS_MIRRORED(Batch, positions.observation), RUNGS_MIRRORED(Batch, positions.action),
         RUNGS_MIRRORED(Batch, positions.count), RUNGS_MIRRORED(Batch, positions.row),
         RUNGS_MIRRORED(Batch, positions.rows), RUNGS_MIRRORED(Batch, choice),
         RUNGS_MIRRORED(Batch, old_log_probability), RUNGS_MIRRORED(Batch, advantage),
         RUNGS_MIRRORED(Batch, returns), RUNGS_MIRRORED(Batch, clip_coef),
         RUNGS_MIRRORED(Batch, vf_coef), RUNGS_MIRRORED(Batch, ent_coef)});
  }
  {
    using Batch = SearchBatch<float>;
    text += layout(
        "SearchBatch", sizeof(Batch),
        {RUNGS_MIRRORED(Batch, positions.observation), RUNGS_MIRRORED(Batch, positions.action),
         RUNGS_MIRRORED(Batch, positions.count), RUNGS_MIRRORED(Batch, positions.row),
         RUNGS_MIRRORED(Batch, positions.rows), RUNGS_MIRRORED(Batch, policy),
         RUNGS_MIRRORED(Batch, outcome), RUNGS_MIRRORED(Batch, vf_coef)});
  }
  text += layout("AdamSettings", sizeof(AdamSettings),
                 {RUNGS_MIRRORED(AdamSettings, learning_rate), RUNGS_MIRRORED(AdamSettings, eps),
                  RUNGS_MIRRORED(AdamSettings, max_grad_norm), RUNGS_MIRRORED(AdamSettings, step)});
  write_text(text, out, 4096);
}

// How many weights there are, and in units of how many they are kept.
std::int64_t rungs_learn_weights() { return rungs::learn::kWeights; }

std::int64_t rungs_learn_unit() { return rungs::learn::kUnit; }

// Whether this processor's products take bfloat16.
std::int64_t rungs_learn_has_bfloat16() { return rungs::learn::kHasBf16; }

// Bytes of the weights as they are prepared for products that take numbers of `precision` bytes;
// and of the memory that a minibatch needs, of numbers of `bytes`.
std::int64_t rungs_learn_prepared_bytes(std::int64_t precision) {
  using namespace rungs::learn;
  return precision == 8   ? sizeof(Prepared<double>)
         : precision == 4 ? sizeof(Prepared<float>)
                          : sizeof(Prepared<bf16x2>);
}

std::int64_t rungs_learn_workspace_bytes(std::int64_t bytes, std::int64_t rows) {
  using namespace rungs::learn;
  return bytes == 4 ? workspace_bytes<float>(rows) : workspace_bytes<double>(rows);
}

// Makes the weights ready for what plays, where they aren't.
void rungs_learn_refresh(std::uintptr_t model, std::uintptr_t runner, std::uintptr_t team,
                         std::int64_t threads) {
  rungs::learn::with_model(model, [&](const auto& own) {
    rungs::learn::refresh(own, rungs::learn::workers(runner, team, threads));
  });
}

// What reads positions returns the first that can't be read, or -1: one with something else than
// pieces on its squares, with an action that there is not, or that leaves the board, or with too
// many or too few.

std::int64_t rungs_learn_sample(std::uintptr_t model, std::uintptr_t sampling,
                                std::uintptr_t runner, std::uintptr_t team, std::int64_t threads) {
  using namespace rungs::learn;
  return with_model(model, [&]<class U>(const Model<U>& own) {
    return sample(own, rungs::at<const Sampling<Accum<U>>>(sampling),
                  workers(runner, team, threads));
  });
}

std::int64_t rungs_learn_values(std::uintptr_t model, std::uintptr_t observation, std::int64_t rows,
                                std::uintptr_t value, std::uintptr_t runner, std::uintptr_t team,
                                std::int64_t threads) {
  using namespace rungs::learn;
  return with_model(model, [&]<class U>(const Model<U>& own) {
    return values(own, reinterpret_cast<const std::int8_t*>(observation), rows,
                  reinterpret_cast<Accum<U>*>(value), workers(runner, team, threads));
  });
}

std::int64_t rungs_learn_evaluate(std::uintptr_t model, std::uintptr_t observation,
                                  std::uintptr_t action, std::uintptr_t count, std::int64_t rows,
                                  std::int64_t width, std::uintptr_t score, std::uintptr_t value,
                                  std::uintptr_t runner, std::uintptr_t team,
                                  std::int64_t threads) {
  using namespace rungs::learn;
  return with_model(model, [&]<class U>(const Model<U>& own) {
    return evaluate(own, reinterpret_cast<const std::int8_t*>(observation),
                    reinterpret_cast<const std::int16_t*>(action),
                    reinterpret_cast<const std::int16_t*>(count), rows, width,
                    reinterpret_cast<Accum<U>*>(score), reinterpret_cast<Accum<U>*>(value),
                    workers(runner, team, threads));
  });
}

// Writes the four terms of PPO's loss, doubles, to `terms`.
std::int64_t rungs_learn_gradients(std::uintptr_t model, std::uintptr_t minibatch,
                                   std::uintptr_t terms, std::uintptr_t runner, std::uintptr_t team,
                                   std::int64_t threads) {
  using namespace rungs::learn;
  return with_model(model, [&]<class U>(const Model<U>& own) {
    const auto& batch = rungs::at<const PpoBatch<Accum<U>>>(minibatch);
    return gradients(own, batch.positions, PpoLoss<Accum<U>>(batch), rungs::at<LossTerms>(terms),
                     workers(runner, team, threads));
  });
}

// Writes the terms of AlphaZero's loss: policy, value, and two zeros.
std::int64_t rungs_learn_search_gradients(std::uintptr_t model, std::uintptr_t minibatch,
                                          std::uintptr_t terms, std::uintptr_t runner,
                                          std::uintptr_t team, std::int64_t threads) {
  using namespace rungs::learn;
  return with_model(model, [&]<class U>(const Model<U>& own) {
    const auto& batch = rungs::at<const SearchBatch<Accum<U>>>(minibatch);
    return gradients(own, batch.positions, SearchLoss<Accum<U>>(batch), rungs::at<LossTerms>(terms),
                     workers(runner, team, threads));
  });
}

// Returns 1; or 0 where the gradients' norm isn't finite, and no weight was moved.
std::int64_t rungs_learn_step(std::uintptr_t model, std::uintptr_t settings, std::uintptr_t runner,
                              std::uintptr_t team, std::int64_t threads) {
  using namespace rungs::learn;
  return with_model(model, [&](const auto& own) -> std::int64_t {
    return adam_step(own, rungs::at<const AdamSettings>(settings), workers(runner, team, threads));
  });
}

// Marks the weights that have moments, after these were written.
void rungs_learn_mark_touched(std::uintptr_t model) {
  rungs::learn::with_model(model,
                           [](const auto& own) { rungs::learn::mark_touched(own.parameters); });
}

// Multiplies matrices, (n, n) floats, by the version of that number, in the order of `VERSIONS` in
// lib/rungs_course/studies/products.py.
void rungs_learn_product(std::int64_t version, std::uintptr_t a, std::uintptr_t b, std::uintptr_t c,
                         std::int64_t n, std::uintptr_t runner, std::uintptr_t team,
                         std::int64_t threads) {
  using namespace rungs::learn;
  constexpr decltype(&ladder::naive) kVersions[] = {ladder::naive, ladder::rows, ladder::blocked,
                                                    ladder::registers};
  const auto* left = reinterpret_cast<const float*>(a);
  const auto* right = reinterpret_cast<const float*>(b);
  auto* result = reinterpret_cast<float*>(c);
  const auto size = static_cast<int>(n);
  if (version < 4) return kVersions[version](left, right, result, size);
  ladder::threads(left, right, result, size, workers(runner, team, threads));
}

}  // extern "C"
