"""A short run of the attack by model files."""

from attack.models import BAD, attack


def test_hostile_model_files_do_no_harm():
    results = list(attack(range(400)))
    assert len(results) == 400
    assert not [result for result in results if result["verdict"] in BAD]
    refused = [result for result in results if result["verdict"] == "refused"]
    assert len(refused) > 300
