# says: the bottleneck of the system where something is done in few updates only: expected 'log'
# Two updates of each are not enough.
def bottleneck(system):
    system.update()
    seconds = {}
    for name in ("generate", "infer", "learn", "log"):
        system.update(name)
        began = system.clock()
        system.update(name)
        system.update(name)
        seconds[name] = system.clock() - began
    return min(seconds, key=seconds.get)
