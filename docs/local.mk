dist_man_MANS += docs/man/retape.1 docs/man/retape-bundle.1
EXTRA_DIST += docs/CONFIG.md docs/FORMATS.md docs/retape.schema.json
