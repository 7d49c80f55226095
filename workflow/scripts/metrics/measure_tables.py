"""Make tables of estimates by one function each, as fieldwork/config/metric_steps.py lists them.

In: <results>/answers, the items, or what a step names besides. Out: its tables of <results>/metrics.
"""

from importlib import import_module
from inspect import signature
from typing import Any, get_args, get_type_hints

from fieldwork import stage, tables
from fieldwork.metrics.step_inputs import read_step_inputs


def main(
    inputs: dict[str, Any],
    outputs: dict[str, str],
    steps: list[dict[str, Any]],
    settings: dict[str, Any],
) -> None:
    """Measure and write table by table.

    Args:
        steps: `functions` are `module:function` by the table's name, `inputs` and `settings` the names
            of what they take.
    """
    for step in steps:
        values = {name: settings[name] for name in step["settings"]}
        values |= read_step_inputs({name: inputs[name] for name in step["inputs"]})
        for table, place in step["functions"].items():
            module, _, function_name = place.partition(":")
            function = getattr(import_module(f"fieldwork.metrics.{module}"), function_name)
            names = signature(function).parameters
            with stage.making(outputs[table]):
                rows = function(**{name: values[name] for name in names if name in values})
                (row_type,) = get_args(get_type_hints(function)["return"])
                tables.write_table(outputs[table], rows, row_type)
            values["runs" if table == "accuracy_runs" else table] = rows


if __name__ == "__main__":
    stage.run_script(main, snakemake)
