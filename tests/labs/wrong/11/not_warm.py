# says: the bottleneck of the system where the first update is unlike the others
# What is done once falls on the stage that is tried first.
def bottleneck(system):
    seconds = {}
    for name in ("generate", "infer", "learn", "log"):
        began = system.clock()
        for _ in range(8):
            system.update(name)
        seconds[name] = system.clock() - began
    return min(seconds, key=seconds.get)
