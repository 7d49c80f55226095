"""Print all settings of a study and where each stands; writes nothing."""

from fieldwork import stage


def main(settings: str) -> None:
    """Print the text."""
    print(settings)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
