def bottleneck(system):
    """Returns the name of the stage that limits a system."""
    system.update()  # what is done only once
    seconds = {}
    for name in ("generate", "infer", "learn", "log"):
        # What another process does still belongs to the update before, so each begins with one.
        system.update(name)
        began = system.clock()
        for _ in range(8):
            system.update(name)
        seconds[name] = system.clock() - began
    return min(seconds, key=seconds.get)
