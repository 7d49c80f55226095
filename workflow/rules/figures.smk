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


rule plot_fig1:
    input:
        estimates=ESTIMATES_OF.format(question="lists"),
        questions=figure_items("fig1"),
        style_sheet=study.resolve("resources/figures.mplstyle"),
    output:
        **figure_files("fig1", "1: How varied the recommendations are"),
    log:
        "<logs>/plot_fig1.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("figures/plot_fig1"),
        drawing=drawing("fig1"),
    script:
        "../scripts/figures/plot_fig1.py"


rule plot_fig2:
    input:
        distributions="<results>/metrics/distributions.parquet",
        questions=figure_items("fig2"),
        style_sheet=study.resolve("resources/figures.mplstyle"),
    output:
        **figure_files("fig2", "2: Which answers each question gets"),
    log:
        "<logs>/plot_fig2.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("figures/plot_fig2"),
        drawing=drawing("fig2"),
    script:
        "../scripts/figures/plot_fig2.py"


rule plot_fig3:
    input:
        accuracy_runs="<results>/metrics/accuracy_runs.parquet",
        accuracy="<results>/metrics/accuracy.parquet",
        ranks="<results>/metrics/ranks.parquet",
        leaderboard=study.optional_file(study.score_task().get("leaderboard")),
        style_sheet=study.resolve("resources/figures.mplstyle"),
    output:
        **figure_files("fig3", "3: How many answers are right, and the place that gives"),
    log:
        "<logs>/plot_fig3.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("figures/plot_fig3"),
        drawing=drawing("fig3"),
    script:
        "../scripts/figures/plot_fig3.py"


rule plot_arms:
    input:
        arms="<results>/metrics/arms.parquet",
        arm_tests="<results>/metrics/arm_tests.parquet",
        style_sheet=study.resolve("resources/figures.mplstyle"),
    output:
        **figure_files("{arms_figure}", "How conditions differ from each other", "arms_figure"),
    log:
        "<logs>/plot_arms/{arms_figure}.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("figures/plot_arms"),
        drawing=dict(study.drawing(), x=(config["arms"] or {}).get("x")),
    script:
        "../scripts/figures/plot_arms.py"


rule plot_fig4:
    input:
        shifts="<results>/metrics/shifts.parquet",
        claims=CLAIMS,
        questions=figure_items("fig4"),
        style_sheet=study.resolve("resources/figures.mplstyle"),
    output:
        **figure_files("fig4", "4: Which options a user makes rarer or more common"),
    log:
        "<logs>/plot_fig4.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("figures/plot_fig4"),
        drawing=drawing("fig4"),
    script:
        "../scripts/figures/plot_fig4.py"


rule plot_fig5:
    input:
        rarefaction="<results>/metrics/rarefaction.parquet",
        questions=figure_items("fig5"),
        style_sheet=study.resolve("resources/figures.mplstyle"),
    output:
        **figure_files("fig5", "5: How many different options so many answers name"),
    log:
        "<logs>/plot_fig5.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("figures/plot_fig5"),
        drawing=drawing("fig5"),
    script:
        "../scripts/figures/plot_fig5.py"


rule plot_categories:
    input:
        subjects="<results>/metrics/subjects.parquet",
        categories="<results>/metrics/categories.parquet",
        claims=CLAIMS,
        style_sheet=study.resolve("resources/figures.mplstyle"),
    output:
        **figure_files("categories", "For which subjects it matters who asks", "categories_figure"),
    log:
        "<logs>/plot_categories.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("figures/plot_categories"),
        drawing=drawing("categories"),
    script:
        "../scripts/figures/plot_categories.py"


rule plot_values:
    input:
        values="<results>/metrics/values.parquet",
        questions=figure_items("values"),
        style_sheet=study.resolve("resources/figures.mplstyle"),
    output:
        **figure_files("values", "Where answers to scales and numbers lie", "values_figure"),
    log:
        "<logs>/plot_values.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("figures/plot_values"),
        drawing=drawing("values"),
    script:
        "../scripts/figures/plot_values.py"


rule plot_who_asks:
    input:
        variance="<results>/metrics/variance.parquet",
        novelty="<results>/metrics/novelty.parquet",
        claims=CLAIMS,
        style_sheet=study.resolve("resources/figures.mplstyle"),
    output:
        **figure_files("who_asks", "How much depends on who asks, and which answers are new"),
    log:
        "<logs>/plot_who_asks.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("figures/plot_who_asks"),
        drawing=drawing("who_asks"),
    script:
        "../scripts/figures/plot_who_asks.py"


rule plot_robustness:
    input:
        robustness="<results>/metrics/robustness.parquet",
        style_sheet=study.resolve("resources/figures.mplstyle"),
    output:
        **figure_files(
            "robustness",
            "Whether answers hold when questions are put otherwise",
            "robustness_figure",
        ),
    log:
        "<logs>/plot_robustness.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("figures/plot_robustness"),
        drawing=dict(study.drawing(), variants=study.variants()),
    script:
        "../scripts/figures/plot_robustness.py"


rule plot_drift:
    input:
        drift="<results>/metrics/drift.parquet",
        style_sheet=study.resolve("resources/figures.mplstyle"),
    output:
        **figure_files("drift", "Whether answers moved since the first wave", "drift_figure"),
    log:
        "<logs>/plot_drift.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("figures/plot_drift"),
        drawing=dict(study.drawing(), waves=study.waves()),
    script:
        "../scripts/figures/plot_drift.py"


rule plot_pareto:
    input:
        trade_offs="<results>/metrics/trade_offs.parquet",
        style_sheet=study.resolve("resources/figures.mplstyle"),
    output:
        **figure_files("pareto", "How good, how slow and how dear the answers are"),
    log:
        "<logs>/plot_pareto.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("figures/plot_pareto"),
        drawing=study.drawing(),
    script:
        "../scripts/figures/plot_pareto.py"
