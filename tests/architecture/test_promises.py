"""What the package promises, and the one test that is named after each promise."""

import ast
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNIT, SEARCH = "tests/unit/", "tests/unit/decoding/test_beam_search.py::test_"
EMBEDDING = "tests/unit/layers/test_token_embedding.py::test_"
PROMISES = {
    # The paper is the default.
    "post-LN, sinusoids, one matrix, no biases, epsilon 1e-6 unless asked": UNIT
    + "test_config.py::test_values_of_the_paper",
    "departures are off by default and told": UNIT
    + "studies/test_parity.py::test_the_models_of_the_paper_depart_nowhere",
    "an option that departs says so": UNIT
    + "studies/test_parity.py::test_an_option_that_departs_changes_its_rows",
    "as many parameters as the formula says, 63 045 632 and 214 171 648": UNIT
    + "models/test_build.py::test_the_formula_gives_the_parameters_of_the_presets",
    "dropout on sub-layers and sums of embeddings alone": UNIT
    + "layers/test_add_and_norm.py::test_dropout_acts_on_the_sub_layer_only",
    # Framing.
    "sources end in END, targets begin with START, labels end in END": UNIT
    + "data/test_batching.py::test_framing",
    "maximum lengths count pieces": UNIT
    + "data/test_encoding.py::test_too_long_pairs_are_dropped_and_counted",
    "a search ends at the source's pieces and some more": UNIT
    + "decoding/test_translator.py::test_the_limit_is_the_source_and_some_more",
    "a source without pieces is not searched": UNIT
    + "decoding/test_translator.py::test_a_source_without_pieces_is_not_searched",
    "long input is cut, flagged and warned about": UNIT
    + "decoding/test_translator.py::test_long_sources_are_cut_flagged_and_warned_about",
    "a cut leaves END": UNIT
    + "decoding/test_translator.py::test_a_source_is_cut_in_front_of_its_end",
    # Subwords.
    "ids 0 to 3 are PAD, UNK, START and END": UNIT
    + "data/test_tokenizer.py::test_special_pieces_and_size",
    "no text becomes a special piece": UNIT
    + "data/test_tokenizer.py::test_text_never_becomes_a_special_piece",
    "a size the corpus cannot give names the largest": UNIT
    + "data/test_tokenizer.py::test_sizes_that_the_text_cannot_give",
    "a changed subword model is refused before it is parsed": UNIT
    + "data/test_tokenizer.py::test_a_changed_model_is_refused_unparsed",
    # Precision.
    "positions are float32 under every policy": UNIT
    + "ops/test_positions.py::test_positions_are_float32_under_every_policy",
    "LayerNorm statistics are float32": UNIT
    + "layers/test_add_and_norm.py::test_statistics_are_float32",
    "logits are float32": EMBEDDING + "logits_are_float32_under_every_policy",
    "the loss is float32": UNIT
    + "objectives/test_losses.py::test_half_precision_logits_are_computed_in_float32",
    "scores of a search are float32": SEARCH + "scores_are_float32_whatever_the_logits",
    "masks do not overflow": UNIT
    + "layers/test_multi_head_attention.py::test_masked_twice_in_half_precision",
    "nothing to attend to gives zeros": UNIT
    + "layers/test_multi_head_attention.py::test_nothing_to_attend_to_gives_zeros",
    "and finite gradients": UNIT
    + "ops/test_attention.py::test_gradients_are_finite_and_zero_where_masked",
    # Masks.
    "masks are made in one place": "tests/architecture/test_promises.py"
    "::test_masks_are_made_in_one_place",
    "masks reach the next layer": "tests/conformance/test_table.py"
    "::test_masks_are_passed_on",
    "logits carry none": EMBEDDING + "the_mask_marks_real_ids_and_logits_have_none",
    # One update, one place.
    "fit and the loop give the same weights": "tests/integration/test_two_doors.py"
    "::test_fit_and_the_loop_of_a_run_give_the_same_weights",
    "replicas and micro-batches change no update": "tests/integration/"
    "test_exact_updates.py::test_the_table",
    "the loss is per real token of the global batch": "tests/integration/"
    "test_exact_updates.py::test_four_tokens_of_loss_1_and_one_of_loss_5",
    "combinations that cannot be exact are refused": "tests/integration/"
    "test_exact_updates.py::test_what_cannot_be_exact_is_refused",
    "clipping is that of the sum over replicas": "tests/integration/"
    "test_exact_updates.py::test_clipping_is_that_of_the_sum",
    "a bucket has one shape, no sentence is lost": UNIT
    + "data/test_batching.py::test_invariants_of_a_plan",
    "a step without a token changes nothing": UNIT
    + "models/test_update.py::test_a_batch_without_a_token_changes_nothing",
    "an unreduced loss is asked for": UNIT
    + "models/test_training.py::test_a_loss_that_is_not_one_value_a_token_is_refused",
    "metrics are exact over an epoch": UNIT
    + "models/test_update.py::test_metrics_are_exact_over_batches_of_different_size",
    "a step that overflows is not counted": UNIT
    + "models/test_update.py::test_a_step_that_overflows_is_skipped_and_not_counted",
    "callbacks of Keras take part": "tests/integration/test_run_options.py"
    "::test_callbacks_of_keras_take_part",
    "callbacks that fight with the run are refused": UNIT
    + "training/test_callbacks.py::test_callbacks_that_fight_with_the_run_are_refused",
    # Steps and data order.
    "the unit is the update": UNIT
    + "training/test_tensorboard.py::test_scalars_lie_over_the_updates",
    "a resumed run is the same run": "tests/integration/test_resume.py"
    "::test_a_run_killed_again_and_again_is_the_same_run",
    "the order is a function of seed and epoch": UNIT
    + "data/test_batching.py::test_the_order_is_a_function_of_seed_and_epoch",
    "only LF ends a line": UNIT + "data/test_lines.py::test_only_line_feeds_end_lines",
    "an empty side drops the pair": UNIT
    + "data/test_corpora.py::test_an_empty_side_drops_the_pair",
    "unequal files are an error": UNIT
    + "data/test_corpora.py::test_unequal_files_are_an_error_that_names_both",
    "nothing left is an error": UNIT
    + "data/test_corpora.py::test_nothing_left_is_an_error",
    # Search.
    "scores are divided by ((5 + length) / 6) ** alpha": SEARCH
    + "length_penalty_counts_from_the_formula",
    "a beam that holds everything is exhaustive": SEARCH
    + "a_beam_that_holds_everything_is_exhaustive",
    "smaller beams follow the rules": SEARCH + "smaller_beams_follow_the_rules",
    "an open beam that could win goes on": SEARCH
    + "a_longer_hypothesis_may_win_by_the_length_penalty",
    "greedy ends at the first END": SEARCH
    + "greedy_takes_the_single_best_and_stops_at_the_first_end",
    "nothing is forced at the limit": SEARCH + "nothing_is_forced_at_the_limit",
    "empty slots have length 0": SEARCH
    + "a_pool_that_is_partly_filled_keeps_empty_slots",
    "ties keep the earlier": SEARCH + "ties_keep_the_earlier",
    "ended rows may hold anything": SEARCH
    + "nan_logits_spoil_only_their_own_hypotheses",
    "PAD and START are never chosen, probabilities stay": SEARCH
    + "pad_and_start_are_never_chosen_and_not_renormalised",
    "a translation does not depend on its batch": SEARCH
    + "a_sentence_does_not_depend_on_its_batch",
    "hypotheses are distinct, best first": SEARCH
    + "hypotheses_are_distinct_and_the_first_is_best",
    "cached is uncached": UNIT + "decoding/test_search_of_transformer.py"
    "::test_cached_logits_are_those_of_the_whole_target",
    "memory is computed once for all beams": UNIT
    + "models/test_transformer.py::test_beams_of_a_sentence_share_its_context",
    # Export.
    "a model comes back from its file": "tests/conformance/test_reload.py"
    "::test_outputs_are_the_same_after_a_reload",
    "the server's loader fills every variable": UNIT
    + "export/test_guard.py::test_tracking_the_captured_variables_passes",
    "weights once, no path of this machine": "tests/integration/test_export.py"
    "::test_the_version_holds_the_weights_once_and_no_path",
    "every output has the batch first, none fails a neighbour": UNIT
    + "export/test_signatures.py::test_rows_of_nbest_do_not_see_each_other",
    "it loads without this package": "tests/integration/test_export.py"
    "::test_python_without_this_package_says_the_same",
    "the C++ engine says the same": "tests/integration/test_export.py"
    "::test_the_cpp_loader_says_the_same",
    # Untrusted input.
    "any bytes in, a defined answer out": UNIT
    + "decoding/test_translator.py::test_any_bytes_have_an_answer",
    "no file is run": "tests/architecture/test_safety.py"
    "::test_no_source_file_does_harm",
}


@pytest.mark.parametrize("identifier", PROMISES.values(), ids=PROMISES.keys())
def test_a_promise_has_its_test(identifier):
    path, name = identifier.split("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert name in {x.name for x in tree.body if isinstance(x, ast.FunctionDef)}


def test_no_test_stands_for_two_promises():
    assert len(set(PROMISES.values())) == len(PROMISES)


def test_masks_are_made_in_one_place():
    """PAD is compared with ids, and positions with one another, in ops/masks.py."""
    for path in sorted((ROOT / "keras_attention").rglob("*.py")):
        room = path.relative_to(ROOT / "keras_attention").as_posix()
        if (
            not room.startswith(("ops/", "layers/", "models/"))
            or room == "ops/masks.py"
        ):
            continue
        text = path.read_text(encoding="utf-8")
        for made in ("not_equal(", "less_equal(", "tril(", "triu(", "PAD_ID"):
            assert made not in text, (room, made)
