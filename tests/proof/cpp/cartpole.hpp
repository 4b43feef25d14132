// Plays CartPole at random, in buffers of exactly their size, and writes out where it stands.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "rungs/cartpole.hpp"

namespace rungs {

// Memory of its own, which ends where the array does.
template <class Number>
std::unique_ptr<Number[]> array(std::int64_t count) {
  return std::make_unique<Number[]>(count);
}

template <class Real>
void play_cartpole(std::int64_t envs, std::int64_t steps, env::Autoreset autoreset,
                   std::int64_t at_once) {
  const std::int64_t stride = (envs + 63) / 64 * 64;
  auto state = array<Real>(4 * stride);
  auto age = array<std::int32_t>(stride);
  auto episode = array<std::uint32_t>(stride);
  auto observation = array<float>(4 * stride), final_observation = array<float>(4 * stride);
  auto reward = array<float>(stride);
  auto rewards = array<double>(envs);
  auto chosen = array<std::int8_t>(stride);
  auto terminated = array<bool>(stride), truncated = array<bool>(stride);
  auto ended = array<bool>(stride);
  auto ends = array<std::int32_t>(envs);
  CartPoleBatch batch = {};
  batch.config.seed = 1ULL << 63;
  batch.config.precision = sizeof(Real);
  batch.config.autoreset = autoreset;
  batch.config.max_episode_steps = 40;
  batch.config.workload = 2;
  batch.num_envs = envs;
  batch.stride = stride;
  batch.first_env = 5;
  batch.state = state.get();
  batch.steps = age.get();
  batch.episode = episode.get();
  batch.observation = observation.get();
  batch.reward = reward.get();
  batch.terminated = terminated.get();
  batch.truncated = truncated.get();
  batch.ended = ended.get();
  batch.final_observation = final_observation.get();
  batch.chosen = chosen.get();
  cartpole::reset<Real>(batch, nullptr, 0);
  for (std::int64_t done = 0; done < steps; done += at_once)
    cartpole::step<Real>(batch, {at_once, nullptr, done, rewards.get(), ends.get()}, 2);
  auto given = array<std::int64_t>(envs);
  given[envs - 1] = 2;
  if (check_and_latch(batch, given.get()) != envs - 1) std::abort();
  for (int row = 0; row < 4; ++row)
    std::fwrite(state.get() + row * stride, sizeof(Real), envs, stdout);
  std::fwrite(age.get(), sizeof(std::int32_t), envs, stdout);
  std::fwrite(episode.get(), sizeof(std::uint32_t), envs, stdout);
  std::fwrite(ended.get(), 1, envs, stdout);
}

}  // namespace rungs
