// Gymnasium's CartPole-v1 (after Barto, Sutton and Anderson, 1983): a cart on a rail, a pole on the
// cart, and one step of Euler's method. Formula by formula as in Gymnasium's cartpole.py, but for
// sine and cosine, and divisions by the mass, which are products with 1 / mass.
//
// A value is a number or a vector of numbers, one per environment: the same code is compiled for
// both. No multiplication may be fused with an addition, as that rounds once where other rungs
// round twice: for Clang it is forbidden here, for g++ by -ffp-contract=off, for NVRTC by
// -fmad=false.
#pragma once

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

namespace rungs::cartpole {

constexpr double kGravity = 9.8, kMassOfCart = 1.0, kMassOfPole = 0.1;
constexpr double kMass = kMassOfPole + kMassOfCart;
constexpr double kLength = 0.5;  // half the pole's, metres
constexpr double kMassLength = kMassOfPole * kLength;
constexpr double kForce = 10.0;                                      // newtons, to either side
constexpr double kSeconds = 0.02;                                    // per step
constexpr double kMaxX = 2.4;                                        // metres from the middle
constexpr double kMaxTheta = 12 * 2 * 3.14159265358979323846 / 360;  // radians from upright

// Angles within the limit are so small that a few terms of the Taylor series are exact to one or
// two units in the last place.
constexpr double kSine[] = {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800};
constexpr double kCosine[] = {-1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800};

template <class Real>
constexpr int kTerms = sizeof(Real) == 8 ? 5 : 3;

template <class Value>
struct State {
  Value x, x_dot, theta, theta_dot;
};

// The sum of term[i] * z^i.
template <class Real, class Value>
inline Value series(const double* term, Value z) {
  Value sum = z * 0 + static_cast<Real>(term[kTerms<Real> - 1]);
  for (int i = kTerms<Real> - 2; i >= 0; --i) sum = sum * z + static_cast<Real>(term[i]);
  return sum;
}

template <class Real, class Value>
inline Value sine(Value angle) {
  const Value z = angle * angle;
  return angle + angle * z * series<Real>(kSine, z);
}

template <class Real, class Value>
inline Value cosine(Value angle) {
  const Value z = angle * angle;
  return static_cast<Real>(1) + z * series<Real>(kCosine, z);
}

// The state `tau` seconds later, under a force on the cart.
template <class Real, class Value>
inline State<Value> advance(const State<Value>& s, Value force, Real tau) {
  const Real per_mass = static_cast<Real>(1 / kMass);
  const Real mass_length = static_cast<Real>(kMassLength);
  const Value sin = sine<Real>(s.theta), cos = cosine<Real>(s.theta);
  const Value temp = (force + mass_length * (s.theta_dot * s.theta_dot) * sin) * per_mass;
  const Value theta_acc =
      (static_cast<Real>(kGravity) * sin - cos * temp) /
      (static_cast<Real>(kLength) *
       (static_cast<Real>(4.0 / 3.0) - static_cast<Real>(kMassOfPole) * (cos * cos) * per_mass));
  const Value x_acc = temp - mass_length * theta_acc * cos * per_mass;
  return {s.x + tau * s.x_dot, s.x_dot + tau * x_acc, s.theta + tau * s.theta_dot,
          s.theta_dot + tau * theta_acc};
}

}  // namespace rungs::cartpole
