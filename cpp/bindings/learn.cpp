// The functions of the learner that Python calls. Those that compute receive a thread pool, and the
// function that runs it, of the library that started it (`rungs_pool_runner`).
#include <cstdlib>

#include "../learn/train_step.hpp"
#include "abi.hpp"

namespace rungs::learn {

// Returns `body(model)` of the model at an address, of the type that its products multiply.
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
  std::abort();  // there is no code for it: Python rejects it before
}

inline Workers workers(std::uintptr_t runner, std::uintptr_t pool, std::int64_t threads) {
  return {reinterpret_cast<Runner>(runner), pool, threads};
}

}  // namespace rungs::learn

RUNGS_STRUCTURE(rungs::learn::Parameters<float>, weights, gradient, first_moment, second_moment,
                touched, cleared)
RUNGS_STRUCTURE(rungs::learn::Model<float>, precision, amx, parameters, prepared, workspace,
                square_rows)
RUNGS_STRUCTURE(rungs::learn::Sampling<float>, observation, action, count, uniform, chosen, choice,
                log_probability, value, rows)
RUNGS_STRUCTURE(rungs::learn::BatchPositions, observation, action, count, row, rows)
RUNGS_STRUCTURE(rungs::learn::PpoBatch<float>, positions, choice, old_log_probability, advantage,
                returns, clip_coef, vf_coef, ent_coef)
RUNGS_STRUCTURE(rungs::learn::SearchBatch<float>, positions, policy, value, vf_coef)
RUNGS_STRUCTURE(rungs::learn::AdamSettings, learning_rate, eps, max_grad_norm, step)

// The number of weights, and of weights in a unit.
RUNGS_FUNCTION(std::int64_t, rungs_learn_weights) { return rungs::learn::kWeights; }

RUNGS_FUNCTION(std::int64_t, rungs_learn_unit) { return rungs::learn::kUnit; }

// Whether products of bfloat16 were compiled.
RUNGS_FUNCTION(std::int64_t, rungs_learn_has_bfloat16) { return rungs::learn::kHasBf16; }

// Asks for AMX's tiles; returns whether this process may use them.
RUNGS_FUNCTION(std::int64_t, rungs_learn_request_amx) { return rungs::learn::request_amx(); }

// Bytes of the weights prepared for products of numbers of `precision` bytes; and of the workspace
// of a minibatch, of numbers of `bytes` bytes.
RUNGS_FUNCTION(std::int64_t, rungs_learn_prepared_bytes, std::int64_t precision) {
  using namespace rungs::learn;
  return precision == 8   ? sizeof(Prepared<double>)
         : precision == 4 ? sizeof(Prepared<float>)
                          : sizeof(Prepared<bf16x2>);
}

RUNGS_FUNCTION(std::int64_t, rungs_learn_workspace_bytes, std::int64_t bytes, std::int64_t rows) {
  using namespace rungs::learn;
  return bytes == 4 ? workspace_bytes<float>(rows) : workspace_bytes<double>(rows);
}

// Prepares the weights for inference, if they have changed.
RUNGS_FUNCTION(void, rungs_learn_refresh, std::uintptr_t model, std::uintptr_t runner,
               std::uintptr_t pool, std::int64_t threads) {
  rungs::learn::with_model(model, [&](const auto& own) {
    rungs::learn::refresh(own, rungs::learn::workers(runner, pool, threads));
  });
}

// Writes `square_rows` of a network with products of bfloat16, whose weights are prepared.
RUNGS_FUNCTION(void, rungs_learn_round_squares, std::uintptr_t model, std::uintptr_t runner,
               std::uintptr_t pool, std::int64_t threads) {
  using namespace rungs::learn;
  round_squares(rungs::at<const Model<bf16x2>>(model), workers(runner, pool, threads));
}

// The functions that read positions return the index of an invalid one, or -1. A position is
// invalid if a square holds something else than a piece, if an action doesn't exist or leaves the
// board, or if it has too many or too few actions.

RUNGS_FUNCTION(std::int64_t, rungs_learn_sample, std::uintptr_t model, std::uintptr_t sampling,
               std::uintptr_t runner, std::uintptr_t pool, std::int64_t threads) {
  using namespace rungs::learn;
  return with_model(model, [&]<class U>(const Model<U>& own) {
    return sample(own, rungs::at<const Sampling<Accum<U>>>(sampling),
                  workers(runner, pool, threads));
  });
}

RUNGS_FUNCTION(std::int64_t, rungs_learn_values, std::uintptr_t model, std::uintptr_t observation,
               std::int64_t rows, std::uintptr_t value, std::uintptr_t runner, std::uintptr_t pool,
               std::int64_t threads) {
  using namespace rungs::learn;
  return with_model(model, [&]<class U>(const Model<U>& own) {
    return values(own, reinterpret_cast<const std::int8_t*>(observation), rows,
                  reinterpret_cast<Accum<U>*>(value), workers(runner, pool, threads));
  });
}

RUNGS_FUNCTION(std::int64_t, rungs_learn_evaluate, std::uintptr_t model, std::uintptr_t observation,
               std::uintptr_t action, std::uintptr_t count, std::int64_t rows, std::int64_t width,
               std::uintptr_t score, std::uintptr_t value, std::uintptr_t runner,
               std::uintptr_t pool, std::int64_t threads) {
  using namespace rungs::learn;
  return with_model(model, [&]<class U>(const Model<U>& own) {
    return evaluate(own, reinterpret_cast<const std::int8_t*>(observation),
                    reinterpret_cast<const std::int16_t*>(action),
                    reinterpret_cast<const std::int16_t*>(count), rows, width,
                    reinterpret_cast<Accum<U>*>(score), reinterpret_cast<Accum<U>*>(value),
                    workers(runner, pool, threads));
  });
}

// Writes the four terms of PPO's loss, doubles, to `terms`.
RUNGS_FUNCTION(std::int64_t, rungs_learn_gradients, std::uintptr_t model, std::uintptr_t minibatch,
               std::uintptr_t terms, std::uintptr_t runner, std::uintptr_t pool,
               std::int64_t threads) {
  using namespace rungs::learn;
  return with_model(model, [&]<class U>(const Model<U>& own) {
    const auto& batch = rungs::at<const PpoBatch<Accum<U>>>(minibatch);
    return gradients(own, batch.positions, PpoLoss<Accum<U>>(batch), rungs::at<LossTerms>(terms),
                     workers(runner, pool, threads));
  });
}

// Writes the terms of AlphaZero's loss: policy, value, and two zeros.
RUNGS_FUNCTION(std::int64_t, rungs_learn_search_gradients, std::uintptr_t model,
               std::uintptr_t minibatch, std::uintptr_t terms, std::uintptr_t runner,
               std::uintptr_t pool, std::int64_t threads) {
  using namespace rungs::learn;
  return with_model(model, [&]<class U>(const Model<U>& own) {
    const auto& batch = rungs::at<const SearchBatch<Accum<U>>>(minibatch);
    return gradients(own, batch.positions, SearchLoss<Accum<U>>(batch), rungs::at<LossTerms>(terms),
                     workers(runner, pool, threads));
  });
}

// Returns 1; or 0 if the gradients' norm isn't finite, and then no weight has changed.
RUNGS_FUNCTION(std::int64_t, rungs_learn_step, std::uintptr_t model, std::uintptr_t settings,
               std::uintptr_t runner, std::uintptr_t pool, std::int64_t threads) {
  using namespace rungs::learn;
  return with_model(model, [&](const auto& own) -> std::int64_t {
    return adam_step(own, rungs::at<const AdamSettings>(settings), workers(runner, pool, threads));
  });
}

// Marks the weights that have moments, after these were written.
RUNGS_FUNCTION(void, rungs_learn_mark_touched, std::uintptr_t model) {
  rungs::learn::with_model(model,
                           [](const auto& own) { rungs::learn::mark_touched(own.parameters); });
}
