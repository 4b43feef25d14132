"""Ranks that were told different things say so, instead of waiting for each other."""

from rungs.errors import ConfigurationError


def check_agreement(comm, told: dict) -> None:
    """Compares what every rank was told; all ranks call it at the same time.

    Args:
        comm: an MPI communicator.
        told: what can be pickled and compared, by name, the same names on all ranks.

    Raises:
        ConfigurationError: on every rank, where any was told something else than rank 0. The
            message names all that differs, each with the first rank where it does.
    """
    everywhere = comm.allgather(told)
    different = []
    for name, value in everywhere[0].items():
        rank = next((i for i, there in enumerate(everywhere) if there[name] != value), None)
        if rank is not None:
            other = everywhere[rank][name]
            different.append(f"{name}={value!r} on rank 0 and {other!r} on rank {rank}")
    if different:
        raise ConfigurationError(f"ranks were given different settings: {'; '.join(different)}")
