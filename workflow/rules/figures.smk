# Drawings. In: <results>/metrics. Out: <results>/figures, each as PDF, SVG and PNG.


# so that `snakemake results/figures/fig3.pdf` gives the figure of the study that the config names
rule copy_figure:
    input:
        "<results>/figures/{figure}.{suffix}",
    output:
        "results/figures/{figure}.{suffix}",
    log:
        "<logs>/copy_figure/{figure}.{suffix}.log",
    localrule: True
    conda:
        "../envs/fieldwork.yaml"
    params:
        study=study.name,
    shell:
        "cp {input:q} {output:q} 2> {log:q}"


# a rule a figure, as fieldwork/config/drawn.py lists them
for figure in FIGURES:

    rule:
        name:
            f"plot_{figure}"
        input:
            unpack(drawn_files(figure)),
            style_sheet=study.resolve("resources/figures.mplstyle"),
        output:
            **figure_files(
                "{arms_figure}" if figure == "arms" else figure,
                FIGURES[figure].title,
                FIGURES[figure].caption,
            ),
        log:
            "<logs>/plot_arms/{arms_figure}.log"
            if figure == "arms"
            else f"<logs>/plot_{figure}.log",
        conda:
            "../envs/fieldwork.yaml"
        params:
            *code("figures/plot", *figure_code(figure)),
            module=figure_module(figure),
            drawing=drawing(figure),
        script:
            "../scripts/figures/plot.py"
