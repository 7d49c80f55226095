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
        study=config["study"]["name"],
    shell:
        "cp {input:q} {output:q} 2> {log:q}"


rule plot_fig1:
    input:
        heterogeneity="<results>/metrics/heterogeneity.parquet",
        task=drawn_items("fig1"),
        style=shipped("resources/figures.mplstyle"),
    output:
        pdf="<results>/figures/fig1.pdf",
        svg=report(
            "<results>/figures/fig1.svg",
            caption="../report/fig1.rst",
            category="Figures",
            labels={"figure": "1: heterogeneity of recommendations"},
        ),
        png="<results>/figures/fig1.png",
    log:
        "<logs>/plot_fig1.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=10,
    params:
        code=code("plot_fig1"),
        task=drawn_task("fig1"),
        baseline=config["metrics"]["baseline"],
        drawing=drawing(),
    script:
        "../scripts/plot_fig1.py"


rule plot_fig2:
    input:
        distributions="<results>/metrics/distributions.parquet",
        task=drawn_items("fig2"),
        style=shipped("resources/figures.mplstyle"),
    output:
        pdf="<results>/figures/fig2.pdf",
        svg=report(
            "<results>/figures/fig2.svg",
            caption="../report/fig2.rst",
            category="Figures",
            labels={"figure": "2: answers to benchmark questions"},
        ),
        png="<results>/figures/fig2.png",
    log:
        "<logs>/plot_fig2.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=10,
    params:
        code=code("plot_fig2"),
        task=drawn_task("fig2"),
        drawing=drawing(),
    script:
        "../scripts/plot_fig2.py"


rule plot_fig3:
    input:
        runs="<results>/metrics/accuracy_runs.parquet",
        accuracy="<results>/metrics/accuracy.parquet",
        ranks="<results>/metrics/ranks.parquet",
        leaderboard=[shipped(path) for path in [of_fig3("leaderboard")] if path],
        style=shipped("resources/figures.mplstyle"),
    output:
        pdf="<results>/figures/fig3.pdf",
        svg=report(
            "<results>/figures/fig3.svg",
            caption="../report/fig3.rst",
            category="Figures",
            labels={"figure": "3: benchmark scores over users"},
        ),
        png="<results>/figures/fig3.png",
    log:
        "<logs>/plot_fig3.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=10,
    params:
        code=code("plot_fig3"),
        task=drawn_task("fig3"),
        leaderboard=lambda wildcards: of_fig3("leaderboard"),
        leaderboard_note=of_fig3("leaderboard_note"),
        own_names=leaderboard_names(),
        drawing=drawing(),
    script:
        "../scripts/plot_fig3.py"


rule plot_arms:
    input:
        arms="<results>/metrics/arms.parquet",
        tests="<results>/metrics/arm_tests.parquet",
        style=shipped("resources/figures.mplstyle"),
    output:
        pdf="<results>/figures/{arms}.pdf",
        svg=report(
            "<results>/figures/{arms}.svg",
            caption="../report/arms_figure.rst",
            category="Figures",
            labels={"figure": "conditions side by side"},
        ),
        png="<results>/figures/{arms}.png",
    log:
        "<logs>/plot_arms/{arms}.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=10,
    params:
        code=code("plot_arms"),
        x=(config["arms"] or {}).get("x"),
        drawing=drawing(),
    script:
        "../scripts/plot_arms.py"


rule plot_fig4:
    input:
        shifts="<results>/metrics/shifts.parquet",
        task=drawn_items("fig4"),
        style=shipped("resources/figures.mplstyle"),
    output:
        pdf="<results>/figures/fig4.pdf",
        svg=report(
            "<results>/figures/fig4.svg",
            caption="../report/fig4.rst",
            category="Figures",
            labels={"figure": "4: options that a user moves"},
        ),
        png="<results>/figures/fig4.png",
    log:
        "<logs>/plot_fig4.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=10,
    params:
        code=code("plot_fig4"),
        task=drawn_task("fig4"),
        baseline=config["metrics"]["baseline"],
        arms=told_apart(),
        drawing=drawing(),
    script:
        "../scripts/plot_fig4.py"


rule plot_fig5:
    input:
        rarefaction="<results>/metrics/rarefaction.parquet",
        task=drawn_items("fig5"),
        style=shipped("resources/figures.mplstyle"),
    output:
        pdf="<results>/figures/fig5.pdf",
        svg=report(
            "<results>/figures/fig5.svg",
            caption="../report/fig5.rst",
            category="Figures",
            labels={"figure": "5: distinct options among so many answers"},
        ),
        png="<results>/figures/fig5.png",
    log:
        "<logs>/plot_fig5.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=10,
    params:
        code=code("plot_fig5"),
        task=drawn_task("fig5"),
        drawing=drawing(),
    script:
        "../scripts/plot_fig5.py"


rule plot_categories:
    input:
        subjects="<results>/metrics/subjects.parquet",
        categories="<results>/metrics/categories.parquet",
        style=shipped("resources/figures.mplstyle"),
    output:
        pdf="<results>/figures/categories.pdf",
        svg=report(
            "<results>/figures/categories.svg",
            caption="../report/categories_figure.rst",
            category="Figures",
            labels={"figure": "who asks, by category of subject"},
        ),
        png="<results>/figures/categories.png",
    log:
        "<logs>/plot_categories.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=10,
    params:
        code=code("plot_categories"),
        task=drawn_task("categories"),
        drawing=drawing(),
    script:
        "../scripts/plot_categories.py"
