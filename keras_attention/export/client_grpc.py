"""Requests to TensorFlow Serving over gRPC."""

from keras_attention.export.client_errors import (
    ServingError,
    explained,
    needing_extra,
    unexpected,
)

# A channel that was refused waits before it connects again, and fails whatever is
# asked meanwhile. Its own first wait is a second, longer than our first retries.
_RECONNECT_MS = (100, 2_000)
_INT32_MAX = 2**31 - 1


class GrpcTransport:
    """One channel to one server; threads may share it.

    Args:
        address: "host:port".
        max_message_bytes: of an answer; gRPC's own limit is 4 MB.

    Raises:
        ValueError: the extra `client` is not installed.
    """

    def __init__(self, address, max_message_bytes):
        try:
            import grpc
            from tensorflow_serving.apis import (
                model_service_pb2_grpc,
                prediction_service_pb2_grpc,
            )
        except ImportError as error:
            raise needing_extra("tensorflow-serving-api", error) from error
        options = [
            ("grpc.max_receive_message_length", min(max_message_bytes, _INT32_MAX)),
            ("grpc.initial_reconnect_backoff_ms", _RECONNECT_MS[0]),
            ("grpc.min_reconnect_backoff_ms", _RECONNECT_MS[0]),
            ("grpc.max_reconnect_backoff_ms", _RECONNECT_MS[1]),
        ]
        self._failure = grpc.RpcError
        self._channel = grpc.insecure_channel(address, options)
        self._predictions = prediction_service_pb2_grpc.PredictionServiceStub(
            self._channel
        )
        self._models = model_service_pb2_grpc.ModelServiceStub(self._channel)

    def predict(self, inputs, request, timeout):
        """Returns {name: array} of the outputs.

        Args:
            inputs: {name: array}.
            request: what `explained` needs, and `name`, `version`, `signature`.
            timeout: seconds.
        """
        import tensorflow as tf
        from tensorflow_serving.apis import predict_pb2

        message = predict_pb2.PredictRequest()
        _name(message.model_spec, request)
        message.model_spec.signature_name = request["signature"]
        for name, values in inputs.items():
            message.inputs[name].CopyFrom(tf.make_tensor_proto(values))
        answer = self._called(self._predictions.Predict, message, request, timeout)
        try:
            return {
                name: tf.make_ndarray(value) for name, value in answer.outputs.items()
            }
        except (TypeError, ValueError) as error:
            raise unexpected(request, str(error)) from error

    def status(self, request, timeout):
        """Returns {version: (state, why)} of the model."""
        from tensorflow_serving.apis import get_model_status_pb2

        message = get_model_status_pb2.GetModelStatusRequest()
        _name(message.model_spec, request)
        answer = self._called(self._models.GetModelStatus, message, request, timeout)
        kinds = get_model_status_pb2.ModelVersionStatus.State
        return {
            each.version: (kinds.Name(each.state), each.status.error_message)
            for each in answer.model_version_status
        }

    def signatures(self, request, timeout):
        """Returns {name: (names of inputs, names of outputs)}."""
        from tensorflow_serving.apis import get_model_metadata_pb2

        message = get_model_metadata_pb2.GetModelMetadataRequest()
        _name(message.model_spec, request)
        message.metadata_field.append("signature_def")
        answer = self._called(
            self._predictions.GetModelMetadata, message, request, timeout
        )
        found = get_model_metadata_pb2.SignatureDefMap()
        answer.metadata["signature_def"].Unpack(found)
        return {
            name: (sorted(each.inputs), sorted(each.outputs))
            for name, each in found.signature_def.items()
        }

    def close(self):
        """Ends the channel and whatever is under way on it."""
        self._channel.close()

    def _called(self, method, message, request, timeout):
        try:
            return method(message, timeout=timeout)
        except self._failure as error:
            raise explained(error.code().name, error.details(), request) from error
        except ValueError as error:  # grpc's word for a channel that was closed
            message = f"the connection to {request['address']} is closed: {error}"
            raise ServingError("CANCELLED", message) from error


def _name(spec, request):
    spec.name = request["name"]
    if request["version"] is not None:
        spec.version.value = request["version"]
