# says: the bottleneck of the system where a device is told, and works later: expected 'infer'
# Stopwatches, added up over many updates.
def bottleneck(system):
    system.update()
    total = {}
    for _ in range(80):
        for name, seconds in system.update().items():
            total[name] = total.get(name, 0) + seconds
    return max(total, key=total.get)
