"""What a study's tables are, in Croissant 1.1 (JSON-LD), derived from their row types.

Each file of the study is a `FileObject` with its hash, and each table a `RecordSet` over a file, or over
the files of all models, tasks and conditions. Columns come from `fieldwork.records`, so that the
description cannot differ from the data dictionary.
"""

import glob
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork.dictionary import row_types
from fieldwork.records.columns import Column, columns_of, table_of

JsonObject = dict[str, Any]

# fmt: off
_TERMS = (
    "citeAs", "column", "equivalentProperty", "extract", "field", "fileObject", "fileProperty", "fileSet",
    "format", "includes",
    "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex",
    "repeated", "replace", "samplingRate", "separator", "source", "subField", "transform",
)
# fmt: on
"""Words of Croissant that a description may use without a prefix."""

_VALUES = {
    "VARCHAR": "sc:Text",
    "BIGINT": "sc:Integer",
    "DOUBLE": "sc:Float",
    "BOOLEAN": "sc:Boolean",
    "TIMESTAMPTZ": "sc:DateTime",
    "BLOB": "sc:Text",
}
_FORMATS = {".parquet": "application/x-parquet", ".csv": "text/csv"}


class StudyLabel(NamedTuple):
    """What a description says of the study itself.

    Attributes:
        version: of this project, which made the tables.
        url: where the study can be read about; None where the config gives none.
        license: of the tables; None where the config gives none.
    """

    name: str
    version: str
    url: str | None
    license: str | None


def croissant(folder: Path, study: StudyLabel, places: Sequence[str] = ("",)) -> JsonObject:
    """The description of all tables in a study's folder; paths are those from this folder.

    Args:
        places: the folders in it in which tables lie; a table is described where it is first met.
    """
    record_sets: list[JsonObject] = []
    files: dict[str, JsonObject] = {}
    sets: list[JsonObject] = []
    for row_type in row_types().values():
        patterns = [f"{place}/{table_of(row_type).path}".lstrip("/") for place in places]
        pattern = next((one for one in patterns if _files_of(folder, one)), None)
        if pattern is None:
            continue
        paths = _files_of(folder, pattern)
        files |= {path: _file(folder, path) for path in paths}
        record_sets.append(_record_set(row_type, paths))
        if "{" in pattern:
            sets.append(_file_set(row_type, pattern))
    description: JsonObject = {
        "@context": _context(),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": study.name,
        "description": f"Tables of the study {study.name}, made by Fieldwork {study.version}.",
        "version": study.version,
        "distribution": [*files.values(), *sets],
        "recordSet": record_sets,
    }
    for key, value in (("url", study.url), ("license", study.license)):
        description |= {key: value} if value else {}
    return description


def _context() -> JsonObject:
    context: JsonObject = {
        "@language": "en",
        "@vocab": "https://schema.org/",
        "sc": "https://schema.org/",
        "cr": "http://mlcommons.org/croissant/",
        "dct": "http://purl.org/dc/terms/",
        "rai": "http://mlcommons.org/croissant/RAI/",
    }
    context |= {term: f"cr:{term}" for term in _TERMS}
    context["conformsTo"] = "dct:conformsTo"
    context["data"] = {"@id": "cr:data", "@type": "@json"}
    context["examples"] = {"@id": "cr:examples", "@type": "@json"}
    context["dataType"] = {"@id": "cr:dataType", "@type": "@vocab"}
    return context


def _files_of(folder: Path, pattern: str) -> list[str]:
    """The files of a table, from the study's folder."""
    place = glob.escape(str(folder)) + "/" + re.sub(r"\{\w+\}", "*", pattern)
    return sorted(str(Path(path).relative_to(folder)) for path in glob.glob(place))


def _file(folder: Path, path: str) -> JsonObject:
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path,
        "contentUrl": path,
        "encodingFormat": _FORMATS[Path(path).suffix],
        "sha256": hashlib.sha256((folder / path).read_bytes()).hexdigest(),
    }


def _file_set(row_type: type[Any], pattern: str) -> JsonObject:
    return {
        "@type": "cr:FileSet",
        "@id": table_of(row_type).name + "-files",
        "name": table_of(row_type).name + "-files",
        "encodingFormat": _FORMATS[Path(pattern).suffix],
        "includes": re.sub(r"\{\w+\}", "*", pattern),
    }


def _record_set(row_type: type[Any], paths: list[str]) -> JsonObject:
    name = table_of(row_type).name
    is_set = "{" in table_of(row_type).path
    source = {"fileSet": {"@id": f"{name}-files"}} if is_set else {"fileObject": {"@id": paths[0]}}
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": (row_type.__doc__ or "").strip(),
        "field": [_column(name, column, source) for column in columns_of(row_type)],
    }


def _column(table: str, column: Column, source: JsonObject) -> JsonObject:
    is_list = column.kind.endswith("[]")
    # a list of messages is described as text: its parts are those of the data dictionary
    value = _VALUES.get(column.kind.removesuffix("[]"), "sc:Text")
    return {
        "@type": "cr:Field",
        "@id": f"{table}/{column.name}",
        "name": f"{table}/{column.name}",
        "description": column.text,
        "dataType": value,
        **({"repeated": True} if is_list else {}),
        "source": {**source, "extract": {"column": column.name}},
    }
