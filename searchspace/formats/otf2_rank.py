"""The events of one MPI rank of an OTF2 archive, as the operations of a trace.

MPI events lie between the enter and the leave of an MPI function, as Score-P writes them. The time
outside of these functions, from the end of MPI_Init to the start of MPI_Finalize, is computation.
A receive's sender and size are known when it completes, a collective's when all ranks have made it:
what is known later leaves a place that is filled then.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from searchspace.errors import InvalidInput
from searchspace.formats.operations import Value, encode
from searchspace.formats.otf2_collectives import OPERATIONS
from searchspace.formats.otf2_communicators import Communicator, Late
from searchspace.formats.slots import Slots

__all__ = ["MPI_EVENTS", "Rank"]

_REFUSED_FUNCTIONS = (
    *("MPI_FILE_", "MPI_WIN_", "MPI_PUT", "MPI_RPUT", "MPI_RGET", "MPI_ACCUMULATE"),
    *("MPI_RACCUMULATE", "MPI_FETCH_AND_OP", "MPI_COMPARE_AND_SWAP", "MPI_GET_ACCUMULATE"),
    *("MPI_COMM_SPAWN", "MPI_COMM_ACCEPT", "MPI_COMM_CONNECT", "MPI_COMM_JOIN"),
    *("MPI_INTERCOMM_", "MPI_NEIGHBOR_", "MPI_INEIGHBOR_", "MPI_CANCEL"),
)
_SENDS = {"MPI_SSEND": "ssend", "MPI_BSEND": "bsend"}
_STARTS = {"MPI_ISSEND": "issend", "MPI_IBSEND": "bsend"}
_NO_REQUEST = ("MPI_ISEND", "MPI_ISSEND", "MPI_IBSEND", "MPI_IRSEND", "MPI_START", "MPI_STARTALL")
_COLLECTIVES = {f"MPI_{name.upper()}" for name in OPERATIONS}
_HANDLES = ("create_handle", "destroy_handle")
_NO_MESSAGE = (1 << 64) - 1
_NO_ROOT = (1 << 32) - 3  # from here up: none, the rank itself, its group


class Rank:
    """Collects the operations of one rank.

    Args:
        number: The rank in the world.
        flops_per_tick: What a tick of the archive's clock counts as computation.
        communicator: Gives the communicator of a definition of the archive.
    """

    def __init__(
        self, number: int, flops_per_tick: float, communicator: Callable[[Any], Communicator]
    ) -> None:
        self.number = number
        self.encoded = bytearray()
        self.operations = 0
        self._flops_per_tick = flops_per_tick
        self._communicator = communicator
        self._places: deque[Late] = deque()
        self._slots = Slots()
        # Regions that the rank is in: the MPI function, if it is one.
        self._regions: list[str | None] = []
        self._mpi_depth = 0
        self._since: int | None = None
        self._ticks = 0
        self._initialised = self._finalised = self._started = False
        self._open: dict[int, tuple[int | None, Late | None]] = {}
        self._lost: list[int] = []
        self._messages: dict[int, tuple[int, int, int]] = {}
        self._collectives: deque[_Collective] = deque()
        self._pending: dict[int, _Collective] = {}
        # Within the present MPI function.
        self._function = ""
        self._completed: list[int] = []
        self._exchange: dict[str, Value] | None = None
        self._saw_event = False

    def enter(self, time: int, function: str | None) -> None:
        """Enter a region: an MPI function's name in capitals, or None for others.

        Raises:
            InvalidInput: It is a function that no trace can hold.
        """
        if self._since is None and not self._started:
            self._since, self._started = time, True
        self._regions.append(function)
        if function is None:
            return
        self._mpi_depth += 1
        if self._mpi_depth > 1:
            return
        if function.startswith(_REFUSED_FUNCTIONS) or function == "MPI_GET":
            raise InvalidInput(f"{function} is not supported in a trace")
        if self._since is not None:
            self._ticks += time - self._since
        self._since = None
        self._function = function
        self._completed, self._exchange, self._saw_event = [], None, False
        if function in ("MPI_INIT", "MPI_INIT_THREAD"):
            self._ticks, self._initialised = 0, True
        if function == "MPI_WTIME" and not self._finalised:
            self._put("wtime", {})
        if function == "MPI_FINALIZE" and not self._finalised:
            self._end()

    def leave(self, time: int) -> None:
        """Leave the region that was entered last.

        Raises:
            InvalidInput: There is none, or a collective of which nothing is told.
        """
        if not self._regions:
            raise InvalidInput("a region is left that was not entered")
        function = self._regions.pop()
        if function is None:
            return
        self._mpi_depth -= 1
        if self._mpi_depth:
            return
        self._since = time
        if function in _COLLECTIVES and not self._saw_event and not self._finalised:
            raise InvalidInput(f"{function} without its event: record the group `coll`, too")
        if self._exchange is not None:
            self._put("sendrecv", {"to": -1, "from": -1, **self._exchange})
        if len(self._completed) == 1:
            self._put("wait", {"slot": self._completed[0]})
        elif self._completed:
            self._put("waitall", {"slots": self._completed})
        self._slots.free(self._completed)

    def paused(self, start: int, stop: int) -> None:
        """The measurement wrote its buffer: that time is nobody's computation."""
        if self._since is not None:
            self._since += max(stop - start, 0)

    def mpi(self, name: str, event: Any) -> None:
        """An MPI event.

        Raises:
            InvalidInput: It cannot be part of a trace.
        """
        if self._finalised:
            return
        if not self._mpi_depth:
            raise InvalidInput(
                f"{name} outside of an MPI function: when its call began is not told"
            )
        self._saw_event = True
        MPI_EVENTS[name](self, event)

    def end(self, making: list[bytes]) -> Iterator[bytes]:
        """The operations of the rank, which has no more events, and of what comes before them.

        Raises:
            InvalidInput: The archive does not tell how something ended.
        """
        if self._initialised and not self._finalised:
            raise InvalidInput("does not reach MPI_Finalize")
        if not self._started:
            raise InvalidInput("has no events")
        if not self._finalised:
            self._end()
        self._flush()
        if self._places:
            raise InvalidInput("a receive or a collective never completes")
        self.operations += len(making)
        yield from making
        yield bytes(self.encoded)

    def _end(self) -> None:
        waiting = sorted(
            {*self._lost, *(slot for slot, _ in self._open.values() if slot is not None)}
        )
        if any(late is not None for _, late in self._open.values()):
            raise InvalidInput("a receive never completes")
        if waiting:
            self._put("waitall", {"slots": waiting})
        self._put("finalize", {})
        self._finalised = True

    def _put(self, name: str, fields: Mapping[str, Value]) -> None:
        self._place().encoded = encode(name, **fields)
        self._flush()

    def _place(self) -> Late:
        if self._ticks > 0:
            computation = Late(encode("compute", flops=self._ticks * self._flops_per_tick))
            self._places.append(computation)
        self._ticks = 0
        late = Late()
        self._places.append(late)
        return late

    def _flush(self) -> None:
        while self._places and self._places[0].encoded is not None:
            self.encoded += self._places.popleft().encoded or b""
            self.operations += 1

    def _message(self, comm: Any, peer: int, tag: int, length: int) -> dict[str, Value]:
        communicator = self._communicator(comm)
        count, size = _counted(length)
        fields: dict[str, Value] = {"comm": communicator.number, "peer": communicator.peer(peer)}
        return {**fields, "tag": tag, "count": count, "size": size}

    def _opened(self, request: int, slot: int | None, late: Late | None) -> None:
        before = self._open.pop(request, None)
        if before is not None:
            if before[1] is not None:
                raise InvalidInput(f"request {request} is used again before it completes")
            if before[0] is not None:
                self._lost.append(before[0])
        self._open[request] = (slot, late)

    def _complete(self, request: int) -> Late | None:
        if request not in self._open:
            raise InvalidInput(f"request {request} completes that was not started")
        slot, late = self._open.pop(request)
        if slot is not None:
            self._completed.append(slot)
        return late

    def _send(self, event: Any) -> None:
        function = self._function
        fields = self._message(event.communicator, event.receiver, event.msg_tag, event.msg_length)
        if function in _NO_REQUEST:
            raise InvalidInput(f"{function} without its request: record the group `xnonblock`, too")
        if function.startswith("MPI_SENDRECV"):
            self._exchange = {**(self._exchange or {}), "comm": fields["comm"]}
            self._exchange |= {"to": fields["peer"], "send_tag": fields["tag"]}
            self._exchange |= {"send_count": fields["count"], "send_size": fields["size"]}
        else:
            self._put(_SENDS.get(function, "send"), fields)

    def _receive(self, event: Any) -> None:
        fields = self._message(event.communicator, event.sender, event.msg_tag, event.msg_length)
        function = self._function
        if function.startswith("MPI_SENDRECV"):
            self._exchange = {**(self._exchange or {}), "comm": fields["comm"]}
            self._exchange |= {"from": fields["peer"], "recv_tag": fields["tag"]}
            self._exchange |= {"recv_count": fields["count"], "recv_size": fields["size"]}
        elif function in ("MPI_RECV", "MPI_MRECV"):
            self._put("recv", fields)
        else:
            raise InvalidInput(f"{function} without its request: record the group `xnonblock`, too")

    def _isend(self, event: Any) -> None:
        name = _STARTS.get(self._function, "isend")
        fields = self._message(event.communicator, event.receiver, event.msg_tag, event.msg_length)
        if name == "bsend":
            self._opened(event.request_id, None, None)
        else:
            fields["slot"] = slot = self._slots.take()
            self._opened(event.request_id, slot, None)
        self._put(name, fields)

    def _isend_complete(self, event: Any) -> None:
        self._complete(event.request_id)

    def _irecv_request(self, event: Any) -> None:
        self._opened(event.request_id, self._slots.take(), self._place())

    def _irecv(self, event: Any) -> None:
        slot = self._open.get(event.request_id, (None, None))[0]
        late = self._complete(event.request_id)
        if late is None or slot is None:
            raise InvalidInput(f"request {event.request_id} is no receive")
        fields = self._message(event.communicator, event.sender, event.msg_tag, event.msg_length)
        late.encoded = encode("irecv", slot=slot, **fields)
        self._flush()

    def _probe(self, event: Any) -> None:
        communicator = self._communicator(event.communicator)
        peer = communicator.peer(event.sender)
        self._put("probe", {"comm": communicator.number, "peer": peer, "tag": event.tag})
        if event.message_id != _NO_MESSAGE:
            self._messages[event.message_id] = (event.communicator, peer, event.tag)

    def _matched(self, message: int, length: int) -> dict[str, Value]:
        if message not in self._messages:
            raise InvalidInput(f"message {message} is received that no probe found")
        return self._message(*self._messages.pop(message), length)

    def _mrecv(self, event: Any) -> None:
        self._put("recv", self._matched(event.message_id, event.msg_length))

    def _imrecv_request(self, event: Any) -> None:
        if event.message_id not in self._messages:
            raise InvalidInput(f"message {event.message_id} is received that no probe found")
        self._messages[-event.request_id - 1] = self._messages.pop(event.message_id)
        self._opened(event.request_id, self._slots.take(), self._place())

    def _imrecv(self, event: Any) -> None:
        slot = self._open.get(event.request_id, (None, None))[0]
        late = self._complete(event.request_id)
        fields = self._matched(-event.request_id - 1, event.msg_length)
        if late is None or slot is None:
            raise InvalidInput(f"request {event.request_id} is no receive")
        late.encoded = encode("irecv", slot=slot, **fields)
        self._flush()

    def _collective_begin(self, _event: Any) -> None:
        """The end tells all."""

    def _collective_end(self, event: Any) -> None:
        name = _operation(event)
        if name is None:
            return
        self._collectives.append(_Collective(self._place(), None))
        self._collectives[-1].know(name, self._communicator(event.communicator), event)
        self._arrive()

    def _collective_request(self, event: Any) -> None:
        if self._function not in {f"MPI_I{name[4:]}" for name in _COLLECTIVES}:
            self._opened(event.request_id, None, None)
            return
        call = _Collective(self._place(), self._slots.take())
        self._opened(event.request_id, call.slot, call.late)
        self._pending[event.request_id] = call
        self._collectives.append(call)

    def _collective_complete(self, event: Any) -> None:
        name = _operation(event)
        self._complete(event.request_id)
        call = self._pending.pop(event.request_id, None)
        if (call is None) != (name is None):
            raise InvalidInput(f"request {event.request_id} is not the collective that completes")
        if call is not None and name is not None:
            call.know(name, self._communicator(event.communicator), event)
            self._arrive()

    def _arrive(self) -> None:
        """Hand over the collectives whose turn has come: they count in the order of their calls."""
        while self._collectives and (call := self._collectives[0]).name is not None:
            self._collectives.popleft()
            assert call.communicator is not None
            place = (call.late, call.slot)
            call.communicator.arrive(self.number, call.name, call.root, call.sizes, place)

    def _tested(self, _event: Any) -> None:
        """A test that found nothing leaves nothing."""

    def _cancelled(self, _event: Any) -> None:
        raise InvalidInput("MPI_Cancel is not supported in a trace")


class _Collective:
    """A collective call of a rank, of which a non-blocking one tells at its completion."""

    def __init__(self, late: Late, slot: int | None) -> None:
        self.late = late
        self.slot = slot
        self.name: str | None = None
        self.communicator: Communicator | None = None
        self.root = 0
        self.sizes = (0, 0)

    def know(self, name: str, communicator: Communicator, event: Any) -> None:
        self.name = name
        self.communicator = communicator
        self.root = 0 if event.root >= _NO_ROOT else communicator.peer(event.root)
        self.sizes = (event.size_sent, event.size_received)


def _operation(event: Any) -> str | None:
    """The collective of an event; None where a communicator is made or freed.

    Raises:
        InvalidInput: It is none that a trace can hold.
    """
    name = str(event.collective_op).rpartition(".")[2].lower()
    if name in _HANDLES:
        return None
    if name not in OPERATIONS:
        raise InvalidInput(f"the collective {name} is not supported in a trace")
    return name


def _counted(length: int) -> tuple[int, int]:
    """Count and type size of so many bytes.

    Raises:
        InvalidInput: There are too many.
    """
    for size in (1, 8, 4096):
        if length % size == 0 and length // size < 1 << 31:
            return length // size, size
    raise InvalidInput(f"a message of {length} bytes")


MPI_EVENTS: dict[str, Callable[[Rank, Any], None]] = {
    "MpiSend": Rank._send,
    "MpiRecv": Rank._receive,
    "MpiIsend": Rank._isend,
    "MpiIsendComplete": Rank._isend_complete,
    "MpiIrecvRequest": Rank._irecv_request,
    "MpiIrecv": Rank._irecv,
    "MpiProbe": Rank._probe,
    "MpiMrecv": Rank._mrecv,
    "MpiImrecvRequest": Rank._imrecv_request,
    "MpiImrecv": Rank._imrecv,
    "MpiRequestTest": Rank._tested,
    "MpiRequestCancelled": Rank._cancelled,
    "MpiCollectiveBegin": Rank._collective_begin,
    "MpiCollectiveEnd": Rank._collective_end,
    "NonBlockingCollectiveRequest": Rank._collective_request,
    "NonBlockingCollectiveComplete": Rank._collective_complete,
}
"""What an MPI event does, by its name in OTF2."""
