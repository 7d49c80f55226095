"""Which effects a study could detect, before it is paid for: `snakemake power`."""
