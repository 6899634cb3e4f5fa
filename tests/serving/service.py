"""The services of the server, whatever protocol a request comes by."""

from tensorflow.core.protobuf import meta_graph_pb2
from tensorflow_serving.apis import (
    get_model_metadata_pb2,
    get_model_status_pb2,
    predict_pb2,
)

from tests.serving.failures import Failure
from tests.serving.models import DEFAULT, check_inputs
from tests.serving.tensors import from_proto, to_proto


class Service:
    """Answers messages.

    Args:
        models: {name: `ServedModel`}.
    """

    def __init__(self, models):
        self._models = models

    def version(self, spec):
        """A context that gives the version that a ModelSpec names."""
        if not spec.name:
            raise Failure("INVALID_ARGUMENT", "Missing ModelSpec")
        if spec.name not in self._models:
            message = f"Servable not found for request: Latest({spec.name})"
            raise Failure("NOT_FOUND", message)
        number = spec.version.value if spec.HasField("version") else None
        return self._models[spec.name].version(number)

    def predict(self, request, seconds):
        """PredictRequest -> PredictResponse."""
        inputs = {name: from_proto(name, x) for name, x in request.inputs.items()}
        spec = request.model_spec
        signature = spec.signature_name or DEFAULT
        number, outputs = self.run(spec, signature, inputs, seconds)
        response = predict_pb2.PredictResponse()
        response.model_spec.name = spec.name
        response.model_spec.version.value = number
        response.model_spec.signature_name = signature
        for name in request.output_filter or outputs:
            if name not in outputs:
                message = f"output tensor alias not found in signature: {name}"
                raise Failure("INVALID_ARGUMENT", message)
            to_proto(outputs[name], response.outputs[name])
        return response

    def run(self, spec, signature, inputs, seconds):
        """Returns the number of the version and {name: Tensor}."""
        with self.version(spec) as version:
            check_inputs(version.signatures, signature, inputs)
            return version.number, version.run(signature, inputs, seconds)

    def metadata(self, request):
        """GetModelMetadataRequest -> GetModelMetadataResponse."""
        if list(request.metadata_field) != ["signature_def"]:
            message = "GetModelMetadataRequest must specify at least one metadata_field"
            raise Failure("INVALID_ARGUMENT", message)
        found = get_model_metadata_pb2.SignatureDefMap()
        with self.version(request.model_spec) as version:
            for key, sides in version.signatures.items():
                _fill(found.signature_def[key], *sides)
            response = get_model_metadata_pb2.GetModelMetadataResponse()
            response.model_spec.name = request.model_spec.name
            response.model_spec.version.value = version.number
        response.metadata["signature_def"].Pack(found)
        return response

    def status(self, request):
        """GetModelStatusRequest -> GetModelStatusResponse."""
        spec, response = (
            request.model_spec,
            get_model_status_pb2.GetModelStatusResponse(),
        )
        model = self._models.get(spec.name)
        states = dict(model.states) if model else {}
        if spec.HasField("version"):
            wanted = spec.version.value
            states = {wanted: states[wanted]} if wanted in states else {}
        if not states:
            message = f"Could not find any versions of model {spec.name}"
            raise Failure("NOT_FOUND", message)
        kinds = get_model_status_pb2.ModelVersionStatus
        codes = kinds.DESCRIPTOR.fields_by_name["status"].message_type
        numbers = codes.fields_by_name["error_code"].enum_type.values_by_name
        for number, (state, code, message) in sorted(states.items(), reverse=True):
            response.model_version_status.add(
                version=number,
                state=kinds.State.Value(state),
                status={"error_code": numbers[code].number, "error_message": message},
            )
        return response


def _fill(signature, inputs, outputs):
    """Fills a SignatureDef."""
    signature.method_name = "tensorflow/serving/predict"
    for infos, side in ((inputs, signature.inputs), (outputs, signature.outputs)):
        for name, info in infos.items():
            made = meta_graph_pb2.TensorInfo(name=info.tensor, dtype=info.dtype)
            made.tensor_shape.unknown_rank = info.shape is None
            for size in info.shape or ():
                made.tensor_shape.dim.add(size=size)
            side[name].CopyFrom(made)
