"""What a study could find, before it is paid for: `snakemake power`."""
