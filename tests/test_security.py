"""SECURITY.md says nothing that no test shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from commands import extensor

import extensor as ex

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "SECURITY.md").read_text()
TESTS = ROOT / "tests"

# How each point begins, and the tests that show it, by file.
SHOWN = {
    "Data files of every kind": [
        "test_data_readers.py::test_objects_are_never_unpickled",
        "test_streaming_damage.py::test_arrays_that_cannot_be_used",
        "test_table_reading.py::test_other_files",
    ],
    "Checkpoints and weights": [
        "test_saving.py::test_nothing_is_unpickled",
        "test_saving.py::test_flipped_bits_are_found",
    ],
    "A stored run runs no code": [
        "test_trust.py::test_commands_ask_before_a_stored_run_runs_a_function",
        "test_trust.py::test_calls_ask_before_a_stored_run_runs_a_function",
        "test_trust.py::test_every_entry_that_names_a_function_needs_consent",
    ],
    "`extensor info` and `extensor compare`": [
        "test_trust.py::test_commands_that_only_show_a_run_import_nothing",
    ],
    "Nothing is written through links": [
        "test_links_and_pipes.py::test_a_run_does_not_write_through_links",
        "test_links_and_pipes.py::test_a_linked_log_is_not_appended_to_by_the_test",
        "test_links_and_pipes.py::test_a_linked_folder_of_checkpoints_is_only_read",
        "test_links_and_pipes.py::test_other_files_of_a_run_replace_a_link_and_not_its_target",
        "test_links_and_pipes.py::test_a_checkpoint_replaces_a_link_and_not_its_target",
        "test_links_and_pipes.py::test_tensorboard_does_not_cut_a_linked_file",
        "test_links_and_pipes.py::test_a_linked_folder_of_a_trial_is_refused",
        "test_links_and_pipes.py::test_the_output_of_a_trial_is_not_added_to_a_linked_file",
    ],
    "A second name": ["test_links_and_pipes.py::test_a_run_does_not_write_through_links"],
    "The folder of a run": [
        "test_links_and_pipes.py::test_the_folder_of_a_run_may_itself_be_a_link",
    ],
    "Pipes, sockets and devices": [
        "test_links_and_pipes.py::test_readers_refuse_pipes_and_devices_at_once",
        "test_links_and_pipes.py::test_a_run_whose_files_are_pipes_is_refused_at_once",
        "test_links_and_pipes.py::test_a_run_whose_configuration_is_a_pipe_or_a_device_is_named",
        "test_links_and_pipes.py::test_an_index_that_is_a_pipe_is_refused_at_once",
    ],
    "A name of a run": ["test_cli_errors.py::test_names_do_not_leave_the_folder_of_runs"],
    "The commands import no libraries": [
        "test_trust.py::test_commands_import_no_library_from_the_working_folder",
        "test_trust.py::test_the_launcher_starts_python_without_the_working_folder",
    ],
    "Labels that change": [
        "test_changing_indices.py::test_no_op_reads_an_index_that_it_has_not_checked",
        "test_changed_operands.py::test_an_op_reads_one_array",
    ],
    "Decoding is bounded": [
        "test_costly_files.py::test_a_compressed_table",
        "test_costly_files.py::test_a_picture_is_measured_before_it_is_decoded",
        "test_costly_files.py::test_compressed_arrays",
        "test_costly_files.py::test_absurd_headers_of_arrays",
        "test_costly_files.py::test_archives_of_data_sets",
        "test_costly_files.py::test_a_file_of_holes_in_an_archive",
        "test_costly_files.py::test_rows_that_are_stored_once",
        "test_costly_files.py::test_compressed_arrow_files",
        "test_costly_files.py::test_a_batch_that_is_listed_often",
        "test_costly_files.py::test_rows_of_nothing",
        "test_costly_files.py::test_views_of_the_same_words",
        "test_costly_files.py::test_the_command_says_how_to_raise_the_limit",
    ],
    "Names, texts and configurations": [
        "test_screen.py::test_control_characters_are_shown",
        "test_screen.py::test_streams_of_commands_are_safe_unless_they_are_exact",
        "test_screen.py::test_info",
        "test_screen.py::test_compare",
        "test_screen.py::test_predict",
        "test_screen.py::test_progress_and_samples",
    ],
    "Cells that a spreadsheet": [
        "test_screen.py::test_formulas_in_csv",
        "test_screen.py::test_the_option_for_spreadsheets",
    ],
    "Pages (`report.html`": [
        "test_page_policy.py::test_all_pages_of_the_commands",
        "test_page_policy.py::test_there_is_no_other_way_to_write_a_page",
        "test_live.py::test_only_the_scripts_of_the_page_may_run",
    ],
    "A report leaves out": [
        "test_redaction.py::test_what_looks_like_a_secret",
        "test_redaction.py::test_values_of_several_lines",
        "test_redaction.py::test_the_home_folder",
        "test_redaction.py::test_files_and_pages_of_a_run",
    ],
    "The page of `--live`": [
        "test_live.py::test_only_this_machine_may_read_it",
        "test_live.py::test_who_does_not_know_the_token_learns_nothing",
    ],
    "Connections to the page": [
        "test_live.py::test_slow_clients_take_few_connections",
        "test_live.py::test_training_does_not_end_with_its_server",
        "test_live.py::test_training_begins_without_a_page_if_there_can_be_none",
    ],
    "A configuration is a program": ["test_trust.py::test_a_configuration_of_yours_is_a_program"],
    "A stored run or sweep": [
        "test_trust.py::test_commands_ask_before_a_stored_run_runs_a_function",
        "test_trust.py::test_commands_run_it_with_trust",
        "test_trust.py::test_calls_ask_before_a_stored_run_runs_a_function",
        "test_trust.py::test_a_stored_sweep_asks_too",
        "test_trust.py::test_a_trial_asks_although_its_sweep_names_nothing",
    ],
    "A `.toml` file": [
        "test_trust.py::test_commands_ask_before_a_stored_run_runs_a_function",
        "test_trust.py::test_a_configuration_beside_a_sweep_asks_too",
        "test_trust.py::test_a_configuration_below_the_folder_of_a_run_asks_too",
        "test_trust.py::test_a_second_name_outside_of_the_run_is_a_copy",
        "test_trust.py::test_a_configuration_of_yours_is_a_program",
    ],
    "Settings that you pass": [
        "test_trust.py::test_what_the_command_line_names_needs_no_more_consent",
    ],
    "Functions of Python's": [
        "test_trust.py::test_nothing_of_the_standard_library_is_called",
        "test_trust.py::test_functions_of_the_library_that_write_are_not_called",
        "test_trust.py::test_what_the_library_computes_with_may_be_named",
    ],
    "Modules are looked for": [
        "test_trust.py::test_installed_modules_come_before_those_of_the_working_folder",
        "test_trust.py::test_the_working_folder_is_no_place_for_other_modules",
    ],
    "A function that you have trusted": ["test_trust.py::test_commands_run_it_with_trust"],
    "Links are followed": [
        "test_links_and_pipes.py::test_a_linked_folder_of_checkpoints_is_only_read",
        "test_links_and_pipes.py::test_the_configuration_of_a_run_says_which_data_are_read",
    ],
    "Python looks for modules": [
        "test_trust.py::test_python_m_looks_in_the_working_folder_and_p_does_not",
    ],
    "A pickled estimator": ["test_estimators.py::test_pickle"],
    "Report it privately": ["test_security.py::test_the_page_says_how_to_report_a_flaw"],
    "Say what `extensor --version`": ["test_security.py::test_the_command_prints_its_version"],
}


def _points() -> list[str]:
    """The points of the page, each on one line."""
    lines: list[str] = []
    for line in PAGE.splitlines():
        if line.startswith("- "):
            lines.append(line[2:])
        elif line.startswith("  "):
            lines[-1] += f" {line.strip()}"
    return lines


def test_every_point_of_the_page_is_listed() -> None:
    points = _points()
    found = [[begin for begin in SHOWN if point.startswith(begin)] for point in points]
    assert [begins[0] for begins in found if len(begins) == 1] == list(SHOWN)
    assert len(points) == len(SHOWN)


def test_the_page_has_nothing_but_points() -> None:
    others = [line for line in PAGE.splitlines() if line and not line.startswith(("- ", "  ", "#"))]
    assert others == ["Each point below has a test; `tests/test_security.py` lists them."]


@pytest.mark.parametrize("begin", SHOWN)
def test_every_point_of_the_page_has_a_test(begin: str) -> None:
    assert SHOWN[begin]
    for name in SHOWN[begin]:
        file, _, function = name.partition("::")
        assert re.search(rf"^def {function}\(", (TESTS / file).read_text(), re.MULTILINE), name


def test_the_page_says_how_to_report_a_flaw() -> None:
    assert "## How to report a flaw" in PAGE.splitlines()
    assert "(SECURITY.md)" in (ROOT / "README.md").read_text()


def test_the_command_prints_its_version() -> None:
    assert extensor("--version").out.startswith(f"extensor {ex.__version__}\n")
