"""The client of a notebook's kernel."""

from queue import Empty

from jupyter_client.asynchronous import AsyncKernelClient
from jupyter_client.channels import AsyncZMQSocketChannel
from traitlets import Type

_LOOK_AGAIN = 1.0  # seconds


class WatchfulChannel(AsyncZMQSocketChannel):
    """A channel that looks for messages again and again instead of waiting to be woken.

    nbclient answers an output widget on the socket on which it waits for the cell's end. Sending
    clears ZeroMQ's signal that something has come, and so a cell that ends just then would seem to
    run until its time is up: minutes, on a busy machine.
    """

    async def get_msg(  # type: ignore[override]  # which its base declares as if it were none
        self, timeout: float | None = None
    ) -> dict:
        """See `AsyncZMQSocketChannel.get_msg`."""
        while timeout is None or timeout > _LOOK_AGAIN:
            try:
                return await super().get_msg(_LOOK_AGAIN)
            except Empty:
                timeout = None if timeout is None else timeout - _LOOK_AGAIN
        return await super().get_msg(timeout)


class WatchfulClient(AsyncKernelClient):
    """A client whose replies come by a `WatchfulChannel`."""

    shell_channel_class = Type(WatchfulChannel)
