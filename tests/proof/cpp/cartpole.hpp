// Plays CartPole at random, in buffers of exactly their size, and writes out where it stands.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "rungs/cartpole.hpp"

namespace rungs {

template <class Real>
void play_cartpole(std::int64_t envs, std::int64_t steps, env::Autoreset autoreset,
                   std::int64_t at_once) {
  const std::int64_t stride = (envs + 63) / 64 * 64;
  // Memory of its own for each array, which ends where that does.
  std::vector<std::unique_ptr<std::byte[]>> memory;
  const auto allocate = [&]<class T>(T*& array, std::int64_t count) {
    memory.push_back(std::make_unique<std::byte[]>(count * sizeof(T)));
    array = reinterpret_cast<T*>(memory.back().get());
  };
  CartPoleBatch batch = {};
  batch.config.seed = 1ULL << 63;
  batch.config.precision = sizeof(Real);
  batch.config.autoreset = autoreset;
  batch.config.max_episode_steps = 40;
  batch.config.workload = 2;
  batch.num_envs = envs;
  batch.stride = stride;
  batch.first_env = 5;
  Real* state;
  for (float** rows : {&batch.observation, &batch.final_observation}) allocate(*rows, 4 * stride);
  for (bool** flags : {&batch.terminated, &batch.truncated, &batch.ended}) allocate(*flags, stride);
  allocate(state, 4 * stride);
  allocate(batch.steps, stride);
  allocate(batch.episode, stride);
  allocate(batch.reward, stride);
  allocate(batch.chosen, stride);
  batch.state = state;
  std::vector<double> rewards(envs);
  std::vector<std::int32_t> ends(envs);
  cartpole::reset<Real>(batch, nullptr, 0);
  for (std::int64_t done = 0; done < steps; done += at_once)
    cartpole::step<Real>(batch, {at_once, nullptr, done, rewards.data(), ends.data()}, 2);
  std::vector<std::int64_t> given(envs);
  given[envs - 1] = 2;
  if (check_and_latch(batch, given.data()) != envs - 1) std::abort();
  for (int row = 0; row < 4; ++row) std::fwrite(state + row * stride, sizeof(Real), envs, stdout);
  std::fwrite(batch.steps, sizeof(std::int32_t), envs, stdout);
  std::fwrite(batch.episode, sizeof(std::uint32_t), envs, stdout);
  std::fwrite(batch.ended, 1, envs, stdout);
}

}  // namespace rungs
