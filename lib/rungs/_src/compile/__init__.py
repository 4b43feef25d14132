"""Compilers: Cling as code is loaded, g++ ahead of time, NVRTC for GPUs."""
