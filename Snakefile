# A Fieldwork study, in the order of its data. `snakemake --cores 8 all` runs it whole;
# docs/architecture.md is the map of what is where.


include: "workflow/rules/common.smk"


rule all:
    default_target: True
    input:
        study.outputs(),


include: "workflow/rules/puppets.smk"
include: "workflow/rules/tasks.smk"
include: "workflow/rules/memory.smk"
include: "workflow/rules/generation.smk"
include: "workflow/rules/parsing.smk"
include: "workflow/rules/metrics.smk"
include: "workflow/rules/field.smk"
include: "workflow/rules/judging.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/power.smk"


# Snakemake's own sentence about an unknown target is about input functions
try:
    refuse_misspelt_targets(sys.argv, [rule.name for rule in workflow.rules])
except StudyError as error:
    sys.exit(f"ERROR: {error}")
