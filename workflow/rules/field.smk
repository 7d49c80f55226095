# Simulated users against real ones. In: results/answers. Out: results/metrics and results/figures.


rule measure_calibration:
    input:
        answers="results/answers/answers.parquet",
        weights=[path for path in [config["calibration"]["weights"]] if path],
    output:
        calibration="results/metrics/calibration.parquet",
        calibration_csv=report(
            "results/metrics/calibration.csv",
            caption="../report/calibration.rst",
            category="Field",
            labels={"table": "calibration on held-out prompts"},
        ),
        calibration_items="results/metrics/calibration_items.parquet",
        calibration_items_csv="results/metrics/calibration_items.csv",
        calibration_weights="results/metrics/calibration_weights.parquet",
        calibration_weights_csv=report(
            "results/metrics/calibration_weights.csv",
            caption="../report/calibration_weights.rst",
            category="Field",
            labels={"table": "weights of conditions and puppets"},
        ),
        calibrated_shares="results/metrics/calibrated_shares.parquet",
        calibrated_shares_csv=report(
            "results/metrics/calibrated_shares.csv",
            caption="../report/calibrated_shares.rst",
            category="Field",
            labels={"table": "shares of answers, as calibrated"},
        ),
    log:
        "logs/measure_calibration.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=60,
    params:
        code=code("measure_calibration"),
        settings=calibrating(),
        baseline=config["metrics"]["baseline"],
    script:
        "../scripts/measure_calibration.py"


rule plot_calibration:
    input:
        calibration="results/metrics/calibration.parquet",
        style=shipped("resources/figures.mplstyle"),
    output:
        pdf="results/figures/calibration.pdf",
        svg=report(
            "results/figures/calibration.svg",
            caption="../report/calibration_figure.rst",
            category="Figures",
            labels={"figure": "calibration to the field"},
        ),
        png="results/figures/calibration.png",
    log:
        "logs/plot_calibration.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=10,
    params:
        code=code("plot_calibration"),
        drawing=drawing(),
    script:
        "../scripts/plot_calibration.py"
