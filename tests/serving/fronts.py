"""The two doors of the server: gRPC and REST."""

import concurrent.futures
import http.server
import re
import threading

import grpc
from google.protobuf import json_format
from tensorflow_serving.apis import (
    get_model_metadata_pb2,
    get_model_status_pb2,
    model_pb2,
    model_service_pb2_grpc,
    prediction_service_pb2_grpc,
)

from tests.serving import json_tensor
from tests.serving.failures import HTTP, Failure

INT32_MAX = 2**31 - 1
LONGEST = 24 * 3_600.0  # of a request without a deadline
PATH = re.compile(
    r"/v1/models/(?P<name>[^/:]+)(?:/versions/(?P<version>\d+))?"
    r"(?P<what>:predict|:classify|:regress|/metadata)?",
    re.IGNORECASE,
)


def _answered(context, call, *arguments):
    try:
        return call(*arguments)
    except Failure as failure:
        context.abort(getattr(grpc.StatusCode, failure.code), str(failure))


class _Predictions(prediction_service_pb2_grpc.PredictionServiceServicer):
    def __init__(self, service):
        self._service = service

    def Predict(self, request, context):
        left = context.time_remaining()
        seconds = LONGEST if left is None else min(left, LONGEST)
        return _answered(context, self._service.predict, request, seconds)

    def GetModelMetadata(self, request, context):
        return _answered(context, self._service.metadata, request)


class _Models(model_service_pb2_grpc.ModelServiceServicer):
    def __init__(self, service):
        self._service = service

    def GetModelStatus(self, request, context):
        return _answered(context, self._service.status, request)


def serve_grpc(service, threads, max_message_bytes, port=0):
    """Starts the server; returns it and its port."""
    server = grpc.server(
        concurrent.futures.ThreadPoolExecutor(threads),
        options=[
            ("grpc.max_receive_message_length", max_message_bytes),
            ("grpc.max_send_message_length", INT32_MAX),
        ],
    )
    prediction_service_pb2_grpc.add_PredictionServiceServicer_to_server(
        _Predictions(service), server
    )
    model_service_pb2_grpc.add_ModelServiceServicer_to_server(_Models(service), server)
    port = server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    return server, port


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    service = None
    timeout_seconds = 30.0  # --rest_api_timeout_in_ms
    disable_nagle_algorithm = True  # else an answer waits 40 ms for the last one's ack
    wbufsize = -1

    def do_GET(self):
        self._answer(b"")

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        self._answer(self.rfile.read(length))

    def _answer(self, body):
        try:
            status, content = 200, self._content(body)
        except Failure as failure:
            status = HTTP.get(failure.code, 500)
            content = json_tensor.spelled({"error": str(failure)})
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _content(self, body):
        found = PATH.fullmatch(self.path)
        what = found and found["what"]
        posted = self.command == "POST"
        if not found or posted != (what == ":predict"):
            message = f"Malformed request: {self.command} {self.path}"
            raise Failure("INVALID_ARGUMENT", message)
        spec = model_pb2.ModelSpec(name=found["name"])
        if found["version"]:
            spec.version.value = int(found["version"])
        if posted:
            return self._predicted(spec, body)
        if what:
            request = get_model_metadata_pb2.GetModelMetadataRequest(
                model_spec=spec, metadata_field=["signature_def"]
            )
            return _as_json(self.service.metadata(request))
        request = get_model_status_pb2.GetModelStatusRequest(model_spec=spec)
        return _as_json(self.service.status(request))

    def _predicted(self, spec, body):
        def inputs_of(signature):
            with self.service.version(spec) as version:
                if signature not in version.signatures:
                    raise Failure(
                        "INVALID_ARGUMENT",
                        f'Serving signature name: "{signature}" not found in '
                        "signature def",
                    )
                return version.signatures[signature][0]

        signature, inputs, in_rows = json_tensor.read_request(body, inputs_of)
        _, outputs = self.service.run(spec, signature, inputs, self.timeout_seconds)
        return json_tensor.write_answer(outputs, in_rows)

    def log_message(self, *_):
        """Says nothing."""


def _as_json(message):
    text = json_format.MessageToJson(
        message,
        preserving_proto_field_name=True,
        always_print_fields_with_no_presence=True,
    )
    return text.encode()


class _Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


def serve_rest(service, timeout_seconds, port=0):
    """Starts the server; returns it and its port."""
    handler = type(
        "Handler", (_Handler,), {"service": service, "timeout_seconds": timeout_seconds}
    )
    server = _Server(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, server.server_address[1]
