def bottleneck(system):
    """Returns the name of the stage that limits a system."""
    return min(("generate", "infer", "learn", "log"), key=lambda name: without(system, name))


def without(system, name, updates=200):
    """Returns the seconds of `updates` updates without a stage."""
    for _ in range(20):
        system.update()
    system.update(name)
    began = system.clock()
    for _ in range(updates):
        system.update(name)
    return system.clock() - began
