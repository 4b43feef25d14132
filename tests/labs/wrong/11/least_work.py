# says: the bottleneck of the system where all is done in turns: expected 'generate'
# The stage without which it takes longest is the one that matters least.
def bottleneck(system):
    seconds = {}
    system.update()
    for name in ("generate", "infer", "learn", "log"):
        system.update(name)
        began = system.clock()
        for _ in range(16):
            system.update(name)
        seconds[name] = system.clock() - began
    return max(seconds, key=seconds.get)
