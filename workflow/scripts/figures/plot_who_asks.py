"""Draw figure `who_asks`: how far do answers of users go beyond repeats?

In: <results>/metrics/variance, novelty and claims.
Out: <results>/figures/who_asks as PDF, SVG and PNG.
"""

from typing import Any

from fieldwork import stage
from fieldwork.figures import style, who_asks
from fieldwork.metrics.claims.lookup import read_corrected
from fieldwork.records.metrics import Novelty, VarianceShare


def main(
    variance: str,
    novelty: str,
    claims: str,
    style_sheet: str,
    outputs: list[str],
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    shares = read_corrected(variance, VarianceShare, claims, "share_who")
    new_letters = read_corrected(novelty, Novelty, claims, "novelty")
    figure = who_asks.draw(shares, new_letters, who_asks.WhoAsksSettings(**drawing))
    style.save(figure, outputs)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
