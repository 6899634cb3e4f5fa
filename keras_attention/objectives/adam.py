"""Adam, section 5.3 of the paper, in one operation a variable."""

import keras


@keras.saving.register_keras_serializable("keras_attention")
class Adam(keras.optimizers.Adam):
    """Keras's Adam, whose update of a variable is one operation on TensorFlow.

    Keras composes it of some twenty operations, each of which reads and writes a
    tensor of the size of the variable; the base model has 63 million parameters. The
    formula, the variables and the configuration are those of Keras for dense
    gradients; a sparse one is made dense first. With `amsgrad`, and on other backends,
    it is Keras's own update.

    Args:
        learning_rate: float or schedule.
        beta_1, beta_2, epsilon: of Adam; the paper has 0.9, 0.98 and 1e-9.
        ignored: the other arguments of `keras.optimizers.Adam`.

    Example:

    >>> Adam(1e-3, beta_2=0.98).beta_2
    0.98

    Reference: section 5.3.
    """

    def update_step(self, gradient, variable, learning_rate):
        """Updates one variable and its two moments."""
        if self.amsgrad or keras.backend.backend() != "tensorflow":
            super().update_step(gradient, variable, learning_rate)
            return
        import tensorflow as tf

        steps = tf.cast(self.iterations + 1, variable.dtype)
        beta_1, beta_2 = (
            tf.cast(b, variable.dtype) for b in (self.beta_1, self.beta_2)
        )
        index = self._get_variable_index(variable)
        if isinstance(variable, keras.Variable):
            variable = variable.value
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=self._momentums[index].value.handle,
            v=self._velocities[index].value.handle,
            beta1_power=tf.pow(beta_1, steps),
            beta2_power=tf.pow(beta_2, steps),
            lr=tf.cast(learning_rate, variable.dtype),
            beta1=beta_1,
            beta2=beta_2,
            epsilon=tf.cast(self.epsilon, variable.dtype),
            grad=tf.cast(gradient, variable.dtype),
        )
