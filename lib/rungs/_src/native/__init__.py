"""The compiled C++: what compiles it (a wheel, g++, Cling, NVRTC), loads it, and describes it."""
