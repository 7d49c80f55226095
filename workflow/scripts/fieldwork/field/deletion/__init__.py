"""`snakemake forget`: a participant is deleted from files and results, and looked for afterwards."""
