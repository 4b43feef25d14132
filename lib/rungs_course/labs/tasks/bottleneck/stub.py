def bottleneck(system):
    """Returns the name of the stage that limits a system."""
    # What one update's stopwatch says.
    laps = system.update()
    return max(laps, key=laps.get)
