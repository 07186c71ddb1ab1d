"""A short run of kills, full disks and closed folders."""

from attack.disks import fill_a_disk, save_into_a_closed_folder
from attack.killing import kill_comparisons, kill_saves, kill_trainings


def test_a_killed_save_loses_nothing_and_leaves_nothing(tmp_path):
    wrong, _ = kill_saves(tmp_path, 3)
    assert not wrong


def test_a_killed_training_leaves_the_old_file(tmp_path):
    wrong, _ = kill_trainings(tmp_path, 2)
    assert not wrong


def test_a_killed_comparison_keeps_its_finished_cells(tmp_path):
    wrong, _ = kill_comparisons(tmp_path, 2)
    assert not wrong


def test_a_full_disk_leaves_the_old_file(tmp_path):
    _, wrong = fill_a_disk(tmp_path)
    assert not wrong


def test_a_closed_folder_leaves_the_old_file():
    assert not save_into_a_closed_folder()
