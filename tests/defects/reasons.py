"""Why some defects are not seen: each miss of the page has a sentence here, and nothing else has."""

from __future__ import annotations

from typing import Final

_OUTSIDE: Final = "Not to be seen from outside:"
REASONS: Final[dict[str, str]] = {
    "manifest/extra_counted_in": f"{_OUTSIDE} no other public source says which evaluations count.",
    "files/handle_without_node": "The form behind `latch://` is not published; the signer's "
    "refusal shows it.",
    "files/handle_of_words": "The form behind `latch://` is not published; the signer's "
    "refusal shows it.",
    "files/data_exchanged": f"{_OUTSIDE} any data may belong to any prompt; drift shows "
    "the change.",
    "graders/auroc_free": "Not yet: trivial answers are tried for numbers, labels, "
    "genes, shares and choices.",
    "graders/truth_wrong": f"{_OUTSIDE} whether a truth is right takes the data and the analysis.",
    "runs/replicate_of_another": "Sound records of the real family differ there too: the "
    "folder counts.",
    "runs/build_of_another": "The version stands in `runs.grader_version`; mixed builds "
    "are usual, so no finding.",
    "runs/run_rewritten": f"{_OUTSIDE} nothing tells an honest second run from one that "
    "was written anew.",
    "runs/answer_file_changed": "Answer files are compared by id alone and never brought, "
    "and another id may hold "
    "the same answer in other writing: record_checks counts it as not checked.",
    "runs/withheld_verdict": "A rule that is withheld may pass anything while no other "
    "run passes with less.",
    "tables/low_up": "Less than what rounding of three numbers to hundredths allows.",
    "tables/high_up": "Less than what rounding of three numbers to hundredths allows.",
    "tables/part_bound": "Less than what rounding of three numbers to hundredths allows.",
    "tables/low_empty": "Not yet: half an interval is read as none.",
    "tables/model_without_runs": "Totals of a withheld benchmark need no public run; real "
    "tables have such rows.",
    "tables/readme_row_deleted": "A README may list a selection.",
    "tables/csv_head_renamed": "Not yet: a table without accuracies is read as one of other "
    "numbers.",
    "tables/part_model_lost": "A part may lack a model that was not run on it; its total "
    "is then not checked.",
    "claims/readme_models": "Not yet: of READMEs' words only numbers of evaluations are compared.",
    "claims/readme_behind_manifest": "Without a table nobody outside knows how many evaluations "
    "are withheld, and "
    "fewer may be some of them.",
    "storage/file_of_nan": "Not yet: values of X are not read, only shapes, encodings and names.",
}
