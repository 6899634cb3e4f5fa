"""An emulation of BatchingSession: a queue a signature, batches of several requests.

The rules are those of batching_session.cc, basic_batch_scheduler.h and
batching_util.cc; large batches are not split.
"""

import collections
import concurrent.futures
import dataclasses
import itertools
import math
import re
import threading
import time

from tests.serving.failures import Failure
from tests.serving.tensors import Tensor

LATE = "Run() timeout exceeded while waiting in batching queue"


@dataclasses.dataclass(frozen=True)
class Parameters:
    """Those of a BatchingParameters file that are emulated."""

    max_batch_size: int = 32
    batch_timeout_micros: int = 1_000
    max_enqueued_batches: int = 100
    num_batch_threads: int = 2
    pad_variable_length_inputs: bool = False
    allowed_batch_sizes: tuple = ()

    @classmethod
    def read(cls, path):
        """The parameters of a text file."""
        text = re.sub("#.*", "", path.read_text())
        names = {field.name for field in dataclasses.fields(cls)}
        # Numbers are wrapped, so that 0 is not taken for the default; flags are not.
        found = re.findall(r"(\w+)\s*(?:\{\s*value\s*)?:\s*(\w+)", text)
        values = {
            name: value == "true" if value in ("true", "false") else int(value)
            for name, value in found
            if name in names and name != "allowed_batch_sizes"
        }
        sizes = tuple(map(int, re.findall(r"allowed_batch_sizes\s*:\s*(\d+)", text)))
        if sizes and sizes[-1] != values.get("max_batch_size", cls.max_batch_size):
            raise Failure(
                "INVALID_ARGUMENT",
                "Last entry in allowed_batch_sizes must equal max_batch_size",
            )
        return cls(**values, allowed_batch_sizes=sizes)


@dataclasses.dataclass
class Task:
    """One request in a queue."""

    inputs: dict
    rows: int
    ends: float
    answer: concurrent.futures.Future


class BatchingSession:
    """Runs requests of the same signature together.

    Args:
        run: (signature, {name: Tensor}, seconds) -> {name: Tensor}.
        parameters: `Parameters`.

    Attributes:
        sizes: rows of each batch that was run.
    """

    def __init__(self, run, parameters):
        self._run = run
        self._parameters = parameters
        self._changed = threading.Condition()
        self._queues = collections.defaultdict(collections.deque)
        self._began = {}
        self._open = True
        self.sizes = []
        self._threads = [
            threading.Thread(target=self._work, daemon=True)
            for _ in range(parameters.num_batch_threads)
        ]
        for thread in self._threads:
            thread.start()

    def run(self, signature, inputs, seconds):
        """Waits until the request was run in some batch."""
        rows = _rows(inputs)
        if rows > self._parameters.max_batch_size:
            raise Failure(
                "INVALID_ARGUMENT",
                f"Task size {rows} is larger than maximum input batch size "
                f"{self._parameters.max_batch_size}",
            )
        answer = concurrent.futures.Future()
        task = Task(inputs, rows, time.monotonic() + seconds, answer)
        with self._changed:
            queue = self._queues[signature]
            waiting = sum(each.rows for each in queue) + rows
            limit = self._parameters.max_batch_size
            if waiting > limit * self._parameters.max_enqueued_batches:
                raise Failure(
                    "UNAVAILABLE",
                    "The batch scheduling queue to which this task was submitted is "
                    "full",
                )
            if not queue:
                self._began[signature] = time.monotonic()
            queue.append(task)
            self._changed.notify()
        return answer.result()

    def close(self):
        """Ends the threads; no request may be waiting."""
        with self._changed:
            self._open = False
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self):
        while (batch := self._next()) is not None:
            signature, tasks = batch
            try:
                for task, outputs in zip(
                    tasks, self._answers(signature, tasks), strict=True
                ):
                    task.answer.set_result(outputs)
            except Exception as error:
                for task in tasks:
                    task.answer.set_exception(error)

    def _next(self):
        """The tasks of the next batch that is full or has waited long enough."""
        with self._changed:
            while True:
                wait = None
                for signature, queue in self._queues.items():
                    if not queue:
                        continue
                    tasks, full = self._fitting(queue)
                    waited = time.monotonic() - self._began[signature]
                    left = self._parameters.batch_timeout_micros / 1e6 - waited
                    if full or left <= 0 or not self._open:
                        for _ in tasks:
                            queue.popleft()
                        self._began[signature] = time.monotonic()
                        return signature, tasks
                    wait = left if wait is None else min(wait, left)
                if not self._open:
                    return None
                self._changed.wait(wait)

    def _fitting(self, queue):
        limit, rows, tasks = self._parameters.max_batch_size, 0, []
        for task in queue:
            if rows + task.rows > limit:
                return tasks, True
            rows += task.rows
            tasks.append(task)
        return tasks, rows == limit

    def _answers(self, signature, tasks):
        seconds = max(task.ends for task in tasks) - time.monotonic()
        if seconds <= 0:
            raise Failure("RESOURCE_EXHAUSTED", LATE)
        rows = sum(task.rows for task in tasks)
        sizes = self._parameters.allowed_batch_sizes or (rows,)
        extra = min(size for size in sizes if size >= rows) - rows
        self.sizes.append(rows)
        inputs = {
            name: _joined(
                name,
                [task.inputs[name] for task in tasks],
                extra,
                self._parameters.pad_variable_length_inputs,
            )
            for name in tasks[0].inputs
        }
        outputs = self._run(signature, inputs, seconds)
        for tensor in outputs.values():
            _check_batched(tensor, rows + extra)
        ends = list(itertools.accumulate(task.rows for task in tasks))
        return [
            {name: x.rows(end - task.rows, end) for name, x in outputs.items()}
            for task, end in zip(tasks, ends, strict=True)
        ]


def _rows(inputs):
    sizes = {tensor.shape[0] if tensor.shape else None for tensor in inputs.values()}
    if None in sizes:
        message = "Batching input tensors must have at least one dimension"
        raise Failure("INVALID_ARGUMENT", message)
    if len(sizes) != 1:
        message = "Batching input tensors supplied in a given call must have equal "
        raise Failure("INVALID_ARGUMENT", message + "0th-dimension size")
    return sizes.pop()


def _joined(name, tensors, extra, pad):
    """One tensor of the rows of all, the first row repeated behind them."""
    shapes = {tuple(tensor.shape[1:]) for tensor in tensors}
    if len(shapes) > 1 and not pad:
        raise Failure(
            "FAILED_PRECONDITION",
            f"Tensors with name '{name}' from different tasks have different shapes "
            "and padding is turned off. Set pad_variable_length_inputs to true",
        )
    inner = [max(sizes) for sizes in zip(*shapes, strict=True)]
    tensors = [_padded(tensor, inner) for tensor in tensors]
    tensors += [tensors[0].rows(0, 1)] * extra
    values = [value for tensor in tensors for value in tensor.values]
    rows = sum(tensor.shape[0] for tensor in tensors)
    return Tensor(tensors[0].dtype, values, [rows, *inner])


def _padded(tensor, inner):
    """The tensor with longer rows; what fills them is its own first element."""
    if tensor.shape[1:] == inner:
        return tensor
    if len(inner) != 1 or not tensor.values:
        raise Failure("INVALID_ARGUMENT", "only matrices are padded")
    columns, longer = tensor.shape[1], inner[0]
    values = []
    for row in range(tensor.shape[0]):
        values += tensor.values[row * columns : (row + 1) * columns]
        values += [tensor.values[0]] * (longer - columns)
    return Tensor(tensor.dtype, values, [tensor.shape[0], longer])


def _check_batched(tensor, rows):
    if not tensor.shape:
        message = "Batched output tensor has 0 dimensions"
        raise Failure("FAILED_PRECONDITION", message)
    if tensor.shape[0] != rows or len(tensor.values) != math.prod(tensor.shape):
        raise Failure(
            "FAILED_PRECONDITION",
            "Batched output tensor's 0th dimension does not equal the sum of the 0th "
            "dimension sizes of the input tensors",
        )
